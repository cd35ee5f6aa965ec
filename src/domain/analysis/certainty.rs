//! How sure detectors are of the things that they find.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use text::things::shared_things;

use crate::domain::analysis::evidence::ChunkTracks;
use crate::domain::kernel::time::rounded;

/// By the label of a thing how sure it is that it is there, 0..1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Certainty(BTreeMap<String, f64>);

impl Certainty {
    /// Of each label that of its surest track.
    pub(crate) fn of(found: &ChunkTracks) -> Self {
        let mut surest: BTreeMap<String, f64> = BTreeMap::new();
        for track in &found.tracks {
            let sure = rounded(track.certainty(found.times.len()).into());
            let known = surest.entry(track.label.clone()).or_default();
            *known = known.max(sure);
        }
        Self(surest)
    }

    /// Of these labels alone.
    pub(crate) fn only(mut self, labels: &[String]) -> Self {
        self.0.retain(|label, _| labels.contains(label));
        self
    }

    /// Whether nothing was found, or nothing is known of it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// That of the surest thing.
    pub(crate) fn surest(&self) -> Option<f32> {
        self.0.values().map(|sure| *sure as f32).reduce(f32::max)
    }

    /// That of the surest of the things that a word names, if it names any.
    pub(crate) fn of_named(&self, word: &str) -> Option<f32> {
        let named = self.0.iter().filter(|(label, _)| names(word, label));
        named.map(|(_, sure)| *sure as f32).reduce(f32::max)
    }
}

/// Whether a word occurs in a text, by whatever name, or stands for a kind of thing in it.
pub(crate) fn names(word: &str, text: &str) -> bool {
    shared_things(&[word.to_owned()], text) > 0.0
}
