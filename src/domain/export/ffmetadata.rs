//! Chapters as an FFmpeg metadata file, for `ffmpeg -i video -i file -map_metadata 1 -codec copy
//! out`.

use crate::export::chapter_marks::chapters;
use crate::export::{Content, VideoLog};
use crate::kernel::error::Result;

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    let mut file = format!(";FFMETADATA1\ntitle={}\n", escape(log.stem()));
    for chapter in chapters(log, "ffmetadata")? {
        let ms = |seconds: f64| (seconds * 1000.0).round() as u64;
        file.push_str(&format!(
            "\n[CHAPTER]\nTIMEBASE=1/1000\nSTART={}\nEND={}\ntitle={}\n",
            ms(chapter.span.start),
            ms(chapter.span.end),
            escape(&chapter.title)
        ));
    }
    Ok(Content::Text(file))
}

/// Escapes special characters with a backslash.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '=' | ';' | '#' | '\\' | '\n') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
