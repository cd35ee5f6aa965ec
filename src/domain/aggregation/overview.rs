//! Lists the most frequent objects in a range of chunks in a passage, for summaries.

use std::collections::BTreeMap;
use std::ops::Range;

use ports::llm::{OVERVIEW, Passage, PassageKind};
use text::plural::plural_with_count;

use crate::aggregation::moment;
use crate::analysis::analyzers::default_video::{self, ChunkDescription, is_implied};
use crate::analysis::prose::{common_name, with_article};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::time::Span;

/// Maximum number of labels in the passage.
const MAX_LABELS: usize = 5;

/// Returns a passage that lists the most frequent objects in a range of chunks, each with the largest
/// number of them in view at once, such as `three people, two cars, a bird`.
pub(crate) fn overview(video: &AnalyzedVideo, chunks: Range<usize>) -> Option<Passage> {
    // For each label, the number of chunks with the label and the maximum count in one chunk.
    let mut by_label: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let described = video.typed_outputs::<ChunkDescription>(default_video::ID);
    for (_, _, description) in described.filter(|(chunk, ..)| chunks.contains(&chunk.index())) {
        for (label, count) in &description.counts {
            let (chunks, max_count) = by_label.entry(label).or_default();
            *chunks += 1;
            *max_count = (*max_count).max(*count);
        }
    }
    let labels: Vec<&str> = by_label.keys().copied().collect();
    by_label.retain(|label, _| !is_implied(label, &labels));
    let mut ranked: Vec<(&str, (usize, usize))> = by_label.into_iter().collect();
    ranked.sort_by_key(|(_, counts)| std::cmp::Reverse(*counts));
    let named =
        ranked.into_iter().take(MAX_LABELS).map(|(label, (_, max_count))| match max_count {
            0 | 1 => with_article(common_name(label)),
            _ => plural_with_count(common_name(label), max_count as u64),
        });
    let named = named.collect::<Vec<_>>().join(", ");
    let (first, last) = (video.spans.get(chunks.start)?, video.spans.get(chunks.end - 1)?);
    (!named.is_empty()).then(|| Passage {
        moment: moment(Span { start: first.start, end: last.end }),
        topic: Some(OVERVIEW.into()),
        ..Passage::new(OVERVIEW, PassageKind::Objects, named)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aggregation::testing::{output, video};

    #[test]
    fn the_most_frequent_objects_come_first() {
        let described = |counts| output(json!({"description": "x", "_counts": counts}));
        let outputs = vec![
            described(json!({"car": 1, "person": 2})),
            described(json!({"person": 1})),
            described(json!({"umbrella": 1, "vehicle": 1})),
        ];
        assert_eq!(overview(&video(10.0, 1), 0..1), None);
        let video = video(10.0, 3).with(default_video::ID, outputs);
        let text = |chunks| overview(&video, chunks).map(|passage| passage.text);
        assert_eq!(text(0..3).as_deref(), Some("two people, a car, an umbrella"));
        assert_eq!(text(2..3).as_deref(), Some("an umbrella, a vehicle"));
    }
}
