//! The listing of videos: what a page of the library and the hits of a search show of a video
//! without reading its record, in order of time.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::index::{Condition, FieldValue};
use crate::{Document, Result, VideoId};

/// What is listed of a video.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoEntry {
    /// Replaces the entry of the same video.
    pub video_id: VideoId,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// As the video shows it.
    pub filename: String,
    /// Ids of the analyzers with output.
    pub analyzers: Vec<String>,
    /// What else it is found by: names such as `collection` or `metadata.camera`, of at most one dot
    /// and else of `a` to `z`, `0` to `9` and `_`.
    pub fields: BTreeMap<String, FieldValue>,
    /// Returned as it was stored.
    pub document: Document,
}

/// A place in the order of the listing: newest first, those of one instant by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// [`VideoEntry::created_at`].
    pub created_at: i64,
    /// [`VideoEntry::video_id`].
    pub video_id: VideoId,
}

/// Which entries are listed: those for which every condition holds. The default has no condition,
/// and a limit of none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListQuery {
    /// Part of the filename, both in lower case; empty matches all.
    pub filename: Option<String>,
    /// Among [`VideoEntry::analyzers`].
    pub analyzer: Option<String>,
    /// The least [`VideoEntry::created_at`].
    pub from: Option<i64>,
    /// The greatest [`VideoEntry::created_at`].
    pub to: Option<i64>,
    /// Tests of [`VideoEntry::fields`]; a field that is not there satisfies none.
    pub conditions: Vec<Condition>,
    /// Only entries that follow this place, whether or not an entry is there.
    pub after: Option<Position>,
    /// How many of those that are left are skipped.
    pub offset: usize,
    /// At most so many entries.
    pub limit: usize,
}

/// A page of the listing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listed {
    /// Newest first, those of one instant by id.
    pub entries: Vec<VideoEntry>,
    /// All that satisfy the conditions, whatever is skipped.
    pub total: u64,
}

/// The entries of all videos.
#[async_trait]
pub trait VideoListing: Send + Sync {
    /// Adds entries, replacing those of the same videos; the last of several of one video counts.
    /// When it returns they are durable and every later read sees them; after a crash on the way
    /// each is there whole or not at all.
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()>;

    /// Removes the entries of these videos. Durable when it returns. None there is no error.
    async fn remove(&self, video_ids: &[VideoId]) -> Result<()>;

    /// The entries that satisfy the conditions, in order.
    async fn list(&self, query: &ListQuery) -> Result<Listed>;

    /// The entries of these videos in the order of the ids; those that are not there are left out.
    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>>;

    /// The ids of the entries that satisfy these conditions, ascending.
    async fn matching(&self, conditions: &[Condition]) -> Result<Vec<VideoId>>;

    /// The words of a field of words among the entries that satisfy these conditions, ascending, each
    /// with how many of them have it: at most `limit` that are greater than `after`.
    async fn words(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>>;

    /// The least and the greatest [`VideoEntry::created_at`] of the entries that satisfy these
    /// conditions; `None` where none does.
    async fn period(&self, conditions: &[Condition]) -> Result<Option<(i64, i64)>>;

    /// The ids that are listed and greater than `after`, ascending, at most `limit`.
    async fn ids(&self, after: Option<VideoId>, limit: usize) -> Result<Vec<VideoId>>;

    /// What was last set by [`Self::set_mark`], by whatever process: what the entries are in step
    /// with. `None` until then, and once entries were lost.
    async fn mark(&self) -> Result<Option<String>>;

    /// Sets the mark. Durable when it returns, and so is every `put` and `remove` before it.
    async fn set_mark(&self, mark: &str) -> Result<()>;

    /// Fails unless entries can be read and written.
    async fn probe(&self) -> Result<()>;
}
