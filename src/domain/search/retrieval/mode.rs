//! Search modes: vector search, full-text search, and hybrid search by reciprocal rank fusion.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::str::FromStr;
use std::sync::Arc;

use futures::future::try_join_all;
use ports::index::{Hit, PointId, TextQuery, VectorIndex, VectorQuery};
use text::questions::is_query_filler;
use text::{is_function_word, tokens};

use crate::analysis::{VISUAL, VISUAL_FRAMES};
use crate::indexing::health::IndexHealth;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::unknown;
use crate::kernel::video::VideoId;
use crate::search::settings::SearchSettings;

/// How a search finds its hits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nearest vectors in one field.
    #[default]
    Vector,
    /// BM25 over speech, on-screen text and descriptions; quoted words match as a phrase.
    Text,
    /// Both result lists, merged by reciprocal rank fusion.
    Hybrid,
}

/// Each mode's name and description.
pub const MODES: &[(&str, &str)] = &[
    ("vector", "nearest by meaning, on one vector field (default)"),
    ("text", "BM25 over speech, on-screen text and descriptions; \"quoted words\" are a phrase"),
    ("hybrid", "both, merged by reciprocal rank fusion"),
];

/// The hits in the index, best first.
#[derive(Debug, Default)]
pub(crate) struct IndexHits {
    /// The hits. The score of a hit is its cosine, or 0 if the point has no vector in the field.
    pub(crate) hits: Vec<Hit>,
    /// The BM25 scores of the hits that full-text search found.
    pub(crate) text_scores: HashMap<PointId, f32>,
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "vector" => Ok(Self::Vector),
            "text" => Ok(Self::Text),
            "hybrid" => Ok(Self::Hybrid),
            other => Err(unknown("mode", other, MODES)),
        }
    }
}

/// Searches the index.
pub(crate) struct IndexSearcher {
    pub(crate) index: Arc<dyn VectorIndex>,
    pub(crate) health: Arc<IndexHealth>,
    pub(crate) settings: SearchSettings,
}

