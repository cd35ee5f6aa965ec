//! A document in Markdown.

use super::SpokenDocument;
use crate::export::markdown::{escape, escape_paragraph};

pub(in crate::export) fn write(document: &SpokenDocument) -> String {
    let mut file = format!("# {}\n", escape(&document.title));
    for section in &document.sections {
        if let Some(heading) = &section.heading {
            file.push_str(&format!("\n## [{}](<{}>)\n", escape(&heading.text), heading.link));
        }
        for paragraph in &section.paragraphs {
            let speaker = paragraph.speaker.as_deref().map(|name| format!("**{}** ", escape(name)));
            let (time, text) = (&paragraph.time, escape_paragraph(&paragraph.text));
            file.push_str(&format!("\n{}`{time}`\n\n{text}\n", speaker.unwrap_or_default()));
        }
        for remark in &section.remarks {
            file.push_str(&format!("\n> {}\n", escape_paragraph(remark)));
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::document::testing::quote;

    #[test]
    fn sections_have_a_link_and_remarks() {
        assert_eq!(
            write(&quote()),
            "# Quotes\n\n\
             ## [1. clip.mp4](<http://a/b?c=1&d=2#t=3>)\n\n\
             **Zoë \\& Co** `00:00:03`\n\n\
             2 \\< 3\u{0}\n\n\
             > Use \\*this\\*\n"
        );
    }
}
