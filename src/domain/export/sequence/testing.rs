//! Made-up sequences for the tests of the formats.

use std::ops::Range;
use std::sync::Arc;

use ports::VideoId;

use crate::export::sequence::{Sequence, SequenceClip, SourceVideo};
use crate::kernel::timecode::Timecode;
use crate::media::speech::{Segment, Utterance};

/// Creates an hour of video. Without a timecode, it begins at 0.
pub(crate) fn source(number: u8, rate: &str, timecode: &str, reel: &str) -> Arc<SourceVideo> {
    let rate = rate.parse().expect("a rate");
    let start = Timecode::parse(timecode, rate);
    Arc::new(SourceVideo {
        video_id: VideoId::from_digest([number; 20]),
        filename: format!("clip{number}.mov"),
        url: format!("http://shotlog.test/files/clip{number}.mov"),
        rate,
        start: start.unwrap_or_else(|_| Timecode::from_frames(0, rate, false)),
        reel: reel.to_owned(),
        frames: rate.frame_at(3600.0),
        duration: 3600.0,
        has_picture: true,
        picture_size: Some((1920, 1080)),
        audio_tracks: Some(1),
    })
}

pub(crate) fn clip(source: &Arc<SourceVideo>, frames: Range<u64>) -> SequenceClip {
    let name = format!("{} {}", source.filename.trim_end_matches(".mov"), frames.start);
    let note = format!("Frame {}.", frames.start);
    let clip = SequenceClip::new(source.clone(), frames, name).expect("frames");
    SequenceClip { note, ..clip }
}

/// Creates a sentence of one second.
pub(crate) fn said(speaker: Option<&str>, start: f64, text: &str) -> Utterance {
    let segment = Segment { start, end: start + 1.0, text: text.to_owned(), confidence: 1.0 };
    let mut said = Utterance::from(&segment);
    said.speaker = speaker.map(str::to_owned);
    said
}

pub(crate) fn sequence(clips: Vec<SequenceClip>) -> Sequence {
    Sequence::new("selects".into(), clips)
}
