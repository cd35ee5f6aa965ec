//! Bins as one video through the real decoder, read back with the `ffmpeg` and `ffprobe` programs.

use std::path::Path;
use std::process::Command;

use poem::http::Method;
use serde_json::{Value, json};

use crate::footage::Studio;
use crate::support::mentions;

/// Number of columns that encode the bits of a frame's number, lowest bit first, and their width in
/// pixels.
const BITS: u64 = 9;
const COLUMN: u64 = 16;

/// Size of the footage, in pixels.
const WIDTH: u64 = BITS * COLUMN;
const HEIGHT: u64 = 96;

/// Number of frames between the beginnings of two flashes, and two beeps.
const PERIOD: u64 = 24;

/// Sample rate of the audio that is read back.
const SAMPLES: f64 = 48_000.0;

/// Beeps begin at most this far from their flashes, in seconds.
const SYNC: f64 = 0.02;

/// The size of counted footage.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// [`WIDTH`] × [`HEIGHT`], or as many times as much.
    Times(u64),
    /// [`WIDTH`] × twice [`HEIGHT`], with the numbers in the upper half.
    Tall,
}

/// Options for footage whose upper half shows the number of each frame. Its lower half flashes, and
/// its sound beeps, in every frame whose number is a multiple of [`PERIOD`].
fn counted(rate: &str, seconds: u32, shape: Shape) -> [String; 2] {
    let times = if let Shape::Times(times) = shape { times } else { 1 };
    let (width, height, column) = (WIDTH * times, HEIGHT * times, COLUMN * times);
    let bits = format!("mod(floor(N/pow(2\\,floor(X/{column})))\\,2)");
    let flash = format!("eq(mod(N\\,{PERIOD})\\,0)");
    let mut picture = format!(
        "color=s={width}x{height}:r={rate}:d={seconds},\
         geq=lum='if(lt(Y\\,{})\\,16+210*{bits}\\,16+210*{flash})':cb=128:cr=128",
        height / 2
    );
    if shape == Shape::Tall {
        picture.push_str(&format!(",pad={width}:{}", height * 2));
    }
    let sound = format!(
        "aevalsrc='0.5*sin(2*PI*1000*t)*lt(mod(t,{PERIOD}/({rate})),0.06)':s=48000:d={seconds}"
    );
    [picture, sound]
}

fn make_counted(studio: &Studio, rate: &str, name: &str) -> std::path::PathBuf {
    make_counted_shape(studio, rate, Shape::Times(1), name)
}

fn make_counted_shape(studio: &Studio, rate: &str, shape: Shape, name: &str) -> std::path::PathBuf {
    let [picture, sound] = counted(rate, 4, shape);
    let inputs = ["-f", "lavfi", "-i", &picture, "-f", "lavfi", "-i", &sound];
    let coded = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "100"];
    studio.make(&[&inputs[..], &coded, &["-c:a", "aac", name]].concat())
}

pub async fn ingested(studio: &Studio, path: &Path) -> String {
    let job = studio.ingest(path, &[("mode", "interval"), ("interval", "10")]).await;
    job["result"]["video_id"].as_str().unwrap_or_else(|| panic!("{job}")).to_owned()
}

pub async fn bin(studio: &Studio, selects: &[Value]) -> String {
    let bin = studio.app.post_json("/bins", json!({"name": "Best of"})).await.ok();
    let path = format!("/bins/{}", bin["bin_id"].as_str().expect("an id"));
    studio.app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await.ok();
    path
}

/// Gets the video of a bin and writes it to a file.
pub async fn string_out(studio: &Studio, path: &str, query: &str) -> std::path::PathBuf {
    let reply = studio.app.get(&format!("{path}/string-out{query}")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("content-type"), "video/mp4");
    assert!(reply.header("content-disposition").contains("\"Best_of.mp4\""));
    let file = studio.folder.path().join("string-out.mp4");
    std::fs::write(&file, &reply.body).expect("the video");
    file
}

fn read(program: &str, arguments: &[&str], file: &Path, output: &[&str]) -> Vec<u8> {
    let result = Command::new(program).args(arguments).arg(file).args(output).output();
    let result = result.unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    result.stdout
}

/// A rendered video, read back.
pub struct Footage {
    /// The grey pixels of each frame.
    pub frames: Vec<Vec<u8>>,
    pub size: (usize, usize),
    /// The samples of the left channel.
    samples: Vec<f32>,
}

