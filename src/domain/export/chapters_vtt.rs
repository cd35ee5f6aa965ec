//! Chapters as a WebVTT track of the kind `chapters`.

use crate::export::chapter_marks::chapters;
use crate::export::vtt::escape;
use crate::export::{Content, VideoLog, clock};
use crate::kernel::error::Result;

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    let mut file = String::from("WEBVTT\n\n");
    for (number, chapter) in chapters(log, "chapters.vtt")?.iter().enumerate() {
        let (start, end) = (clock(chapter.span.start, '.'), clock(chapter.span.end, '.'));
        let title = escape(&chapter.title);
        file.push_str(&format!("{}\n{start} --> {end}\n{title}\n\n", number + 1));
    }
    Ok(Content::Text(file))
}
