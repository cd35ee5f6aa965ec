//! The suite for adapters of the `decoder` port. Each adapter's test supplies clips that consist of
//! plain colours and tones, in any format that the adapter supports.

mod render;

use std::path::Path;

use crate::decoder::{
    AudioBlock, SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink, ScanSummary, VideoDecoder,
    VideoDecoderExt,
};
use crate::{ErrorKind, PortError, Result};

/// A test file and its content.
#[derive(Debug, Clone, Default)]
pub struct TestClip {
    /// Displayed width and height; `None` for a file without a video stream.
    pub size: Option<(u32, u32)>,
    /// For each shot: its start in seconds and its colour.
    pub shots: Vec<(f64, [u8; 3])>,
    /// For each tone: its start and end in seconds and its level (root mean square). The rest of
    /// the audio is silent. `None` for a file without an audio stream.
    pub tones: Option<Vec<(f64, f64, f32)>>,
    /// End of the video and audio, in seconds.
    pub end: f64,
    /// Whether the container states the true duration.
    pub duration_is_true: bool,
}

/// Maximum difference in a colour channel after lossy coding.
const COLOUR_TOLERANCE: u8 = 24;

/// Maximum error of the clip's end, in seconds. Codecs work in blocks, so the end is not exact.
const END_TOLERANCE: f64 = 0.15;

const SIZE: ScanOptions = ScanOptions { width: 48, height: 27, exact: true, audio_track: None };

/// Records everything that a scan returns.
#[derive(Default)]
struct ScanRecorder {
    frames: Vec<(f64, [u8; 3])>,
    sound: Option<(f64, Vec<f32>)>,
    fail_at_frame: Option<usize>,
    fail_at_sound: bool,
}

