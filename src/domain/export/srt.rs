//! SubRip captions.

use crate::export::cues::{Cue, clip_cues, cues};
use crate::export::sequence::Sequence;
use crate::export::{Content, VideoLog, clock};
use crate::kernel::error::Result;

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    Ok(captions(&cues(log, "srt", log.options.captions.speakers)?))
}

pub(super) fn write_clips(sequence: &Sequence) -> Result<Content> {
    Ok(captions(&clip_cues(sequence, "srt")?))
}

fn captions(cues: &[Cue]) -> Content {
    let mut file = String::new();
    for (number, cue) in cues.iter().enumerate() {
        let (start, end) = (clock(cue.start, ','), clock(cue.end, ','));
        file.push_str(&format!("{}\n{start} --> {end}\n{}\n\n", number + 1, cue.lines.join("\n")));
    }
    Content::Text(file)
}
