//! What the frames of a chunk probably show: labels with their probabilities. They are tags, not
//! statements, since an image classifier is often wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::views::FrameView;
use crate::kernel::time::rounded;
use crate::media::agreement::Classes;

/// Minimum probability of a label in one of the frames.
const MIN_PROBABILITY: f32 = 0.3;

/// Maximum number of labels; the most probable are kept.
const MAX_LABELS: usize = 8;

/// A thing that is probably seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SeenLabel {
    /// What it is, such as `school bus` or `animal`.
    pub(crate) label: String,
    /// Its probability in the frame that shows it best, 0..1.
    pub(crate) probability: f64,
    /// The times of the frames in which it is probable, in seconds from the start of the video.
    pub(crate) times: Vec<f64>,
}

/// Returns what the frames probably show, given the labels of the image classifier, and the objects
/// that were detected but could not be verified. The most probable comes first.
pub(super) fn seen(
    views: &[FrameView],
    labels: &[String],
    unverified: &[(String, f32)],
) -> Vec<SeenLabel> {
    let classes = Classes::new(labels);
    let mut seen: Vec<SeenLabel> = Vec::new();
    for view in views {
        let things = classes.things(&view.probabilities);
        for (label, probability) in things.into_iter().filter(|(_, p)| *p >= MIN_PROBABILITY) {
            add(&mut seen, label, probability, Some(view.time));
        }
    }
    for (label, confidence) in unverified {
        add(&mut seen, label, *confidence, None);
    }
    seen.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    seen.truncate(MAX_LABELS);
    seen
}

fn add(seen: &mut Vec<SeenLabel>, label: &str, probability: f32, time: Option<f64>) {
    let probability = rounded(f64::from(probability).min(1.0));
    let times = time.into_iter().map(rounded);
    match seen.iter_mut().find(|known| known.label == label) {
        Some(known) => {
            known.probability = known.probability.max(probability);
            known.times.extend(times);
        }
        None => {
            let times = times.collect();
            seen.push(SeenLabel { label: label.to_owned(), probability, times });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probable_classes_and_kinds_are_seen_with_their_times() {
        let labels = ["German shepherd", "collie", "spatula"].map(str::to_owned);
        let view =
            |time: f64, p: [f32; 3]| FrameView { probabilities: p.into(), ..FrameView::at(time) };
        let views = [view(1.0, [0.25, 0.25, 0.1]), view(2.0, [0.7, 0.1, 0.2])];
        let found = seen(&views, &labels, &[("kite".into(), 0.45)]);
        let summary: Vec<_> =
            found.iter().map(|s| (s.label.as_str(), s.probability, s.times.len())).collect();
        assert_eq!(
            summary,
            [("dog", 0.8, 2), ("animal", 0.8, 2), ("German shepherd", 0.7, 1), ("kite", 0.45, 0)]
        );
    }
}
