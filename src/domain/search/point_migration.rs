//! Reads point documents in earlier formats, which stored the fields of each built-in analyzer
//! instead of its statements. A scrub rewrites such points in the background. Until then, they are
//! converted whenever they are read.

use ports::llm::PassageKind;
use serde::Deserialize;
use serde_json::Value;

use crate::analysis::TextStyle;
use crate::analysis::output::{DescriptionPart, Statement};
use crate::media::speech::{SpeakerTurn, Utterance};
use crate::search::point::PointDocument;

/// What earlier formats stored in place of statements.
#[derive(Default, Deserialize)]
#[serde(default)]
struct EarlierFields {
    #[serde(rename = "_parts")]
    parts: Vec<DescriptionPart>,
    #[serde(rename = "_sentences")]
    sentences: Vec<Utterance>,
    turns: Vec<SpeakerTurn>,
    texts: Vec<EarlierLine>,
}

/// The parts of a line of on-screen text that a statement needs.
#[derive(Deserialize)]
struct EarlierLine {
    text: String,
}

/// Derives the statements and the embedded texts of a document in an earlier format. Fails if the
/// document's fields have another shape.
pub(super) fn convert(document: &mut PointDocument, style: TextStyle) -> serde_json::Result<()> {
    let earlier: EarlierFields =
        serde_json::from_value(Value::Object(document.display.records.clone()))?;
    for name in ["_parts", "_sentences"] {
        document.display.records.remove(name);
    }
    document.statements = statements(&earlier, document, style);
    let facets = &document.facets;
    let people = facets.people.join(if style == TextStyle::People { " " } else { ". " });
    let (actions, objects) = (facets.actions.join(". "), facets.objects.join(", "));
    for (field, text) in [("people", people), ("actions", actions), ("objects", objects)] {
        document.fields.insert(field.to_owned(), text);
    }
    Ok(())
}

fn statements(
    earlier: &EarlierFields,
    document: &PointDocument,
    style: TextStyle,
) -> Vec<Statement> {
    if !earlier.sentences.is_empty() {
        return earlier.sentences.iter().map(Statement::from_utterance).collect();
    }
    if !earlier.turns.is_empty() {
        return earlier.turns.iter().map(Statement::from_turn).collect();
    }
    if !earlier.parts.is_empty() {
        let part = |part: &DescriptionPart| Statement::new(part.kind, part.text.clone());
        return earlier.parts.iter().map(part).collect();
    }
    if !earlier.texts.is_empty() {
        let line = |line: &EarlierLine| Statement::new(PassageKind::Screen, line.text.clone());
        return earlier.texts.iter().map(line).collect();
    }
    let kind = match style {
        TextStyle::Prose | TextStyle::Actions => PassageKind::Prose,
        TextStyle::Speech => PassageKind::Speech,
        TextStyle::Screen => PassageKind::Screen,
        TextStyle::Objects => PassageKind::Objects,
        TextStyle::People => PassageKind::People,
    };
    vec![Statement::new(kind, document.display.description.clone())]
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
        for (fields, style, expected) in [
            (json!({"_sentences": [sentence], "turns": [turn]}), TextStyle::Speech, "Hello."),
            (json!({"turns": [turn]}), TextStyle::Speech, "Hello."),
            (json!({"_parts": [part], "description": "It says “EXIT”."}), TextStyle::Prose, "EXIT"),
            (json!({"texts": [line], "description": "EXIT"}), TextStyle::Screen, "EXIT"),
            (json!({"description": "A man."}), TextStyle::People, "A man."),
        ] {
            let document = converted(fields, style);
            let texts: Vec<&str> = document.statements.iter().map(|s| s.text.as_str()).collect();
            assert_eq!(texts, [expected], "{document:?}");
            assert_eq!(document.display.records.get("_sentences"), None);
        }
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
    }
}
