//! WebVTT captions, with the speakers as voices.

use crate::domain::export::cues::cues;
use crate::domain::export::{Content, Log, clock};
use crate::domain::kernel::error::Result;

pub(super) fn write(log: &Log) -> Result<Content> {
    let mut file = String::from("WEBVTT\n\n");
    for cue in cues(log, "vtt", false)? {
        let (start, end) = (clock(cue.start, '.'), clock(cue.end, '.'));
        let text = escaped(&cue.lines.join("\n"));
        let text = match &cue.speaker {
            Some(speaker) => format!("<v {}>{text}</v>", escaped(speaker)),
            None => text,
        };
        file.push_str(&format!("{start} --> {end}\n{text}\n\n"));
    }
    Ok(Content::Text(file))
}

/// Text that means itself in a cue.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
