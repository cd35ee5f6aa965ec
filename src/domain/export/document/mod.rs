//! Documents for readers: a title and sections of what was said. Each format is written in a
//! separate file.

pub(super) mod docx;
pub(super) mod markdown;
pub(super) mod text;

/// A document. Every text in it is on one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpokenDocument {
    pub(super) title: String,
    pub(super) sections: Vec<DocumentSection>,
}

/// A part of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DocumentSection {
    /// The heading; `None` if the document has only one section.
    pub(super) heading: Option<Heading>,
    pub(super) paragraphs: Vec<SpokenParagraph>,
    /// Remarks on the section, below it.
    pub(super) remarks: Vec<String>,
}

/// The heading of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heading {
    pub(super) text: String,
    /// URL of the part of the video that the section is about.
    pub(super) link: String,
}

/// What one speaker said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpokenParagraph {
    /// The time at which the paragraph begins, followed by the wall-clock time if requested.
    pub(super) time: String,
    /// The speaker, if known.
    pub(super) speaker: Option<String>,
    pub(super) text: String,
}

#[cfg(test)]
mod testing {
    use super::*;

    /// A document with one section that has a heading and a remark.
    pub(super) fn quote() -> SpokenDocument {
        let paragraph = SpokenParagraph {
            time: "00:00:03".into(),
            speaker: Some("Zoë & Co".into()),
            text: "2 < 3\u{0}".into(),
        };
        let heading = Heading { text: "1. clip.mp4".into(), link: "http://a/b?c=1&d=2#t=3".into() };
        let section = DocumentSection {
            heading: Some(heading),
            paragraphs: vec![paragraph],
            remarks: vec!["Use *this*".into()],
        };
        SpokenDocument { title: "Quotes".into(), sections: vec![section] }
    }
}