impl Footage {
    pub fn read(file: &Path) -> Self {
        let probe = ["-v", "error", "-select_streams", "v", "-show_entries"];
        let probe = [&probe[..], &["stream=width,height", "-of", "csv=p=0"]].concat();
        let size = String::from_utf8(read("ffprobe", &probe, file, &[])).expect("text");
        let mut size = size.trim().split(',').map(|n| n.parse::<usize>().expect("a number"));
        let size = (size.next().expect("a width"), size.next().expect("a height"));
        let raw = ["-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"];
        let pixels = read("ffmpeg", &["-v", "error", "-i"], file, &raw);
        let frames = pixels.chunks_exact(size.0 * size.1).map(<[u8]>::to_vec).collect();
        let raw = ["-af", "pan=mono|c0=c0", "-f", "f32le", "-"];
        let bytes = read("ffmpeg", &["-v", "error", "-i"], file, &raw);
        let (samples, _) = bytes.as_chunks::<4>();
        let samples = samples.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Self { frames, size, samples }
    }

    fn pixel(&self, frame: usize, x: u64, y: u64) -> u8 {
        self.frames[frame][y as usize * self.size.0 + x as usize]
    }

    /// The number that a frame shows in a picture of [`WIDTH`] × [`HEIGHT`]. Tall footage fits into
    /// its middle, at half the size.
    fn number(&self, frame: usize, shape: Shape) -> u64 {
        let bright = |bit: &u64| {
            let (x, y) = (bit * COLUMN + COLUMN / 2, HEIGHT / 4);
            let (x, y) = if shape == Shape::Tall { (WIDTH / 4 + x / 2, y / 2) } else { (x, y) };
            self.pixel(frame, x, y) > 128
        };
        (0..BITS).filter(bright).map(|bit| 1 << bit).sum()
    }

    fn flashes(&self, frame: usize, shape: Shape) -> bool {
        let y = if shape == Shape::Tall { HEIGHT * 3 / 8 } else { HEIGHT * 3 / 4 };
        self.pixel(frame, WIDTH / 2, y) > 128
    }

    /// The first time from `start` to `end` seconds at which the sound is loud.
    fn beep(&self, start: f64, end: f64) -> Option<f64> {
        let [from, to] = [start, end].map(|time| (time * SAMPLES) as usize);
        let window = &self.samples[from..to.min(self.samples.len())];
        let at = window.iter().position(|sample| sample.abs() > 0.12)?;
        Some((from + at) as f64 / SAMPLES)
    }

    /// The loudest sample from `start` to `end` seconds.
    fn peak(&self, start: f64, end: f64) -> f32 {
        let [from, to] = [start, end].map(|time| (time * SAMPLES) as usize);
        self.samples[from..to].iter().fold(0.0, |peak, sample| peak.max(sample.abs()))
    }
}

/// The number of frames of each event of the bin's edit list at a rate of `nominal` frames per
/// second.
async fn event_lengths(studio: &Studio, path: &str, nominal: u64) -> Vec<u64> {
    let edl = studio.app.get(&format!("{path}/export?format=edl")).await.text();
    assert!(edl.contains("NON-DROP"), "{edl}");
    let frames = |timecode: &str| {
        let parts: Vec<u64> = timecode.split(':').map(|part| part.parse().unwrap()).collect();
        ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * nominal + parts[3]
    };
    let events = edl.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let events = events.filter(|words| words.len() == 8 && words[3] == "C");
    events.map(|words| frames(words[7]) - frames(words[6])).collect()
}

