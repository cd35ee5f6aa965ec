//! The vector index: points with several named vectors, filterable payload fields, searchable text
//! and a document that comes back with each hit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{ChunkId, Document, Result, VideoId};

/// Whose result a point is. Results of several runs of an analyzer over a chunk may stand beside each
/// other: their points differ in their revision, and so are different points.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointId {
    /// Its video.
    pub video_id: VideoId,
    /// Its chunk.
    pub chunk_id: ChunkId,
    /// Analyzer id.
    pub analyzer_id: String,
}

/// How a payload field is stored and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// One string or a list of strings, compared whole and exactly.
    Keyword,
    /// An integer.
    Integer,
    /// A floating-point number.
    Float,
}

/// Every payload field a point can be filtered by. `video_id`, `chunk_id` and `analyzer_id` come
/// from [`PointId`]; the others from [`Point::payload`].
pub const PAYLOAD_FIELDS: &[(&str, FieldKind)] = &[
    ("video_id", FieldKind::Keyword),
    ("chunk_id", FieldKind::Integer),
    ("analyzer_id", FieldKind::Keyword),
    ("chunk_config", FieldKind::Keyword),
    ("revision", FieldKind::Keyword),
    ("objects", FieldKind::Keyword),
    ("tags", FieldKind::Keyword),
    ("speakers", FieldKind::Keyword),
    ("people", FieldKind::Keyword),
    ("people_count", FieldKind::Integer),
    ("start", FieldKind::Float),
    ("end", FieldKind::Float),
];

/// The value of a payload field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldValue {
    /// For [`FieldKind::Keyword`].
    Keywords(Vec<String>),
    /// For [`FieldKind::Integer`].
    Integer(i64),
    /// For [`FieldKind::Float`].
    Float(f64),
}

/// What is stored for one chunk and analyzer.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Replaces the point with the same id and [`Point::revision`].
    pub id: PointId,
    /// Unit vectors by vector field (`combined`, `people` …). A point without a field never
    /// matches a search on it.
    pub vectors: BTreeMap<String, Vec<f32>>,
    /// Fields of [`PAYLOAD_FIELDS`] other than the id's; a missing one matches no condition.
    pub payload: BTreeMap<String, FieldValue>,
    /// What full-text search looks in: speech, on-screen text, descriptions.
    pub text: String,
    /// Returned with a hit as it was stored.
    pub document: Document,
}

impl Point {
    /// Tells the results of one run from those of another; empty where the point has none.
    pub fn revision(&self) -> &str {
        match self.payload.get("revision") {
            Some(FieldValue::Keywords(revisions)) => revisions.first().map_or("", String::as_str),
            _ => "",
        }
    }
}

/// One condition on a payload field.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Any of these strings is among the field's; an empty list matches nothing.
    AnyKeyword(Vec<String>),
    /// The point is of one of these videos, which are ascending, each once; an empty list matches nothing.
    /// Of the field `video_id` alone. There may be thousands.
    AnyVideo(Arc<[VideoId]>),
    /// The integer field is one of these; an empty list matches nothing.
    AnyInteger(Vec<i64>),
    /// The number is at least this.
    AtLeast(f64),
    /// The number is at most this.
    AtMost(f64),
}

impl Predicate {
    /// Whether a value satisfies it; one of another kind does not.
    pub fn holds(&self, value: &FieldValue) -> bool {
        let number = match value {
            FieldValue::Integer(number) => Some(*number as f64),
            FieldValue::Float(number) => Some(*number),
            FieldValue::Keywords(_) => None,
        };
        match (self, value) {
            (Self::AnyKeyword(any), FieldValue::Keywords(words)) => {
                words.iter().any(|word| any.contains(word))
            }
            (Self::AnyVideo(any), FieldValue::Keywords(ids)) => {
                ids.iter().filter_map(|id| id.parse().ok()).any(|id| any.binary_search(&id).is_ok())
            }
            (Self::AnyInteger(any), FieldValue::Integer(number)) => any.contains(number),
            (Self::AtLeast(bound), _) => number.is_some_and(|number| number >= *bound),
            (Self::AtMost(bound), _) => number.is_some_and(|number| number <= *bound),
            _ => false,
        }
    }
}

/// A condition on one payload field.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// A name of [`PAYLOAD_FIELDS`]; any other is `Invalid`, and so is a test of the wrong kind.
    pub field: String,
    /// What its value must satisfy.
    pub predicate: Predicate,
}

/// Conditions that MUST all hold; empty matches every point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter(pub Vec<Condition>);

impl Filter {
    /// The points of one video.
    pub fn video(video_id: VideoId) -> Self {
        Self::default().of_videos([video_id])
    }

    /// This filter for the points of these videos alone.
    pub fn of_videos(self, video_ids: impl IntoIterator<Item = VideoId>) -> Self {
        let mut any: Vec<VideoId> = video_ids.into_iter().collect();
        any.sort_unstable();
        any.dedup();
        self.and("video_id", Predicate::AnyVideo(any.into()))
    }

    /// This filter for the points of the chunks with these ids alone, whichever videos they are of.
    pub fn of_chunks(self, ids: impl IntoIterator<Item = ChunkId>) -> Self {
        let any = ids.into_iter().map(i64::from).collect();
        self.and("chunk_id", Predicate::AnyInteger(any))
    }

