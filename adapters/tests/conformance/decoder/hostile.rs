//! Tests that check the cost, the duration and the error messages of hostile and malformed files in
//! the sandboxed decoder.

use std::path::{Path, PathBuf};

use adapters::decoder::{WorkerDecoder, WorkerOptions};
use ports::ErrorKind;
use ports::decoder::{
    AudioBlock, SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink, ScanSummary, VideoDecoder,
    VideoDecoderExt,
};
use shotlog_adapters as adapters;

use super::ffmpeg::{Studio, confined, decoder};

const SIZE: ScanOptions = ScanOptions { width: 48, height: 27, exact: false, audio_track: None };

/// The frame times and the number of audio samples.
#[derive(Default)]
struct ScanOutput {
    times: Vec<f64>,
    samples: usize,
}

impl ScanSink for ScanOutput {
    fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
        self.times.push(frame.time);
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        self.samples += block.samples.len();
        Ok(())
    }
}

fn scanned(file: &Path) -> (ScanOutput, ScanSummary) {
    let mut output = ScanOutput::default();
    let summary = decoder().scan(file, &SIZE, &mut output).unwrap();
    (output, summary)
}

#[track_caller]
fn refused(decoder: &WorkerDecoder, file: &Path, words: &[&str]) {
    for error in [
        decoder.probe(file).map(drop).unwrap_err(),
        decoder.scan(file, &SIZE, &mut ScanOutput::default()).map(drop).unwrap_err(),
        decoder.frames(file, &[0.0], 64).map(drop).unwrap_err(),
    ] {
        let text = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} in: {text}");
    }
}

impl Studio {
    /// Writes a modified copy of a clip.
    fn changed(&self, name: &str, clip: &Path, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
        let mut bytes = std::fs::read(clip).unwrap();
        change(&mut bytes);
        let file = self.path(name);
        std::fs::write(&file, bytes).unwrap();
        file
    }
}

fn place_of(bytes: &[u8], mark: &[u8]) -> usize {
    bytes.windows(mark.len()).position(|w| w == mark).unwrap()
}

fn boxed(kind: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    [&(body.len() as u32 + 8).to_be_bytes(), kind.as_slice(), &body].concat()
}

/// Returns an MP4 file of a few hundred bytes whose only track claims the maximum number of
/// samples.
fn claimed_samples() -> Vec<u8> {
    let number = |n: u32| n.to_be_bytes();
    let max_seconds = number(0x7fff_ffff);
    let entry = boxed(b"mp4v", &[&[0; 7], &[1], &[0; 16], &[0, 160, 0, 90], &[0; 50]]);
    let table = boxed(
        b"stbl",
        &[
            &boxed(b"stsd", &[&[0; 4], &number(1), &entry]),
            &boxed(b"stts", &[&[0; 4], &number(1), &max_seconds, &number(1)]),
            &boxed(b"stsc", &[&[0; 4], &number(1), &number(1), &max_seconds, &number(1)]),
            &boxed(b"stsz", &[&[0; 4], &number(1), &max_seconds]),
            &boxed(b"stco", &[&[0; 4], &number(1), &number(48)]),
        ],
    );
    let header = boxed(b"mdhd", &[&[0; 12], &number(1000), &number(3000), &[0x55, 0xc4, 0, 0]]);
    let handler = boxed(b"hdlr", &[&[0; 8], b"vide", &[0; 13]]);
    let media = boxed(b"mdia", &[&header, &handler, &boxed(b"minf", &[&table])]);
    let moov = boxed(b"moov", &[&boxed(b"trak", &[&media])]);
    [boxed(b"ftyp", &[b"isom", &[0; 4], b"isom"]), boxed(b"mdat", &[&[0; 64]]), moov].concat()
}

#[test]
fn memory_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = folder.path().join("bomb.mp4");
    std::fs::write(&bomb, claimed_samples()).unwrap();
    let small = confined(WorkerOptions { memory: 256 << 20, ..WorkerOptions::default() });
    let error = small.scan(&bomb, &SIZE, &mut ScanOutput::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().len() > 20, "{error}");
    // If a file exceeds the memory limit, the error names the limit.
    let Some(studio) = Studio::open() else { return };
    let file =
        studio.make("large.mkv", "-f lavfi -i testsrc2=s=3840x2160:r=5:d=1 -c:v ffv1").unwrap();
    let tiny = confined(WorkerOptions { memory: 8 << 20, ..WorkerOptions::default() });
    let error = tiny.scan(&file, &SIZE, &mut ScanOutput::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("decoder.memory"), "{error}");
    assert_eq!(scanned(&file).1.frames, 5);
}

#[test]
fn cpu_time_is_limited() {
    let Some(studio) = Studio::open() else { return };
    let file =
        studio.make("busy.mkv", "-f lavfi -i testsrc2=s=1920x1080:r=25:d=12 -c:v ffv1").unwrap();
    let hasty = confined(WorkerOptions {
        cpu_time: std::time::Duration::ZERO,
        cpu_time_per_second: std::time::Duration::ZERO,
        ..WorkerOptions::default()
    });
    let large = ScanOptions { width: 1920, height: 1080, exact: true, audio_track: None };
    let error = hasty.scan(&file, &large, &mut ScanOutput::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("decoder.cpu_time"), "{error}");
}

