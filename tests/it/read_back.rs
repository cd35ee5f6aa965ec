//! Random selects of made and real files, exported in every format and read back by independent
//! programs.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::footage::Studio;
use crate::support::readers::read_with;
use crate::support::{Reply, mentions};

/// A kind of file: its rate, the timecode of its first frame, and whether the rate is variable.
type Kind = (&'static str, Option<&'static str>, bool);

/// The kinds of made files. The drop-frame timecodes skip numbers within the file.
const KINDS: [Kind; 16] = [
    ("24000/1001", Some("01:00:00:00"), false),
    ("24000/1001", None, false),
    ("25/1", Some("10:59:58:12"), false),
    ("25/1", None, false),
    ("30000/1001", Some("01:00:57;05"), false),
    ("30000/1001", Some("01:00:57:05"), false),
    ("30000/1001", None, false),
    ("50/1", Some("23:00:00:49"), false),
    ("50/1", None, false),
    ("60000/1001", Some("00:08:57;50"), false),
    ("60000/1001", Some("00:08:57:50"), false),
    ("60000/1001", None, false),
    ("30000/1001", Some("09:00:58;00"), true),
    ("30000/1001", None, true),
    ("25/1", Some("01:00:00:00"), true),
    ("25/1", None, true),
];

/// Number of selects per kind of file, so that there are more than 200.
const SELECTS: usize = 13;

/// Length of a made file, in seconds.
const SECONDS: u64 = 6;

/// A file whose frames are selected.
struct Source {
    video_id: String,
    /// Frames per second, as a numerator and a denominator.
    rate: (u64, u64),
    /// Number of the first frame, counted from timecode 0.
    first: u64,
    frames: u64,
    is_variable: bool,
}

/// The frames from `start` to `end` of a source.
struct Cut<'s> {
    source: &'s Source,
    start: u64,
    end: u64,
}

impl Source {
    fn seconds(&self, frame: u64) -> f64 {
        (frame * self.rate.1) as f64 / self.rate.0 as f64
    }

    fn rate(&self) -> String {
        format!("{}/{}", self.rate.0, self.rate.1)
    }

    fn cut(&self, random: &mut Rng) -> Cut<'_> {
        let start = random.u64(..self.frames - 1);
        Cut { source: self, start, end: random.u64(start + 1..=self.frames) }
    }
}

fn parse_rate(text: &str) -> (u64, u64) {
    let (numerator, denominator) = text.split_once('/').expect("a fraction");
    (numerator.parse().unwrap(), denominator.parse().unwrap())
}

/// The number of a frame, counted from timecode 0 (SMPTE ST 12-1).
fn frame_number(timecode: &str, rate: (u64, u64)) -> u64 {
    let fields: Vec<u64> = timecode.split([':', ';']).map(|field| field.parse().unwrap()).collect();
    let nominal = rate.0.div_ceil(rate.1);
    let minutes = fields[0] * 60 + fields[1];
    let counted = (minutes * 60 + fields[2]) * nominal + fields[3];
    let dropped = if timecode.contains(';') { nominal / 15 } else { 0 };
    counted - dropped * (minutes - minutes / 10)
}

fn make(studio: &Studio, number: usize, (rate, timecode, is_variable): Kind) -> PathBuf {
    // Every second half second has only a third of its frames.
    let dropped = "select='lt(mod(n,30),15)+not(mod(n,3))'";
    let picture = format!("testsrc2=s=96x64:r={rate}:d={SECONDS}");
    let picture = if is_variable { format!("{picture},{dropped}") } else { picture };
    let tone = format!("sine=frequency={}:duration={SECONDS}", 200 + 20 * number);
    let mut options = ["-f", "lavfi", "-i", &picture, "-f", "lavfi", "-i", &tone].to_vec();
    options.extend(["-fps_mode", "vfr", "-c:v", "libx264", "-preset", "ultrafast"]);
    options.extend(["-pix_fmt", "yuv420p", "-c:a", "aac"]);
    options.extend(timecode.into_iter().flat_map(|timecode| ["-timecode", timecode]));
    let container = if number.is_multiple_of(2) { "mov" } else { "mp4" };
    let name = format!("made_{number}.{container}");
    options.push(&name);
    studio.make(&options)
}

