//! The transcript as a Word document (Office Open XML, ECMA-376).

use crate::export::transcript::{Document, DocumentParagraph, document, zip};
use crate::export::xml::Element;
use crate::export::{Content, VideoLog};
use crate::kernel::error::Result;

const MAIN: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const RELATIONSHIP: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PART_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";

pub(in crate::export) fn write(log: &VideoLog) -> Result<Content> {
    to_file(&document(log, "transcript.docx")?).map(Content::Bytes)
}

fn to_file(document: &Document) -> Result<Vec<u8>> {
    zip::archive(&[
        ("[Content_Types].xml", content_types().to_compact_document()?),
        ("_rels/.rels", package_relationships().to_compact_document()?),
        ("docProps/core.xml", properties(&document.title).to_compact_document()?),
        ("word/document.xml", body(document).to_compact_document()?),
        ("word/styles.xml", styles().to_compact_document()?),
        ("word/_rels/document.xml.rels", document_relationships().to_compact_document()?),
    ])
}

/// Lists the types of the files in the archive.
fn content_types() -> Element {
    let default = |extension: &str, kind: String| {
        Element::new("Default").with("Extension", extension).with("ContentType", kind)
    };
    let part = |path: &str, kind: String| {
        Element::new("Override").with("PartName", path).with("ContentType", kind)
    };
    let package = "application/vnd.openxmlformats-package";
    Element::new("Types")
        .with("xmlns", format!("{PACKAGE}/content-types"))
        .child(default("rels", format!("{package}.relationships+xml")))
        .child(default("xml", "application/xml".into()))
        .child(part("/word/document.xml", format!("{PART_TYPE}.document.main+xml")))
        .child(part("/word/styles.xml", format!("{PART_TYPE}.styles+xml")))
        .child(part("/docProps/core.xml", format!("{package}.core-properties+xml")))
}

fn package_relationships() -> Element {
    relationships()
        .child(relationship("rId1", format!("{RELATIONSHIP}/officeDocument"), "word/document.xml"))
        .child(relationship(
            "rId2",
            format!("{PACKAGE}/relationships/metadata/core-properties"),
            "docProps/core.xml",
        ))
}

fn document_relationships() -> Element {
    relationships().child(relationship("rId1", format!("{RELATIONSHIP}/styles"), "styles.xml"))
}

fn relationships() -> Element {
    Element::new("Relationships").with("xmlns", format!("{PACKAGE}/relationships"))
}

fn relationship(id: &str, kind: String, target: &str) -> Element {
    Element::new("Relationship").with("Id", id).with("Type", kind).with("Target", target)
}

fn properties(title: &str) -> Element {
    Element::new("cp:coreProperties")
        .with("xmlns:cp", format!("{PACKAGE}/metadata/core-properties"))
        .with("xmlns:dc", "http://purl.org/dc/elements/1.1/")
        .leaf("dc:title", title)
}

fn body(document: &Document) -> Element {
    let title = paragraph("Title").child(run(&document.title, None));
    let spoken = document.paragraphs.iter().flat_map(spoken);
    let body = Element::new("w:body").child(title).children(spoken);
    Element::new("w:document").with("xmlns:w", MAIN).child(body)
}

/// Formats a paragraph as a line with its speaker and time, which stays with the text below it.
fn spoken(paragraph: &DocumentParagraph) -> [Element; 2] {
    let mut heading = self::paragraph("Speaker");
    if let Some(speaker) = &paragraph.speaker {
        heading = heading.child(run(&format!("{speaker} "), Some("w:b")));
    }
    heading = heading.child(run(&paragraph.time, None));
    [heading, self::paragraph("Normal").child(run(&paragraph.text, None))]
}

fn paragraph(style: &str) -> Element {
    let properties = Element::new("w:pPr").child(value("w:pStyle", style));
    Element::new("w:p").child(properties)
}

/// Formats text, with an optional property such as `w:b` for bold.
fn run(text: &str, property: Option<&'static str>) -> Element {
    let properties = property.map(|property| Element::new("w:rPr").child(Element::new(property)));
    let text = Element::new("w:t").with("xml:space", "preserve").text(text);
    Element::new("w:r").children(properties).child(text)
}

fn value(name: &'static str, value: &str) -> Element {
    Element::new(name).with("w:val", value)
}

fn styles() -> Element {
    let fonts = Element::new("w:rFonts").with("w:ascii", "Calibri").with("w:hAnsi", "Calibri");
    let defaults = Element::new("w:rPr").child(fonts).child(value("w:sz", "22"));
    let defaults =
        Element::new("w:docDefaults").child(Element::new("w:rPrDefault").child(defaults));
    let normal = style("Normal", "Normal")
        .with("w:default", "1")
        .child(Element::new("w:pPr").child(spacing("0", "160")));
    let title = style("Title", "Title")
        .child(value("w:basedOn", "Normal"))
        .child(Element::new("w:pPr").child(spacing("0", "320")))
        .child(Element::new("w:rPr").child(value("w:sz", "40")));
    let speaker = style("Speaker", "Speaker")
        .child(value("w:basedOn", "Normal"))
        .child(value("w:next", "Normal"))
        .child(Element::new("w:pPr").child(Element::new("w:keepNext")).child(spacing("160", "0")))
        .child(Element::new("w:rPr").child(value("w:color", "595959")));
    Element::new("w:styles")
        .with("xmlns:w", MAIN)
        .child(defaults)
        .children([normal, title, speaker])
}

fn style(id: &str, name: &str) -> Element {
    Element::new("w:style")
        .with("w:type", "paragraph")
        .with("w:styleId", id)
        .child(value("w:name", name))
}

/// Formats the space before and after paragraphs, in twentieths of a point.
fn spacing(before: &str, after: &str) -> Element {
    Element::new("w:spacing").with("w:before", before).with("w:after", after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spoken_text_is_escaped() {
        let paragraph = DocumentParagraph {
            time: "00:00:03".into(),
            speaker: Some("Zoë & Co".into()),
            text: "2 < 3\u{0}".into(),
        };
        let document = Document { title: "clip.mp4".into(), paragraphs: vec![paragraph] };
        let text = body(&document).to_compact_document().expect("a document");
        for expected in [
            "<w:b/></w:rPr><w:t xml:space=\"preserve\">Zoë &amp; Co </w:t>",
            "<w:t xml:space=\"preserve\">00:00:03</w:t>",
            "<w:t xml:space=\"preserve\">2 &lt; 3</w:t>",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let file = to_file(&document).expect("a file");
        assert!(file.starts_with(b"PK\x03\x04"));
    }
}
