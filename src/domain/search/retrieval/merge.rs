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