async fn ingest(studio: &Studio, file: &Path) -> String {
    let job = studio.ingest(file, &[("mode", "interval"), ("interval", "600")]).await;
    job["result"]["video_id"].as_str().unwrap_or_else(|| panic!("{job}")).to_owned()
}

async fn made_source(studio: &Studio, number: usize) -> Source {
    let kind = KINDS[number];
    let file = make(studio, number, kind);
    let video_id = ingest(studio, &file).await;
    let rate = parse_rate(kind.0);
    let first = kind.1.map_or(0, |timecode| frame_number(timecode, rate));
    // The frames at the end may have been left out of a file of variable rate.
    let frames = SECONDS * rate.0 / rate.1 - if kind.2 { 3 } else { 0 };
    Source { video_id, rate, first, frames, is_variable: kind.2 }
}

async fn bin_of(studio: &Studio, name: &str, cuts: &[Cut<'_>]) -> String {
    let bin = studio.app.post_json("/bins", json!({"name": name})).await.ok();
    let path = format!("/bins/{}", bin["bin_id"].as_str().expect("an id"));
    let select = |cut: &Cut<'_>| {
        let [start, end] = [cut.start, cut.end].map(|frame| cut.source.seconds(frame));
        json!({"video_id": cut.source.video_id, "start": start, "end": end})
    };
    for cuts in cuts.chunks(50) {
        let selects: Vec<Value> = cuts.iter().map(select).collect();
        studio.app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await.ok();
    }
    path
}

async fn export(studio: &Studio, path: &str, format: &str) -> Reply {
    let reply = studio.app.get(&format!("{path}/export?format={format}")).await;
    assert_eq!(reply.status, 200, "{format}: {}", reply.text());
    reply
}

/// Exports a bin and reads it. Without a rate, the Python client converts OTIO to AAF, which is read.
/// Returns `None` if the reader is not installed.
async fn read(studio: &Studio, path: &str, format: &str, name: &str, rate: &str) -> Option<Value> {
    let reply = export(studio, path, format).await;
    let file = studio.folder.path().join(name);
    std::fs::write(&file, &reply.body).expect("a file");
    match format {
        "otio" if rate.is_empty() => read_with("aaf.py", &file, &[]),
        "srt" | "vtt" | "quotes.md" | "clips.md" => read_with("captions.py", &file, &[]),
        "quotes.docx" => read_with("document.py", &file, &[]),
        _ => read_with("sequence.py", &file, &[rate]),
    }
}

/// First frame, number of frames and first frame in the sequence of each clip, if the sequence has
/// the rate of all clips.
fn placed(cuts: &[Cut<'_>]) -> Vec<[u64; 3]> {
    let mut record = 0;
    let place = |cut: &Cut<'_>| {
        let length = cut.end - cut.start;
        record += length;
        [cut.source.first + cut.start, length, record - length]
    };
    cuts.iter().map(place).collect()
}

async fn made_sources(studio: &Studio, kinds: Range<usize>) -> Vec<Source> {
    let mut sources = Vec::new();
    for number in kinds {
        sources.push(made_source(studio, number).await);
    }
    sources
}

