//! Checks that a rendered sequence has exactly its frames, and the pictures and sound of its parts.

use std::path::Path;

use super::{ScanRecorder, TestClip, is_like, scan, shot_at};
use crate::decoder::{CancellationToken, RenderFormat, RenderPart, SAMPLE_RATE, VideoDecoder};
use crate::{ErrorKind, FrameRate, PortError, Result};

/// Frames per second of the sequence.
const RATE: u32 = 25;

/// For each part, its start in seconds and its number of frames.
const PARTS: [(f64, u64); 3] = [(1.4, 11), (0.2, 9), (2.3, 1)];

/// Times this near to a change of colour or sound are not checked, in seconds.
const MARGIN: f64 = 0.1;

/// Loudest silence (root mean square).
const SILENCE: f32 = 0.02;

fn format(frames: u64, max_bytes: u64) -> RenderFormat {
    let rate = FrameRate::new(RATE, 1).expect("a rate");
    RenderFormat { width: 96, height: 54, rate, frames, max_bytes }
}

fn parts(file: &Path) -> Vec<Result<RenderPart>> {
    let part = |(start, frames)| {
        let file = file.to_owned();
        Ok(RenderPart { file, start, frames, audio_track: None, captions: Vec::new() })
    };
    PARTS.map(part).into()
}

fn render(
    decoder: &dyn VideoDecoder,
    format: &RenderFormat,
    parts: Vec<Result<RenderPart>>,
    cancel: &CancellationToken,
) -> Result<tempfile::NamedTempFile> {
    let file = tempfile::NamedTempFile::new()?;
    decoder.render(format, &mut parts.into_iter(), file.reopen()?, cancel)?;
    Ok(file)
}

/// Renders parts of a clip. Does nothing if there is no encoder.
pub(super) fn parts_are_joined(
    decoder: &dyn VideoDecoder,
    name: &str,
    file: &Path,
    clip: &TestClip,
) {
    let frames: u64 = PARTS.iter().map(|(_, frames)| frames).sum();
    let never = CancellationToken::default();
    let rendered = match render(decoder, &format(frames, 1 << 30), parts(file), &never) {
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            println!("skipped: {error}");
            return;
        }
        rendered => rendered.unwrap_or_else(|e| panic!("{name}: {e}")),
    };
    let (recorded, summary) = scan(decoder, name, rendered.path());
    assert_eq!(summary.frames, frames, "{name}: every part has its frames");
    let seconds = frames as f64 / f64::from(RATE);
    assert!((summary.end - seconds).abs() < 0.05, "{name}: ends at {}", summary.end);
    let mut first = 0;
    for (start, frames) in PARTS {
        part_is_rendered(name, &recorded, clip, first, (start, frames));
        first += frames;
    }
    failures_are_reported(decoder, name, file, frames);
}

fn part_is_rendered(
    name: &str,
    recorded: &ScanRecorder,
    clip: &TestClip,
    first: u64,
    (start, frames): (f64, u64),
) {
    let rate = f64::from(RATE);
    let offset = first as f64 / rate;
    for (frame, (time, colour)) in recorded.frames.iter().enumerate().skip(first as usize) {
        if frame as u64 >= first + frames {
            break;
        }
        let expected = frame as f64 / rate;
        assert!((time - expected).abs() < 2e-3, "{name}: frame {frame} begins at {time}");
        let source = start + expected - offset;
        let is_near = |(change, _): &(f64, [u8; 3])| (change - source).abs() < MARGIN;
        if clip.shots.iter().any(is_near) {
            continue;
        }
        let shown = if clip.size.is_some() { shot_at(clip, source) } else { [0; 3] };
        assert!(is_like(*colour, shown), "{name}: {source} shows {colour:?}, not {shown:?}");
    }
    let seconds = frames as f64 / rate;
    if seconds <= 2.0 * MARGIN {
        return;
    }
    let (from, to) = (start + MARGIN, start + seconds - MARGIN);
    let tones = clip.tones.as_deref().unwrap_or_default();
    let loud = tones.iter().find(|(begin, end, _)| *begin <= from && to <= *end);
    let is_silent = tones.iter().all(|(begin, end, _)| *end <= from || to <= *begin);
    let Some((begin, samples)) = &recorded.sound else { panic!("{name}: it has sound") };
    let sample = |time: f64| ((time - begin) * f64::from(SAMPLE_RATE)).round() as usize;
    let heard = &samples[sample(offset + MARGIN)..sample(offset + seconds - MARGIN)];
    let power: f32 = heard.iter().map(|sample| sample * sample).sum();
    let level = (power / heard.len() as f32).sqrt();
    match loud {
        Some((_, _, expected)) => {
            assert!(level > expected * 0.5, "{name}: {start} has level {level}, not {expected}");
        }
        None => assert!(!is_silent || level < SILENCE, "{name}: {start} has level {level}"),
    }
}

fn failures_are_reported(decoder: &dyn VideoDecoder, name: &str, file: &Path, frames: u64) {
    let never = CancellationToken::default();
    for (frames, max_bytes, expected) in [
        (frames + 1, 1 << 30, ErrorKind::Invalid),
        (frames - 1, 1 << 30, ErrorKind::Invalid),
        (frames, 16, ErrorKind::TooLarge),
    ] {
        let rendered = render(decoder, &format(frames, max_bytes), parts(file), &never);
        let error = rendered.expect_err(&format!("{name}: {expected:?}"));
        assert_eq!(error.kind(), expected, "{name}: {error}");
    }
    let mut parts_that_fail = parts(file);
    parts_that_fail[1] = Err(PortError::new(ErrorKind::Denied, "the storage is closed"));
    let rendered = render(decoder, &format(frames, 1 << 30), parts_that_fail, &never);
    let error = rendered.expect_err(&format!("{name}: a part fails"));
    assert_eq!(error.to_string(), "the storage is closed", "{name}");
    let cancelled = CancellationToken::default();
    cancelled.cancel();
    let rendered = render(decoder, &format(frames, 1 << 30), parts(file), &cancelled);
    assert!(rendered.is_err(), "{name}: it is cancelled");
}
