//! A document as plain text.

use super::SpokenDocument;

pub(in crate::export) fn write(document: &SpokenDocument) -> String {
    let mut file = format!("{}\n", document.title);
    for section in &document.sections {
        if let Some(heading) = &section.heading {
            file.push_str(&format!("\n{}\n{}\n", heading.text, heading.link));
        }
        for paragraph in &section.paragraphs {
            let speaker = paragraph.speaker.as_deref().map(|name| format!(" {name}"));
            let (time, text) = (&paragraph.time, &paragraph.text);
            file.push_str(&format!("\n[{time}]{}\n{text}\n", speaker.unwrap_or_default()));
        }
        for remark in &section.remarks {
            file.push_str(&format!("\n{remark}\n"));
        }
    }
    file
}