fn fraction(rate: &str) -> f64 {
    let (numerator, denominator) = rate.split_once('/').expect("a fraction");
    numerator.parse::<f64>().unwrap() / denominator.parse::<f64>().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_of_videos_of_all_rates_and_sizes_are_exact_and_in_sync() {
    let videos = [
        ("24000/1001", Shape::Times(1)),
        ("25/1", Shape::Times(3)),
        ("30000/1001", Shape::Tall),
        ("50/1", Shape::Times(2)),
        ("60000/1001", Shape::Times(1)),
        ("24/1", Shape::Times(2)),
        ("30/1", Shape::Tall),
        ("60/1", Shape::Times(3)),
    ];
    let studio = Studio::open().await;
    let mut parts = Vec::new();
    for (number, (rate, shape)) in (0_u64..).zip(videos) {
        let file = make_counted_shape(&studio, rate, shape, &format!("counted{number}.mp4"));
        let (rate, video_id) = (fraction(rate), ingested(&studio, &file).await);
        // Every eighth of the 40 selects, in the order 0, 3, 6, 1, 4, 7, 2, 5.
        for number in (0..40_u64).filter(|select| select * 3 % 8 == number) {
            let flash = PERIOD * (1 + number % 3);
            let (first, frames) = (flash - 3 - number % 8, 15 + number % 9);
            let video_id = video_id.clone();
            parts.push((number, Part { rate, shape, video_id, first, frames, flash }));
        }
    }
    parts.sort_by_key(|(number, _)| *number);
    let parts: Vec<Part> = parts.into_iter().map(|(_, part)| part).collect();
    let select = |part: &Part| {
        let [start, end] =
            [part.first, part.first + part.frames].map(|frame| frame as f64 / part.rate);
        json!({"video_id": part.video_id, "start": start, "end": end})
    };
    let selects: Vec<Value> = parts.iter().map(select).collect();
    let path = bin(&studio, &selects).await;
    for (query, rate, nominal) in
        [("?max_side=144", "24000/1001", Some(24)), ("?max_side=144&frame_rate=25", "25/1", None)]
    {
        let file = string_out(&studio, &path, query).await;
        let footage = Footage::read(&file);
        let stated = ["-v", "error", "-select_streams", "v", "-show_entries"];
        let stated =
            [&stated[..], &["stream=r_frame_rate,avg_frame_rate", "-of", "csv=p=0"]].concat();
        let stated = String::from_utf8(read("ffprobe", &stated, &file, &[])).unwrap();
        assert_eq!(stated.trim(), format!("{rate},{rate}"));
        let output = fraction(rate);
        let nearest = |length: u64, source: f64| (length as f64 * output / source).round() as u64;
        let lengths: Vec<u64> = parts.iter().map(|part| nearest(part.frames, part.rate)).collect();
        if let Some(nominal) = nominal {
            assert_eq!(event_lengths(&studio, &path, nominal).await, lengths);
        }
        assert_eq!(footage.frames.len() as u64, lengths.iter().sum::<u64>());
        let samples = footage.frames.len() as f64 / output * SAMPLES;
        assert!((footage.samples.len() as f64 - samples).abs() <= 1024.0, "the sound is as long");
        let mut begin = 0;
        for (part, length) in parts.iter().zip(lengths) {
            assert_part(&footage, output, begin, length as usize, part);
            begin += length as usize;
        }
    }
}

/// A select of counted footage, which has one flash.
struct Part {
    rate: f64,
    shape: Shape,
    video_id: String,
    first: u64,
    frames: u64,
    /// The number of the frame that flashes.
    flash: u64,
}

/// Asserts that a select shows the right frames and beeps with its flash.
fn assert_part(footage: &Footage, output: f64, begin: usize, length: usize, part: &Part) {
    let Part { rate, shape, first, frames, flash, .. } = part;
    let what =
        format!("{frames} frames at {rate:.3} from {first}, at frame {begin} of {output:.3}");
    let tolerance = 0.41 * (rate / output).min(1.0);
    let numbers: Vec<u64> =
        (begin..begin + length).map(|frame| footage.number(frame, *shape)).collect();
    assert_eq!(numbers[0], *first, "{what}: {numbers:?}");
    for (frame, number) in numbers.iter().enumerate() {
        let source = *first as f64 + frame as f64 * rate / output;
        let number = *number as f64;
        assert!(number <= source + tolerance, "{what}: {numbers:?}");
        assert!(number + 1.0 >= source - 1e-6, "{what}: {numbers:?}");
    }
    let last = numbers[length - 1];
    if (rate - output).abs() < 1e-6 {
        assert_eq!(last, first + frames - 1, "{what}: {numbers:?}");
    }
    assert!(last < first + frames, "{what}: {numbers:?}");
    let start = begin as f64 / output;
    let beep = footage.beep(start, start + length as f64 / output).expect("a beep");
    let expected = start + (flash - first) as f64 / rate;
    assert!((beep - expected).abs() <= SYNC / 2.0, "{what}: beeps at {beep}, not {expected}");
    let shown = (begin..begin + length).find(|frame| footage.flashes(*frame, *shape));
    // A flash of one frame may be left out at a lower rate.
    if let Some(shown) = shown {
        let shown = shown as f64 / output;
        // A picture of another rate is shown up to a frame later.
        let late = if (rate - output).abs() < 1e-6 { 0.0 } else { 1.0 / output };
        assert!((shown - beep).abs() <= SYNC + late, "{what}: {shown} flashes, {beep} beeps");
    } else {
        assert!(*rate > output, "{what}: it has no flash");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_without_pictures_or_sound_and_of_other_sizes_are_joined() {
    let studio = Studio::open().await;
    let counted = make_counted(&studio, "25/1", "counted.mp4");
    let tone = "sine=frequency=440:duration=4,volume=4";
    let sound = studio.make(&["-f", "lavfi", "-i", tone, "tone.wav"]);
    let white = "color=white:s=48x96:r=25:d=4";
    let coded = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "tall.mp4"];
    let tall = studio.make(&[&["-f", "lavfi", "-i", white], &coded[..]].concat());
    let (counted, sound, tall) = (
        ingested(&studio, &counted).await,
        ingested(&studio, &sound).await,
        ingested(&studio, &tall).await,
    );
    let span = |id: &str, start: f64, end: f64| json!({"video_id": id, "start": start, "end": end});
    let selects = [span(&sound, 0.6, 1.6), span(&tall, 0.2, 1.0), span(&counted, 0.4, 1.2)];
    let path = bin(&studio, &selects).await;
    let footage = Footage::read(&string_out(&studio, &path, "").await);
    assert_eq!((footage.frames.len(), footage.size), (65, (144, 96)));
    for (frame, x, white) in [
        (0, 72, false),
        (24, 72, false),
        (25, 72, true),
        (44, 72, true),
        (30, 30, false),
        (30, 114, false),
    ] {
        let shown = footage.pixel(frame, x, 48);
        assert_eq!(shown > 200, white, "pixel {x} of frame {frame} is {shown}");
        assert!(white || shown < 24, "pixel {x} of frame {frame} is {shown}");
    }
    let numbers: Vec<u64> = (45..65).map(|frame| footage.number(frame, Shape::Times(1))).collect();
    assert_eq!(numbers, (10..30).collect::<Vec<u64>>());
    assert!(footage.peak(0.02, 0.98) > 0.3, "the sound is heard");
    assert!(footage.peak(1.03, 1.77) < 0.01, "a file without sound is silent");
    let beep = footage.beep(1.8, 2.6).expect("a beep");
    assert!((beep - (1.8 + 14.0 / 25.0)).abs() <= SYNC, "beeps at {beep}");

    let footage = Footage::read(&string_out(&studio, &path, "?handles=0.4&max_side=100").await);
    // The handles end at the ends of the videos: 0.2 s before the second select.
    assert_eq!(footage.frames.len(), 65 + 20 + 15 + 20);
    assert_eq!(footage.size, (100, 66));
    whole_and_partial_downloads_agree(&studio, &path).await;
}

/// The video is made once, and then served from the cache until one of its videos is deleted.
async fn whole_and_partial_downloads_agree(studio: &Studio, path: &str) {
    let uri = format!("{path}/string-out");
    let whole = studio.app.get(&uri).await;
    let request = studio.app.request(Method::GET, &uri).header("range", "bytes=4-7");
    let part = studio.app.raw(request.finish()).await;
    assert_eq!((part.status, &part.body[..]), (206, &b"ftyp"[..]));
    assert_eq!(part.header("etag"), whole.header("etag"), "it is made once");
    let head = studio.app.raw(studio.app.request(Method::HEAD, &uri).finish()).await;
    assert_eq!(head.header("content-length"), whole.body.len().to_string());
    let list = studio.app.get("/videos").await.ok();
    let silent = list["videos"].as_array().unwrap().iter().find(|v| v["filename"] == "tall.mp4");
    let id = silent.expect("the video")["video_id"].as_str().unwrap();
    studio.app.delete(&format!("/videos/{id}")).await.ok();
    mentions(&studio.app.get(&uri).await.error(400), &["s2 (tall.mp4)", "missing=omit"]);
    let footage = Footage::read(&string_out(studio, path, "?missing=omit").await);
    assert_eq!(footage.frames.len(), 45);
}

#[tokio::test(flavor = "multi_thread")]
async fn videos_that_are_too_large_are_refused() {
    let studio = Studio::with(|setup| setup.settings.bins.max_string_out_bytes = 2000).await;
    let id = ingested(&studio, &make_counted(&studio, "25/1", "counted.mp4")).await;
    let path = bin(&studio, &[json!({"video_id": id, "start": 0.0, "end": 3.0})]).await;
    let detail = studio.app.get(&format!("{path}/string-out")).await.error(413);
    mentions(&detail, &["2000 bytes", "bins.max_string_out_bytes", "max_side"]);
    assert_eq!(studio.app.spooled(), 1, "only the source is kept");
}