#[tokio::test(flavor = "multi_thread")]
async fn selects_at_24_and_25_frames_are_read_back_frame_by_frame() {
    selects_are_read_back(0..4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn selects_at_30_frames_are_read_back_frame_by_frame() {
    selects_are_read_back(4..7).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn selects_at_50_and_60_frames_are_read_back_frame_by_frame() {
    selects_are_read_back(7..12).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn selects_at_variable_rates_are_read_back_frame_by_frame() {
    selects_are_read_back(12..16).await;
}

/// Checks bins with selects of one kind of file each.
async fn selects_are_read_back(kinds: Range<usize>) {
    let (studio, mut random) = (Studio::open().await, Rng::with_seed(7 + kinds.start as u64));
    let sources = made_sources(&studio, kinds.clone()).await;
    for (source, kind) in sources.iter().zip(KINDS[kinds].iter().copied()) {
        let cuts: Vec<Cut<'_>> = (0..SELECTS).map(|_| source.cut(&mut random)).collect();
        let path = bin_of(&studio, "one kind", &cuts).await;
        let (expected, rate) = (placed(&cuts), source.rate());
        for (format, name) in [
            ("edl", "one.edl"),
            ("otio", "one.otio"),
            ("fcpxml", "one.fcpxml"),
            ("xmeml", "one.xml"),
            ("clips.csv", "one.csv"),
        ] {
            let Some(clips) = read(&studio, &path, format, name, &rate).await else { return };
            assert_eq!(clips, json!(expected), "{format} {kind:?}");
        }
        let markers: Vec<[u64; 3]> = expected.iter().map(|[_, _, at]| [*at, 1, *at]).collect();
        let read = read(&studio, &path, "markers.edl", "markers.edl", &rate).await;
        assert_eq!(read, Some(json!(markers)), "{kind:?}");
        if let Some(clips) = self::read(&studio, &path, "otio", "aaf.otio", "").await {
            let is_drop_frame = kind.1.is_some_and(|timecode| timecode.contains(';'));
            let avid = |[first, frames, at]: &[u64; 3]| json!([first, frames, at, is_drop_frame]);
            assert_eq!(clips, expected.iter().map(avid).collect::<Value>(), "AAF {kind:?}");
        }
        clips_have_the_frames_of_their_selects(&studio, &path, &cuts, kind).await;
    }
}

/// Number of frames and duration in seconds of the video of a file.
fn video_length(file: &Path) -> (u64, f64) {
    let output = Command::new("ffprobe")
        .args(["-v", "error", "-count_packets", "-select_streams", "v"])
        .args(["-show_entries", "stream=nb_read_packets,duration", "-of", "json"])
        .arg(file)
        .output();
    let probe: Value = serde_json::from_slice(&output.expect("ffprobe").stdout).expect("JSON");
    let stream = &probe["streams"][0];
    let text = |field: &str| stream[field].as_str().unwrap_or_else(|| panic!("{probe}"));
    (text("nb_read_packets").parse().unwrap(), text("duration").parse().unwrap())
}

/// Checks the archive of clips and its table. Files of variable rate have as many frames as were
/// left in them, so only their durations are known.
async fn clips_have_the_frames_of_their_selects(
    studio: &Studio,
    path: &str,
    cuts: &[Cut<'_>],
    kind: Kind,
) {
    let reply = studio.app.get(&format!("{path}/clips")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let (archive, folder) =
        (studio.folder.path().join("clips.zip"), studio.folder.path().join("clips"));
    std::fs::write(&archive, &reply.body).expect("the archive");
    let _ = std::fs::remove_dir_all(&folder);
    let unpacked =
        Command::new("python3").args(["-m", "zipfile", "-e"]).args([&archive, &folder]).status();
    assert!(unpacked.expect("Python").success(), "another program reads the archive");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the clips")
        .map(|entry| entry.expect("a file").path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "mp4"))
        .collect();
    files.sort();
    assert_eq!(files.len(), cuts.len());
    for (file, cut) in files.iter().zip(cuts) {
        let (frames, seconds) = video_length(file);
        let (length, what) = (cut.end - cut.start, format!("{kind:?} {}-{}", cut.start, cut.end));
        let expected = cut.source.seconds(length);
        assert!((seconds - expected).abs() < cut.source.seconds(1) / 2.0, "{what}: {seconds} s");
        if !cut.source.is_variable {
            assert_eq!(frames, length, "{what}");
        }
    }
    let table = folder.join("clips.csv");
    let table = read_with("sequence.py", &table, &[&cuts[0].source.rate()]);
    assert!(table.is_none_or(|table| table == json!(placed(cuts))), "{kind:?}");
}

/// The rate of most selects, and the first of several such rates.
fn most_frequent_rate(cuts: &[Cut<'_>]) -> (u64, u64) {
    let count = |rate: (u64, u64)| cuts.iter().filter(|cut| cut.source.rate == rate).count();
    let rates = || cuts.iter().map(|cut| cut.source.rate);
    let most = rates().map(count).max().expect("selects");
    rates().find(|rate| count(*rate) == most).expect("a rate")
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_selects_of_all_kinds_are_read_back() {
    let (studio, mut random) = (Studio::open().await, Rng::with_seed(9));
    let sources = made_sources(&studio, 0..KINDS.len()).await;
    let mut cut = || sources[random.usize(..sources.len())].cut(&mut random);
    let cuts: Vec<Cut<'_>> = (0..200).map(|_| cut()).collect();
    let path = bin_of(&studio, "mixed", &cuts).await;
    let rate = most_frequent_rate(&cuts);
    let rate_text = format!("{}/{}", rate.0, rate.1);
    let expected: Vec<[u64; 2]> =
        cuts.iter().map(|cut| [cut.source.first + cut.start, cut.end - cut.start]).collect();
    let mut record = 0;
    let ends = cuts.iter().map(|cut| {
        let own = cut.source.rate;
        let (numerator, denominator) = ((cut.end - cut.start) * own.1 * rate.0, own.0 * rate.1);
        let length = ((2 * numerator + denominator) / (2 * denominator)).max(1);
        record += length;
        [length, record - length]
    });
    let ends: Vec<[u64; 2]> = ends.collect();
    if let Some(refused) = read(&studio, &path, "otio", "aaf.otio", "").await {
        mentions(refused.as_str().expect("an error"), &["25/1, 30000/1001", "one"]);
    }
    for (format, name) in
        [("otio", "mixed.otio"), ("xmeml", "mixed.xml"), ("fcpxml", "mixed.fcpxml")]
    {
        let Some(clips) = read(&studio, &path, format, name, &rate_text).await else { return };
        let clips = clips.as_array().expect("clips");
        assert_eq!(clips.len(), cuts.len());
        for ((clip, expected), placed) in clips.iter().zip(&expected).zip(&ends) {
            assert_eq!(clip[0], expected[0], "{format}");
            // This format has lengths only in frames of the sequence.
            let length = if format == "fcpxml" { placed[0] } else { expected[1] };
            assert_eq!(clip[1], length, "{format}");
            // OTIO has no rounded places in the sequence.
            assert!(format == "otio" || clip[2] == placed[1], "{format}: {clip} {placed:?}");
        }
    }
}

/// What is said in second `number` of a file.
fn said(number: u64) -> String {
    format!("Sentence {number}: it's 100% \u{fc}ber 日本 \"A & B\" {{x}} C:\\d * _e_ #1.")
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_selects_is_read_back_word_by_word() {
    let (studio, mut random) = (Studio::open().await, Rng::with_seed(8));
    let mut sources = Vec::new();
    for number in [0, 4, 8, 12] {
        let source = made_source(&studio, number).await;
        let turn = |second: u64| {
            let [start, end] = [second as f64 + 0.25, second as f64 + 0.75];
            json!({"speaker": "Anna", "start": start, "end": end, "text": said(second)})
        };
        let turns: Vec<Value> = (0..SECONDS).map(turn).collect();
        let outputs = json!([{"turns": turns, "speakers": ["Anna"]}]);
        studio.app.plant_output(&source.video_id, "diarization", outputs).await;
        sources.push(source);
    }
    // Selects of whole seconds have whole sentences.
    let mut spans = Vec::new();
    for _ in 0..200 {
        let start = random.u64(..SECONDS - 1);
        spans.push((random.usize(..sources.len()), start, random.u64(start + 1..SECONDS)));
    }
    let frame = |source: &Source, second: u64| (second * source.rate.0).div_ceil(source.rate.1);
    let cut = |&(source, start, end): &(usize, u64, u64)| {
        let source: &Source = &sources[source];
        Cut { source, start: frame(source, start), end: frame(source, end) }
    };
    let cuts: Vec<Cut<'_>> = spans.iter().map(cut).collect();
    let path = bin_of(&studio, "Quotes", &cuts).await;
    let sentences: Vec<Vec<String>> =
        spans.iter().map(|(_, start, end)| (*start..*end).map(said).collect()).collect();
    let spoken: Vec<String> = sentences.iter().map(|sentences| sentences.join(" ")).collect();
    for (format, name) in [("quotes.docx", "quotes.docx"), ("quotes.md", "quotes.md")] {
        let Some(read) = read(&studio, &path, format, name, "").await else { return };
        let text = |paragraph: &Value| {
            let text = if format == "quotes.md" { paragraph } else { &paragraph[1] };
            text.as_str().expect("text").to_owned()
        };
        let paragraphs: Vec<String> = read.as_array().unwrap().iter().map(text).collect();
        let said: Vec<&String> =
            paragraphs.iter().filter(|text| text.starts_with("Sentence")).collect();
        assert_eq!(said, spoken.iter().collect::<Vec<_>>(), "{format}");
    }
    for format in ["srt", "vtt"] {
        let captions = read(&studio, &path, format, &format!("captions.{format}"), "").await;
        captions_are_those_of_the_selects(&captions.expect("captions"), &sentences);
    }
    let table = export(&studio, &path, "clips.csv").await.text();
    for sentences in &sentences {
        let cell = format!("\"Anna: {}\"", sentences.join(" Anna: ").replace('"', "\"\""));
        assert!(table.contains(&cell), "{cell}");
    }
}

/// A sentence may be split into several captions.
fn captions_are_those_of_the_selects(captions: &Value, sentences: &[Vec<String>]) {
    let captions = captions.as_array().expect("captions");
    let texts: Vec<&str> = captions.iter().map(|caption| caption[2].as_str().unwrap()).collect();
    assert_eq!(texts.join(" "), sentences.concat().join(" "));
    let time = |caption: &Value, index: usize| caption[index].as_f64().expect("a time");
    for pair in captions.windows(2) {
        assert!(time(&pair[0], 1) <= time(&pair[1], 0) + 0.0015, "{pair:?} do not overlap");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn selects_of_real_files_are_read_back_frame_by_frame() {
    let Some(folder) = std::env::var_os("SHOTLOG_MEDIA").map(PathBuf::from) else {
        println!("skipped: SHOTLOG_MEDIA names no folder of footage");
        return;
    };
    let studio = Studio::with(|setup| setup.settings.bins.max_clips = 300).await;
    let mut random = Rng::with_seed(9);
    for name in
        ["googlework_short.mp4", "ForBiggerEscapes.mp4", "skv_bikes.mp4", "mmaction_demo.mp4"]
    {
        let file = folder.join(name);
        if !file.exists() {
            println!("skipped: there is no {name}");
            continue;
        }
        let video_id = ingest(&studio, &file).await;
        let probe = Command::new("ffprobe")
            .args(["-v", "error", "-select_streams", "v:0", "-count_packets"])
            .args(["-show_entries", "stream=avg_frame_rate,nb_read_packets", "-of", "csv=p=0"])
            .arg(&file)
            .output();
        let probe = String::from_utf8(probe.expect("ffprobe").stdout).expect("text");
        let (rate, frames) = probe.lines().next().and_then(|line| line.split_once(',')).unwrap();
        let (rate, frames) = (parse_rate(rate), frames.trim_end_matches(',').parse().unwrap());
        let source = Source { video_id, rate, first: 0, frames, is_variable: false };
        let cuts: Vec<Cut<'_>> = (0..50).map(|_| source.cut(&mut random)).collect();
        let path = bin_of(&studio, "real", &cuts).await;
        // Edit lists exist only for the rates of film and television.
        let has_timecode = ["30000/1001", "25/1"].contains(&source.rate().as_str());
        for (format, name) in [
            ("otio", "real.otio"),
            ("fcpxml", "real.fcpxml"),
            ("xmeml", "real.xml"),
            ("edl", "real.edl"),
            ("clips.csv", "real.csv"),
        ] {
            if has_timecode || !["edl", "clips.csv"].contains(&format) {
                let Some(clips) = read(&studio, &path, format, name, &source.rate()).await else {
                    return;
                };
                assert_eq!(clips, json!(placed(&cuts)), "{format} {name}");
            }
        }
    }
}

/// Speech and selects as a project for qualitative data analysis.
#[tokio::test(flavor = "multi_thread")]
async fn projects_of_data_analysis_have_transcripts_and_coded_selections() {
    let studio = Studio::open().await;
    let source = made_source(&studio, 2).await;
    let path = format!("/videos/{}", source.video_id);
    let detail = studio.app.get(&format!("{path}/export?format=qdpx")).await.error(400);
    mentions(&detail, &["no recognised speech to export as qdpx"]);
    let turn = |second: u64| {
        let [start, end] = [second as f64 + 0.25, second as f64 + 0.75];
        json!({"speaker": "Zo\u{eb} <1>", "start": start, "end": end, "text": said(second)})
    };
    let outputs = json!([{"turns": [turn(1), turn(3)], "speakers": ["Zo\u{eb} <1>"]}]);
    studio.app.plant_output(&source.video_id, "diarization", outputs).await;
    let line =
        |second: u64| json!([second * 1000 + 250, format!("Zo\u{eb} <1>: {}", said(second))]);
    let address = "relative:///made_2.mov";
    let read = |reply: &Reply| {
        assert_eq!(reply.header("content-type"), "application/zip");
        assert!(reply.header("content-disposition").contains(".qdpx"));
        let file = studio.folder.path().join("project.qdpx");
        std::fs::write(&file, &reply.body).expect("a file");
        read_with("qda.py", &file, &[])
    };
    let video = export(&studio, &path, "qdpx").await;
    let Some(sources) = read(&video) else { return };
    assert_eq!(sources, json!([["made_2.mov", address, [line(1), line(3)], []]]));
    let part = studio.app.get(&format!("{path}/export?format=qdpx&start=2&end=4")).await;
    assert_eq!(read(&part), Some(json!([["made_2.mov", address, [line(3)], []]])));

    let cuts =
        [(50, 60), (75, 125), (70, 100)].map(|(start, end)| Cut { source: &source, start, end });
    let bin = bin_of(&studio, "Coded & \"quoted\"", &cuts).await;
    for (select, tags) in
        [("s2", json!(["b-roll", "r\u{e9}sum\u{e9} <x>"])), ("s3", json!(["b-roll"]))]
    {
        let patch = json!({"tags": tags, "note": "why & how"});
        studio.app.patch_json(&format!("{bin}/selects/{select}"), patch).await.ok();
    }
    let sources = read(&export(&studio, &bin, "qdpx").await).expect("the reader is installed");
    let selections = json!([
        [2000, 2400, "made_2 0:02.00", []],
        [3000, 5000, "made_2 0:03.00", ["b-roll", "r\u{e9}sum\u{e9} <x>"]],
        [2800, 4000, "made_2 0:02.80", ["b-roll"]],
    ]);
    assert_eq!(sources, json!([["made_2.mov", address, [line(3)], selections]]));
}
