//! What every adapter of the `decoder` port does. The clips are the adapter's own: plain colours
//! and tones, in whatever format it reads.

use std::path::Path;

use crate::decoder::{SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink, ScanSummary, VideoDecoder};
use crate::{ErrorKind, PortError, Result};

/// A file and what is in it.
#[derive(Debug, Clone, Default)]
pub struct Clip {
    /// Width and height as shown; `None` for a file without a picture stream.
    pub size: Option<(u32, u32)>,
    /// When each colour begins to fill the picture, seconds.
    pub shots: Vec<(f64, [u8; 3])>,
    /// From when to when a tone is heard and how loud, seconds and root mean square; between them
    /// is silence. `None` for a file without a sound stream.
    pub tones: Option<Vec<(f64, f64, f32)>>,
    /// When the last picture or sound ends, seconds.
    pub end: f64,
    /// Whether the container says how long it lasts, and says so truly.
    pub duration_is_true: bool,
}

/// How far a colour may be off after lossy coding, per channel.
const COLOUR_TOLERANCE: u8 = 24;

/// How far the end may be off: codecs work in blocks.
const END_TOLERANCE: f64 = 0.15;

const SIZE: ScanOptions = ScanOptions { width: 48, height: 27, exact: true, audio_track: None };

/// Everything a scan handed out.
#[derive(Default)]
struct Tape {
    frames: Vec<(f64, [u8; 3])>,
    sound: Option<(f64, Vec<f32>)>,
    fail_at_frame: Option<usize>,
    fail_at_sound: bool,
}

impl ScanSink for Tape {
    fn frame(&mut self, frame: ScanFrame<'_>) -> Result<()> {
        let ScanFrame { time, rgb, .. } = frame;
        assert_eq!(
            rgb.len(),
            (SIZE.width * SIZE.height * 3) as usize,
            "a frame has the size asked for"
        );
        if self.fail_at_frame == Some(self.frames.len()) {
            return Err(PortError::new(ErrorKind::Unavailable, "the sink is full"));
        }
        let middle = ((SIZE.height / 2 * SIZE.width + SIZE.width / 2) * 3) as usize;
        self.frames.push((time, [rgb[middle], rgb[middle + 1], rgb[middle + 2]]));
        Ok(())
    }

    fn audio(&mut self, time: f64, samples: &[f32]) -> Result<()> {
        if self.fail_at_sound {
            return Err(PortError::new(ErrorKind::Unavailable, "the sink is full"));
        }
        let (start, all) = self.sound.get_or_insert((time, Vec::new()));
        let expected = *start + all.len() as f64 / f64::from(SAMPLE_RATE);
        assert!((time - expected).abs() < 1e-3, "block follows block: {time} after {expected}");
        assert!(samples.iter().all(|s| (-1.0..=1.0).contains(s)), "samples are within -1..1");
        all.extend_from_slice(samples);
        Ok(())
    }
}

/// The decoder reads the clip and finds in it what is there, when it is there.
pub fn reads(decoder: &dyn VideoDecoder, name: &str, file: &Path, clip: &Clip) {
    probe_reports_the_streams(decoder, name, file, clip);
    let (tape, summary) = scanned(decoder, name, file);
    frames_have_correct_times(name, clip, &tape);
    audio_has_correct_times(name, clip, &tape);
    audio_only_equals_scan(decoder, name, file, &tape);
    let samples = tape.sound.as_ref().map_or(0, |s| s.1.len() as u64);
    assert_eq!(summary.frames, tape.frames.len() as u64, "{name}: frames are counted");
    assert_eq!(summary.samples, samples, "{name}: samples are counted");
    assert!((summary.end - clip.end).abs() < END_TOLERANCE, "{name}: ends at {}", summary.end);
    assert_eq!(summary.damaged, 0, "{name}: nothing is damaged");
    frames_match_the_scan(decoder, name, file, clip, &tape);
    sink_error_ends_the_scan(decoder, name, file, clip);
}

