//! Tests that clips from the sandboxed decoder show what the file shows at the same time.

use std::fs::File;
use std::path::{Path, PathBuf};

use ports::ErrorKind;
use ports::decoder::{
    AudioBlock, CancellationToken, Clip, ClipRequest, ScanFrame, ScanOptions, ScanSink,
    VideoDecoder,
};

use super::ffmpeg::{Studio, decoder};

const SIZE: ScanOptions = ScanOptions { width: 48, height: 27, exact: true, audio_track: None };

/// Maximum mean image difference, 0..255, that re-encoding may cause.
const UNLIKE: f64 = 10.0;

/// Returns spans at the beginning, in the middle and at the end of a video of this duration.
fn pieces(seconds: f64) -> [(f64, f64); 4] {
    let longest = |start: f64, end: f64| (start, end.min(start + 12.0));
    [
        longest(0.0, seconds),
        longest(0.0, seconds * 0.4),
        longest(seconds * 0.37, seconds * 0.81),
        ((seconds - 3.0).max(0.0), seconds),
    ]
}

/// The file is much larger than the reader's buffer and has a key frame every two seconds.
#[test]
fn clip_of_a_long_file() {
    let Some(studio) = Studio::open() else { return };
    let seen = "-f lavfi -i testsrc2=s=480x270:r=25:d=12";
    let heard = "-f lavfi -i sine=frequency=440:duration=12";
    let coded = "-c:v libx264 -pix_fmt yuv420p -g 50 -c:a aac -movflags faststart";
    let Some(file) = studio.make("long.mp4", &format!("{seen} {heard} {coded}")) else { return };
    assert!(file.metadata().unwrap().len() > 256 << 10, "it is too small for this test");
    let log = FrameLog::scan(&file);
    let copied: Vec<bool> = [(0.0, 12.0), (4.0, 8.0), (2.0, 9.5), (4.0, 9.2), (5.3, 7.9)]
        .map(|(start, end)| log.clip_matches_file(&file, start, end, true))
        .to_vec();
    assert_eq!(copied[0..2], [true, true], "they begin with a key frame");
    assert!(!copied[4], "it does not begin with a key frame");
    assert!(log.clip_matches_file(&file, 5.3, 7.9, false), "it begins with the previous key frame");
}

/// Cancellation ends the process at once, before its time limit.
#[test]
fn cancelled_clip_ends_at_once() {
    let Some(studio) = Studio::open() else { return };
    let seen = "-f lavfi -i testsrc2=s=1280x720:r=50:d=20";
    let coded = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 1000";
    let Some(file) = studio.make("waited.mp4", &format!("{seen} {coded}")) else { return };
    let cancel = CancellationToken::default();
    let cut =
        ClipRequest { start: 0.5, end: 19.5, exact: true, max_bytes: 100 << 20, audio_track: None };
    let out = tempfile::tempfile().unwrap();
    let cutting = {
        let (file, cancel) = (file.clone(), cancel.clone());
        std::thread::spawn(move || decoder().clip(&file, &cut, out, &cancel))
    };
    cancel.cancel();
    let error = cutting.join().unwrap().expect_err("nobody waits");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

#[test]
fn clips_of_every_pixel_format() {
    let Some(studio) = Studio::open() else { return };
    for colours in ["yuv420p", "yuv422p", "yuv444p"] {
        let seen = "-f lavfi -i testsrc2=s=320x180:r=25:d=6";
        let coded = format!("-c:v libx264 -preset ultrafast -pix_fmt {colours} -g 25");
        let name = format!("{colours}.mp4");
        let Some(file) = studio.make(&name, &format!("{seen} {coded}")) else { return };
        let copied = FrameLog::scan(&file).clip_matches_file(&file, 2.0, 5.0, true);
        assert_eq!(
            copied,
            colours == "yuv420p",
            "{colours}: players support only subsampled colours"
        );
    }
}

#[test]
fn clips_of_real_files() {
    let Some(media) = std::env::var_os("SHOTLOG_MEDIA").map(PathBuf::from) else {
        println!("skipped: SHOTLOG_MEDIA names no folder");
        return;
    };
    let clips = std::fs::read_dir(media).unwrap().map(|entry| entry.unwrap().path());
    for file in clips.filter(|path| path.extension().is_some_and(|e| e == "mp4" || e == "mov")) {
        let log = FrameLog::scan(&file);
        for (start, end) in pieces(log.end) {
            log.clip_matches_file(&file, start, end, true);
            log.clip_matches_file(&file, start, end, false);
        }
    }
}

/// The frames of a file with their times.
#[derive(Default)]
struct FrameLog {
    frames: Vec<(f64, Vec<u8>)>,
    end: f64,
    damaged: u64,
}

impl FrameLog {
    fn scan(file: &Path) -> Self {
        let mut log = Self::default();
        let summary = decoder().scan(file, &SIZE, &mut log).unwrap();
        log.end = log.frames.last().map_or(0.0, |(last, _)| *last);
        log.damaged = summary.damaged;
        log
    }

    /// Makes a clip and compares it with the file, frame by frame. Returns whether the clip's
    /// packets were copied.
    fn clip_matches_file(&self, file: &Path, start: f64, end: f64, exact: bool) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.mp4");
        let cut = ClipRequest { start, end, exact, max_bytes: 100 << 20, audio_track: None };
        let Clip { start, copied, video } = decoder()
            .clip(file, &cut, File::create(&path).unwrap(), &CancellationToken::default())
            .unwrap();
        let what = format!("{} from {start} to {end}, copied: {copied}", file.display());
        assert!(video && (!exact || start == cut.start), "{what}");
        let piece = Self::scan(&path);
        assert!(piece.damaged <= self.damaged, "{what}: {} damaged", piece.damaged);
        // The clip's first frame may begin before the start of the clip.
        let first = self.frames.iter().rposition(|(time, _)| *time <= start + 2e-3).unwrap_or(0);
        let past = self.frames.partition_point(|(time, _)| *time < end - 1e-3);
        let (expected, actual) = (past.saturating_sub(first), piece.frames.len());
        assert!(actual.abs_diff(expected) <= 2, "{what}: {actual} pictures of {expected}");
        for (place, (_, shown)) in piece.frames.iter().enumerate() {
            let at = first + place;
            let near = &self.frames
                [at.saturating_sub(2).min(self.frames.len() - 1)..(at + 3).min(self.frames.len())];
            let unlike = near.iter().map(|(_, frame)| difference(shown, frame));
            let unlike = unlike.fold(f64::INFINITY, f64::min);
            assert!(unlike < UNLIKE, "{what}: picture {place} differs by {unlike:.1}");
        }
        copied
    }
}

fn difference(a: &[u8], b: &[u8]) -> f64 {
    let apart = a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b)));
    apart.sum::<f64>() / a.len().max(1) as f64
}

impl ScanSink for FrameLog {
    fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
        self.frames.push((frame.time, frame.rgb.to_vec()));
        Ok(())
    }

    fn audio(&mut self, _: AudioBlock<'_>) -> ports::Result<()> {
        Ok(())
    }
}
