//! XML documents for the formats that are XML or contain it.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::kernel::error::{Error, Result};

/// An XML element with either text or child elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), text: String::new(), children: Vec::new() }
    }

    /// Adds an attribute.
    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.attributes.push((name, allowed_characters(&value.to_string())));
        self
    }

    /// Adds a child element.
    pub(super) fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    /// Adds child elements.
    pub(super) fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    /// Adds a child element that contains only text.
    pub(super) fn leaf(self, name: &'static str, text: impl ToString) -> Self {
        self.child(Self::new(name).text(text))
    }

    /// Sets the text of an element without children.
    pub(super) fn text(mut self, text: impl ToString) -> Self {
        self.text = allowed_characters(&text.to_string());
        self
    }

    /// Writes a document with this root element on indented lines. `document_type` is the content
    /// of the document type declaration.
    pub(super) fn to_document(&self, document_type: &'static str) -> Result<String> {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        declare(&mut writer)?;
        writer.write_event(Event::DocType(BytesText::from_escaped(document_type)))?;
        self.write(&mut writer)?;
        finish(writer)
    }

    /// Writes a document with this root element on one line, for formats in which white space
    /// between elements has a meaning.
    pub(super) fn to_compact_document(&self) -> Result<String> {
        let mut writer = Writer::new(Vec::new());
        declare(&mut writer)?;
        self.write(&mut writer)?;
        finish(writer)
    }

    fn write(&self, writer: &mut Writer<Vec<u8>>) -> Result<()> {
        let attributes = self.attributes.iter().map(|(name, value)| (*name, value.as_str()));
        let start = BytesStart::new(self.name).with_attributes(attributes);
        if self.text.is_empty() && self.children.is_empty() {
            return Ok(writer.write_event(Event::Empty(start))?);
        }
        writer.write_event(Event::Start(start))?;
        if !self.text.is_empty() {
            writer.write_event(Event::Text(BytesText::new(&self.text)))?;
        }
        for child in &self.children {
            child.write(writer)?;
        }
        Ok(writer.write_event(Event::End(BytesEnd::new(self.name)))?)
    }
}

fn declare(writer: &mut Writer<Vec<u8>>) -> Result<()> {
    Ok(writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?)
}

fn finish(writer: Writer<Vec<u8>>) -> Result<String> {
    let document = String::from_utf8(writer.into_inner());
    let mut document = document.map_err(|e| Error::corrupt(format!("cannot write XML: {e}")))?;
    document.push('\n');
    Ok(document)
}

/// Removes characters that no XML document can contain, such as control characters.
fn allowed_characters(text: &str) -> String {
    let is_allowed = |c: &char| match c {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        c => *c >= ' ',
    };
    text.chars().filter(is_allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_indented_and_escaped() {
        let rate = Element::new("rate").leaf("timebase", 25);
        let root = Element::new("clip").with("name", "a \"b\" & <c>").child(rate);
        let root = root.leaf("note", "1 < 2\u{0}\u{b}\u{ffff}").child(Element::new("empty"));
        assert_eq!(
            root.to_document("clip").expect("a document"),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE clip>\n\
             <clip name=\"a &quot;b&quot; &amp; &lt;c&gt;\">\n  \
               <rate>\n    \
                 <timebase>25</timebase>\n  \
               </rate>\n  \
               <note>1 &lt; 2</note>\n  \
               <empty/>\n\
             </clip>\n"
        );
        let compact = root.to_compact_document().expect("a document");
        assert!(compact.ends_with("<note>1 &lt; 2</note><empty/></clip>\n"), "{compact}");
    }
}