/// The decoder says `Invalid` to whatever is asked of the file.
pub fn refuses(decoder: &dyn VideoDecoder, name: &str, file: &Path) {
    let error = decoder.probe(file).expect_err(&format!("{name}: must not be probed"));
    assert_eq!(error.kind(), ErrorKind::Invalid, "{name}: {error}");
    let error = decoder.scan(file, &SIZE, &mut Tape::default());
    let error = error.expect_err(&format!("{name}: must not be scanned"));
    assert_eq!(error.kind(), ErrorKind::Invalid, "{name}: {error}");
    assert!(!error.to_string().is_empty(), "{name}: the error says why");
    assert!(decoder.frames(file, &[0.0], 64).is_err(), "{name}: must not give frames");
}

/// A container without a single frame or sample: it may be probed, a scan of it is `Invalid`.
pub fn has_no_content(decoder: &dyn VideoDecoder, name: &str, file: &Path) {
    let error = decoder.scan(file, &SIZE, &mut Tape::default());
    let error = error.expect_err(&format!("{name}: must not be scanned"));
    assert_eq!(error.kind(), ErrorKind::Invalid, "{name}: {error}");
    if let Ok(frames) = decoder.frames(file, &[0.0, 1.0], 64) {
        assert_eq!(frames, [None, None], "{name}: there are no frames");
    }
}

/// A clip cut off or damaged half way yields its beginning.
pub fn decodes_up_to_damage(decoder: &dyn VideoDecoder, name: &str, file: &Path, clip: &Clip) {
    let (tape, summary) = scanned(decoder, name, file);
    assert!(!tape.frames.is_empty(), "{name}: the beginning is decoded");
    assert!(summary.end > 0.1 && summary.end < clip.end - 0.1, "{name}: ends at {}", summary.end);
    let first = tape.frames[0];
    assert!(is_like(first.1, clip.shots[0].1), "{name}: the first picture is {:?}", first.1);
    // Asking beyond the damage is no error.
    let frames = decoder.frames(file, &[0.0, clip.end], 64).expect(name);
    assert_eq!(frames.len(), 2, "{name}");
    assert!(frames[0].is_some(), "{name}: the first frame is there");
}

/// A file that is not there.
pub fn missing_file_is_not_found(decoder: &dyn VideoDecoder) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let error = decoder.probe(&folder.path().join("none.mp4")).expect_err("there is no file");
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

/// Things that are no media files, whatever they are called.
pub fn non_media_files_are_invalid(decoder: &dyn VideoDecoder) {
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
        refuses(decoder, name, &file);
    }
    refuses(decoder, "a folder", folder.path());
}

