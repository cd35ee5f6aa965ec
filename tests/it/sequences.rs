//! Sequences of clips, exported for editing programs and read by independent readers.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use domain::export::Content;
use domain::export::sequence::{Sequence, SequenceClip, SourceVideo};
use domain::kernel::timecode::Timecode;
use fastrand::Rng;
use ports::{FrameRate, VideoId};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::readers::read_with;

/// The rates of film and television, and whether the timecode is drop-frame.
const KINDS: [(&str, bool); 10] = [
    ("24000/1001", false),
    ("24/1", false),
    ("25/1", false),
    ("30000/1001", true),
    ("30000/1001", false),
    ("30/1", false),
    ("50/1", false),
    ("60000/1001", true),
    ("60000/1001", false),
    ("60/1", false),
];

/// Number of clips per kind of source, so that there are 200 clips of all kinds.
const CLIPS_PER_KIND: usize = 20;

/// Makes up a video of at most two hours that begins before 20:00:00:00.
fn source(random: &mut Rng, number: usize) -> Arc<SourceVideo> {
    let (rate, drop_frame) = KINDS[number % KINDS.len()];
    let rate: FrameRate = rate.parse().unwrap();
    let hour = rate.frame_at(3600.0);
    let frames = random.u64(1..hour * 2);
    Arc::new(SourceVideo {
        video_id: VideoId::from_digest([number as u8; 20]),
        filename: format!("clip {number} & more.mov"),
        url: format!("http://shotlog.test/files/clip{number}.mov"),
        rate,
        start: Timecode::from_frames(random.u64(..hour * 20), rate, drop_frame),
        reel: format!("A{number:03}"),
        frames,
        duration: rate.seconds(frames),
        has_picture: true,
        picture_size: Some((1920, 1080)),
        audio_tracks: Some(1),
    })
}

/// Selects up to ten minutes of a video.
fn select(random: &mut Rng, source: &Arc<SourceVideo>) -> SequenceClip {
    let start = random.u64(..source.frames);
    let longest = source.rate.frame_at(600.0).min(source.frames - start);
    let frames = start..start + random.u64(1..=longest);
    let name = format!("{} <{start}>", source.reel);
    let clip = SequenceClip::new(source.clone(), frames, name).unwrap();
    SequenceClip { note: "2 people & a \"dog\",\nrunning | jumping".into(), ..clip }
}

/// Exports a sequence and reads it. Returns `None` if the reader is not installed.
fn read(folder: &Path, sequence: &Sequence, format: &str) -> Option<Value> {
    let export = sequence.export(format).unwrap();
    let file = folder.join(&export.filename);
    let Content::Text(text) = export.content else { panic!("{format} is no text") };
    std::fs::write(&file, text).unwrap();
    read_with("sequence.py", &file, &[sequence.rate.to_string().as_str()])
}

/// The frames of a clip in its source, counted from timecode 0.
fn source_frames(clip: &SequenceClip) -> Range<u64> {
    let first = clip.source.start.frames();
    first + clip.frames.start..first + clip.frames.end
}

#[test]
fn clips_of_every_rate_are_frame_exact_in_every_format() {
    let (folder, mut random) = (TempDir::new().unwrap(), Rng::with_seed(1));
    for (number, kind) in KINDS.into_iter().enumerate() {
        let sources = [source(&mut random, number), source(&mut random, number + KINDS.len())];
        let clips: Vec<SequenceClip> =
            (0..CLIPS_PER_KIND).map(|n| select(&mut random, &sources[n % 2])).collect();
        let mut record = 0;
        let expected: Vec<[u64; 3]> = clips
            .iter()
            .map(|clip| {
                let frames = source_frames(clip);
                let length = frames.end - frames.start;
                record += length;
                [frames.start, length, record - length]
            })
            .collect();
        let sequence = Sequence::new("selects".into(), clips);
        for format in ["edl", "otio", "fcpxml", "xmeml", "clips.csv"] {
            let Some(read) = read(folder.path(), &sequence, format) else { return };
            assert_eq!(read, json!(expected), "{format} {kind:?}");
        }
        // Each marker is an event of one frame.
        let markers: Vec<[u64; 3]> =
            expected.iter().map(|[.., record]| [*record, 1, *record]).collect();
        let read = read(folder.path(), &sequence, "markers.edl").unwrap();
        assert_eq!(read, json!(markers), "{kind:?}");
    }
}

#[test]
fn clips_of_several_rates_keep_their_frames_and_their_speed() {
    let (folder, mut random) = (TempDir::new().unwrap(), Rng::with_seed(2));
    let sources: Vec<_> = (0..KINDS.len()).map(|kind| source(&mut random, kind)).collect();
    let mut clips = Vec::new();
    for _ in 0..CLIPS_PER_KIND * KINDS.len() {
        let source = random.usize(..sources.len());
        clips.push(select(&mut random, &sources[source]));
    }
    let sequence = Sequence::new("mixed".into(), clips);
    // The length in frames of the sequence, rounded to the nearest frame.
    let placed = |clip: &SequenceClip| {
        let (own, other) = (clip.source.rate, sequence.rate);
        let length = u128::from(clip.frames.end - clip.frames.start);
        let numerator = length * u128::from(other.numerator()) * u128::from(own.denominator());
        let denominator = u128::from(other.denominator()) * u128::from(own.numerator());
        (((2 * numerator + denominator) / (2 * denominator)) as u64).max(1)
    };
    let (mut end, mut by_source, mut by_sequence) = (0, Vec::new(), Vec::new());
    for clip in &sequence.clips {
        let frames = source_frames(clip);
        by_source.push([frames.start, frames.end - frames.start, end]);
        by_sequence.push([frames.start, placed(clip), end]);
        end += placed(clip);
    }
    let Some(xmeml) = read(folder.path(), &sequence, "xmeml") else { return };
    assert_eq!(xmeml, json!(by_source));
    assert_eq!(read(folder.path(), &sequence, "fcpxml").unwrap(), json!(by_sequence));
    let otio = read(folder.path(), &sequence, "otio").unwrap();
    for (read, expected) in otio.as_array().unwrap().iter().zip(&by_source) {
        // The format has no rounded places in the sequence.
        assert_eq!([&read[0], &read[1]], [&json!(expected[0]), &json!(expected[1])]);
    }
    assert_eq!(otio.as_array().unwrap().len(), by_source.len());
}

#[test]
fn formats_without_clips_are_refused_for_sequences() {
    let sequence = Sequence::new("no clips".into(), Vec::new());
    let error = sequence.export("json").unwrap_err().to_string();
    assert!(error.contains("'json'") && error.contains("edl, markers.edl, fcpxml"), "{error}");
    let error = sequence.export("srt").unwrap_err().to_string();
    assert!(error.contains("none of the clips has recognised speech"), "{error}");
    let error = sequence.export("avi").unwrap_err().to_string();
    assert!(error.contains("'avi'") && error.contains("transcript.docx"), "{error}");
    for format in
        ["edl", "markers.edl", "fcpxml", "xmeml", "otio", "clips.csv", "clips.md", "quotes.md"]
    {
        let export = sequence.export(format).unwrap();
        assert!(export.filename.starts_with("no_clips."), "{}", export.filename);
    }
}
