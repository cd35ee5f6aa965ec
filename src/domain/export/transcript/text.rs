//! The transcript as plain text.

use crate::export::transcript::document;
use crate::export::{Content, VideoLog};
use crate::kernel::error::Result;

pub(in crate::export) fn write(log: &VideoLog) -> Result<Content> {
    let document = document(log, "transcript.txt")?;
    let mut file = format!("{}\n", document.title);
    for paragraph in &document.paragraphs {
        let speaker = paragraph.speaker.as_deref().map(|name| format!(" {name}"));
        let (time, text) = (&paragraph.time, &paragraph.text);
        file.push_str(&format!("\n[{time}]{}\n{text}\n", speaker.unwrap_or_default()));
    }
    Ok(Content::Text(file))
}
