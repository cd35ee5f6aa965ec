//! What the boundary detectors found in a video, kept with its record so that splitting it again
//! with other weights decodes nothing.

pub use cuts::Candidate;
use cuts::VisualSecond;
use serde::{Deserialize, Serialize};

use crate::domain::chunking::Weights;
use crate::domain::chunking::talk::{SpokenWord, Talk};

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
    /// When words are said; empty where none were recognised.
    #[serde(default)]
    pub spoken: Vec<SpokenWord>,
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
    /// looked for in what is said when `listens`, unless nothing is said, else in what is seen. What
    /// is heard within a sentence of the talk is moved to its end or counts less.
    pub fn weighted(&self, weights: &Weights<f64>, listens: bool, talk: Talk) -> Vec<Vote> {
        let said = listens && !self.candidates.semantic.is_empty();
        let topics = if said { &self.candidates.semantic } else { &self.scenes };
        let heard = |detector| match detector {
            Detector::Speaker | Detector::Silence => true,
            Detector::Semantic => said,
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
                    let (time, strength) = if heard(detector) {
                        talk.settle(c.time, c.strength)
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
