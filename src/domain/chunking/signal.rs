//! The signals of the boundary detectors, stored in a video's record so that chunking the video
//! again with other weights needs no decoding.

pub use cuts::Candidate;
use cuts::VisualSecond;
use serde::{Deserialize, Serialize};

use crate::chunking::Weights;
use crate::chunking::speech_cost::{SpeechCost, SpokenWord};

/// The four boundary detectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detector {
    /// Voice changes.
    Speaker,
    /// Pauses.
    Silence,
    /// Shot changes.
    Cut,
    /// Topic shifts.
    Semantic,
}

impl Detector {
    /// All detectors, in the order in which the API lists them.
    pub const ALL: [Self; 4] = [Self::Speaker, Self::Silence, Self::Cut, Self::Semantic];
}

/// All measurements from a scan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Signals {
    /// Candidates by detector. Topic shifts come from speech only.
    pub candidates: Weights<Vec<Candidate>>,
    /// Topic shifts in the picture.
    #[serde(default)]
    pub scenes: Vec<Candidate>,
    /// Times of spoken words; empty without speech recognition.
    #[serde(default)]
    pub spoken: Vec<SpokenWord>,
    /// Visual measurements, one for each second.
    pub visual: Vec<VisualSecond>,
    /// Audio levels in dBFS, one for each second; empty without an audio track.
    pub loudness: Vec<f32>,
    /// End of the last frame or audio sample, in seconds.
    pub end: f64,
}

/// A weighted candidate for a boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vote {
    /// The detector that votes.
    pub detector: Detector,
    /// Time, in seconds from the start of the video.
    pub time: f64,
    /// The candidate's strength multiplied by the detector's weight.
    pub score: f64,
}

impl Signals {
    /// Collects the candidates from all detectors with non-zero weight, in chronological order.
    /// Topic shifts are taken from speech if `uses_speech` is set and there are any in speech.
    /// Otherwise, they are taken from the picture. Audio candidates within a sentence are moved to
    /// a nearby sentence boundary or weakened.
    pub fn weighted(
        &self,
        weights: &Weights<f64>,
        uses_speech: bool,
        speech: SpeechCost,
    ) -> Vec<Vote> {
        let from_speech = uses_speech && !self.candidates.semantic.is_empty();
        let topics = if from_speech { &self.candidates.semantic } else { &self.scenes };
        let is_audio = |detector| match detector {
            Detector::Speaker | Detector::Silence => true,
            Detector::Semantic => from_speech,
            Detector::Cut => false,
        };
        let all = [
            (Detector::Speaker, &self.candidates.speaker, weights.speaker),
            (Detector::Silence, &self.candidates.silence, weights.silence),
            (Detector::Cut, &self.candidates.cut, weights.cut),
            (Detector::Semantic, topics, weights.semantic),
        ];
        let mut votes: Vec<Vote> = all
            .into_iter()
            .filter(|(.., weight)| *weight > 0.0)
            .flat_map(|(detector, candidates, weight)| {
                candidates.iter().map(move |c| {
                    let (time, strength) = if is_audio(detector) {
                        speech.adjust(c.time, c.strength)
                    } else {
                        (c.time, c.strength)
                    };
                    Vote { detector, time, score: f64::from(strength) * weight }
                })
            })
            .collect();
        votes.sort_by(|a, b| a.time.total_cmp(&b.time));
        votes
    }
}