impl ScanSink for ScanRecorder {
    fn frame(&mut self, frame: ScanFrame<'_>) -> Result<()> {
        let ScanFrame { time, rgb, .. } = frame;
        assert_eq!(
            rgb.len(),
            (SIZE.width * SIZE.height * 3) as usize,
            "a frame has the requested size"
        );
        if self.fail_at_frame == Some(self.frames.len()) {
            return Err(PortError::new(ErrorKind::Unavailable, "the sink is full"));
        }
        let middle = ((SIZE.height / 2 * SIZE.width + SIZE.width / 2) * 3) as usize;
        self.frames.push((time, [rgb[middle], rgb[middle + 1], rgb[middle + 2]]));
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> Result<()> {
        let AudioBlock { time, samples, channels } = block;
        if self.fail_at_sound {
            return Err(PortError::new(ErrorKind::Unavailable, "the sink is full"));
        }
        let (start, all) = self.sound.get_or_insert((time, Vec::new()));
        let expected = *start + all.len() as f64 / f64::from(SAMPLE_RATE);
        assert!((time - expected).abs() < 1e-3, "block follows block: {time} after {expected}");
        assert!(samples.iter().all(|s| (-1.0..=1.0).contains(s)), "samples are within -1..1");
        for channel in channels.into_iter().flatten() {
            assert_eq!(channel.len(), samples.len(), "a channel is as long as the mix");
        }
        all.extend_from_slice(samples);
        Ok(())
    }
}

/// Checks that the decoder reads the clip and returns its contents at the right times.
pub fn check(decoder: &dyn VideoDecoder, name: &str, file: &Path, clip: &TestClip) {
    probe_reports_the_streams(decoder, name, file, clip);
    let (recorded, summary) = scan(decoder, name, file);
    frames_have_correct_times(name, clip, &recorded);
    audio_has_correct_times(name, clip, &recorded);
    audio_only_equals_scan(decoder, name, file, &recorded);
    let samples = recorded.sound.as_ref().map_or(0, |s| s.1.len() as u64);
    assert_eq!(summary.frames, recorded.frames.len() as u64, "{name}: frames are counted");
    assert_eq!(summary.samples, samples, "{name}: samples are counted");
    assert!((summary.end - clip.end).abs() < END_TOLERANCE, "{name}: ends at {}", summary.end);
    assert_eq!(summary.damaged, 0, "{name}: nothing is damaged");
    frames_match_the_scan(decoder, name, file, clip, &recorded);
    small_frames_keep_their_aspect(decoder, name, file, clip);
    sink_error_ends_the_scan(decoder, name, file, clip);
    render::parts_are_joined(decoder, name, file, clip);
}

/// Checks that every method rejects the file as `Invalid`.
pub fn check_invalid(decoder: &dyn VideoDecoder, name: &str, file: &Path) {
    let error = decoder.probe(file).expect_err(&format!("{name}: must not be probed"));
    assert_eq!(error.kind(), ErrorKind::Invalid, "{name}: {error}");
    let error = decoder.scan(file, &SIZE, &mut ScanRecorder::default());
    let error = error.expect_err(&format!("{name}: must not be scanned"));
    assert_eq!(error.kind(), ErrorKind::Invalid, "{name}: {error}");
    assert!(!error.to_string().is_empty(), "{name}: the error says why");
    assert!(decoder.frames(file, &[0.0], 64).is_err(), "{name}: must not give frames");
}

/// Checks that scanning a container without frames or samples returns `Invalid`. Probing it may
/// succeed.
pub fn check_empty(decoder: &dyn VideoDecoder, name: &str, file: &Path) {
    let error = decoder.scan(file, &SIZE, &mut ScanRecorder::default());
    let error = error.expect_err(&format!("{name}: must not be scanned"));
    assert_eq!(error.kind(), ErrorKind::Invalid, "{name}: {error}");
    if let Ok(frames) = decoder.frames(file, &[0.0, 1.0], 64) {
        assert_eq!(frames, [None, None], "{name}: there are no frames");
    }
}

/// Checks that a truncated or damaged clip yields its beginning.
pub fn check_damaged(decoder: &dyn VideoDecoder, name: &str, file: &Path, clip: &TestClip) {
    let (recorded, summary) = scan(decoder, name, file);
    assert!(!recorded.frames.is_empty(), "{name}: the beginning is decoded");
    assert!(summary.end > 0.1 && summary.end < clip.end - 0.1, "{name}: ends at {}", summary.end);
    let first = recorded.frames[0];
    assert!(is_like(first.1, clip.shots[0].1), "{name}: the first picture is {:?}", first.1);
    // Requesting a frame after the damaged part is not an error.
    let frames = decoder.frames(file, &[0.0, clip.end], 64).expect(name);
    assert_eq!(frames.len(), 2, "{name}");
    assert!(frames[0].is_some(), "{name}: the first frame is there");
}

/// Checks that a missing file yields `NotFound`.
pub fn check_missing(decoder: &dyn VideoDecoder) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let error = decoder.probe(&folder.path().join("none.mp4")).expect_err("there is no file");
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

/// Checks that files that are not media yield `Invalid`, regardless of their names.
pub fn check_non_media(decoder: &dyn VideoDecoder) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let secret = folder.path().join("secret.txt");
    std::fs::write(&secret, "not to be read").expect("a file");
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let noise: Vec<u8> = (0..100_000).map(|_| random()).collect();
    let path = secret.display();
    let cases: [(&str, Vec<u8>); 9] = [
        ("empty.mp4", Vec::new()),
        ("one_byte.mp4", vec![0]),
        ("noise.mp4", noise),
        ("zeros.mp4", vec![0; 100_000]),
        ("text.mp4", b"Just some words.\n".repeat(100)),
        (
            "page.mp4",
            b"<!DOCTYPE html><html><body><video src=\"x.mp4\"></video></body></html>".to_vec(),
        ),
        (
            "playlist.mp4",
            format!(
                "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://{path}\n#EXT-X-ENDLIST\n"
            )
            .into_bytes(),
        ),
        ("list.mp4", format!("ffconcat version 1.0\nfile '{path}'\n").into_bytes()),
        ("captions.mp4", b"1\n00:00:00,000 --> 00:00:01,000\nHello\n\n".to_vec()),
    ];
    for (name, bytes) in cases {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).expect("a file");
        check_invalid(decoder, name, &file);
    }
    check_invalid(decoder, "a folder", folder.path());
}

