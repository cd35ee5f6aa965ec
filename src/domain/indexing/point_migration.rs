//! Reads point documents. Earlier formats stored the fields of each built-in analyzer instead of
//! its statements. A scrub rewrites such points in the background. Until then, they are converted
//! whenever they are read.

use std::collections::BTreeMap;

use ports::Document;
use ports::llm::PassageKind;
use serde::Deserialize;
use serde_json::Value;

use crate::analysis::TextStyle;
use crate::analysis::analyzers::default_video::decompose;
use crate::analysis::analyzers::object_detection::{LabelDetection, in_view};
use crate::analysis::output::{DescriptionPart, Statement};
use crate::indexing::point::{POINT_FORMAT, PointDocument};
use crate::media::screen_text::{ScreenLine, captions};
use crate::media::speech::{SpeakerTurn, Utterance};

/// What earlier formats stored in place of statements and records.
#[derive(Default, Deserialize)]
#[serde(default)]
struct EarlierFields {
    #[serde(rename = "_parts")]
    parts: Vec<DescriptionPart>,
    #[serde(rename = "_sentences")]
    sentences: Vec<Utterance>,
    turns: Vec<SpeakerTurn>,
    texts: Vec<ScreenLine>,
    detections: Vec<LabelDetection>,
    persons: Vec<Value>,
}

impl PointDocument {
    /// Deserializes a stored document. Documents in an earlier format are converted; `style` is the
    /// style of the analyzer's text.
    pub(crate) fn read(stored: &Document, style: TextStyle) -> serde_json::Result<Self> {
        let document: Self = stored.read()?;
        if document.format < POINT_FORMAT {
            return convert(document, stored, style);
        }
        Ok(document)
    }
}

/// Derives the statements, the records and the embedded texts that a document in an earlier format
/// does not store. Fails if its fields have another shape.
fn convert(
    mut document: PointDocument,
    stored: &Document,
    style: TextStyle,
) -> serde_json::Result<PointDocument> {
    let earlier: EarlierFields = stored.read()?;
    document.statements = statements(&earlier, &document.display.description, style);
    document.fields = fields(&document, style);
    document.display = document
        .display
        .with_records("turns", &earlier.turns)
        .with_records("texts", &earlier.texts)
        .with_records("detections", &earlier.detections)
        .with_records("persons", &earlier.persons);
    Ok(document)
}

fn fields(document: &PointDocument, style: TextStyle) -> BTreeMap<String, Option<String>> {
    let facets = &document.facets;
    let fields = [
        ("description", document.display.description.clone()),
        ("people", facets.people.join(if style == TextStyle::People { " " } else { ". " })),
        ("actions", facets.actions.join(". ")),
        ("objects", facets.objects.join(", ")),
    ];
    let embedded = fields.into_iter().filter(|(_, text)| !text.is_empty());
    embedded.map(|(field, text)| (field.to_owned(), Some(text))).collect()
}

fn statements(earlier: &EarlierFields, description: &str, style: TextStyle) -> Vec<Statement> {
    if !earlier.sentences.is_empty() {
        return earlier.sentences.iter().map(Statement::from_utterance).collect();
    }
    if !earlier.turns.is_empty() {
        return earlier.turns.iter().map(Statement::from_turn).collect();
    }
    if !earlier.texts.is_empty() {
        let captions = captions(&earlier.texts).into_iter();
        return captions.map(|c| Statement::new(PassageKind::Screen, c.text)).collect();
    }
    if !earlier.detections.is_empty() {
        return in_view(&earlier.detections).into_iter().collect();
    }
    let kind = match style {
        TextStyle::Prose | TextStyle::Actions => {
            let parsed = match earlier.parts.is_empty() {
                true => decompose::parse(description),
                false => earlier.parts.clone(),
            };
            if !parsed.is_empty() {
                let part = |part: DescriptionPart| Statement::new(part.kind, part.text);
                return parsed.into_iter().map(part).collect();
            }
            PassageKind::Prose
        }
        TextStyle::Speech => PassageKind::Speech,
        TextStyle::Screen => PassageKind::Screen,
        TextStyle::Objects => PassageKind::Objects,
        TextStyle::People => PassageKind::People,
    };
    vec![Statement::new(kind, description)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn converted(document: Value, style: TextStyle) -> PointDocument {
        PointDocument::read(&document.into(), style).expect("a document")
    }

    #[test]
    fn statements_come_from_the_fields_of_each_analyzer() {
        let sentence = json!({"start": 1.0, "end": 2.0, "text": "Hello.", "confidence": 0.9});
        let turn = json!({"speaker": "S1", "start": 1.0, "end": 2.0, "text": "Hello."});
        let part = json!({"kind": PassageKind::Screen, "text": "EXIT"});
        let line = json!({"text": "EXIT", "first_seen": 1.0, "last_seen": 2.0});
        let cars = json!({"label": "car", "count": 2});
        for (fields, style, expected) in [
            (json!({"_sentences": [sentence], "turns": [turn]}), TextStyle::Speech, "Hello."),
            (json!({"turns": [turn], "texts": []}), TextStyle::Speech, "Hello."),
            (json!({"_parts": [part], "description": "It says “EXIT”."}), TextStyle::Prose, "EXIT"),
            (json!({"texts": [line], "description": "EXIT"}), TextStyle::Screen, "EXIT"),
            (
                json!({"detections": [cars], "description": "2 × car"}),
                TextStyle::Objects,
                "Two cars are in view.",
            ),
            (json!({"description": "A man."}), TextStyle::People, "A man."),
            (json!({"description": "Waves roll in."}), TextStyle::Prose, "Waves roll in."),
        ] {
            let document = converted(fields, style);
            let texts: Vec<&str> = document.statements.iter().map(|s| s.text.as_str()).collect();
            assert_eq!(texts, [expected], "{document:?}");
        }
    }

    #[test]
    fn empty_lists_are_no_records() {
        let turn = json!({"speaker": "S1", "start": 1.0, "end": 2.0, "text": "Hello."});
        let document =
            converted(json!({"turns": [turn], "persons": [], "texts": []}), TextStyle::Speech);
        assert_eq!(document.display.records.keys().collect::<Vec<_>>(), ["turns"]);
        assert_eq!(document.display.records["turns"], json!([turn]));
    }

    #[test]
    fn embedded_texts_come_from_the_labels() {
        let people =
            json!({"text": "all", "description": "A man. A dog.", "people": ["A man.", "A dog."]});
        let embedded =
            |style, field: &str| converted(people.clone(), style).embedded_text(field).to_owned();
        assert_eq!(embedded(TextStyle::People, "people"), "A man. A dog.");
        assert_eq!(embedded(TextStyle::Prose, "people"), "A man.. A dog.");
        assert_eq!(embedded(TextStyle::Prose, "description"), "A man. A dog.");
        assert_eq!(embedded(TextStyle::Prose, "combined"), "all");
        assert_eq!(embedded(TextStyle::Prose, "objects"), "");
    }
}
