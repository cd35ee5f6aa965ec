//! The transcript as Markdown.

use crate::export::markdown::{escape, escape_paragraph};
use crate::export::transcript::document;
use crate::export::{Content, VideoLog};
use crate::kernel::error::Result;

pub(in crate::export) fn write(log: &VideoLog) -> Result<Content> {
    let document = document(log, "transcript.md")?;
    let mut file = format!("# {}\n", escape(&document.title));
    for paragraph in &document.paragraphs {
        let speaker = paragraph.speaker.as_deref().map(|name| format!("**{}** ", escape(name)));
        let (time, text) = (&paragraph.time, escape_paragraph(&paragraph.text));
        file.push_str(&format!("\n{}`{time}`\n\n{text}\n", speaker.unwrap_or_default()));
    }
    Ok(Content::Text(file))
}
