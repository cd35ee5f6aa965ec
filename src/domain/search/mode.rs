//! How hits are found and ranked: by meaning, by words, or by both.

use std::collections::{BTreeSet, HashMap, HashSet};

use ports::Document;
use ports::index::{Hit, PointId, TextQuery, VectorQuery};
use text::questions::is_asking;
use text::{is_function_word, tokens};

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::video::VideoId;
use crate::domain::search::Search;
use crate::domain::search::SearchSettings;

/// How a search finds its hits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nearest vectors of one field.
    #[default]
    Vector,
    /// BM25 over speech, on-screen text and descriptions; quoted words match as a phrase.
    Text,
    /// Both lists, merged by reciprocal rank fusion.
    Hybrid,
}

/// The modes with what each does.
pub const MODES: &[(&str, &str)] = &[
    ("vector", "nearest by meaning, on one vector field (default)"),
    ("text", "BM25 over speech, on-screen text and descriptions; \"quoted words\" are a phrase"),
    ("hybrid", "both, merged by reciprocal rank fusion"),
];

/// A hit with the scores of both searches.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) id: PointId,
    /// Cosine; 0 when the point has no vector in the field.
    pub(crate) score: f32,
    /// BM25, when words were searched and found.
    pub(crate) text_score: Option<f32>,
    pub(crate) document: Document,
}

impl Mode {
    /// The mode of that name; `Invalid` lists what there is.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "vector" => Ok(Self::Vector),
            "text" => Ok(Self::Text),
            "hybrid" => Ok(Self::Hybrid),
            other => {
                let names: Vec<_> = MODES.iter().map(|(name, _)| *name).collect();
                Err(Error::Invalid(format!(
                    "unknown mode '{other}'; available: {}",
                    listed(&names)
                )))
            }
        }
    }
}