    /// This filter with one more condition.
    pub fn and(mut self, field: &str, predicate: Predicate) -> Self {
        self.0.push(Condition { field: field.into(), predicate });
        self
    }
}

/// A nearest-neighbour search on one vector field.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorQuery {
    /// Vector field.
    pub field: String,
    /// Unit vector of the index's dimension; any other length is `Invalid`.
    pub vector: Vec<f32>,
    /// Applied before scoring.
    pub filter: Filter,
    /// At most so many hits.
    pub limit: usize,
    /// Hits with a lower cosine are left out.
    pub threshold: Option<f32>,
}

/// A full-text search (BM25) over [`Point::text`]. Phrases in double quotes match as phrases.
#[derive(Debug, Clone, PartialEq)]
pub struct TextQuery {
    /// Words and quoted phrases; a point matches when any of them occurs.
    pub text: String,
    /// Applied before scoring.
    pub filter: Filter,
    /// At most so many hits.
    pub limit: usize,
}

/// Which values of a keyword field are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueQuery {
    /// A keyword field of [`PAYLOAD_FIELDS`]; any other is `Invalid`.
    pub field: String,
    /// Only the points that match.
    pub filter: Filter,
    /// Only values that begin so, in whichever case.
    pub prefix: String,
    /// At most so many values.
    pub limit: usize,
}

/// One found point.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Which point.
    pub id: PointId,
    /// Cosine (−1..1) or BM25 score, highest first. Equal scores are ordered by id.
    pub score: f32,
    /// The point's document.
    pub document: Document,
}

/// A point that was listed, not searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPoint {
    /// Which point.
    pub id: PointId,
    /// The point's document.
    pub document: Document,
}

/// An index of points whose vectors all have the dimension it was opened with.
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// Removes every point that matches `scope` (no scope: none), then adds `points`, replacing
    /// those with the same id and revision. When it returns the change is durable and every later
    /// search sees it; a crash on the way leaves all of it or none where the store can, and no torn
    /// point anywhere. A vector of another dimension is `Invalid` and changes nothing.
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()>;

    /// The points nearest to a vector, exact where the adapter says so.
    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>>;

    /// The points that best match words. Text without any word finds nothing.
    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>>;

    /// The same as [`Self::search`], grouped by video: the best `per_video` points of each of the
    /// `query.limit` videos whose best points are nearest. Group after group, in the order of their
    /// best points.
    async fn search_by_video(&self, query: VectorQuery, per_video: usize) -> Result<Vec<Hit>>;

    /// The same as [`Self::text_search`], grouped as [`Self::search_by_video`] does.
    async fn text_search_by_video(&self, query: TextQuery, per_video: usize) -> Result<Vec<Hit>>;

    /// The vectors of one field of the points that match, ordered by id; points without the field
    /// are left out.
    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>>;

    /// The cosine of each of these points with a unit vector, as a search of the field gives it, in any
    /// order; points without the field are left out. Of those of one id, results of several runs, each.
    async fn cosines(
        &self,
        field: &str,
        vector: &[f32],
        ids: &BTreeSet<PointId>,
    ) -> Result<Vec<(PointId, f32)>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let near = Filter::default()
            .of_videos(ids.iter().map(|id| id.video_id).collect::<BTreeSet<_>>())
            .of_chunks(ids.iter().map(|id| id.chunk_id).collect::<BTreeSet<_>>());
        let cosine = |v: &[f32]| v.iter().zip(vector).map(|(a, b)| a * b).sum::<f32>();
        let found = self.vectors(&near, field).await?.into_iter();
        Ok(found.filter(|(id, _)| ids.contains(id)).map(|(id, v)| (id, cosine(&v))).collect())
    }

    /// The points that match, in the order of their ids: at most `limit`. Those of one id, results of
    /// several runs, in any order.
    async fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<ListedPoint>>;

    /// How many points match.
    async fn count(&self, filter: &Filter) -> Result<u64>;

    /// The distinct values of a keyword field over all points, in order.
    async fn values(&self, field: &str) -> Result<Vec<String>>;

    /// The values of a keyword field that most of the matching points have, each with how many do:
    /// the most frequent first, those of the same number in order.
    async fn most_frequent(&self, query: &ValueQuery) -> Result<Vec<(String, u64)>>;

    /// The distinct revisions of a video's points, in order.
    async fn revisions(&self, video_id: VideoId) -> Result<Vec<String>>;

    /// Whether other instances may search and change the points too.
    fn shared(&self) -> bool {
        false
    }

    /// Enters an install as the owner of the points where none is entered yet, and returns the one
    /// that is. An index that no other install can reach belongs to whoever asks.
    async fn adopt(&self, install: &str) -> Result<String> {
        Ok(install.to_owned())
    }

    /// Reads everything that is stored: `Corrupt` where that is not what was written. What a server
    /// keeps is the server's to check.
    async fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Empties an index that is `Corrupt`, so that every point can be written again. What a server keeps
    /// stays.
    async fn reset(&self) -> Result<()> {
        Ok(())
    }

    /// What whoever runs the service should know of the index as it is now, such as that another one
    /// would serve better.
    async fn advice(&self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Fails unless the index can be searched.
    async fn probe(&self) -> Result<()>;
}
