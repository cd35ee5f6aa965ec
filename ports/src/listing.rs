//! The video listing: the data that a page of the library or of search results shows for each
//! video, ordered by time, so that the page does not have to read the video's record.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::index::{Condition, FieldValue};
use crate::{Document, Result, VideoId};

/// The listing's entry for a video.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoEntry {
    /// The video. An entry replaces the video's earlier one.
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

/// A position in the listing, whose order is newest first, ties by id.
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
    /// Only entries with this id among [`VideoEntry::analyzers`].
    pub analyzer: Option<String>,
    /// Minimum [`VideoEntry::created_at`].
    pub from: Option<i64>,
    /// Maximum [`VideoEntry::created_at`].
    pub to: Option<i64>,
    /// Conditions on [`VideoEntry::fields`]; a missing field satisfies no condition.
    pub conditions: Vec<Condition>,
    /// Only entries after this position, whether or not there is an entry at it.
    pub after: Option<Position>,
    /// Number of entries to skip, after the conditions and `after` are applied.
    pub offset: usize,
    /// Maximum number of entries.
    pub limit: usize,
}

/// A page of the listing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListingPage {
    /// Newest first, ties by id.
    pub entries: Vec<VideoEntry>,
    /// Number of entries that satisfy the conditions, regardless of `after`, `offset` and `limit`.
    pub total: u64,
}

/// The listing: one entry per video, newest first, with filters.
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
    /// Adds entries, replacing those of the same videos; if several entries are for one video, the
    /// last wins. When it returns, they are durable and every later read sees them; after a crash,
    /// each entry is stored whole or not at all.
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()>;

    /// Removes the entries of these videos. Durable when it returns. Finding none is not an error.
    async fn remove(&self, video_ids: &[VideoId]) -> Result<()>;

    /// Reads one page of the entries that satisfy the conditions, newest first.
    async fn list(&self, query: &ListQuery) -> Result<ListingPage>;

    /// Reads the entries of these videos in the order of `video_ids`; skips missing ones.
    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>>;

    /// Lists the ids of the entries that satisfy these conditions, ascending.
    async fn matching_ids(&self, conditions: &[Condition]) -> Result<Vec<VideoId>>;

    /// Counts the values of a keyword field among the entries that satisfy these conditions.
    /// Returns the first `limit` values greater than `after`, ascending, each with the number of
    /// entries that have it.
    async fn keyword_counts(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>>;

    /// Finds the minimum and maximum [`VideoEntry::created_at`] among the entries that satisfy
    /// these conditions; returns `None` if no entry does.
    async fn created_range(&self, conditions: &[Condition]) -> Result<Option<(i64, i64)>>;

    /// Lists the first `limit` ids greater than `after`, ascending.
    async fn ids(&self, after: Option<VideoId>, limit: usize) -> Result<Vec<VideoId>>;

    /// Reads the mark: the value that was last passed to [`Self::set_mark`], by any process. It
    /// identifies the state of the records that the entries reflect. Returns `None` before the
    /// first such call and after entries were lost.
    async fn mark(&self) -> Result<Option<String>>;

    /// Sets the mark. When it returns, the mark and every earlier `put` and `remove` are durable.
    async fn set_mark(&self, mark: &str) -> Result<()>;

    /// Checks that entries can be read and written, and fails otherwise.
    async fn probe(&self) -> Result<()>;
}