fn probe_reports_the_streams(decoder: &dyn VideoDecoder, name: &str, file: &Path, clip: &Clip) {
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

fn scanned(decoder: &dyn VideoDecoder, name: &str, file: &Path) -> (Tape, ScanSummary) {
    let mut tape = Tape::default();
    let summary = decoder.scan(file, &SIZE, &mut tape).unwrap_or_else(|e| panic!("{name}: {e}"));
    (tape, summary)
}

fn frames_have_correct_times(name: &str, clip: &Clip, tape: &Tape) {
    assert_eq!(tape.frames.is_empty(), clip.size.is_none(), "{name}: whether there are pictures");
    assert!(tape.frames.is_sorted_by(|a, b| a.0 < b.0), "{name}: pictures come in order of time");
    for &(time, colour) in &tape.frames {
        assert!(time >= 0.0, "{name}: time starts at 0");
        let shown = shot_at(clip, time);
        assert!(is_like(colour, shown), "{name}: at {time} shows {colour:?} and not {shown:?}");
    }
    // Every shot begins with a frame of its own.
    for &(start, _) in &clip.shots {
        let nearest = tape.frames.iter().map(|f| (f.0 - start).abs()).fold(f64::MAX, f64::min);
        assert!(nearest < 5e-3, "{name}: no frame at {start}, the nearest is {nearest} s off");
    }
}

fn audio_has_correct_times(name: &str, clip: &Clip, tape: &Tape) {
    let Some(tones) = &clip.tones else {
        assert!(tape.sound.is_none(), "{name}: there is no sound");
        return;
    };
    let (start, samples) = tape.sound.as_ref().unwrap_or_else(|| panic!("{name}: there is sound"));
    assert!(*start >= 0.0, "{name}: time starts at 0");
    // Tenths of a second, away from where the sound changes.
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

fn audio_only_equals_scan(decoder: &dyn VideoDecoder, name: &str, file: &Path, tape: &Tape) {
    let mut alone = Tape::default();
    decoder.sound(file, None, &mut alone).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(alone.frames.is_empty(), "{name}: no pictures were asked for");
    assert!(alone.sound == tape.sound, "{name}: the sound alone is that of a scan");
}

fn frames_match_the_scan(
    decoder: &dyn VideoDecoder,
    name: &str,
    file: &Path,
    clip: &Clip,
    tape: &Tape,
) {
    let none = decoder.frames(file, &[], 64).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(none.is_empty(), "{name}: nothing was asked for");
    let Some((width, height)) = clip.size else {
        let frames = decoder.frames(file, &[0.0], 64).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(frames, [None], "{name}: there is no picture");
        return;
    };
    // Times as a caller has them: those of the scan and between them, in no order, some twice,
    // before the beginning and after the end.
    let count = tape.frames.len();
    let mut times: Vec<f64> = (0..10).map(|i| tape.frames[i * 7919 % count].0).collect();
    times.extend([times[0], times[3] + 1e-3, -5.0, clip.end + 100.0, 0.0]);
    times.extend(clip.shots.iter().map(|s| s.0));
    let frames = decoder.frames(file, &times, 10_000).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(frames.len(), times.len(), "{name}: one answer for each time");
    for (&asked, frame) in times.iter().zip(&frames) {
        let frame = frame.as_ref().unwrap_or_else(|| panic!("{name}: a frame at {asked}"));
        let expected =
            tape.frames.iter().rev().find(|f| f.0 <= asked + 1e-3).unwrap_or(&tape.frames[0]);
        assert!(
            (frame.time - expected.0).abs() < 5e-3,
            "{name}: at {asked} gives the frame of {} and not of {}",
            frame.time,
            expected.0
        );
        let image = &frame.image;
        assert_eq!((image.width, image.height), (width, height), "{name}: full size");
        assert_eq!(image.rgb.len(), (width * height * 3) as usize, "{name}: rows without padding");
        let middle = ((height / 2 * width + width / 2) * 3) as usize;
        let colour = [image.rgb[middle], image.rgb[middle + 1], image.rgb[middle + 2]];
        let shown = shot_at(clip, frame.time);
        assert!(is_like(colour, shown), "{name}: at {asked} shows {colour:?} and not {shown:?}");
    }
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
    let odd = decoder
        .frames(file, &[f64::NAN, f64::INFINITY], 64)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(odd, [None, None], "{name}: there is no frame at no time");
}

fn sink_error_ends_the_scan(decoder: &dyn VideoDecoder, name: &str, file: &Path, clip: &Clip) {
    let fails = |mut tape: Tape| {
        let result = decoder.scan(file, &SIZE, &mut tape);
        let error = result.expect_err(&format!("{name}: the sink's error ends the scan"));
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{name}: {error}");
        assert_eq!(error.to_string(), "the sink is full", "{name}: the error is the sink's");
    };
    if clip.size.is_some() {
        fails(Tape { fail_at_frame: Some(2), ..Tape::default() });
    }
    if clip.tones.is_some() {
        fails(Tape { fail_at_sound: true, ..Tape::default() });
    }
}

fn shot_at(clip: &Clip, time: f64) -> [u8; 3] {
    let shot = clip.shots.iter().rev().find(|s| s.0 <= time + 5e-3).or(clip.shots.first());
    shot.map_or([0; 3], |s| s.1)
}

fn is_like(a: [u8; 3], b: [u8; 3]) -> bool {
    a.iter().zip(b).all(|(&a, b)| a.abs_diff(b) <= COLOUR_TOLERANCE)
}
