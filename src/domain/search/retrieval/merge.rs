//! Merges the hits of different analyzers in one chunk.

use std::collections::HashMap;

use crate::analysis::output::Statement;
use crate::kernel::video::{ChunkId, VideoId};
use crate::search::results::SearchResult;

/// `found_by` lists an analyzer if the probability of its hit is at least this share of the best
/// hit's probability.
const MIN_FOUND_BY_SHARE: f32 = 0.5;

/// Merges the hits of each chunk into one hit. The most probable hit comes first.
pub(crate) fn merge_by_chunk(mut hits: Vec<SearchResult>) -> Vec<SearchResult> {
    // The sort is stable: ties keep the order of the search.
    hits.sort_by(|a, b| b.p_present.total_cmp(&a.p_present));
    let mut places: HashMap<(VideoId, ChunkId), usize> = HashMap::new();
    let mut merged: Vec<SearchResult> = Vec::new();
    for hit in hits {
        let key = (hit.video_id, hit.chunk_id);
        match places.get(&key) {
            Some(&place) => merge_hit(&mut merged[place], hit),
            None => {
                places.insert(key, merged.len());
                merged.push(hit);
            }
        }
    }
    merged
}

/// Adds the hits whose pictures were compared to the merged hits of the texts. What was searched for
/// is present if it is in the texts or in the picture, so the probabilities are combined. The most
/// probable hit comes first.
pub(crate) fn add_visual_hits(merged: &mut Vec<SearchResult>, visual: Vec<SearchResult>) {
    let places: HashMap<(VideoId, ChunkId), usize> =
        (0..).zip(merged.iter()).map(|(at, hit)| ((hit.video_id, hit.chunk_id), at)).collect();
    for hit in visual {
        let p_seen = hit.p_present;
        match places.get(&(hit.video_id, hit.chunk_id)) {
            Some(&place) => {
                let known = &mut merged[place];
                known.p_seen = p_seen;
                if p_seen >= MIN_FOUND_BY_SHARE * known.p_present {
                    let new = hit.found_by.into_iter().filter(|id| !known.found_by.contains(id));
                    known.found_by.extend(new.collect::<Vec<_>>());
                }
                known.p_present = either(known.p_present, p_seen);
            }
            None => merged.push(SearchResult { p_seen, p_found: 0.0, ..hit }),
        }
    }
    merged.sort_by(|a, b| b.p_present.total_cmp(&a.p_present));
}

/// The probability of either of two independent events.
pub(crate) fn either(a: f32, b: f32) -> f32 {
    1.0 - (1.0 - a) * (1.0 - b)
}

/// Merges another analyzer's hit into the best hit of the same chunk.
fn merge_hit(best: &mut SearchResult, other: SearchResult) {
    best.score = best.score.max(other.score);
    best.text_score = match (best.text_score, other.text_score) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    };
    if other.p_present >= MIN_FOUND_BY_SHARE * best.p_present {
        best.found_by.extend(other.found_by);
    }
    let contains = |all: &[Statement], new: &Statement| {
        all.iter().any(|known| known.kind == new.kind && known.text == new.text)
    };
    for statement in other.statements {
        if !contains(&best.statements, &statement) {
            best.statements.push(statement);
        }
    }
    best.facets.fill_missing(other.facets);
    best.display.fill_missing(other.display);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::facets::{Display, Facets};
    use crate::kernel::moment::MomentId;
    use crate::kernel::time::Span;

    fn hit(chunk_id: u32, analyzer: &str, score: f32, p_present: f32) -> SearchResult {
        let facets = match analyzer {
            "seen" => Facets { objects: vec!["car".into()], ..Facets::default() },
            _ => Facets { speakers: vec!["S1".into()], ..Facets::default() },
        };
        let span = Span { start: 0.0, end: 1.0 };
        SearchResult {
            moment_id: MomentId::new(VideoId::from_digest([0; 20]), span),
            span,
            video_id: VideoId::from_digest([0; 20]),
            chunk_id: ChunkId(chunk_id),
            statements: Vec::new(),
            timecode: String::new(),
            score,
            text_score: None,
            p_present,
            p_found: p_present,
            p_seen: 0.0,
            found_by: vec![analyzer.into()],
            text: analyzer.into(),
            snippet: String::new(),
            video_url: String::new(),
            recorded_at: None,
            facets,
            display: Display::default(),
        }
    }

    #[test]
    fn texts_and_pictures_add_up() {
        let mut merged = vec![hit(1, "heard", 0.4, 0.5), hit(2, "heard", 0.3, 0.4)];
        let visual = vec![hit(2, "seen", 0.1, 0.5), hit(3, "seen", 0.1, 0.2)];
        add_visual_hits(&mut merged, visual);
        let summary: Vec<_> = merged
            .iter()
            .map(|hit| (hit.chunk_id.0, hit.p_present, hit.p_seen, hit.found_by.join("+")))
            .collect();
        assert_eq!(
            summary,
            [
                (2, 0.7, 0.5, "heard+seen".to_owned()),
                (1, 0.5, 0.0, "heard".to_owned()),
                (3, 0.2, 0.2, "seen".to_owned())
            ]
        );
    }

    #[test]
    fn hits_of_one_chunk_are_merged() {
        let hits = vec![
            hit(1, "seen", 0.6, 0.2),
            hit(2, "seen", 0.5, 0.9),
            hit(1, "heard", 0.4, 0.8),
            hit(2, "heard", 0.3, 0.7),
        ];
        let merged = merge_by_chunk(hits);
        let summary: Vec<_> = merged
            .iter()
            .map(|hit| (hit.chunk_id.0, hit.score, hit.p_present, hit.found_by.join("+")))
            .collect();
        assert_eq!(
            summary,
            [(2, 0.5, 0.9, "seen+heard".to_owned()), (1, 0.6, 0.8, "heard".to_owned())]
        );
        assert_eq!((merged[1].text.as_str(), merged[1].facets.objects.len()), ("heard", 1));
        assert_eq!(merged[1].facets.speakers, ["S1"]);
    }
}
