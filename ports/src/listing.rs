//! The video listing. It holds, for each video, the data that pages of the library and of search
//! results show, so that these pages need not read the videos' records.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::index::{Condition, FieldValue};
use crate::{Document, Result, VideoId};

/// The listing's entry for a video.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoEntry {
    /// The video. An entry replaces the earlier entry of the same video.
    pub video_id: VideoId,
    /// Time of creation, in milliseconds since 1970.
    pub created_at: i64,
    /// The filename as the API shows it.
    pub filename: String,
    /// Ids of the analyzers that have output.
    pub analyzers: Vec<String>,
    /// Further filterable fields, such as `collection` or `metadata.camera`. A name consists of `a`
    /// to `z`, `0` to `9` and `_`, with at most one dot.
    pub fields: BTreeMap<String, FieldValue>,
    /// Data that the caller stores with the entry; the listing returns it unchanged and does not
    /// interpret it.
    pub document: Document,
}

/// A position in the listing. The newest entries come first; entries with the same time are ordered
/// by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// [`VideoEntry::created_at`].
    pub created_at: i64,
    /// [`VideoEntry::video_id`].
    pub video_id: VideoId,
}

/// Selects the entries that satisfy every condition. The default has no condition and a limit of 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListQuery {
    /// A substring of the filename, ignoring case; an empty string matches every filename.
    pub filename: Option<String>,
    /// Selects only entries that have this id among [`VideoEntry::analyzers`].
    pub analyzer: Option<String>,
    /// Minimum [`VideoEntry::created_at`].
    pub from: Option<i64>,
    /// Maximum [`VideoEntry::created_at`].
    pub to: Option<i64>,
    /// Conditions on [`VideoEntry::fields`]; a missing field satisfies no condition.
    pub conditions: Vec<Condition>,
    /// Selects only entries after this position. There need not be an entry at the position.
    pub after: Option<Position>,
    /// Number of entries to skip at the start of those that satisfy the conditions and `after`.
    pub offset: usize,
    /// Maximum number of entries.
    pub limit: usize,
}

/// A page of the listing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListingPage {
    /// The entries, newest first; entries with the same time are ordered by id.
    pub entries: Vec<VideoEntry>,
    /// Number of entries that satisfy the conditions, regardless of `after`, `offset` and `limit`.
    pub total: u64,
}

/// A listing that has one entry per video and returns entries newest first, with filters.
///
/// ```
/// use adapters::listing::memory::MemoryListing;
/// use serde_json::json;
/// use shotlog_ports::listing::{ListQuery, VideoEntry, VideoListing};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let listing = MemoryListing::new();
/// let entry = VideoEntry {
///     video_id: "0123456789abcdef".parse().expect("a video id"),
///     created_at: 1_764_230_400_000,
///     filename: "Harbour.mp4".into(),
///     analyzers: vec!["ocr".into()],
///     fields: Default::default(),
///     document: json!({ "duration": 12.5 }).into(),
/// };
/// listing.put(vec![entry.clone()]).await?;
///
/// let query = ListQuery { filename: Some("harbour".into()), limit: 10, ..ListQuery::default() };
/// let page = listing.list(&query).await?;
/// assert_eq!((page.entries, page.total), (vec![entry], 1));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait VideoListing: Send + Sync {
    /// Adds entries and replaces earlier entries of the same videos. If several entries have the
    /// same video id, the last one wins. When the call returns, the entries are durable and every
    /// later read sees them. After a crash, each entry is stored either completely or not at all.
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()>;

    /// Removes the entries of these videos. When the call returns, the removal is durable. Missing
    /// entries are not an error.
    async fn remove(&self, video_ids: &[VideoId]) -> Result<()>;

    /// Reads one page of the entries that satisfy the query, newest first.
    async fn list(&self, query: &ListQuery) -> Result<ListingPage>;

    /// Reads the entries of these videos in the order of `video_ids`. Skips videos without an
    /// entry.
    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>>;

    /// Lists the ids of the videos whose entries satisfy these conditions, in ascending order:
    /// the first `limit` ids greater than `after`.
    async fn ids(
        &self,
        conditions: &[Condition],
        after: Option<VideoId>,
        limit: usize,
    ) -> Result<Vec<VideoId>>;

    /// Counts the values of a keyword field among the entries that satisfy these conditions.
    /// Returns the first `limit` values greater than `after` in ascending order, each with the
    /// number of entries that have it.
    async fn keyword_counts(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>>;

    /// Finds the minimum and maximum [`VideoEntry::created_at`] among the entries that satisfy
    /// these conditions. Returns `None` if no entry satisfies them.
    async fn created_range(&self, conditions: &[Condition]) -> Result<Option<(i64, i64)>>;

    /// Reads the mark, which is the value that any process last passed to [`Self::set_mark`]. The
    /// mark identifies the state of the records that the entries reflect. Returns `None` if no mark
    /// was set yet or if entries were lost.
    async fn mark(&self) -> Result<Option<String>>;

    /// Sets the mark. When the call returns, the mark and every earlier `put` and `remove` are
    /// durable.
    async fn set_mark(&self, mark: &str) -> Result<()>;

    /// Checks that entries can be read and written, and fails otherwise.
    async fn probe(&self) -> Result<()>;
}
