//! What a hit of a search shows of a chunk.

use serde::{Deserialize, Serialize};

use crate::domain::analysis::analyzers::object_detection::Detection;
use crate::domain::analysis::analyzers::people::Person;
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
}