impl IndexSearcher {
    /// Finds the hits of one search, best first. The threshold applies to the cosine in every mode.
    /// Returns `Busy` if the index is damaged; a background task then repairs it.
    pub(crate) async fn find(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<IndexHits> {
        let found = self.find_in_index(mode, text, query).await;
        found.map_err(|error| self.health.report_damage(error))
    }

    async fn find_in_index(&self, mode: Mode, text: &str, query: VectorQuery) -> Result<IndexHits> {
        let settings = self.settings;
        let (limit, threshold) = (query.limit, query.threshold);
        if mode == Mode::Vector {
            let hits = self.nearest(query).await?;
            return Ok(IndexHits { hits, ..IndexHits::default() });
        }
        let depth = limit.max(settings.fusion_depth);
        let (field, vector) = (query.field.clone(), query.vector.clone());
        let by_text = TextQuery {
            text: search_terms(text),
            filter: query.filter.clone(),
            limit: depth,
            per_video: None,
        };
        let by_vector = async {
            match mode {
                Mode::Hybrid => self.nearest(VectorQuery { limit: depth, ..query }).await,
                Mode::Vector | Mode::Text => Ok(Vec::new()),
            }
        };
        let (by_vector, by_text) = futures::try_join!(by_vector, self.index.text_search(by_text))?;
        let cosines = self.cosines(&by_text, &by_vector, &field, &vector).await?;
        let text_scores = text_scores(&by_text);
        let mut hits = reciprocal_rank_fusion(settings, by_vector, by_text, &cosines);
        hits.retain(|hit| threshold.is_none_or(|threshold| hit.score >= threshold));
        hits.truncate(limit);
        Ok(IndexHits { hits, text_scores })
    }

    /// Finds the hits in the best videos, grouped by video and best first within each video. Vector
    /// search and full-text search each contribute `query.limit` videos with up to `depth` hits per
    /// video.
    pub(crate) async fn find_by_video(
        &self,
        text: &str,
        query: VectorQuery,
        depth: usize,
    ) -> Result<IndexHits> {
        let found = self.find_by_video_in_index(text, query, depth).await;
        found.map_err(|error| self.health.report_damage(error))
    }

    async fn find_by_video_in_index(
        &self,
        text: &str,
        query: VectorQuery,
        depth: usize,
    ) -> Result<IndexHits> {
        let query = VectorQuery { per_video: Some(depth), ..query };
        let VectorQuery { field, vector, filter, limit, per_video, .. } = query.clone();
        let by_text = TextQuery { text: search_terms(text), filter, limit, per_video };
        let (by_vector, by_text) =
            futures::try_join!(self.index.search(query), self.index.text_search(by_text))?;
        let cosines = self.cosines(&by_text, &by_vector, &field, &vector).await?;
        let text_scores = text_scores(&by_text);
        let (mut videos, mut vector_hits, mut text_hits) =
            (Vec::new(), HashMap::new(), HashMap::new());
        for (hits, of_video) in [(by_vector, &mut vector_hits), (by_text, &mut text_hits)] {
            for hit in hits {
                if !videos.contains(&hit.id.video_id) {
                    videos.push(hit.id.video_id);
                }
                of_video.entry(hit.id.video_id).or_insert_with(Vec::new).push(hit);
            }
        }
        let of_video = |video: VideoId| {
            let by_vector = vector_hits.remove(&video).unwrap_or_default();
            let by_text = text_hits.remove(&video).unwrap_or_default();
            reciprocal_rank_fusion(self.settings, by_vector, by_text, &cosines)
        };
        let hits = videos.into_iter().flat_map(of_video).collect();
        Ok(IndexHits { hits, text_scores })
    }

    /// Finds the points nearest to a vector, best first. The score of a point in the visual field is
    /// the cosine of its nearest frame.
    async fn nearest(&self, query: VectorQuery) -> ports::Result<Vec<Hit>> {
        if query.field != VISUAL {
            return self.index.search(query).await;
        }
        let search_frames =
            |field: &str| self.index.search(VectorQuery { field: field.into(), ..query.clone() });
        let by_frame = try_join_all(VISUAL_FRAMES.map(search_frames)).await?;
        let mut hits: Vec<Hit> = by_frame.into_iter().flatten().collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        let mut seen = HashSet::new();
        hits.retain(|hit| seen.insert((hit.id.clone(), hit.document.clone())));
        hits.truncate(query.limit);
        Ok(hits)
    }

    /// Computes the cosine between each hit and the query, except for `known` hits, whose score
    /// already is the cosine.
    async fn cosines(
        &self,
        hits: &[Hit],
        known: &[Hit],
        field: &str,
        vector: &[f32],
    ) -> Result<HashMap<PointId, f32>> {
        let known: HashSet<&PointId> = known.iter().map(|hit| &hit.id).collect();
        let ids = hits.iter().map(|hit| &hit.id).filter(|id| !known.contains(id));
        let ids: BTreeSet<PointId> = ids.cloned().collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let fields = if field == VISUAL { &VISUAL_FRAMES[..] } else { &[field] };
        let mut cosines: HashMap<PointId, f32> = HashMap::new();
        for field in fields {
            for (id, cosine) in self.index.cosines(field, vector, &ids).await? {
                let nearest = cosines.entry(id).or_insert(cosine);
                *nearest = nearest.max(cosine);
            }
        }
        Ok(cosines)
    }
}

fn text_scores(hits: &[Hit]) -> HashMap<PointId, f32> {
    hits.iter().map(|hit| (hit.id.clone(), hit.score)).collect()
}

/// Extracts the terms for full-text search. Keeps quoted phrases verbatim. From the rest, keeps
/// only the words that carry the subject, so that articles alone do not match. Keeps question words
/// if nothing else is left.
fn search_terms(text: &str) -> String {
    let mut outside = String::new();
    let mut phrases = String::new();
    for (at, part) in text.split('"').enumerate() {
        // A phrase needs a closing quotation mark.
        if at % 2 == 1 && text.matches('"').count() > at {
            phrases.push_str(&format!(" \"{part}\""));
        } else {
            outside.push(' ');
            outside.push_str(part);
        }
    }
    let content = remove_words(&outside, is_function_word);
    let subject = remove_words(&content, is_query_filler);
    let kept = if subject.is_empty() && phrases.is_empty() { content } else { subject };
    format!("{kept}{phrases}")
}

/// Removes the words for which `remove` returns true, and any punctuation left standing alone. Cuts
/// the words out of the text rather than rejoining the others with spaces, since some scripts use
/// no spaces.
fn remove_words(text: &str, remove: fn(&str) -> bool) -> String {
    let mut kept = text.to_owned();
    for word in tokens(text).iter().rev().filter(|word| remove(&word.lower)) {
        kept.replace_range(word.start..word.start + word.text.len(), "");
    }
    let left = kept.split_whitespace().filter(|part| part.chars().any(char::is_alphanumeric));
    left.collect::<Vec<_>>().join(" ")
}

/// Merges two ranked lists by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): a
/// hit's rank score is the sum of weight / (k + rank) over the lists that contain it. If one list
/// is empty, the other keeps its order.
fn reciprocal_rank_fusion(
    settings: SearchSettings,
    by_vector: Vec<Hit>,
    by_text: Vec<Hit>,
    cosines: &HashMap<PointId, f32>,
) -> Vec<Hit> {
    let share = |weight: f64, rank: usize| weight / (settings.fusion_k + rank as f64 + 1.0);
    let mut merged: HashMap<PointId, (f64, Hit)> = HashMap::new();
    for (rank, hit) in by_vector.into_iter().enumerate() {
        merged.insert(hit.id.clone(), (share(settings.vector_weight, rank), hit));
    }
    for (rank, hit) in by_text.into_iter().enumerate() {
        let score = cosines.get(&hit.id).copied().unwrap_or(0.0);
        let entry = merged.entry(hit.id.clone()).or_insert_with(|| (0.0, Hit { score, ..hit }));
        entry.0 += share(settings.text_weight, rank);
    }
    let mut ranked: Vec<(f64, Hit)> = merged.into_values().collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    ranked.into_iter().map(|(_, hit)| hit).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::kernel::video::ChunkId;

    fn hit(chunk_id: u32, score: f32) -> Hit {
        let id = PointId {
            video_id: VideoId::from_digest([0; 20]),
            chunk_id: ChunkId(chunk_id),
            analyzer_id: "ocr".into(),
        };
        Hit { id, score, document: Value::Null.into() }
    }

    #[test]
    fn hits_ranked_well_by_both_lists_come_first() {
        let by_vector = vec![hit(1, 0.9), hit(2, 0.8), hit(3, 0.7)];
        let by_text = vec![hit(4, 9.0), hit(2, 8.0)];
        let cosines = HashMap::from([(hit(4, 0.0).id, 0.1), (hit(2, 0.0).id, 0.8)]);
        let found = reciprocal_rank_fusion(
            SearchSettings::default(),
            by_vector.clone(),
            by_text.clone(),
            &cosines,
        );
        let seen: Vec<_> = found.iter().map(|f| (f.id.chunk_id.0, f.score)).collect();
        assert_eq!(seen, [(2, 0.8), (1, 0.9), (4, 0.1), (3, 0.7)]);
        let words_first = SearchSettings { text_weight: 3.0, ..SearchSettings::default() };
        let found = reciprocal_rank_fusion(words_first, by_vector, by_text, &cosines);
        assert_eq!(found.iter().map(|f| f.id.chunk_id.0).collect::<Vec<_>>(), [2, 4, 1, 3]);
    }

    #[test]
    fn only_hits_of_full_text_search_have_text_scores() {
        let by_text = [hit(4, 9.0), hit(2, 8.0)];
        let scores = text_scores(&by_text);
        let score = |chunk| scores.get(&hit(chunk, 0.0).id).copied();
        assert_eq!([score(1), score(2), score(4)], [None, Some(8.0), Some(9.0)]);
    }

    #[test]
    fn search_terms_omit_function_and_question_words() {
        for (text, expected) in [
            ("when can one see a train?", "train?"),
            ("今日は晴れ", "今日は晴れ"),
            ("a", ""),
            ("find the moment", "find moment"),
            ("the \"state of the art\" in NASA's labs", "NASA's labs \"state of the art\""),
            ("a 5\" screen of glass", "5 glass"),
        ] {
            assert_eq!(search_terms(text), expected, "{text}");
        }
    }

    #[test]
    fn one_list_keeps_its_order() {
        let words = vec![hit(3, 2.0), hit(1, 1.0)];
        let found =
            reciprocal_rank_fusion(SearchSettings::default(), vec![], words, &HashMap::new());
        assert_eq!(found.iter().map(|f| f.id.chunk_id.0).collect::<Vec<_>>(), [3, 1]);
    }
}
