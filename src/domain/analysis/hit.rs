//! What a hit of a search shows of a chunk.

use ports::llm::PassageKind;
use serde::{Deserialize, Serialize};

use crate::domain::analysis::analyzers::object_detection::Detection;
use crate::domain::analysis::analyzers::people::Person;
use crate::domain::analysis::certainty::{Certainty, names};
use crate::domain::analysis::finding::Part;
use crate::domain::media::screen_text::ScreenLine;
use crate::domain::media::speech::{SpeakerTurn, Utterance};

/// What is stored with a point and comes back with a hit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HitDocument {
    /// The run of the analyzer that it is of; empty in points of versions that did not say.
    #[serde(rename = "_revision", skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// When it begins, seconds of the video.
    pub start: f64,
    /// When it ends, seconds of the video.
    pub end: f64,
    /// Prose.
    pub description: String,
    /// What the description was composed from; empty where it was written.
    #[serde(rename = "_parts", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Descriptions of people.
    pub people: Vec<String>,
    /// Names of objects.
    pub objects: Vec<String>,
    /// What is done.
    pub actions: Vec<String>,
    /// Topics.
    pub tags: Vec<String>,
    /// Speaker labels.
    pub speakers: Vec<String>,
    /// From the people analyzer.
    pub people_count: Option<u32>,
    /// From diarization.
    pub turns: Vec<SpeakerTurn>,
    /// What is said, each sentence whole, also where it begins before the chunk or ends after it.
    #[serde(rename = "_sentences", skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<Utterance>,
    /// The text that was embedded as `combined`.
    pub text: String,
    /// Records of the people analyzer.
    pub persons: Vec<Person>,
    /// Records of object detection.
    pub detections: Vec<Detection>,
    /// Records of OCR.
    pub texts: Vec<ScreenLine>,
    /// How sure detectors are of what they found.
    #[serde(rename = "_certainty", skip_serializing_if = "Certainty::is_empty")]
    pub certainty: Certainty,
}

impl HitDocument {
    /// How sure it is, 0..1, that what words name is really seen: certain where it is said, read or
    /// written, too, or is no thing that a detector looks for; but where nothing is told except what
    /// detectors saw, no surer than the surest of that.
    pub(crate) fn certainty(&self, words: &[String]) -> f32 {
        let told_otherwise = |word: &str| {
            let mut parts = self.parts.iter().filter(|part| part.kind != PassageKind::Objects);
            parts.any(|part| names(word, &part.text))
        };
        let sure = words
            .iter()
            .filter_map(|word| self.certainty.of_named(word).filter(|_| !told_otherwise(word)));
        let only_seen = self.parts.iter().all(|part| part.kind == PassageKind::Objects);
        let surest = self.certainty.surest().filter(|_| only_seen);
        sure.fold(surest.unwrap_or(1.0), f32::min)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_seen_is_as_sure_as_the_detector_is_unless_it_is_told_otherwise_too() {
        let part = |kind, text: &str| Part { kind, text: text.into() };
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
        assert_eq!(seen.certainty(&parrot), 0.9, "nothing else is told");
    }
}
