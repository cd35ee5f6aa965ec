//! WebVTT captions with voice spans for speakers.

use crate::export::cues::{Cue, clip_cues, cues};
use crate::export::sequence::Sequence;
use crate::export::{Content, VideoLog, clock};
use crate::kernel::error::Result;

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    Ok(captions(&cues(log, "vtt", false)?))
}

pub(super) fn write_clips(sequence: &Sequence) -> Result<Content> {
    Ok(captions(&clip_cues(sequence, "vtt")?))
}

fn captions(cues: &[Cue]) -> Content {
    let mut file = String::from("WEBVTT\n\n");
    for cue in cues {
        let (start, end) = (clock(cue.start, '.'), clock(cue.end, '.'));
        let text = escape(&cue.lines.join("\n"));
        let text = match &cue.speaker {
            Some(speaker) => format!("<v {}>{text}</v>", escape(speaker)),
            None => text,
        };
        file.push_str(&format!("{start} --> {end}\n{text}\n\n"));
    }
    Content::Text(file)
}

/// Escapes text for use in a cue.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
