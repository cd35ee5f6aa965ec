//! The document that is stored with an index point and returned with a search hit.

use ports::llm::PassageKind;
use serde::{Deserialize, Serialize};

use crate::analysis::analyzers::object_detection::LabelDetection;
use crate::analysis::analyzers::people::PersonRecord;
use crate::analysis::certainty::{Certainty, mentions};
use crate::analysis::output::DescriptionPart;
use crate::media::screen_text::ScreenLine;
use crate::media::speech::{SpeakerTurn, Utterance};

/// The stored part of an index point, returned with a hit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HitDocument {
    /// The analyzer run that produced the point; empty in points written by versions that did not
    /// store it.
    #[serde(rename = "_revision", skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// Start, in seconds from the start of the video.
    pub start: f64,
    /// End, in seconds from the start of the video.
    pub end: f64,
    /// Description in prose.
    pub description: String,
    /// The statements that the description was composed from; empty if a model wrote it.
    #[serde(rename = "_parts", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<DescriptionPart>,
    /// Descriptions of people.
    pub people: Vec<String>,
    /// Names of objects.
    pub objects: Vec<String>,
    /// Actions.
    pub actions: Vec<String>,
    /// Topics.
    pub tags: Vec<String>,
    /// Speaker labels.
    pub speakers: Vec<String>,
    /// Number of people, from the people analyzer.
    pub people_count: Option<u32>,
    /// Speaker turns, from diarization.
    pub turns: Vec<SpeakerTurn>,
    /// The sentences, uncut: the first may begin before the chunk, the last may end after it.
    #[serde(rename = "_sentences", skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<Utterance>,
    /// The text that was embedded in the vector field `combined`.
    pub text: String,
    /// Records of the people analyzer.
    pub persons: Vec<PersonRecord>,
    /// Records of object detection.
    pub detections: Vec<LabelDetection>,
    /// Records of OCR.
    pub texts: Vec<ScreenLine>,
    /// The detectors' certainty for each label.
    #[serde(rename = "_certainty", skip_serializing_if = "Certainty::is_empty")]
    pub certainty: Certainty,
}

impl HitDocument {
    /// How certain it is, 0..1, that the things named by `words` are present. A word that also
    /// occurs in speech, screen text or prose, or that is not a detector label, is certain. If the
    /// hit contains only detections, the result is at most the certainty of the most certain label.
    pub(crate) fn certainty(&self, words: &[String]) -> f32 {
        let has_other_evidence = |word: &str| {
            let mut parts = self.parts.iter().filter(|part| part.kind != PassageKind::Objects);
            parts.any(|part| mentions(word, &part.text))
        };
        let certainties = words
            .iter()
            .filter_map(|word| self.certainty.for_word(word).filter(|_| !has_other_evidence(word)));
        let only_detections = self.parts.iter().all(|part| part.kind == PassageKind::Objects);
        let upper_bound = self.certainty.max().filter(|_| only_detections);
        certainties.fold(upper_bound.unwrap_or(1.0), f32::min)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn certainty_is_the_detectors_unless_other_statements_mention_the_word() {
        let part = |kind, text: &str| DescriptionPart { kind, text: text.into() };
        let hit: HitDocument = serde_json::from_value(json!({
            "_certainty": {"bird": 0.48, "cow": 0.6, "person": 0.9, "train": 0.55},
            "_parts": [
                part(PassageKind::Objects, "A bird and a cow are in view."),
                part(PassageKind::Speech, "The train leaves at nine."),
            ],
        }))
        .expect("a hit");
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
        assert_eq!(HitDocument::default().certainty(&parrot), 1.0);
        let certainty = hit.certainty.clone();
        let seen = HitDocument { certainty, ..HitDocument::default() };
        assert_eq!(seen.certainty(&parrot), 0.9, "there are no other statements");
    }
}
