//! Lists the comments on a video.

use super::store::{CommentPosition, position};
use super::{Comment, CommentView, Comments};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;

/// A page of the comments on a video.
#[derive(Debug, Clone, PartialEq)]
pub struct CommentQuery {
    /// Only comments that end at this time or later, in seconds.
    pub after: Option<f64>,
    /// Only comments that start before this time, in seconds.
    pub before: Option<f64>,
    /// Maximum number of comments.
    pub limit: usize,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
}

/// A page of comments.
#[derive(Debug, Clone, PartialEq)]
pub struct CommentList {
    /// The comments of this page, ordered by start. Those with the same start are in the order in
    /// which they were written.
    pub comments: Vec<CommentView>,
    /// Number of comments on all pages.
    pub total: usize,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

impl Comments {
    /// Lists the comments on a video. Returns `NotFound` if there is no such video, and `Invalid` if
    /// the cursor is malformed.
    pub async fn list(
        &self,
        access: &Access,
        video_id: VideoId,
        query: &CommentQuery,
    ) -> Result<CommentList> {
        let cursor = query.cursor.as_deref().map(parse_cursor).transpose()?;
        self.records.get(video_id).await?;
        let mut comments = self.comments(video_id).await?;
        comments.retain(|comment| query.matches(comment));
        let total = comments.len();
        comments.retain(|comment| cursor.as_ref().is_none_or(|cursor| position(comment) > *cursor));
        let more = comments.len() > query.limit;
        comments.truncate(query.limit);
        let next = comments.last().filter(|_| more).map(|last| format_cursor(&position(last)));
        let comments = comments.into_iter().map(|comment| comment.view(access, video_id)).collect();
        Ok(CommentList { comments, total, next })
    }
}

impl CommentQuery {
    fn matches(&self, comment: &Comment) -> bool {
        self.after.is_none_or(|after| comment.span.end >= after)
            && self.before.is_none_or(|before| comment.span.start < before)
    }
}

/// Parses a cursor: `<start>_<created_at>_<id>`.
fn parse_cursor(cursor: &str) -> Result<CommentPosition> {
    let position = || {
        let mut parts = cursor.splitn(3, '_');
        let (start, created_at) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((start, created_at, parts.next()?.to_owned()))
    };
    position().ok_or_else(|| {
        Error::Invalid(format!("cursor is '{cursor}'; it must be the `next` of a page of comments"))
    })
}

fn format_cursor((start, created_at, id): &CommentPosition) -> String {
    format!("{start}_{created_at}_{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip() {
        let position = (12_500, 1_700_000_000_123, "0123456789ab".to_owned());
        assert_eq!(parse_cursor(&format_cursor(&position)).expect("a cursor"), position);
        for bad in ["", "1", "1_2", "x_2_a", "1_x_a", "ü_ü_ü"] {
            assert!(matches!(parse_cursor(bad), Err(Error::Invalid(_))), "{bad}");
        }
    }
}
