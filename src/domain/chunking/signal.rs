//! What the boundary detectors found in a video, kept with its record so that splitting it again
//! with other weights decodes nothing.

use serde::{Deserialize, Serialize};

use crate::domain::chunking::Weights;
use crate::domain::chunking::cut::VisualSecond;

/// A place where a boundary may go.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// When, seconds of the video.
    pub time: f64,
    /// 0..1.
    pub strength: f32,
}

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
    /// In the order of the contract.
    pub const ALL: [Self; 4] = [Self::Speaker, Self::Silence, Self::Cut, Self::Semantic];
}

/// Everything one decoding pass measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Signals {
    /// Candidates by detector; topic shifts are those in what is said.
    pub candidates: Weights<Vec<Candidate>>,
    /// Topic shifts in what is seen.
    #[serde(default)]
    pub scenes: Vec<Candidate>,
    /// Measures of the picture, one per second.
    pub visual: Vec<VisualSecond>,
    /// Sound level, dBFS, one per second; empty without a sound track.
    pub loudness: Vec<f32>,
    /// When the last picture or sound ends, seconds.
    pub end: f64,
}

/// A candidate as the fusion sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vote {
    /// Which detector found it.
    pub detector: Detector,
    /// When, seconds of the video.
    pub time: f64,
    /// Strength times weight.
    pub score: f64,
}

impl Signals {
    /// Every candidate of the detectors whose weight is not zero, in order of time. Topics are
    /// looked for in what is said when `listens`, unless nothing is said, else in what is seen.
    pub fn weighted(&self, weights: &Weights<f64>, listens: bool) -> Vec<Vote> {
        let spoken = &self.candidates.semantic;
        let topics = if listens && !spoken.is_empty() { spoken } else { &self.scenes };
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
                candidates.iter().map(move |c| Vote {
                    detector,
                    time: c.time,
                    score: f64::from(c.strength) * weight,
                })
            })
            .collect();
        votes.sort_by(|a, b| a.time.total_cmp(&b.time));
        votes
    }
}
