//! The vector index. A point has named vectors, payload fields for filters, searchable text and a
//! document, which each hit returns. An adapter implements the four traits that [`Index`] unites.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::ownership::StoreOwnership;
use crate::{ChunkId, Document, Result, VideoId};

/// The vector fields that hold vectors of pictures. A model for pictures computes them, usually
/// with another dimension than the text embedder. All other vector fields have the dimension of the
/// text embedder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureSpace {
    /// The names of the vector fields.
    pub fields: Vec<String>,
    /// Number of components in each vector; at least 1.
    pub dimension: usize,
    /// The model that computes the vectors. Vectors of another model are never compared with them.
    pub model: String,
}

/// Identifies the analyzer result that a point stores. If an analyzer has run on a chunk several
/// times, the points of all runs can coexist: they have the same id but different
/// [revisions](Point::revision).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointId {
    /// The video.
    pub video_id: VideoId,
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Analyzer id.
    pub analyzer_id: String,
}

/// How a payload field is stored and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadType {
    /// A string or a list of strings. Conditions compare whole strings exactly.
    Keyword,
    /// An integer.
    Integer,
    /// A floating-point number.
    Float,
}

/// Every payload field that filters can use. `video_id`, `chunk_id` and `analyzer_id` come from
/// [`PointId`], the others from [`Point::payload`].
pub const PAYLOAD_FIELDS: &[(&str, PayloadType)] = &[
    ("video_id", PayloadType::Keyword),
    ("chunk_id", PayloadType::Integer),
    ("analyzer_id", PayloadType::Keyword),
    ("chunk_config", PayloadType::Keyword),
    ("revision", PayloadType::Keyword),
    ("objects", PayloadType::Keyword),
    ("tags", PayloadType::Keyword),
    ("speakers", PayloadType::Keyword),
    ("people", PayloadType::Keyword),
    ("people_count", PayloadType::Integer),
    ("start", PayloadType::Float),
    ("end", PayloadType::Float),
];

/// The value of a payload field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldValue {
    /// For [`PayloadType::Keyword`].
    Keywords(Vec<String>),
    /// For [`PayloadType::Integer`].
    Integer(i64),
    /// For [`PayloadType::Float`].
    Float(f64),
}

/// The index entry for one chunk and analyzer.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The point's id. A point replaces the one with the same id and [`Point::revision`].
    pub id: PointId,
    /// Unit vectors, keyed by vector field (`combined`, `people` …). A search on a field never
    /// matches a point without that field.
    pub vectors: BTreeMap<String, Vec<f32>>,
    /// The values of [`PAYLOAD_FIELDS`], except those that come from the id. A missing field
    /// matches no condition.
    pub payload: BTreeMap<String, FieldValue>,
    /// Text for full-text search: speech, on-screen text, descriptions.
    pub text: String,
    /// The document that hits return, unchanged.
    pub document: Document,
}

impl Point {
    /// Returns the revision, which identifies the run that produced the point. It is empty if the
    /// point has no revision.
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
    /// The field contains any of these strings; an empty list matches nothing.
    AnyKeyword(Vec<String>),
    /// The point belongs to one of these videos, of which there may be thousands. The list is
    /// sorted and has no duplicates; an empty list matches nothing. Only for the field `video_id`.
    AnyVideo(Arc<[VideoId]>),
    /// The point belongs to one of these chunks, of which there may be many thousands. The list is
    /// sorted and has no duplicates; an empty list matches nothing. Only for the field `chunk_id`.
    AnyChunk(Arc<[(VideoId, ChunkId)]>),
    /// The integer field equals one of these numbers; an empty list matches nothing.
    AnyInteger(Vec<i64>),
    /// The field's number is greater than or equal to this number.
    AtLeast(f64),
    /// The field's number is less than or equal to this number.
    AtMost(f64),
}

