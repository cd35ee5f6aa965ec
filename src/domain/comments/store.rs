//! Reads and writes the documents of comments, one per video.

use ports::records::Precondition;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Comment, Comments};
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::records::documents::comments_key;
use crate::records::record_state::RecordState;

/// Maximum number of attempts at a change that conflicts with changes of other processes.
pub(super) const MAX_SWAP_ATTEMPTS: usize = 20;

/// The comments on a video, ordered by [`position`].
#[derive(Debug, Default, Serialize, Deserialize)]
struct CommentDocument {
    comments: Vec<Comment>,
}

/// The place of a comment in the list of its video: start and creation time, in milliseconds, and
/// the id.
pub(super) type CommentPosition = (i64, i64, String);

impl Comments {
    /// Reads the comments on a video, in order. There are none if the video does not exist. Returns
    /// `Corrupt` if they are unreadable.
    pub(super) async fn comments(&self, video_id: VideoId) -> Result<Vec<Comment>> {
        Ok(self.stored(video_id).await?.map(|(_, comments)| comments).unwrap_or_default())
    }

    /// Changes the comments on a video, again if another process has changed them in the meantime.
    /// The caller holds the lock on changes.
    pub(super) async fn change<T>(
        &self,
        video_id: VideoId,
        change: impl Fn(&mut Vec<Comment>) -> Result<T>,
    ) -> Result<T> {
        for _ in 0..MAX_SWAP_ATTEMPTS {
            let (document, before) = self.stored(video_id).await?.unzip();
            let before = before.unwrap_or_default();
            let mut comments = before.clone();
            let result = change(&mut comments)?;
            if comments == before {
                return Ok(result);
            }
            let changed = to_json(&CommentDocument { comments })?;
            let expected = Precondition::from(document.as_ref());
            if self.swap(&comments_key(video_id), expected, &changed).await? {
                return Ok(result);
            }
        }
        Err(conflict())
    }

    /// Replaces a document if it meets the precondition, and returns whether it did.
    pub(super) async fn swap(
        &self,
        key: &str,
        expected: Precondition<'_>,
        document: &Value,
    ) -> Result<bool> {
        // The swap may have happened although the store reports that it did not.
        Ok(self.store.compare_and_swap(key, expected, document).await?
            || self.store.get(key).await?.as_ref() == Some(document))
    }

    /// Whether there is no such video. An unreadable video exists.
    pub(super) async fn is_gone(&self, video_id: VideoId) -> Result<bool> {
        let state = self.records.state(video_id).await?;
        Ok(matches!(state, RecordState::Absent | RecordState::Tombstone(..)))
    }

    async fn stored(&self, video_id: VideoId) -> Result<Option<(Value, Vec<Comment>)>> {
        let key = comments_key(video_id);
        let Some(document) = self.store.get(&key).await? else { return Ok(None) };
        let parsed = CommentDocument::deserialize(&document)
            .map_err(|e| Error::corrupt(format!("the record {key} does not read back: {e}")))?;
        Ok(Some((document, parsed.comments)))
    }
}

/// Inserts a comment in order.
pub(super) fn insert(comments: &mut Vec<Comment>, comment: Comment) {
    let own = position(&comment);
    let index = comments.partition_point(|other| position(other) < own);
    comments.insert(index, comment);
}

pub(super) fn position(comment: &Comment) -> CommentPosition {
    let start = (comment.span.start * 1000.0).round() as i64;
    (start, comment.created_at, comment.id.clone())
}

pub(super) fn to_json<T: Serialize>(document: &T) -> Result<Value> {
    serde_json::to_value(document)
        .map_err(|e| Error::corrupt(format!("cannot store comments: {e}")))
}

/// The error of a change that conflicted with changes of other processes too many times.
pub(super) fn conflict() -> Error {
    Error::Busy {
        message: "comments are being changed by others; try again".into(),
        retry_after: 1,
    }
}
