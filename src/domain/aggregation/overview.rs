//! What a stretch of a video shows on the whole, where nobody wrote about it: the things that are
//! seen in most of its chunks.

use std::collections::BTreeMap;
use std::ops::Range;

use ports::llm::{OVERVIEW, Passage, PassageKind};
use text::plural::plural;

use crate::domain::aggregation::moment;
use crate::domain::analysis::analyzers::default_video::{self, Shown};
use crate::domain::analysis::prose::with_article;
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::time::Span;

/// Kinds of things that are named.
const NAMED: usize = 5;

/// The things that are seen most in some chunks, as a passage: `people, cars, a bird`.
pub(crate) fn overview(video: &AnalyzedVideo, chunks: Range<usize>) -> Option<Passage> {
    // Of each label in how many chunks it is seen, and how many at once.
    let mut seen: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let described = video.of::<Shown>(default_video::ID);
    for (_, _, shown) in described.filter(|(chunk, ..)| chunks.contains(&chunk.index())) {
        for (label, count) in &shown.counts {
            let (chunks, most) = seen.entry(label).or_default();
            *chunks += 1;
            *most = (*most).max(*count);
        }
    }
    let mut seen: Vec<(&str, (usize, usize))> = seen.into_iter().collect();
    seen.sort_by_key(|(_, often)| std::cmp::Reverse(*often));
    let named = seen.into_iter().take(NAMED).map(|(label, (_, most))| match most {
        0 | 1 => with_article(label),
        _ => plural(label),
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
    use crate::domain::aggregation::testing::{output, video};

    #[test]
    fn what_is_seen_in_most_chunks_comes_first() {
        let seen = |counts| output(json!({"description": "x", "_counts": counts}));
        let outputs = vec![
            seen(json!({"car": 1, "person": 2})),
            seen(json!({"person": 1})),
            seen(json!({"umbrella": 1})),
        ];
        assert_eq!(overview(&video(10.0, 1), 0..1), None);
        let video = video(10.0, 3).with(default_video::ID, outputs);
        let told = |chunks| overview(&video, chunks).map(|passage| passage.text);
        assert_eq!(told(0..3).as_deref(), Some("people, a car, an umbrella"));
        assert_eq!(told(2..3).as_deref(), Some("an umbrella"));
    }
}
