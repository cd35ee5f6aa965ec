//! The activity list: the newest comments on all videos.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use ports::ErrorKind;
use ports::records::Precondition;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::store::CHANGING;
use super::{CommentView, Comments};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::listing::BATCH;
use crate::records::MAX_CONCURRENT_READS;
use crate::records::documents::{MAX_SWAP_ATTEMPTS, busy, swap_document, to_document};

/// Key of the log.
pub(super) const LOG: &str = "activity/log.json";

/// A page of the activity list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityQuery {
    /// Maximum number of entries.
    pub limit: usize,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
}

/// A page of activities.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityList {
    /// The activities of this page, newest first.
    pub entries: Vec<ActivityEntry>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// A comment that was written.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityEntry {
    /// The comment.
    pub comment: CommentView,
    /// The video's file name.
    pub filename: String,
}

/// The log of the newest comments, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ActivityLog {
    entries: Vec<LogEntry>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct LogEntry {
    /// Increases from entry to entry, also if the log is replaced.
    sequence: i64,
    video_id: VideoId,
    comment_id: String,
}

/// The log as it is stored.
enum StoredLog {
    Absent,
    Readable(Value, ActivityLog),
    /// JSON that is no log.
    Damaged(Value),
    /// Not JSON.
    Unreadable,
}

impl StoredLog {
    fn precondition(&self) -> Precondition<'_> {
        match self {
            Self::Absent => Precondition::Absent,
            Self::Readable(document, _) | Self::Damaged(document) => {
                Precondition::Document(document)
            }
            Self::Unreadable => Precondition::Unreadable,
        }
    }
}

impl Comments {
    /// Lists the newest comments on the videos that the caller may see, newest first. Omits comments
    /// that were deleted, so a page may have fewer entries than the limit. Returns `Invalid` if the
    /// cursor is malformed.
    pub async fn activity(&self, access: &Access, query: &ActivityQuery) -> Result<ActivityList> {
        let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
        let mut entries = self.log().await?.entries;
        entries.retain(|entry| before.is_none_or(|before| entry.sequence < before));
        entries.reverse();
        // One more than the limit, to find out whether there is a next page.
        let mut page = self.visible_entries(access, &entries, query.limit + 1).await?;
        let more = page.len() > query.limit;
        page.truncate(query.limit);
        let next = page.last().filter(|_| more).map(|(entry, _)| entry.sequence.to_string());
        let mut comments = self.comments_of_entries(access, &page).await?;
        let activity = |(entry, filename): (LogEntry, String)| {
            let comment = comments.remove(&entry.comment_id)?;
            Some(ActivityEntry { comment, filename })
        };
        Ok(ActivityList { entries: page.into_iter().filter_map(activity).collect(), next })
    }

    /// Finds the first entries whose videos the caller may see, with the file names of the videos.
    async fn visible_entries(
        &self,
        access: &Access,
        entries: &[LogEntry],
        limit: usize,
    ) -> Result<Vec<(LogEntry, String)>> {
        let mut visible = Vec::new();
        for batch in entries.chunks(BATCH) {
            let ids: BTreeSet<VideoId> = batch.iter().map(|entry| entry.video_id).collect();
            let ids: Vec<VideoId> = ids.into_iter().collect();
            let videos = self.listing.entries(access, &ids).await?;
            let filenames: BTreeMap<VideoId, String> =
                videos.into_iter().map(|video| (video.video_id, video.filename)).collect();
            let with_filename =
                |entry: &LogEntry| Some((entry.clone(), filenames.get(&entry.video_id)?.clone()));
            visible.extend(batch.iter().filter_map(with_filename));
            if visible.len() >= limit {
                break;
            }
        }
        visible.truncate(limit);
        Ok(visible)
    }