impl Search {
    /// The hits of one search, best first. The threshold holds for the cosine in every mode. `Busy`
    /// where the index is damaged: that is mended in the background.
    pub(crate) async fn find(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<Found>> {
        let found = self.find_in_index(mode, text, query).await;
        found.map_err(|error| self.mended_soon(error))
    }

    async fn find_in_index(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<Found>> {
        let settings = self.settings;
        let (limit, threshold) = (query.limit, query.threshold);
        if mode == Mode::Vector {
            let hits = self.index.search(query).await?.into_iter();
            return Ok(hits
                .map(|h| Found { id: h.id, score: h.score, text_score: None, document: h.document })
                .collect());
        }
        let depth = limit.max(settings.fusion_depth);
        let (field, vector) = (query.field.clone(), query.vector.clone());
        let by_words =
            TextQuery { text: searched_words(text), filter: query.filter.clone(), limit: depth };
        let by_meaning = async {
            match mode {
                Mode::Hybrid => self.index.search(VectorQuery { limit: depth, ..query }).await,
                Mode::Vector | Mode::Text => Ok(Vec::new()),
            }
        };
        let (by_meaning, by_words) =
            futures::try_join!(by_meaning, self.index.text_search(by_words))?;
        let cosines = self.cosines(&by_words, &by_meaning, &field, &vector).await?;
        let mut found = fused(settings, by_meaning, by_words, &cosines);
        found.retain(|hit| threshold.is_none_or(|threshold| hit.score >= threshold));
        found.truncate(limit);
        Ok(found)
    }

    /// The hits of the best videos, those of one video together and best first: by meaning and by
    /// words, each list `query.limit` videos long and of each video `depth` hits.
    pub(crate) async fn find_by_video(
        &self,
        text: &str,
        query: VectorQuery,
        depth: usize,
    ) -> Result<Vec<Found>> {
        let found = self.find_by_video_in_index(text, query, depth).await;
        found.map_err(|error| self.mended_soon(error))
    }

    async fn find_by_video_in_index(
        &self,
        text: &str,
        query: VectorQuery,
        depth: usize,
    ) -> Result<Vec<Found>> {
        let VectorQuery { field, vector, filter, limit, .. } = query.clone();
        let by_words = TextQuery { text: searched_words(text), filter, limit };
        let (by_meaning, by_words) = futures::try_join!(
            self.index.search_by_video(query, depth),
            self.index.text_search_by_video(by_words, depth)
        )?;
        let cosines = self.cosines(&by_words, &by_meaning, &field, &vector).await?;
        let (mut videos, mut by_meaning_of, mut by_words_of) =
            (Vec::new(), HashMap::new(), HashMap::new());
        for (hits, of_video) in [(by_meaning, &mut by_meaning_of), (by_words, &mut by_words_of)] {
            for hit in hits {
                if !videos.contains(&hit.id.video_id) {
                    videos.push(hit.id.video_id);
                }
                of_video.entry(hit.id.video_id).or_insert_with(Vec::new).push(hit);
            }
        }
        let of_video = |video: VideoId| {
            let by_meaning = by_meaning_of.remove(&video).unwrap_or_default();
            let by_words = by_words_of.remove(&video).unwrap_or_default();
            fused(self.settings, by_meaning, by_words, &cosines)
        };
        Ok(videos.into_iter().flat_map(of_video).collect())
    }

    /// The cosine of each hit with the query, but of those that are known by it.
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
        Ok(self.index.cosines(field, vector, &ids).await?.into_iter().collect())
    }
}

/// What is looked up of a search text: quoted phrases as they are; of the rest what carries its subject,
/// so that an article is no hit. Words of asking count where there is nothing else.
fn searched_words(text: &str) -> String {
    let mut outside = String::new();
    let mut phrases = String::new();
    for (at, part) in text.split('"').enumerate() {
        // Without its closing mark a phrase is none.
        if at % 2 == 1 && text.matches('"').count() > at {
            phrases.push_str(&format!(" \"{part}\""));
        } else {
            outside.push(' ');
            outside.push_str(part);
        }
    }
    let telling = without(&outside, is_function_word);
    let subject = without(&telling, is_asking);
    let kept = if subject.is_empty() && phrases.is_empty() { telling } else { subject };
    format!("{kept}{phrases}")
}

/// A text without the words that are so; what is left stands as it stood, since writing without spaces
/// must not get any.
fn without(text: &str, is_so: fn(&str) -> bool) -> String {
    let mut kept = text.to_owned();
    for word in tokens(text).iter().rev().filter(|word| is_so(&word.lower)) {
        kept.replace_range(word.start..word.start + word.text.len(), "");
    }
    let left = kept.split_whitespace().filter(|part| part.chars().any(char::is_alphanumeric));
    left.collect::<Vec<_>>().join(" ")
}

/// Merges two ranked lists by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): a
/// hit's rank score is the sum of weight / (k + rank) over the lists it is in. With only one list
/// its order is kept.
fn fused(
    settings: SearchSettings,
    by_meaning: Vec<Hit>,
    by_words: Vec<Hit>,
    cosines: &HashMap<PointId, f32>,
) -> Vec<Found> {
    let share = |weight: f64, rank: usize| weight / (settings.fusion_k + rank as f64 + 1.0);
    let mut merged: HashMap<PointId, (f64, Found)> = HashMap::new();
    for (rank, hit) in by_meaning.into_iter().enumerate() {
        let found = Found {
            id: hit.id.clone(),
            score: hit.score,
            text_score: None,
            document: hit.document,
        };
        merged.insert(hit.id, (share(settings.vector_weight, rank), found));
    }
    for (rank, hit) in by_words.into_iter().enumerate() {
        let score = cosines.get(&hit.id).copied().unwrap_or(0.0);
        let entry = merged.entry(hit.id.clone()).or_insert_with(|| {
            (0.0, Found { id: hit.id, score, text_score: None, document: hit.document })
        });
        entry.0 += share(settings.text_weight, rank);
        entry.1.text_score = Some(hit.score);
    }
    let mut ranked: Vec<(f64, Found)> = merged.into_values().collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    ranked.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::domain::kernel::video::ChunkId;

    fn hit(chunk_id: u32, score: f32) -> Hit {
        let id = PointId {
            video_id: VideoId::from_digest([0; 20]),
            chunk_id: ChunkId(chunk_id),
            analyzer_id: "ocr".into(),
        };
        Hit { id, score, document: Value::Null.into() }
    }

    #[test]
    fn what_both_lists_rank_well_comes_first() {
        let by_meaning = vec![hit(1, 0.9), hit(2, 0.8), hit(3, 0.7)];
        let by_words = vec![hit(4, 9.0), hit(2, 8.0)];
        let cosines = HashMap::from([(hit(4, 0.0).id, 0.1), (hit(2, 0.0).id, 0.8)]);
        let found =
            fused(SearchSettings::default(), by_meaning.clone(), by_words.clone(), &cosines);
        let seen: Vec<_> = found.iter().map(|f| (f.id.chunk_id.0, f.score, f.text_score)).collect();
        assert_eq!(
            seen,
            [(2, 0.8, Some(8.0)), (1, 0.9, None), (4, 0.1, Some(9.0)), (3, 0.7, None)]
        );
        let words_first = SearchSettings { text_weight: 3.0, ..SearchSettings::default() };
        let found = fused(words_first, by_meaning, by_words, &cosines);
        assert_eq!(found.iter().map(|f| f.id.chunk_id.0).collect::<Vec<_>>(), [2, 4, 1, 3]);
    }

    #[test]
    fn words_that_carry_no_subject_are_not_looked_up() {
        for (text, expected) in [
            ("when can one see a train?", "train?"),
            ("今日は晴れ", "今日は晴れ"),
            ("a", ""),
            ("find the moment", "find moment"),
            ("the \"state of the art\" in NASA's labs", "NASA's labs \"state of the art\""),
            ("a 5\" screen of glass", "5 glass"),
        ] {
            assert_eq!(searched_words(text), expected, "{text}");
        }
    }

    #[test]
    fn one_list_keeps_its_order() {
        let words = vec![hit(3, 2.0), hit(1, 1.0)];
        let found = fused(SearchSettings::default(), vec![], words, &HashMap::new());
        assert_eq!(found.iter().map(|f| f.id.chunk_id.0).collect::<Vec<_>>(), [3, 1]);
    }
}