/// Inspects the decoder process while it sends frames.
#[derive(Default)]
struct ProcessInspector {
    status: String,
    limits: String,
}

impl ScanSink for ProcessInspector {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        if self.status.is_empty() {
            let children = std::fs::read_to_string("/proc/thread-self/children")?;
            let process = Path::new("/proc").join(children.trim());
            self.status = std::fs::read_to_string(process.join("status"))?;
            self.limits = std::fs::read_to_string(process.join("limits"))?;
        }
        Ok(())
    }

    fn audio(&mut self, _: AudioBlock<'_>) -> ports::Result<()> {
        Ok(())
    }
}

#[test]
#[cfg(target_os = "linux")]
fn worker_is_sandboxed_before_decoding() {
    let Some(studio) = Studio::open() else { return };
    if !Path::new("/proc/thread-self/children").exists() {
        println!("skipped: this kernel does not list the children of a thread");
        return;
    }
    // The frames do not all fit into the pipe, so the process is still running when its first frame
    // arrives.
    let arguments = "-f lavfi -i testsrc2=s=64x36:r=25:d=60 -c:v mpeg4";
    let file = studio.make("long.mp4", arguments).unwrap();
    let mut inspector = ProcessInspector::default();
    decoder()
        .scan(
            &file,
            &ScanOptions { width: 160, height: 90, exact: true, audio_track: None },
            &mut inspector,
        )
        .unwrap();
    let missing = adapters::decoder::missing_protection();
    let seccomp = if missing.contains(&"seccomp") { "Seccomp:\t0" } else { "Seccomp:\t2" };
    for line in [seccomp, "NoNewPrivs:\t1"] {
        assert!(inspector.status.contains(line), "{line} in {}", inspector.status);
    }
    let limit = |name: &str| {
        let line = inspector.limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().to_owned()
    };
    for none in ["Max file size", "Max core file size", "Max open files"] {
        assert_eq!(limit(none), "0", "{none}");
    }
    let memory: u64 = limit("Max address space").parse().unwrap();
    assert!((1 << 30..2 << 30).contains(&memory), "{memory}");
    assert_ne!(limit("Max cpu time"), "unlimited");
}

