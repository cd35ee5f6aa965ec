//! `/videos/{video_id}/comments` and `/activity`: comments of users on moments of videos.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, ByIdChecked, Change, Listing, Rerun};
use crate::http::wire::params::{Bounded, FiniteNumber};
use domain::comments::activity::{self, ActivityQuery};
use domain::comments::{
    self, CommentChange, CommentDraft, CommentPlace, CommentQuery, CommentView, Settlement,
};
use domain::kernel::error::Error;
use domain::kernel::time::{Span, iso};
use domain::kernel::video::parse_video_id;

/// The routes of this section.
pub(super) struct CommentsApi(pub(super) Service);

#[OpenApi]
impl CommentsApi {
    /// List the comments on a video.
    ///
    /// Comments are listed in the order of their start. They stay when the video is chunked,
    /// analyzed or corrected again.
    #[oai(path = "/videos/:video_id/comments", method = "get", operation_id = "comments")]
    async fn comments(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Only comments that end at this second of the video or later.
        after: Query<Option<FiniteNumber>>,
        /// Only comments that start before this second of the video.
        before: Query<Option<FiniteNumber>>,
        /// Maximum number of comments per page, from 1 to 500. Default: 100.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<CommentListBody>, ApiError<ByIdChecked>> {
        let query = CommentQuery {
            after: after.0.map(|second| second.0),
            before: before.0.map(|second| second.0),
            limit: limit.0.0 as usize,
            cursor: cursor.0,
        };
        let service = self.0.scoped(&token);
        let list = service.video(parse_video_id(&video_id)?).await?.comments(&query).await?;
        Ok(Json(list.into()))
    }

    /// Comment on a moment of a video, or reply to a comment.
    ///
    /// A reply (`reply_to`) has the moment of the comment. A reply to a reply becomes a reply to the
    /// same comment.
    ///
    /// The author is the name of the token (`auth.tokens`). If the token has no name, or none is
    /// required, it is `author`. Returns 400 if the moment lies outside the video, or if the video
    /// has too many comments (`comments.max_per_video`).
    #[oai(path = "/videos/:video_id/comments", method = "post", operation_id = "add_comment")]
    async fn add_comment(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        Json(request): Json<CommentRequest>,
    ) -> Result<Json<CommentBody>, ApiError<Rerun>> {
        let (service, video_id) = (self.0.scoped(&token), parse_video_id(&video_id)?);
        let video = service.for_write()?.video(video_id).await?;
        Ok(Json(video.comment(&request.try_into()?).await?.into()))
    }

    /// Change or settle a comment.
    ///
    /// A comment is settled (`settled`) when what it asks is answered or done; everybody who may
    /// write may settle it or open it again. Returns 400 for a reply, which is settled with the
    /// comment that it replies to.
    ///
    /// Returns 403 if `text` is set, unless the token is that of the author, or is not limited to
    /// collections. Tokens without a name count as one author.
    #[oai(
        path = "/videos/:video_id/comments/:comment_id",
        method = "patch",
        operation_id = "edit_comment"
    )]
    async fn edit_comment(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Id of the comment.
        comment_id: Path<String>,
        Json(request): Json<CommentUpdateRequest>,
    ) -> Result<Json<CommentBody>, ApiError<Rerun>> {
        let (service, video_id) = (self.0.scoped(&token), parse_video_id(&video_id)?);
        let video = service.for_write()?.video(video_id).await?;
        Ok(Json(video.edit_comment(&comment_id, &request.try_into()?).await?.into()))
    }

    /// Delete a comment.
    ///
    /// Replies to it stay.
    ///
    /// Returns 403 unless the token is that of the author, or is not limited to collections. Tokens
    /// without a name count as one author.
    #[oai(
        path = "/videos/:video_id/comments/:comment_id",
        method = "delete",
        operation_id = "delete_comment"
    )]
    async fn delete_comment(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Id of the comment.
        comment_id: Path<String>,
    ) -> Result<Json<CommentDeleted>, ApiError<Change>> {
        let (service, video_id) = (self.0.scoped(&token), parse_video_id(&video_id)?);
        let video = service.for_write()?.video(video_id).await?;
        video.delete_comment(&comment_id).await?;
        Ok(Json(CommentDeleted { comment_id: comment_id.0, deleted: true }))
    }

    /// List recent activity.
    ///
    /// Lists the newest comments on all videos that the token gives access to, newest first. The
    /// number of comments in the list is limited (`comments.activity`). Deleted comments and those on
    /// deleted videos are left out, so a page may have fewer entries than `limit` although more
    /// follow; `next` is absent only on the last page.
    #[oai(path = "/activity", method = "get", operation_id = "activity")]
    async fn activity(
        &self,
        token: CallerToken,
        /// Maximum number of entries per page, from 1 to 100. Default: 20.
        #[oai(default = "twenty")]
        limit: Query<Bounded<1, 100>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<ActivityListBody>, ApiError<Listing>> {
        let query = ActivityQuery { limit: limit.0.0 as usize, cursor: cursor.0 };
        Ok(Json(self.0.scoped(&token).activity(&query).await?.into()))
    }
}

fn hundred() -> Bounded<1, 500> {
    Bounded(100)
}

fn twenty() -> Bounded<1, 100> {
    Bounded(20)
}