fn probe_reports_the_streams(decoder: &dyn VideoDecoder, name: &str, file: &Path, clip: &TestClip) {
    let info = decoder.probe(file).unwrap_or_else(|e| panic!("{name}: {e}"));
    let size = info.video.as_ref().map(|v| (v.width, v.height));
    assert_eq!(size, clip.size, "{name}: the size as shown");
    assert_eq!(info.audio.is_some(), clip.tones.is_some(), "{name}: whether there is sound");
    assert!(!info.container.is_empty() && !info.extension.contains('.'), "{name}: {info:?}");
    assert!(info.content_type.contains('/'), "{name}: {info:?}");
    if clip.duration_is_true {
        let duration = info.duration.unwrap_or_else(|| panic!("{name}: a duration"));
        assert!((duration - clip.end).abs() < END_TOLERANCE, "{name}: claims {duration}");
    }
}

fn scan(decoder: &dyn VideoDecoder, name: &str, file: &Path) -> (ScanRecorder, ScanSummary) {
    let mut recorded = ScanRecorder::default();
    let summary =
        decoder.scan(file, &SIZE, &mut recorded).unwrap_or_else(|e| panic!("{name}: {e}"));
    (recorded, summary)
}

fn frames_have_correct_times(name: &str, clip: &TestClip, recorded: &ScanRecorder) {
    assert_eq!(
        recorded.frames.is_empty(),
        clip.size.is_none(),
        "{name}: whether there are pictures"
    );
    assert!(
        recorded.frames.is_sorted_by(|a, b| a.0 < b.0),
        "{name}: pictures come in order of time"
    );
    for &(time, colour) in &recorded.frames {
        assert!(time >= 0.0, "{name}: time starts at 0");
        let shown = shot_at(clip, time);
        assert!(is_like(colour, shown), "{name}: at {time} shows {colour:?} and not {shown:?}");
    }
    // There is a frame at the start of every shot.
    for &(start, _) in &clip.shots {
        let nearest = recorded.frames.iter().map(|f| (f.0 - start).abs()).fold(f64::MAX, f64::min);
        assert!(nearest < 5e-3, "{name}: no frame at {start}, the nearest is {nearest} s off");
    }
}

fn audio_has_correct_times(name: &str, clip: &TestClip, recorded: &ScanRecorder) {
    let Some(tones) = &clip.tones else {
        assert!(recorded.sound.is_none(), "{name}: there is no sound");
        return;
    };
    let (start, samples) =
        recorded.sound.as_ref().unwrap_or_else(|| panic!("{name}: there is sound"));
    assert!(*start >= 0.0, "{name}: time starts at 0");
    // Compares the audio in blocks of a tenth of a second, except blocks at the edges of tones.
    let block = SAMPLE_RATE as usize / 10;
    for (i, samples) in samples.chunks_exact(block).enumerate() {
        let from = start + i as f64 * 0.1;
        let to = from + 0.1;
        let energy: f64 = samples.iter().map(|&s| f64::from(s) * f64::from(s)).sum();
        let level = (energy / block as f64).sqrt() as f32;
        let margin = 0.08;
        let inside = tones.iter().find(|t| t.0 + margin <= from && to <= t.1 - margin);
        let outside = tones.iter().all(|t| to < t.0 - margin || t.1 + margin < from);
        if let Some((.., loud)) = inside {
            assert!(
                (level / loud - 1.0).abs() < 0.25,
                "{name}: at {from} the level is {level} and not {loud}"
            );
        } else if outside {
            assert!(level < 0.01, "{name}: at {from} there is sound of level {level}");
        }
    }
}

fn audio_only_equals_scan(
    decoder: &dyn VideoDecoder,
    name: &str,
    file: &Path,
    recorded: &ScanRecorder,
) {
    let mut alone = ScanRecorder::default();
    decoder.sound(file, None, &mut alone).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(alone.frames.is_empty(), "{name}: no frames were requested");
    assert!(alone.sound == recorded.sound, "{name}: the sound alone is that of a scan");
}