impl Predicate {
    /// Returns whether `value` satisfies the predicate; a value of another type never does, and no
    /// value alone satisfies [`Self::AnyChunk`].
    pub fn matches(&self, value: &FieldValue) -> bool {
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
    /// A name from [`PAYLOAD_FIELDS`]. Any other name is `Invalid`, and so is a predicate for a
    /// field of another type.
    pub field: String,
    /// The test that the field's value must pass.
    pub predicate: Predicate,
}

/// A conjunction of conditions; an empty filter matches every point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter(pub Vec<Condition>);

impl Filter {
    /// Returns a filter that matches the points of one video.
    pub fn video(video_id: VideoId) -> Self {
        Self::default().in_videos([video_id])
    }

    /// Restricts this filter to the points of these videos.
    pub fn in_videos(self, video_ids: impl IntoIterator<Item = VideoId>) -> Self {
        let mut any: Vec<VideoId> = video_ids.into_iter().collect();
        any.sort_unstable();
        any.dedup();
        self.and("video_id", Predicate::AnyVideo(any.into()))
    }

    /// Restricts this filter to the points of these chunks.
    pub fn in_chunks(self, chunks: impl IntoIterator<Item = (VideoId, ChunkId)>) -> Self {
        let mut any: Vec<(VideoId, ChunkId)> = chunks.into_iter().collect();
        any.sort_unstable();
        any.dedup();
        self.and("chunk_id", Predicate::AnyChunk(any.into()))
    }

    /// Adds a condition.
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
    /// A unit vector. It is `Invalid` if its dimension differs from that of the field.
    pub vector: Vec<f32>,
    /// Only points that match this filter are scored.
    pub filter: Filter,
    /// Maximum number of hits, or of videos if `per_video` is set.
    pub limit: usize,
    /// Minimum cosine similarity of a hit.
    pub threshold: Option<f32>,
    /// If set, hits are grouped by video: the search finds the `limit` videos with the best hits
    /// and returns up to this number of best hits of each. Videos are ordered by their best hit.
    pub per_video: Option<usize>,
}

/// A full-text search (BM25) over [`Point::text`]. Text in double quotes is a phrase that every hit
/// must contain.
#[derive(Debug, Clone, PartialEq)]
pub struct TextQuery {
    /// Words and quoted phrases. If there are phrases, a point matches if its text contains all of
    /// them; otherwise a point matches if its text contains any of the words.
    pub text: String,
    /// Only points that match this filter are scored.
    pub filter: Filter,
    /// Maximum number of hits, or of videos if `per_video` is set.
    pub limit: usize,
    /// Groups hits as [`VectorQuery::per_video`] does.
    pub per_video: Option<usize>,
}

/// A request for the most frequent values of a keyword field.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetQuery {
    /// A keyword field from [`PAYLOAD_FIELDS`]; any other name is `Invalid`.
    pub field: String,
    /// Counts only matching points.
    pub filter: Filter,
    /// Counts only values that start with this prefix, ignoring case.
    pub prefix: String,
    /// Maximum number of values.
    pub limit: usize,
}

/// A search result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The point's id.
    pub id: PointId,
    /// The cosine similarity (−1..1) or the BM25 score. Hits are ordered by descending score; hits
    /// with equal scores are ordered by id.
    pub score: f32,
    /// The point's document.
    pub document: Document,
}

/// A point returned by [`VectorIndex::list`]. It has no score.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPoint {
    /// The point's id.
    pub id: PointId,
    /// The point's document.
    pub document: Document,
}