    /// Reads the comments that entries refer to, by their ids. Omits those that do not exist.
    async fn comments_of_entries(
        &self,
        access: &Access,
        entries: &[(LogEntry, String)],
    ) -> Result<BTreeMap<String, CommentView>> {
        let mut needed: BTreeMap<VideoId, BTreeSet<String>> = BTreeMap::new();
        for (entry, _) in entries {
            needed.entry(entry.video_id).or_default().insert(entry.comment_id.clone());
        }
        let reads = stream::iter(needed).map(|(video_id, ids)| async move {
            let mut comments = match self.comments(video_id).await {
                Err(error) if error.is_corrupt() => {
                    tracing::warn!(%video_id, %error, "comments are not listed");
                    Vec::new()
                }
                comments => comments?,
            };
            comments.retain(|comment| ids.contains(&comment.id));
            let views = comments.into_iter().map(|comment| comment.view(access, video_id));
            Ok::<_, Error>(views.collect::<Vec<_>>())
        });
        let views: Vec<Vec<CommentView>> =
            reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        let by_id = |view: CommentView| (view.comment.id.clone(), view);
        Ok(views.into_iter().flatten().map(by_id).collect())
    }

    /// Adds a comment to the log, which forgets the oldest one if it is full. An unreadable log is
    /// replaced. The caller holds the lock on changes.
    pub(super) async fn log_comment(&self, video_id: VideoId, comment_id: &str) -> Result<()> {
        for _ in 0..MAX_SWAP_ATTEMPTS {
            let stored = self.stored_log().await?;
            let mut log = match &stored {
                StoredLog::Readable(_, log) => log.clone(),
                StoredLog::Absent => ActivityLog::default(),
                StoredLog::Damaged(_) | StoredLog::Unreadable => {
                    tracing::warn!("the unreadable record {LOG} is replaced");
                    ActivityLog::default()
                }
            };
            log.add(video_id, comment_id, self.settings.activity);
            let document = to_document(LOG, &log)?;
            if swap_document(&*self.store, LOG, stored.precondition(), &document).await? {
                return Ok(());
            }
        }
        Err(busy(CHANGING))
    }

    /// Reads the log, which is empty if there is none. Returns `Corrupt` if it is unreadable.
    pub(super) async fn log(&self) -> Result<ActivityLog> {
        match self.stored_log().await? {
            StoredLog::Absent => Ok(ActivityLog::default()),
            StoredLog::Readable(_, log) => Ok(log),
            StoredLog::Damaged(_) | StoredLog::Unreadable => {
                Err(Error::corrupt(format!("the record {LOG} does not read back")))
            }
        }
    }

    async fn stored_log(&self) -> Result<StoredLog> {
        let document = match self.store.get(LOG).await {
            Ok(None) => return Ok(StoredLog::Absent),
            Ok(Some(document)) => document,
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(StoredLog::Unreadable),
            Err(error) => return Err(error.into()),
        };
        Ok(match ActivityLog::deserialize(&document) {
            Ok(log) => StoredLog::Readable(document, log),
            Err(_) => StoredLog::Damaged(document),
        })
    }
}

impl ActivityLog {
    /// Adds an entry, and removes the oldest ones if there are more than `max`.
    fn add(&mut self, video_id: VideoId, comment_id: &str, max: usize) {
        let least = self.entries.last().map_or(0, |last| last.sequence + 1);
        let sequence = Timestamp::now().as_millisecond().max(least);
        self.entries.push(LogEntry { sequence, video_id, comment_id: comment_id.to_owned() });
        let surplus = self.entries.len().saturating_sub(max);
        self.entries.drain(..surplus);
    }
}

/// Parses a cursor: the sequence number of the last entry of a page.
fn parse_cursor(cursor: &str) -> Result<i64> {
    cursor.parse().map_err(|_| {
        Error::Invalid(format!(
            "cursor is '{cursor}'; it must be the `next` of a page of activities"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_keeps_the_newest_entries_in_order() {
        let video_id = "0123456789abcdef".parse().expect("an id");
        let mut log = ActivityLog::default();
        for id in ["a", "b", "c"] {
            log.add(video_id, id, 2);
        }
        let ids: Vec<&str> = log.entries.iter().map(|entry| entry.comment_id.as_str()).collect();
        assert_eq!(ids, ["b", "c"]);
        assert!(log.entries[0].sequence < log.entries[1].sequence);
    }
}