fn frames_match_the_scan(
    decoder: &dyn VideoDecoder,
    name: &str,
    file: &Path,
    clip: &TestClip,
    recorded: &ScanRecorder,
) {
    let none = decoder.frames(file, &[], 64).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(none.is_empty(), "{name}: nothing was requested");
    let Some((width, height)) = clip.size else {
        let frames = decoder.frames(file, &[0.0], 64).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(frames, [None], "{name}: there is no picture");
        return;
    };
    // Realistic times, unordered and with some duplicates: times of scanned frames, times between
    // frames, one before the beginning and one after the end.
    let count = recorded.frames.len();
    let mut times: Vec<f64> = (0..10).map(|i| recorded.frames[i * 7919 % count].0).collect();
    times.extend([times[0], times[3] + 1e-3, -5.0, clip.end + 100.0, 0.0]);
    times.extend(clip.shots.iter().map(|s| s.0));
    let frames = decoder.frames(file, &times, 10_000).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(frames.len(), times.len(), "{name}: one answer for each time");
    for (&time_requested, frame) in times.iter().zip(&frames) {
        let frame = frame.as_ref().unwrap_or_else(|| panic!("{name}: a frame at {time_requested}"));
        let expected = recorded
            .frames
            .iter()
            .rev()
            .find(|f| f.0 <= time_requested + 1e-3)
            .unwrap_or(&recorded.frames[0]);
        assert!(
            (frame.time - expected.0).abs() < 5e-3,
            "{name}: at {time_requested} gives the frame of {} and not of {}",
            frame.time,
            expected.0
        );
        let image = &frame.image;
        assert_eq!((image.width, image.height), (width, height), "{name}: full size");
        assert_eq!(image.rgb.len(), (width * height * 3) as usize, "{name}: rows without padding");
        let middle = ((height / 2 * width + width / 2) * 3) as usize;
        let colour = [image.rgb[middle], image.rgb[middle + 1], image.rgb[middle + 2]];
        let shown = shot_at(clip, frame.time);
        assert!(
            is_like(colour, shown),
            "{name}: at {time_requested} shows {colour:?} and not {shown:?}"
        );
    }
    let odd = decoder
        .frames(file, &[f64::NAN, f64::INFINITY], 64)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(odd, [None, None], "{name}: there is no frame at no time");
}

fn small_frames_keep_their_aspect(
    decoder: &dyn VideoDecoder,
    name: &str,
    file: &Path,
    clip: &TestClip,
) {
    let Some((width, height)) = clip.size else { return };
    let small = decoder.frames(file, &[0.0], 40).unwrap_or_else(|e| panic!("{name}: {e}"));
    let image = &small[0].as_ref().unwrap_or_else(|| panic!("{name}: a small frame")).image;
    assert_eq!(
        image.width.max(image.height),
        40.min(width.max(height)),
        "{name}: fits the longer side"
    );
    let (shown, full) =
        (f64::from(image.width) / f64::from(image.height), f64::from(width) / f64::from(height));
    assert!((shown / full - 1.0).abs() < 0.06, "{name}: keeps its aspect");
}

fn sink_error_ends_the_scan(decoder: &dyn VideoDecoder, name: &str, file: &Path, clip: &TestClip) {
    let fails = |mut recorded: ScanRecorder| {
        let result = decoder.scan(file, &SIZE, &mut recorded);
        let error = result.expect_err(&format!("{name}: the sink's error ends the scan"));
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{name}: {error}");
        assert_eq!(error.to_string(), "the sink is full", "{name}: the error is the sink's");
    };
    if clip.size.is_some() {
        fails(ScanRecorder { fail_at_frame: Some(2), ..ScanRecorder::default() });
    }
    if clip.tones.is_some() {
        fails(ScanRecorder { fail_at_sound: true, ..ScanRecorder::default() });
    }
}

fn shot_at(clip: &TestClip, time: f64) -> [u8; 3] {
    let shot = clip.shots.iter().rev().find(|s| s.0 <= time + 5e-3).or(clip.shots.first());
    shot.map_or([0; 3], |s| s.1)
}

fn is_like(a: [u8; 3], b: [u8; 3]) -> bool {
    a.iter().zip(b).all(|(&a, b)| a.abs_diff(b) <= COLOUR_TOLERANCE)
}
