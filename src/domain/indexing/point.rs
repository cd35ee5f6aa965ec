//! The document that the index stores with a point.

use std::collections::BTreeMap;

use ports::index::{Filter, Predicate};
use ports::llm::PassageKind;
use serde::{Deserialize, Serialize};

use crate::analysis::COMBINED;
use crate::analysis::certainty::mentions;
use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::Statement;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;

/// The format version of the documents that this version writes.
pub(crate) const POINT_FORMAT: u32 = 2;

/// What the index stores with a point. It contains everything that a hit returns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PointDocument {
    /// The format version; 0 for documents written before it was stored.
    #[serde(rename = "_format")]
    pub(crate) format: u32,
    /// The analyzer run that produced the document; empty for documents written before it was
    /// stored.
    #[serde(rename = "_revision", skip_serializing_if = "String::is_empty")]
    pub(crate) revision: String,
    /// When the chunk starts, in seconds from the start of the video.
    pub(crate) start: f64,
    /// When the chunk ends, in seconds from the start of the video.
    pub(crate) end: f64,
    /// The text that was embedded in the vector field `combined`.
    pub(crate) text: String,
    /// The texts that were embedded in other vector fields; `None` for a text that equals `text`.
    #[serde(rename = "_fields", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) fields: BTreeMap<String, Option<String>>,
    /// What the analyzer states about the chunk.
    #[serde(rename = "_statements", skip_serializing_if = "Vec::is_empty")]
    pub(crate) statements: Vec<Statement>,
    /// The labels of the chunk.
    #[serde(flatten)]
    pub(crate) facets: Facets,
    /// What a hit shows.
    #[serde(flatten)]
    pub(crate) display: Display,
}

impl PointDocument {
    pub(crate) fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }

    /// Returns the text that was embedded in a vector field; empty if there was none.
    pub(crate) fn embedded_text(&self, field: &str) -> &str {
        match self.fields.get(field) {
            Some(Some(text)) => text,
            Some(None) => &self.text,
            None if field == COMBINED => &self.text,
            None => "",
        }
    }

    /// Sets the texts that were embedded in the vector fields.
    pub(crate) fn set_fields(&mut self, fields: BTreeMap<&'static str, String>) {
        let whole = &self.text;
        let stored = |(field, text): (&str, String)| {
            (field != COMBINED).then(|| (field.to_owned(), (text != *whole).then_some(text)))
        };
        self.fields = fields.into_iter().filter_map(stored).collect();
    }

    /// How certain it is, 0..1, that the things named by `words` are present. A word that also
    /// occurs in speech, screen text or prose, or that is not a detector label, is certain. If the
    /// hit contains only detections, the result is at most the certainty of the most certain label.
    pub(crate) fn certainty(&self, words: &[String]) -> f32 {
        let certainty = &self.facets.certainty;
        let is_detected = |statement: &Statement| statement.kind == PassageKind::Objects;
        let has_other_evidence = |word: &str| {
            let mut others = self.statements.iter().filter(|statement| !is_detected(statement));
            others.any(|statement| mentions(word, &statement.text))
        };
        let certainties = words
            .iter()
            .filter_map(|word| certainty.for_word(word).filter(|_| !has_other_evidence(word)));
        let only_detections = self.statements.iter().all(is_detected);
        let upper_bound = certainty.max().filter(|_| only_detections);
        certainties.fold(upper_bound.unwrap_or(1.0), f32::min)
    }
}

/// Returns a filter for the points of a video that belong to these revisions.
pub(crate) fn revision_filter(video_id: VideoId, revisions: Vec<String>) -> Filter {
    restrict_to_revisions(Filter::video(video_id), revisions)
}

/// Restricts a filter to the points of these revisions.
pub(crate) fn restrict_to_revisions(filter: Filter, revisions: Vec<String>) -> Filter {
    filter.and("revision", Predicate::AnyKeyword(revisions))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::analysis::TextStyle;

    fn read(document: serde_json::Value) -> PointDocument {
        PointDocument::read(&document.into(), TextStyle::Prose).expect("a document")
    }

    #[test]
    fn certainty_is_the_detectors_unless_other_statements_mention_the_word() {
        let hit = read(json!({
            "_format": POINT_FORMAT,
            "_certainty": {"bird": 0.48, "cow": 0.6, "person": 0.9, "train": 0.55},
            "_statements": [
                {"kind": PassageKind::Objects, "text": "A bird and a cow are in view."},
                {"kind": PassageKind::Speech, "text": "The train leaves at nine."},
            ],
        }));
        for (words, expected) in [
            (&["bird"][..], 0.48),
            (&["birds"], 0.48),
            (&["animal"], 0.6),
            (&["people", "cow"], 0.6),
            (&["train"], 1.0),
            (&["river"], 1.0),
            (&[], 1.0),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(hit.certainty(&words), expected, "{words:?}");
        }
        let parrot = ["parrot".to_owned()];
        assert_eq!(PointDocument::default().certainty(&parrot), 1.0);
        let facets = Facets { certainty: hit.facets.certainty.clone(), ..Facets::default() };
        let seen = PointDocument { facets, ..PointDocument::default() };
        assert_eq!(seen.certainty(&parrot), 0.9, "there are no other statements");
    }

    #[test]
    fn embedded_texts_are_stored_once() {
        let whole = "A red car. Objects: car";
        let mut document = PointDocument {
            format: POINT_FORMAT,
            text: whole.into(),
            display: Display::new("A red car."),
            ..PointDocument::default()
        };
        document.set_fields(BTreeMap::from([
            ("combined", whole.to_owned()),
            ("description", whole.to_owned()),
            ("objects", "car".to_owned()),
        ]));
        let document = read(json!(document));
        let expected = [("description".to_owned(), None), ("objects".into(), Some("car".into()))];
        assert_eq!(document.fields, BTreeMap::from(expected));
        for (field, expected) in
            [("combined", whole), ("description", whole), ("objects", "car"), ("people", "")]
        {
            assert_eq!(document.embedded_text(field), expected);
        }
    }
}
