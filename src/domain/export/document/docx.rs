//! A document for Word (Office Open XML, ECMA-376).

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use super::{DocumentSection, Heading, SpokenDocument, SpokenParagraph};
use crate::export::xml::Element;
use crate::kernel::error::{Error, Result};

const MAIN: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const RELATIONSHIP: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PART_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";

pub(in crate::export) fn write(document: &SpokenDocument) -> Result<Vec<u8>> {
    let parts = [
        ("[Content_Types].xml", content_types()),
        ("_rels/.rels", package_relationships()),
        ("docProps/core.xml", properties(&document.title)),
        ("word/document.xml", body(document)),
        ("word/styles.xml", styles()),
        ("word/_rels/document.xml.rels", document_relationships(document)),
    ];
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, part) in parts {
        let part = part.to_compact_document()?;
        archive.start_file(path, SimpleFileOptions::DEFAULT).map_err(failed)?;
        archive.write_all(part.as_bytes()).map_err(|e| failed(e.into()))?;
    }
    Ok(archive.finish().map_err(failed)?.into_inner())
}

fn failed(error: ZipError) -> Error {
    Error::corrupt(format!("cannot write the document: {error}"))
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

fn document_relationships(document: &SpokenDocument) -> Element {
    let styles = relationship("styles", format!("{RELATIONSHIP}/styles"), "styles.xml");
    let links = headings(document).map(|(number, heading)| {
        let kind = format!("{RELATIONSHIP}/hyperlink");
        relationship(&link_id(number), kind, &heading.link).with("TargetMode", "External")
    });
    relationships().child(styles).children(links)
}

/// Returns the headings, with the numbers of their sections.
fn headings(document: &SpokenDocument) -> impl Iterator<Item = (usize, &Heading)> {
    let sections = document.sections.iter().enumerate();
    sections.filter_map(|(number, section)| Some((number, section.heading.as_ref()?)))
}

/// Returns the id of the link of a section's heading.
fn link_id(section: usize) -> String {
    format!("link{section}")
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

fn body(document: &SpokenDocument) -> Element {
    let title = paragraph("Title").child(run(&document.title, None));
    let sections = document.sections.iter().enumerate();
    let sections = sections.flat_map(|(number, section)| section_paragraphs(number, section));
    let body = Element::new("w:body").child(title).children(sections);
    Element::new("w:document").with("xmlns:w", MAIN).with("xmlns:r", RELATIONSHIP).child(body)
}

fn section_paragraphs(number: usize, section: &DocumentSection) -> Vec<Element> {
    let heading = section.heading.iter().map(|heading| {
        let link = Element::new("w:hyperlink").with("r:id", link_id(number));
        paragraph("Heading1").child(link.child(run(&heading.text, None)))
    });
    let spoken = section.paragraphs.iter().flat_map(spoken);
    let remarks =
        section.remarks.iter().map(|remark| paragraph("Remark").child(run(remark, Some("w:i"))));
    heading.chain(spoken).chain(remarks).collect()
}

/// Formats a paragraph as a line with its speaker and time, which stays with the text below it.
fn spoken(paragraph: &SpokenParagraph) -> [Element; 2] {
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
    let heading = style("Heading1", "heading 1")
        .child(value("w:basedOn", "Normal"))
        .child(value("w:next", "Normal"))
        .child(
            Element::new("w:pPr")
                .child(Element::new("w:keepNext"))
                .child(spacing("320", "80"))
                .child(value("w:outlineLvl", "0")),
        )
        .child(Element::new("w:rPr").child(Element::new("w:b")).child(value("w:sz", "26")));
    let remark = style("Remark", "Remark").child(value("w:basedOn", "Normal"));
    let speaker = style("Speaker", "Speaker")
        .child(value("w:basedOn", "Normal"))
        .child(value("w:next", "Normal"))
        .child(Element::new("w:pPr").child(Element::new("w:keepNext")).child(spacing("160", "0")))
        .child(Element::new("w:rPr").child(value("w:color", "595959")));
    Element::new("w:styles")
        .with("xmlns:w", MAIN)
        .child(defaults)
        .children([normal, title, heading, speaker, remark])
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
    use crate::export::document::testing::quote;

    #[test]
    fn text_is_escaped() {
        let text = body(&quote()).to_compact_document().expect("a document");
        for expected in [
            "<w:b/></w:rPr><w:t xml:space=\"preserve\">Zoë &amp; Co </w:t>",
            "<w:t xml:space=\"preserve\">00:00:03</w:t>",
            "<w:t xml:space=\"preserve\">2 &lt; 3</w:t>",
            "<w:hyperlink r:id=\"link0\"><w:r><w:t xml:space=\"preserve\">1. clip.mp4</w:t>",
            "<w:i/></w:rPr><w:t xml:space=\"preserve\">Use *this*</w:t>",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        let links = document_relationships(&quote()).to_compact_document().expect("links");
        let expected = "Target=\"http://a/b?c=1&amp;d=2#t=3\" TargetMode=\"External\"";
        assert!(links.contains(expected), "{links}");
        let file = write(&quote()).expect("a file");
        assert!(file.starts_with(b"PK\x03\x04"));
    }
}
