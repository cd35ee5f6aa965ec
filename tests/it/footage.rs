//! Odd and broken files through the real decoder, from upload to storage. The clips are made with the
//! `ffmpeg` program, so that every machine has them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use adapters::decoder::{WorkerDecoder, WorkerOptions};
use domain::ingest::ScanSettings;
use serde_json::{Value, json};

use crate::support::{Setup, TestApp, mentions};

/// Ten frames a second of colour: two seconds of red, two of green, two of blue.
const SCENES: &str = "color=red:s=128x72:r=10:d=2[a];color=green:s=128x72:r=10:d=2[b];\
                      color=blue:s=128x72:r=10:d=2[c];[a][b][c]concat=n=3:v=1:a=0[v]";

/// Chunking options under which every cut is a boundary.
const BY_SHOT: &[(&str, &str)] = &[("preset", "video"), ("min_duration", "1")];

/// A service with the real decoder and a folder for clips.
pub struct Studio {
    pub app: TestApp,
    pub folder: tempfile::TempDir,
}

impl Studio {
    pub async fn open() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(adjust: impl FnOnce(&mut Setup)) -> Self {
        let app = TestApp::with(|setup| {
            let program = env!("CARGO_BIN_EXE_shotlog").into();
            let options = WorkerOptions { program, ..WorkerOptions::default() };
            setup.decoder = Arc::new(WorkerDecoder::new(options));
            setup.settings.decoder = ScanSettings::default();
            setup.settings.ingest.max_upload_bytes = 16 << 20;
            adjust(setup);
        })
        .await;
        Self { app, folder: tempfile::tempdir().expect("a folder") }
    }

    /// Runs ffmpeg with these arguments, of which the last names the clip that it writes.
    pub fn make(&self, arguments: &[&str]) -> PathBuf {
        let (name, options) = arguments.split_last().expect("a name");
        let path = self.folder.path().join(name);
        let output = Command::new("ffmpeg")
            .args(["-nostdin", "-v", "error", "-y"])
            .args(options)
            .arg(&path)
            .output()
            .expect("the ffmpeg program");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        path
    }

    pub async fn ingest(&self, path: &Path, fields: &[(&str, &str)]) -> Value {
        let bytes = std::fs::read(path).expect("the clip");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        self.app.job_of(fields, &name, &bytes).await
    }

    /// The boundaries between the chunks of a finished ingest.
    async fn boundaries(&self, job: &Value) -> Vec<f64> {
        assert_eq!(job["status"], "done", "{job}");
        let id = job["result"]["video_id"].as_str().unwrap();
        let page = self.app.get(&format!("/videos/{id}/chunks?limit=500")).await.ok();
        let chunks = page["chunks"].as_array().unwrap();
        chunks.iter().skip(1).map(|c| c["start"].as_f64().unwrap()).collect()
    }

    /// Asserts that the job failed because of the file, reported so, and left nothing behind.
    async fn assert_refused(&self, job: &Value) {
        assert_eq!(job["status"], "failed", "{job}");
        assert_eq!(job["stage"], "fetching", "{job}");
        assert!(job["error"].as_str().unwrap().starts_with("ValueError: "), "{job}");
        assert_eq!(self.app.get("/videos").await.ok()["total"], 0);
        assert_eq!(self.app.spooled(), 0);
        assert_eq!(self.app.stored(), 0);
    }
}