/// An index of points. All vectors have the dimension that the index was opened with, except those
/// in the fields of its [`PictureSpace`], which have the dimension of that space.
///
/// An index that was created without picture fields, or with another picture model or dimension,
/// can still be opened, but its points have no vectors in these fields. The adapter documents
/// whether it stores new vectors in them at once or only after a rebuild.
///
/// ```
/// use adapters::index::memory::MemoryIndex;
/// use serde_json::json;
/// use shotlog_ports::ChunkId;
/// use shotlog_ports::index::{Filter, Point, PointId, VectorIndex, VectorQuery};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let index = MemoryIndex::new(2);
/// let video_id = "0123456789abcdef".parse().expect("a video id");
/// let point = |chunk: u32, vector: [f32; 2]| Point {
///     id: PointId { video_id, chunk_id: ChunkId(chunk), analyzer_id: "ocr".into() },
///     vectors: [("combined".to_owned(), vector.to_vec())].into(),
///     payload: Default::default(),
///     text: String::new(),
///     document: json!({ "chunk": chunk }).into(),
/// };
/// index.replace(None, vec![point(0, [1.0, 0.0]), point(1, [0.0, 1.0])]).await?;
///
/// let hits = index
///     .search(VectorQuery {
///         field: "combined".into(),
///         vector: vec![0.6, 0.8],
///         filter: Filter::video(video_id),
///         limit: 1,
///         threshold: None,
///         per_video: None,
///     })
///     .await?;
/// assert_eq!((hits.len(), hits[0].id.chunk_id), (1, ChunkId(1)));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// Removes every point that matches `scope` (`None` removes nothing). Then adds `points`,
    /// replacing those with the same id and revision. When the call returns, the change is durable
    /// and every later search sees it. After a crash, the index never contains a partially written
    /// point. If the store supports it, the index contains the whole change or none of it. If a
    /// vector does not have the dimension of its field, the call returns `Invalid` and changes
    /// nothing.
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()>;

    /// Finds the points nearest to a vector. The search is exact or approximate, as the adapter
    /// documents.
    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>>;

    /// Finds the points that best match the query's text. Text without words matches nothing.
    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>>;

    /// Returns the vectors that the matching points have in this field, ordered by id. Skips points
    /// without the field.
    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>>;

    /// Returns the cosine similarity of each of these points to a unit vector, in any order. The
    /// values equal the scores of a search on `field`. Skips points without the field. Includes
    /// every revision of an id. Returns `Invalid` if the vector does not have the dimension of the
    /// field.
    async fn cosines(
        &self,
        field: &str,
        vector: &[f32],
        ids: &BTreeSet<PointId>,
    ) -> Result<Vec<(PointId, f32)>>;

    /// Returns the first `limit` matching points, ordered by id; points with the same id come in
    /// any order.
    async fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<ListedPoint>>;

    /// Checks that the index can be searched, and fails otherwise.
    async fn probe(&self) -> Result<()>;
}

/// What the points of an index contain, in numbers and values.
#[async_trait]
pub trait IndexStatistics: Send + Sync {
    /// Returns the number of matching points.
    async fn count(&self, filter: &Filter) -> Result<u64>;

    /// Returns the distinct values of a keyword field across all points, in order.
    async fn values(&self, field: &str) -> Result<Vec<String>>;

    /// Returns the most frequent values of a keyword field, each with the number of matching points
    /// that have the value. The most frequent value comes first; values with equal counts are
    /// ordered by value.
    async fn facet_counts(&self, query: &FacetQuery) -> Result<Vec<(String, u64)>>;

    /// Returns the distinct revisions of a video's points, in order.
    async fn revisions(&self, video_id: VideoId) -> Result<Vec<String>>;
}

/// The integrity of an index, and advice to its operator.
#[async_trait]
pub trait IndexUpkeep: Send + Sync {
    /// Verifies the integrity of all stored data and returns `Corrupt` if any data is not as it was
    /// written. Does nothing for an index on a server, because the server checks its data itself.
    async fn check(&self) -> Result<()>;

    /// Empties a `Corrupt` index so that every point can be written again. Does nothing for an
    /// index on a server.
    async fn reset(&self) -> Result<()>;

    /// Returns advice for the operator that fits the present state of the index, for example that
    /// another kind of index would perform better.
    async fn advice(&self) -> Result<Option<String>>;
}

/// Everything that an adapter implements. A use-case names only the traits that it needs.
pub trait Index: VectorIndex + IndexStatistics + IndexUpkeep + StoreOwnership {}

impl<T: VectorIndex + IndexStatistics + IndexUpkeep + StoreOwnership> Index for T {}
