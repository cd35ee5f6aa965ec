//! Chapters as a WebVTT track of the kind `chapters`.

use crate::domain::export::chapter_marks::chapters;
use crate::domain::export::vtt::escaped;
use crate::domain::export::{Content, Log, clock};
use crate::domain::kernel::error::Result;

pub(super) fn write(log: &Log) -> Result<Content> {
    let mut file = String::from("WEBVTT\n\n");
    for (number, chapter) in chapters(log, "chapters.vtt")?.iter().enumerate() {
        let (start, end) = (clock(chapter.span.start, '.'), clock(chapter.span.end, '.'));
        let title = escaped(&chapter.title);
        file.push_str(&format!("{}\n{start} --> {end}\n{title}\n\n", number + 1));
    }
    Ok(Content::Text(file))
}
