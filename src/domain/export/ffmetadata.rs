//! Chapters as FFmpeg's metadata file: `ffmpeg -i video -i file -map_metadata 1 -codec copy out`.

use crate::domain::export::chapter_marks::chapters;
use crate::domain::export::{Content, Log};
use crate::domain::kernel::error::Result;

pub(super) fn write(log: &Log) -> Result<Content> {
    let mut file = format!(";FFMETADATA1\ntitle={}\n", escaped(log.stem()));
    for chapter in chapters(log, "ffmetadata")? {
        let ms = |seconds: f64| (seconds * 1000.0).round() as u64;
        file.push_str(&format!(
            "\n[CHAPTER]\nTIMEBASE=1/1000\nSTART={}\nEND={}\ntitle={}\n",
            ms(chapter.span.start),
            ms(chapter.span.end),
            escaped(&chapter.title)
        ));
    }
    Ok(Content::Text(file))
}

/// Special characters are marked by a backslash.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '=' | ';' | '#' | '\\' | '\n') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
