//! Reads and writes the documents of comments, one per video.

use serde::{Deserialize, Serialize};

use super::{Comment, Comments};
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::records::documents::{change_document, comments_key, read_document};

/// What the error of a conflict says.
pub(super) const CHANGING: &str = "comments are";

/// The comments on a video, ordered by [`position`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
        let key = comments_key(video_id);
        let stored: Option<CommentDocument> = read_document(&*self.store, &key).await?;
        Ok(stored.unwrap_or_default().comments)
    }

    /// Changes the comments on a video, again if another process has changed them in the meantime.
    /// The caller holds the lock on changes.
    pub(super) async fn change<T>(
        &self,
        video_id: VideoId,
        change: impl Fn(&mut Vec<Comment>) -> Result<T>,
    ) -> Result<T> {
        let change = |document: &mut CommentDocument| change(&mut document.comments);
        change_document(&*self.store, &comments_key(video_id), CHANGING, change).await
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
