//! SubRip captions.

use crate::export::cues::cues;
use crate::export::{Content, VideoLog, clock};
use crate::kernel::error::Result;

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    let mut file = String::new();
    for (number, cue) in cues(log, "srt", log.options.captions.speakers)?.iter().enumerate() {
        let (start, end) = (clock(cue.start, ','), clock(cue.end, ','));
        file.push_str(&format!("{}\n{start} --> {end}\n{}\n\n", number + 1, cue.lines.join("\n")));
    }
    Ok(Content::Text(file))
}