fn assert_near(actual: &[f64], expected: &[f64]) {
    let near = actual.len() == expected.len()
        && actual.iter().zip(expected).all(|(f, e)| (f - e).abs() <= 0.2);
    assert!(near, "boundaries {actual:?}, expected {expected:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn shots_become_chunks() {
    let studio = Studio::open().await;
    let clip = studio.make(&["-filter_complex", SCENES, "-map", "[v]", "shots.mp4"]);
    let job = studio.ingest(&clip, BY_SHOT).await;
    assert_near(&studio.boundaries(&job).await, &[2.0, 4.0]);
    assert!(!job["result"]["poster_url"].is_null(), "{job}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_not_videos_are_refused() {
    let studio = Studio::open().await;
    let random: Vec<u8> =
        (0..50_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (name, bytes) in [
        ("random.mp4", random.as_slice()),
        ("page.mp4", b"<!doctype html><title>Not a video</title>".as_slice()),
        ("list.mp4", b"#EXTM3U\n#EXTINF:9,\nhttp://127.0.0.1/a.ts\n".as_slice()),
        ("list.mp4", b"ffconcat version 1.0\nfile /etc/passwd\n".as_slice()),
        ("empty.mp4", b"".as_slice()),
    ] {
        let job = studio.app.job_of(&[], name, bytes).await;
        studio.assert_refused(&job).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_playlists_and_archives_are_refused_and_gifs_accepted() {
    let studio = Studio::open().await;
    for (name, format) in [("still.jpg", "JPEG"), ("still.png", "PNG"), ("still.bmp", "BMP")] {
        let still =
            studio.make(&["-f", "lavfi", "-i", "color=red:s=64x36", "-frames:v", "1", name]);
        let job = studio.ingest(&still, &[]).await;
        studio.assert_refused(&job).await;
        let words = [format, "is a picture", "not a video", "such as MP4"];
        mentions(job["error"].as_str().unwrap(), &words);
    }
    for (name, bytes, words) in [
        (
            "list.m3u8",
            b"#EXTM3U\n#EXTINF:9,\nhttp://a/b.ts\n".as_slice(),
            ["is a playlist (HLS)", "as one file", "-c copy video.mp4"],
        ),
        (
            "clip.mp4.gz",
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00",
            ["compressed with gzip", "unpack it", "the video itself"],
        ),
    ] {
        let job = studio.app.job_of(&[], name, bytes).await;
        studio.assert_refused(&job).await;
        mentions(job["error"].as_str().unwrap(), &words);
    }
    let gif = studio.make(&["-f", "lavfi", "-i", "testsrc=s=64x36:r=5:d=2", "moving.gif"]);
    let job = studio.ingest(&gif, &[]).await;
    assert_eq!(job["status"], "done", "{job}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_without_frames_is_refused() {
    let studio = Studio::open().await;
    let clip = studio.make(&["-filter_complex", SCENES, "-map", "[v]", "-t", "1", "whole.mp4"]);
    // Keep the header with the index, but not the media that it points to.
    let bytes = std::fs::read(clip).unwrap();
    let header = bytes.windows(4).position(|w| w == b"mdat").unwrap() - 4;
    let moov = bytes.windows(4).position(|w| w == b"moov").unwrap() - 4;
    let mut hollow = bytes[..header].to_vec();
    hollow.extend(&bytes[moov..]);
    let job = studio.app.job_of(&[], "hollow.mp4", &hollow).await;
    assert_eq!(job["status"], "failed", "{job}");
    assert!(job["error"].as_str().unwrap().starts_with("ValueError: "), "{job}");
    assert_eq!(studio.app.get("/videos").await.ok()["total"], 0);
    assert_eq!(studio.app.stored(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn audio_only_and_video_only_files_are_ingested() {
    let studio = Studio::open().await;
    let sound = studio.make(&["-f", "lavfi", "-i", "sine=440:d=12", "tone.wav"]);
    let job = studio.ingest(&sound, &[("preset", "audio")]).await;
    assert_eq!(job["status"], "done", "{job}");
    assert!(job["result"]["poster_url"].is_null(), "{job}");
    assert_eq!(job["result"]["chunks"], 1);

    let silent = studio.make(&["-filter_complex", SCENES, "-map", "[v]", "-an", "silent.mkv"]);
    for preset in ["audio", "video", "audio_video"] {
        let job = studio.ingest(&silent, &[("preset", preset), ("max_duration", "5")]).await;
        assert_eq!(job["status"], "done", "{job}");
        assert!((job["result"]["duration"].as_f64().unwrap() - 6.0).abs() < 0.2, "{job}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cuts_are_found_in_video_that_starts_after_its_audio() {
    let studio = Studio::open().await;
    let late = studio.make(&["-filter_complex", SCENES, "-map", "[v]", "plain.mkv"]);
    let late = late.to_string_lossy().into_owned();
    let clip = studio.make(&[
        "-f",
        "lavfi",
        "-i",
        "sine=300:d=7",
        "-itsoffset",
        "0.8",
        "-i",
        &late,
        "-map",
        "0:a",
        "-map",
        "1:v",
        "-c:v",
        "copy",
        "late.mkv",
    ]);
    let job = studio.ingest(&clip, BY_SHOT).await;
    let boundaries = studio.boundaries(&job).await;
    for cut in [2.8, 4.8] {
        assert!(boundaries.iter().any(|b| (b - cut).abs() <= 0.2), "{cut} in {boundaries:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_container_duration_is_ignored() {
    let studio = Studio::open().await;
    let clip = studio.make(&["-filter_complex", SCENES, "-map", "[v]", "true.mp4"]);
    let mut bytes = std::fs::read(clip).unwrap();
    // Multiply the durations in the movie, track and media headers and in the edit list by 100.
    for (kind, offset) in [(b"mvhd", 20), (b"tkhd", 24), (b"mdhd", 20), (b"elst", 12)] {
        let at = bytes.windows(4).position(|w| w == kind).unwrap() + offset;
        let duration = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        bytes[at..at + 4].copy_from_slice(&(duration * 100).to_be_bytes());
    }
    let job = studio.app.job_of(BY_SHOT, "lie.mp4", &bytes).await;
    assert_near(&studio.boundaries(&job).await, &[2.0, 4.0]);
    assert!(job["result"]["duration"].as_f64().unwrap() < 10.0, "{job}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timestamp_jump_adds_no_chunks() {
    let studio = Studio::open().await;
    let clip = studio.make(&["-filter_complex", SCENES, "-map", "[v]", "-c:v", "flv", "whole.flv"]);
    let mut bytes = std::fs::read(clip).unwrap();
    // Corrupt the upper byte of the last tag's timestamp.
    let end = bytes.len() - 4;
    let size = u32::from_be_bytes(bytes[end..].try_into().unwrap()) as usize;
    bytes[end - size + 4] ^= 0xb8;
    let job = studio.app.job_of(BY_SHOT, "jump.flv", &bytes).await;
    assert_near(&studio.boundaries(&job).await, &[2.0, 4.0]);
    assert!(job["result"]["duration"].as_f64().unwrap() < 7.0, "{job}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_file_is_analyzed_as_far_as_it_decodes() {
    let studio = Studio::open().await;
    let clip = studio.make(&[
        "-f",
        "lavfi",
        "-i",
        "testsrc2=s=320x180:r=10:d=6",
        "-g",
        "5",
        "-movflags",
        "+faststart",
        "cut.mp4",
    ]);
    let bytes = std::fs::read(clip).unwrap();
    let half = &bytes[..bytes.len() * 6 / 10];
    let job = studio.app.job_of(BY_SHOT, "cut.mp4", half).await;
    assert_eq!(job["status"], "done", "the decodable part is analyzed: {job}");
    let id = job["result"]["video_id"].as_str().unwrap();
    let page = studio.app.get(&format!("/videos/{id}/chunks")).await.ok();
    let end = page["chunks"].as_array().unwrap().last().unwrap()["end"].as_f64().unwrap();
    assert!(end < 5.9, "no chunk extends beyond the decoded part: {page}");
}

/// Duration of a stream in seconds, from ffprobe.
fn stream_seconds(path: &Path, stream: &str) -> f64 {
    let options = ["-v", "error", "-select_streams", stream, "-show_entries", "stream=duration"];
    let output = Command::new("ffprobe").args(options).args(["-of", "csv=p=0"]).arg(path).output();
    let output = String::from_utf8(output.expect("the ffprobe program").stdout).expect("text");
    output.trim().parse().unwrap_or_else(|_| panic!("{output:?} is not a number of seconds"))
}

/// Mean red, green and blue of a file's first frame.
fn first_colour(path: &Path) -> [u8; 3] {
    let output = Command::new("ffmpeg")
        .args(["-nostdin", "-v", "error", "-i"])
        .arg(path)
        .args(["-frames:v", "1", "-vf", "scale=1:1:flags=area", "-f", "rawvideo"])
        .args(["-pix_fmt", "rgb24", "-"])
        .output()
        .expect("the ffmpeg program");
    output.stdout.try_into().unwrap_or_else(|bytes| panic!("{bytes:?} is not one pixel"))
}

#[tokio::test]
async fn a_clip_starts_and_ends_at_the_requested_times() {
    let studio = Studio::open().await;
    // The only key frame is at 0; the sound starts with the blue scene.
    let video = studio.make(&[
        "-f",
        "lavfi",
        "-i",
        "sine=frequency=440:duration=6,volume='gte(t,4)':eval=frame",
        "-filter_complex",
        SCENES,
        "-map",
        "[v]",
        "-map",
        "0:a",
        "-c:v",
        "libx264",
        "-pix_fmt",
        "yuv420p",
        "-g",
        "600",
        "-sc_threshold",
        "0",
        "-c:a",
        "aac",
        "scenes.mp4",
    ]);
    let job = studio.ingest(&video, BY_SHOT).await;
    let id = job["result"]["video_id"].as_str().expect("an id").to_owned();
    let save = async |query: &str, name: &str| {
        let reply = studio.app.get(&format!("/videos/{id}/clip?{query}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.header("content-type"), "video/mp4");
        let path = studio.folder.path().join(name);
        std::fs::write(&path, &reply.body).expect("the clip");
        path
    };

    let exact = save("start=2.5&end=5.2", "exact.mp4").await;
    assert!((stream_seconds(&exact, "v") - 2.7).abs() <= 0.04, "{}", stream_seconds(&exact, "v"));
    assert!((stream_seconds(&exact, "a") - 2.7).abs() <= 0.04, "{}", stream_seconds(&exact, "a"));
    let [red, green, blue] = first_colour(&exact);
    assert!(green > 80 && red < 40 && blue < 40, "green at 2.5 s, not {red} {green} {blue}");

    // A clip from a key frame, or from the one before its start, is not re-encoded.
    for query in ["start=0&end=3", "start=2.5&end=3&exact=false"] {
        let copied = save(query, "copied.mp4").await;
        let seconds = stream_seconds(&copied, "v");
        assert!((seconds - 3.0).abs() <= 0.4, "{seconds}");
        let [red, green, blue] = first_colour(&copied);
        assert!(red > 200 && green < 40 && blue < 40, "red at 0 s, not {red} {green} {blue}");
    }

    let whole = format!("/videos/{id}/clip?start=0&end=3");
    let part = studio.app.request(poem::http::Method::GET, &whole).header("range", "bytes=4-7");
    let part = studio.app.raw(part.finish()).await;
    assert_eq!((part.status, &part.body[..]), (206, &b"ftyp"[..]));
    assert!(part.header("content-disposition").contains("scenes-0s-3s.mp4"));
    for (query, hint) in [
        ("start=3&end=3", "end after its start"),
        ("start=3&end=9", "within the video"),
        ("start=-1&end=2", "within the video"),
    ] {
        let detail = studio.app.get(&format!("/videos/{id}/clip?{query}")).await.error(400);
        mentions(&detail, &[hint]);
    }
}

/// Number of frames of a file's picture, from ffprobe.
fn frame_count(path: &Path) -> u64 {
    let output = Command::new("ffprobe")
        .args(["-v", "error", "-count_frames", "-select_streams", "v"])
        .args(["-show_entries", "stream=nb_read_frames", "-of", "csv=p=0"])
        .arg(path)
        .output();
    let output = String::from_utf8(output.expect("the ffprobe program").stdout).expect("text");
    output.trim().parse().unwrap_or_else(|_| panic!("{output:?} is not a number of frames"))
}

#[tokio::test]
async fn selects_of_a_bin_become_an_archive_of_clips() {
    let studio = Studio::open().await;
    let tone = "sine=frequency=440:duration=6";
    let source = "testsrc=s=320x180:d=6:r=25";
    let video = studio.make(&[
        "-f",
        "lavfi",
        "-i",
        source,
        "-f",
        "lavfi",
        "-i",
        tone,
        "-c:v",
        "libx264",
        "-pix_fmt",
        "yuv420p",
        "-g",
        "250",
        "-c:a",
        "aac",
        "count.mp4",
    ]);
    let job = studio.ingest(&video, BY_SHOT).await;
    let id = job["result"]["video_id"].as_str().expect("an id").to_owned();
    let bin = studio.app.post_json("/bins", json!({"name": "Best of"})).await.ok();
    let path = format!("/bins/{}", bin["bin_id"].as_str().expect("an id"));
    let span = |start: f64, end: f64| json!({"video_id": id, "start": start, "end": end});
    let selects = json!({"selects": [span(5.8, 6.0), span(0.5, 1.5), span(2.0, 2.2)]});
    studio.app.post_json(&format!("{path}/selects"), selects).await.ok();

    let reply = studio.app.get(&format!("{path}/clips")).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/zip"));
    assert!(reply.header("content-disposition").contains("\"Best_of.zip\""));
    let archive = studio.folder.path().join("clips.zip");
    std::fs::write(&archive, &reply.body).expect("the archive");
    let folder = studio.folder.path().join("clips");
    let python =
        Command::new("python3").args(["-m", "zipfile", "-e"]).args([&archive, &folder]).status();
    assert!(python.expect("Python").success(), "another program reads the archive");
    let mut frames = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the clips") {
        let file = entry.expect("a file").path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".mp4") {
            frames.push((name, frame_count(&file)));
        }
    }
    frames.sort();
    let counts: Vec<(&str, u64)> = frames
        .iter()
        .map(|(name, frames)| (name.split(' ').next().unwrap_or(""), *frames))
        .collect();
    assert_eq!(counts, [("001", 5), ("002", 25), ("003", 5)], "{frames:?}");
    let table = std::fs::read_to_string(folder.join("clips.csv")).expect("the table");
    mentions(
        &table,
        &["\r\n1,count 0:05.80,", "\r\n2,count 0:00.50,", ",13,38,25,0.520,1.520,1.000\r\n"],
    );
}

#[tokio::test]
async fn clips_are_cut_from_every_kind_of_file() {
    let studio = Studio::open().await;
    let tone = "sine=frequency=440:duration=6";
    let (mp3, vp9) = (["-c:a", "libmp3lame"], ["-c:v", "libvpx-vp9", "-deadline", "realtime"]);
    let opus = ["-cpu-used", "8", "-c:a", "libopus", "-vf", "scale=161:91"];
    let scenes = ["-f", "lavfi", "-i", tone, "-filter_complex", SCENES, "-map", "[v]"];
    let from_scenes = |rest: &[&'static str]| [&scenes[..], rest].concat();
    let full = ["-c:v", "libx264", "-pix_fmt", "yuv444p", "full.mkv"];
    for (arguments, kind, sound, picture) in [
        (from_scenes(&full), "video/mp4", false, true),
        (
            [&["-f", "lavfi", "-i", tone], &mp3[..], &["tone.mp3"]].concat(),
            "audio/mp4",
            true,
            false,
        ),
        (
            from_scenes(&["-map", "0:a", "-c:v", "mpeg4", "-c:a", "pcm_s16le", "old.avi"]),
            "video/mp4",
            true,
            true,
        ),
        (
            [
                &["-f", "lavfi", "-i", "testsrc=s=320x180:d=6:r=12", "-f", "lavfi", "-i", tone],
                &vp9[..],
                &opus[..],
                &["odd.webm"],
            ]
            .concat(),
            "video/mp4",
            true,
            true,
        ),
    ] {
        let video = studio.make(&arguments);
        let job = studio.ingest(&video, BY_SHOT).await;
        let id = job["result"]["video_id"].as_str().expect("an id").to_owned();
        let reply = studio.app.get(&format!("/videos/{id}/clip?start=2.5&end=4.25")).await;
        assert_eq!(reply.status, 200, "{video:?}: {}", reply.text());
        assert_eq!(reply.header("content-type"), kind);
        let path = studio.folder.path().join("clip.mp4");
        std::fs::write(&path, &reply.body).expect("the clip");
        for (stream, expected) in [("v", picture), ("a", sound)] {
            if expected {
                let seconds = stream_seconds(&path, stream);
                assert!((seconds - 1.75).abs() <= 0.09, "{video:?}: {stream} lasts {seconds}");
            }
        }
        // The last moment may end after the duration that the container states.
        let chunks = studio.app.get(&format!("/videos/{id}/chunks")).await.ok();
        let last = chunks["chunks"].as_array().and_then(|all| all.last()).expect("a chunk");
        let clip = format!("/videos/{id}/clip?start={}&end={}", last["start"], last["end"]);
        assert_eq!(studio.app.get(&clip).await.status, 200, "{video:?}: {last}");
    }
}

#[tokio::test]
async fn peaks_follow_the_loudness() {
    let studio = Studio::open().await;
    let sound = "sine=frequency=440:duration=4,volume='if(gte(t,2),4,0)':eval=frame";
    let picture = "color=red:s=128x72:r=10:d=4";
    let inputs = ["-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", sound];
    let codecs = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"];
    for (name, options) in [
        ("audio_video.mp4", [&inputs[..], &codecs].concat()),
        ("audio.m4a", [&inputs[4..], &codecs[4..]].concat()),
    ] {
        let video = studio.make(&[&options[..], &[name]].concat());
        let job = studio.ingest(&video, &[("mode", "interval"), ("interval", "1")]).await;
        let id = job["result"]["video_id"].as_str().unwrap_or_else(|| panic!("{job}")).to_owned();
        // The second request is served from the cache.
        for _ in 0..2 {
            let answer = studio.app.get(&format!("/videos/{id}/peaks?buckets=8")).await.ok();
            let peaks: Vec<f64> =
                answer["peaks"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
            assert!(peaks[..3].iter().all(|&peak| peak < 0.01), "{name}: {peaks:?}");
            // ffmpeg's sine has an amplitude of 1/8, here amplified four times.
            assert!(peaks[4..7].iter().all(|peak| (0.4..0.6).contains(peak)), "{name}: {peaks:?}");
        }
    }
    let silent = studio.make(&[&inputs[..4], &codecs[..4], &["video.mp4"]].concat());
    let job = studio.ingest(&silent, &[("mode", "interval"), ("interval", "1")]).await;
    let id = job["result"]["video_id"].as_str().unwrap_or_else(|| panic!("{job}"));
    let answer = studio.app.get(&format!("/videos/{id}/peaks")).await.ok();
    assert_eq!(answer["peaks"], serde_json::json!([]), "there is no sound");
}