/// A comment to add.
#[derive(Object)]
struct CommentRequest {
    /// Start of the moment, in seconds from the start of the video; required without `reply_to`.
    #[oai(nullable)]
    start: Option<f64>,
    /// End of the moment, in seconds from the start of the video. Null: the point in time `start`.
    #[oai(nullable)]
    end: Option<f64>,
    /// Id of a comment on the same video to reply to, instead of `start` and `end`.
    #[oai(nullable)]
    reply_to: Option<String>,
    /// The text, at most `comments.max_chars` characters.
    #[oai(validator(min_length = 1))]
    text: String,
    /// Name of the author, at most 100 characters, if the token has no name. Null: the name of the
    /// token, or `anonymous`.
    #[oai(nullable)]
    author: Option<String>,
}

/// Changes of a comment: `text`, `settled` or both.
#[derive(Object)]
struct CommentUpdateRequest {
    /// The new text, at most `comments.max_chars` characters. Null: it stays.
    #[oai(nullable, validator(min_length = 1))]
    text: Option<String>,
    /// Whether the comment is settled. Null: that stays.
    #[oai(nullable)]
    settled: Option<bool>,
    /// Name of the person who settles the comment, if the token has no name, as in a new comment.
    #[oai(nullable)]
    author: Option<String>,
}

#[derive(Object)]
#[oai(rename = "CommentList")]
struct CommentListBody {
    /// The comments of this page.
    comments: Vec<CommentBody>,
    /// Number of comments on all pages.
    total: u32,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

/// A comment on a moment of a video.
#[derive(Object)]
#[oai(rename = "Comment")]
struct CommentBody {
    /// Id of the comment.
    comment_id: String,
    /// Id of the video.
    video_id: String,
    /// Start of the moment, in seconds from the start of the video.
    start: f64,
    /// End of the moment, in seconds from the start of the video; the same as `start` for a point in
    /// time.
    end: f64,
    /// The text.
    text: String,
    /// Name of the author.
    author: String,
    /// Id of the comment that this one replies to, which may have been deleted; absent if this is no
    /// reply.
    #[oai(skip_serializing_if_is_none)]
    reply_to: Option<String>,
    /// Creation time (ISO 8601, UTC, to the second).
    created_at: String,
    /// Time of the last change of the text (ISO 8601, UTC, to the second); absent if it was never
    /// changed.
    #[oai(skip_serializing_if_is_none)]
    edited_at: Option<String>,
    /// Name of the person who settled the comment; absent while it is open, and in replies.
    #[oai(skip_serializing_if_is_none)]
    settled_by: Option<String>,
    /// Time at which the comment was settled (ISO 8601, UTC, to the second); absent while it is open,
    /// and in replies.
    #[oai(skip_serializing_if_is_none)]
    settled_at: Option<String>,
    /// Whether this token may change and delete the comment.
    editable: bool,
}

#[derive(Object)]
struct CommentDeleted {
    /// Id of the deleted comment.
    comment_id: String,
    /// Always true.
    deleted: bool,
}

#[derive(Object)]
#[oai(rename = "ActivityList")]
struct ActivityListBody {
    /// The entries of this page, newest first.
    entries: Vec<ActivityBody>,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
#[oai(rename = "Activity")]
struct ActivityBody {
    kind: ActivityKind,
    /// File name of the video.
    filename: String,
    comment: CommentBody,
}

/// What happened: a comment was written.
#[derive(Enum)]
#[oai(rename_all = "snake_case")]
enum ActivityKind {
    Comment,
}

impl TryFrom<CommentRequest> for CommentDraft {
    type Error = Error;

    fn try_from(request: CommentRequest) -> Result<Self, Error> {
        let CommentRequest { start, end, reply_to, text, author } = request;
        let place = match (start, end, reply_to) {
            (Some(start), end, None) => CommentPlace::Moment { start, end },
            (None, None, Some(comment)) => CommentPlace::ReplyTo(comment),
            _ => {
                return Err(Error::Unprocessable(
                    "give start, and end if the moment has one, or only reply_to".into(),
                ));
            }
        };
        Ok(Self { place, text, author })
    }
}

impl TryFrom<CommentUpdateRequest> for CommentChange {
    type Error = Error;

    fn try_from(request: CommentUpdateRequest) -> Result<Self, Error> {
        let CommentUpdateRequest { text, settled, author } = request;
        if text.is_none() && settled.is_none() {
            return Err(Error::Unprocessable("give text, settled or both".into()));
        }
        Ok(Self { text, settled, author })
    }
}

impl From<comments::CommentList> for CommentListBody {
    fn from(list: comments::CommentList) -> Self {
        let comments = list.comments.into_iter().map(Into::into).collect();
        Self { comments, total: list.total as u32, next: list.next }
    }
}

impl From<CommentView> for CommentBody {
    fn from(view: CommentView) -> Self {
        let CommentView { comment, video_id, editable } = view;
        let Span { start, end } = comment.span;
        let (settled_by, settled_at) =
            comment.settled.map(|Settlement { by, at }| (by, iso(at))).unzip();
        Self {
            comment_id: comment.id,
            video_id: video_id.to_string(),
            start,
            end,
            text: comment.text,
            author: comment.author,
            reply_to: comment.reply_to,
            created_at: iso(comment.created_at),
            edited_at: comment.edited_at.map(iso),
            settled_by,
            settled_at,
            editable,
        }
    }
}

impl From<activity::ActivityList> for ActivityListBody {
    fn from(list: activity::ActivityList) -> Self {
        let entry = |activity: activity::ActivityEntry| ActivityBody {
            kind: ActivityKind::Comment,
            filename: activity.filename,
            comment: activity.comment.into(),
        };
        Self { entries: list.entries.into_iter().map(entry).collect(), next: list.next }
    }
}