#[test]
fn worker_crash_is_an_error_of_the_file() {
    let Some(studio) = Studio::open() else { return };
    let file = studio.both("whole.mp4", "-c:v libx264 -c:a aac").unwrap();
    let program = |program: &str| {
        WorkerDecoder::new(WorkerOptions { program: program.into(), ..WorkerOptions::default() })
    };
    refused(&program("/bin/true"), &file, &["ended without an answer"]);
    // This program copies its input to its output, which is not a valid message.
    let loud = studio.path("loud.sh");
    std::fs::write(&loud, "#!/bin/sh\nexec cat\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&loud, mode).unwrap();
    refused(&program(loud.to_str().unwrap()), &file, &["write an invalid message"]);
    let error = program("/does/not/exist").probe(&file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

#[test]
fn unlisted_containers_and_codecs_are_named() {
    let Some(studio) = Studio::open() else { return };
    let file = studio.both("plain.mkv", "-c:v ffv1 -c:a flac").unwrap();
    let with = |change: fn(&mut WorkerOptions)| {
        let mut options = WorkerOptions::default();
        change(&mut options);
        confined(options)
    };
    let only_mov = with(|o| o.ffmpeg.containers = vec!["mov".into()]);
    refused(&only_mov, &file, &["'matroska,webm'", "decoder.containers", "mov"]);
    let no_ffv1 = with(|o| o.ffmpeg.codecs.retain(|codec| codec != "ffv1"));
    refused(&no_ffv1, &file, &["pictures", "'ffv1'", "decoder.codecs", "h264"]);
    let no_flac = with(|o| o.ffmpeg.codecs.retain(|codec| codec != "flac"));
    refused(&no_flac, &file, &["sound", "'flac'"]);
    let list = studio.path("list.mp4");
    std::fs::write(&list, "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\na.ts\n").unwrap();
    refused(&decoder(), &list, &["playlist (HLS)", "send the video as one file"]);
}

#[test]
fn absurd_sample_rate_is_rejected() {
    let Some(studio) = Studio::open() else { return };
    let whole = studio.make("whole.wav", "-f lavfi -i {sound} -c:a pcm_s16le").unwrap();
    let slow = studio.changed("slow.wav", &whole, |bytes| {
        let rate = place_of(bytes, b"fmt ") + 12;
        bytes[rate..rate + 4].copy_from_slice(&1u32.to_le_bytes());
    });
    refused(&decoder(), &slow, &["1 samples per second", "4,000 to 384,000"]);
}

#[test]
fn timestamp_jump_does_not_extend_the_video() {
    let Some(studio) = Studio::open() else { return };
    // Changes the upper byte of the timestamp in the last tag of a Flash video.
    let whole = studio.both("whole.flv", "-c:v flv -q:v 5 -c:a pcm_s16le").unwrap();
    let flash = studio.changed("jump.flv", &whole, |bytes| {
        let end = bytes.len() - 4;
        let size = u32::from_be_bytes(bytes[end..].try_into().unwrap()) as usize;
        bytes[end - size + 4] ^= 0xb8;
    });
    // Changes the timestamp of a cluster in a Matroska file.
    let coding = "-f lavfi -i {picture} -c:v mpeg4 -g 5 -cluster_time_limit 400";
    let whole = studio.make("whole.mkv", coding).unwrap();
    let cluster = |bytes: &[u8], nth: usize| {
        let id = [0x1f, 0x43, 0xb6, 0x75];
        let mut places = (0..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == id);
        let start = places.nth(nth).unwrap();
        start + place_of(&bytes[start..], &[0xe7, 0x82]) + 2
    };
    let matroska = studio.changed("jump.mkv", &whole, |bytes| {
        let time = cluster(bytes, 4);
        bytes[time] = 0xe0;
    });
    for file in [flash, matroska] {
        let name = file.display();
        let (output, summary) = scanned(&file);
        assert!((2.5..=4.0).contains(&summary.end), "{name}: ends at {}", summary.end);
        assert!(output.samples as f64 <= 4.0 * f64::from(SAMPLE_RATE), "{name}");
        assert_eq!(summary.frames, 75, "{name}");
        // Single frames have the same times as in the scan.
        let (first, last) = (output.times[10], output.times[74]);
        let frames = decoder().frames(&file, &[last + 0.01, first + 0.01], 64).unwrap();
        let times: Vec<f64> = frames.iter().map(|f| f.as_ref().unwrap().time).collect();
        assert!((times[0] - last).abs() < 0.05, "{name}: {times:?} and not {last}");
        assert!((times[1] - first).abs() < 0.05, "{name}: {times:?} and not {first}");
    }
}

#[test]
fn long_frames_keep_their_duration() {
    let Some(studio) = Studio::open() else { return };
    for (name, arguments, end) in [
        ("slides.mp4", "-f lavfi -i testsrc2=s=64x36:r=1/10:d=40 -c:v libx264", 40.0),
        ("slides.mkv", "-f lavfi -i testsrc2=s=64x36:r=1/10:d=40 -c:v libx264", 40.0),
        ("slides.gif", "-f lavfi -i testsrc2=s=64x36:r=1/10:d=40", 40.0),
        // A video with one frame per minute.
        ("screen.mp4", "-f lavfi -i testsrc2=s=64x36:r=1/60:d=180 -c:v libx264", 180.0),
        ("screen.webm", "-f lavfi -i testsrc2=s=64x36:r=1/60:d=180 -c:v libvpx", 180.0),
        // A still image that is shown for the duration of the audio.
        (
            "still.mp4",
            "-f lavfi -i testsrc2=s=64x36:r=25:d=0.04 -f lavfi -i sine=440:d=30 -c:v libx264 -c:a aac",
            30.0,
        ),
    ] {
        let Some(file) = studio.make(name, arguments) else { continue };
        let (output, summary) = scanned(&file);
        assert!((summary.end - end).abs() < 0.2, "{name}: ends at {}", summary.end);
        let step = output.times.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
        assert!(step < 60.1, "{name}: {:?}", output.times);
    }
}

/// Renames the coding of the pictures in an MP4.
fn recoded(bytes: &mut [u8], tag: &[u8; 4]) {
    let table = place_of(bytes, b"stsd");
    let coding = table + place_of(&bytes[table..], b"avc1");
    bytes[coding..coding + 4].copy_from_slice(tag);
}

#[test]
fn undecodable_pictures_are_named() {
    let Some(studio) = Studio::open() else { return };
    let whole = studio.both("whole.mp4", "-c:v libx264 -c:a aac").unwrap();
    let silent = studio.make("silent.mp4", "-f lavfi -i {picture} -c:v libx264").unwrap();
    for (tag, words) in [
        (b"encv", "its pictures are encrypted"),
        (b"drmi", "its pictures are encrypted"),
        (b"xyz1", "the codec of its pictures is not known (xyz1)"),
    ] {
        let file = studio.changed("sound_only.mp4", &whole, |bytes| recoded(bytes, tag));
        let info = decoder().probe(&file).unwrap();
        assert_eq!((info.video, info.undecodable_video.as_deref()), (None, Some(words)));
        let (output, summary) = scanned(&file);
        assert!(output.times.is_empty() && summary.frames == 0, "{words}");
        assert!(output.samples as f64 > 2.9 * f64::from(SAMPLE_RATE), "{words}");

        let file = studio.changed("nothing.mp4", &silent, |bytes| recoded(bytes, tag));
        refused(&decoder(), &file, &["nothing in the file can be decoded", words]);
    }
}
