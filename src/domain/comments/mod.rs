//! Comments of users on moments of videos, and the activity list of the newest ones. A comment does
//! not depend on the video's chunks. It is deleted with its video.
//!
//! `comments/<video_id>.json` holds the comments on a video, and `activity/log.json` refers to the
//! newest comments on all videos. Both are changed only by compare-and-swap. A comment is added to
//! the log before it is stored, so that the log lacks none. Readers omit entries without a comment.

pub mod activity;
mod change;
mod list;
mod store;
mod upkeep;

use std::sync::Arc;

use ports::records::RecordStore;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex as AsyncMutex;

use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::records::Records;
use crate::records::locks::VideoLocks;
use crate::records::readiness::StoreReadiness;
pub use list::{CommentList, CommentQuery};

/// Limits on comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommentSettings {
    /// Maximum length of a comment, in characters.
    pub max_chars: usize,
    /// Maximum number of comments on a video. They are in one document.
    pub max_per_video: usize,
    /// Number of comments in the activity list. The newest ones are kept. They are in one document,
    /// with about 100 bytes each.
    pub activity: usize,
}

impl Default for CommentSettings {
    fn default() -> Self {
        Self { max_chars: 4000, max_per_video: 5000, activity: 1000 }
    }
}

/// A comment on a moment of a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comment {
    /// The comment's id, which is random.
    #[serde(rename = "comment_id")]
    pub id: String,
    /// The moment, with times in seconds from the start of the video, to the millisecond. A point in
    /// time has no length.
    #[serde(flatten)]
    pub span: Span,
    /// The text.
    pub text: String,
    /// The name of the author: that of the token, or the one in the request.
    pub author: String,
    /// The name of the token that the comment was written with; `None` if it has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// The id of the comment that this one replies to, which itself is no reply. It may have been
    /// deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// When the comment was written, in milliseconds since 1970.
    pub created_at: i64,
    /// When the text was last changed, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<i64>,
    /// Who settled the comment and when; `None` while it is open, and in replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settlement>,
}

/// That a comment is settled: what it asks is answered or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settlement {
    /// The name of the person who settled the comment: that of the token, or the one in the request.
    pub by: String,
    /// When it was settled, in milliseconds since 1970.
    pub at: i64,
}

/// A change of a comment. Fields that are `None` stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommentChange {
    /// The new text, which only the author may change.
    pub text: Option<String>,
    /// Whether the comment is settled, which everybody may change who may write.
    pub settled: Option<bool>,
    /// The name of the person who settles the comment, for callers whose token has no name.
    pub author: Option<String>,
}

/// A new comment.
#[derive(Debug, Clone, PartialEq)]
pub struct CommentDraft {
    /// What the comment is on.
    pub place: CommentPlace,
    /// The text.
    pub text: String,
    /// The name of the author, for callers whose token has no name.
    pub author: Option<String>,
}

/// What a new comment is on.
#[derive(Debug, Clone, PartialEq)]
pub enum CommentPlace {
    /// A moment of the video.
    Moment {
        /// Where the moment begins, in seconds.
        start: f64,
        /// Where the moment ends, in seconds; `None` for the point in time `start`.
        end: Option<f64>,
    },
    /// The moment of another comment on the video, with this id. A reply to a reply is a reply to
    /// the same comment.
    ReplyTo(String),
}

/// A comment as users see it.
#[derive(Debug, Clone, PartialEq)]
pub struct CommentView {
    /// The comment.
    pub comment: Comment,
    /// The video.
    pub video_id: VideoId,
    /// Whether the caller may change and delete the comment.
    pub editable: bool,
}

/// The comment service.
pub struct Comments {
    store: Arc<dyn RecordStore>,
    records: Arc<Records>,
    listing: Arc<Listing>,
    locks: Arc<VideoLocks>,
    readiness: Arc<StoreReadiness>,
    settings: CommentSettings,
    /// Serializes the changes of this process. Changes of other processes only cause retries.
    changes: AsyncMutex<()>,
}

impl Comments {
    pub(crate) fn new(
        records: &Arc<Records>,
        listing: &Arc<Listing>,
        locks: &Arc<VideoLocks>,
        readiness: &Arc<StoreReadiness>,
        settings: CommentSettings,
    ) -> Self {
        Self {
            store: records.store.clone(),
            records: records.clone(),
            listing: listing.clone(),
            locks: locks.clone(),
            readiness: readiness.clone(),
            settings,
            changes: AsyncMutex::default(),
        }
    }
}

impl Comment {
    fn view(self, access: &Access, video_id: VideoId) -> CommentView {
        let editable = self.is_editable(access);
        CommentView { comment: self, video_id, editable }
    }

    /// Whether a caller may change and delete the comment: its author, and callers that see every
    /// video. All tokens without a name count as one author.
    fn is_editable(&self, access: &Access) -> bool {
        let owns = access.collections().is_none() || self.token.as_deref() == access.name();
        owns && access.check_write().is_ok()
    }

    /// Returns `Forbidden` if the caller may not change the comment.
    fn check_editable(&self, access: &Access) -> Result<()> {
        if self.is_editable(access) {
            return Ok(());
        }
        Err(Error::Forbidden(format!(
            "comment '{}' is by '{}'; only its author, or a token without collections, may change \
             or delete it",
            self.id, self.author
        )))
    }
}

impl CommentSettings {
    /// Trims the text of a comment and checks its length.
    fn check_text(&self, text: &str) -> Result<String> {
        let (text, max) = (text.trim(), self.max_chars);
        if text.is_empty() || text.chars().count() > max {
            return Err(Error::Unprocessable(format!(
                "text must have 1 to {max} characters (comments.max_chars)"
            )));
        }
        Ok(text.to_owned())
    }
}

fn unknown_comment(video_id: VideoId, id: &str) -> Error {
    Error::NotFound(format!(
        "video '{video_id}' has no comment '{id}'; GET /videos/{video_id}/comments lists them"
    ))
}
