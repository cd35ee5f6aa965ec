//! How certain it is that detected objects are present.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use text::things::thing_overlap;

use crate::analysis::tracks::ChunkTracks;
use crate::kernel::time::rounded;

/// For each label, the certainty (0..1) that such an object is present.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Certainty(BTreeMap<String, f64>);

impl Certainty {
    /// For each label, the certainty of its most certain track.
    pub(crate) fn from_tracks(chunk: &ChunkTracks) -> Self {
        let mut by_label: BTreeMap<String, f64> = BTreeMap::new();
        for track in &chunk.tracks {
            let certainty = rounded(track.certainty(chunk.times.len()).into());
            let max = by_label.entry(track.label.clone()).or_default();
            *max = max.max(certainty);
        }
        Self(by_label)
    }

    /// Keeps only the given labels.
    pub(crate) fn for_labels(mut self, labels: &[String]) -> Self {
        self.0.retain(|label, _| labels.contains(label));
        self
    }

    /// Adds a label, unless it has a higher certainty already.
    pub(crate) fn add(&mut self, label: &str, certainty: f64) {
        let max = self.0.entry(label.to_owned()).or_default();
        *max = max.max(certainty);
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each label with its certainty, sorted by label.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(label, certainty)| (label.as_str(), *certainty))
    }

    /// The highest certainty of any label.
    pub(crate) fn max(&self) -> Option<f32> {
        self.0.values().map(|certainty| *certainty as f32).reduce(f32::max)
    }

    /// The certainty of a label, if it is known.
    pub(crate) fn for_label(&self, label: &str) -> Option<f64> {
        self.0.get(label).copied()
    }

    /// The highest certainty among the labels that `word` names, if it names any.
    pub(crate) fn for_word(&self, word: &str) -> Option<f32> {
        let named = self.0.iter().filter(|(label, _)| mentions(word, label));
        named.map(|(_, certainty)| *certainty as f32).reduce(f32::max)
    }
}

/// Whether `text` mentions the thing that `word` names, using the same word, a synonym or a more
/// specific term.
pub(crate) fn mentions(word: &str, text: &str) -> bool {
    thing_overlap(&[word.to_owned()], text) > 0.0
}
