//! Adds, changes and deletes comments.

use jiff::Timestamp;

use super::store::insert;
use super::{
    Comment, CommentChange, CommentDraft, CommentPlace, CommentView, Comments, Settlement,
    unknown_comment,
};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::{VideoId, unknown_video};
use crate::records::record::VideoRecord;

/// Number of hexadecimal digits of a comment's id.
const ID_DIGITS: usize = 12;

/// How far a comment may extend past the end of its video, in seconds: the precision of times.
const END_TOLERANCE: f64 = 0.001;

impl Comments {
    /// Adds a comment to a video. Returns `NotFound` if there is no such video, `Unprocessable` if
    /// the text or the author is too long or the times are not in order, and `Invalid` if the moment
    /// lies outside the video or the video has too many comments. Also returns `NotFound` if the
    /// video lacks the comment to reply to.
    pub async fn add(
        &self,
        access: &Access,
        video_id: VideoId,
        draft: &CommentDraft,
    ) -> Result<CommentView> {
        self.readiness.check()?;
        let text = self.settings.check_text(&draft.text)?;
        let author = access.author(draft.author.as_deref())?;
        let (span, reply_to) = self.place(video_id, &draft.place).await?;
        let comment = Comment {
            id: uuid::Uuid::new_v4().simple().to_string().chars().take(ID_DIGITS).collect(),
            span,
            text,
            author,
            token: access.name().map(str::to_owned),
            reply_to,
            created_at: Timestamp::now().as_millisecond(),
            edited_at: None,
            settled: None,
        };
        let _lock = self.changes.lock().await;
        self.check_room(video_id, self.comments(video_id).await?.len())?;
        self.log_comment(video_id, &comment.id).await?;
        self.change(video_id, |comments| {
            // The store may have reported that an earlier attempt failed although it did not.
            if comments.iter().all(|other| other.id != comment.id) {
                self.check_room(video_id, comments.len())?;
                insert(comments, comment.clone());
            }
            Ok(())
        })
        .await?;
        // The video may have been deleted in the meantime, and its comments with it.
        if self.records.is_gone(video_id).await? {
            self.change(video_id, |comments| {
                comments.retain(|other| other.id != comment.id);
                Ok(())
            })
            .await?;
            return Err(unknown_video(video_id));
        }
        Ok(comment.view(access, video_id))
    }

    /// Changes the text of a comment, settles it or opens it again. Returns `NotFound` if there is no
    /// such comment, `Forbidden` if the caller may not change its text, `Unprocessable` if the text
    /// or the author is empty or too long, and `Invalid` if a reply is to be settled.
    pub async fn edit(
        &self,
        access: &Access,
        video_id: VideoId,
        id: &str,
        change: &CommentChange,
    ) -> Result<CommentView> {
        self.readiness.check()?;
        let text = change.text.as_deref().map(|text| self.settings.check_text(text)).transpose()?;
        let by = access.author(change.author.as_deref())?;
        let now = Timestamp::now().as_millisecond();
        let _lock = self.changes.lock().await;
        let edited = self
            .change(video_id, |comments| {
                let index = find(comments, video_id, id)?;
                let comment = &mut comments[index];
                if let Some(text) = &text {
                    comment.check_editable(access)?;
                    comment.set_text(text, now);
                }
                if let Some(settled) = change.settled {
                    let settlement = settled.then(|| Settlement { by: by.clone(), at: now });
                    comment.settle(settlement)?;
                }
                Ok(comment.clone())
            })
            .await?;
        Ok(edited.view(access, video_id))
    }

    /// Deletes a comment, but not the replies to it. Returns `NotFound` if there is no such comment, and `Forbidden` if the
    /// caller may not delete it.
    pub async fn delete(&self, access: &Access, video_id: VideoId, id: &str) -> Result<()> {
        self.readiness.check()?;
        let _lock = self.changes.lock().await;
        self.change(video_id, |comments| {
            let index = find(comments, video_id, id)?;
            comments[index].check_editable(access)?;
            comments.remove(index);
            Ok(())
        })
        .await
    }

    /// Returns the moment of a new comment, with times rounded to milliseconds, and the id of the
    /// comment that it replies to.
    async fn place(
        &self,
        video_id: VideoId,
        place: &CommentPlace,
    ) -> Result<(Span, Option<String>)> {
        match place {
            CommentPlace::Moment { start, end } => {
                let span = moment(*start, *end)?;
                self.check_span(video_id, span).await?;
                Ok((span, None))
            }
            CommentPlace::ReplyTo(id) => {
                self.records.get(video_id).await?;
                let mut comments = self.comments(video_id).await?;
                let parent = comments.swap_remove(find(&comments, video_id, id)?);
                Ok((parent.span, Some(parent.reply_to.unwrap_or(parent.id))))
            }
        }
    }

    /// Checks that a video exists and that a span lies within it.
    async fn check_span(&self, video_id: VideoId, span: Span) -> Result<()> {
        let record = self.records.get(video_id).await?;
        if span.end <= record.duration {
            return Ok(());
        }
        // The decoded video may be longer than its record states.
        let end = |record: VideoRecord| async move {
            Ok(record.end(&self.records.spans(&record).await?))
        };
        let end = self.records.read_published(video_id, end).await?;
        if span.end <= end + END_TOLERANCE {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "the comment ends at {:.3} s, and video '{video_id}' at {end:.3} s",
            span.end
        )))
    }

    /// Checks that a video with this number of comments may get another one.
    fn check_room(&self, video_id: VideoId, count: usize) -> Result<()> {
        let max = self.settings.max_per_video;
        if count >= max {
            return Err(Error::Invalid(format!(
                "video '{video_id}' has {count} comments; it may have {max} \
                 (comments.max_per_video): delete one first"
            )));
        }
        Ok(())
    }
}

impl Comment {
    fn set_text(&mut self, text: &str, now: i64) {
        if self.text != text {
            text.clone_into(&mut self.text);
            self.edited_at = Some(now);
        }
    }

    /// Settles the comment, or opens it again. A comment that is settled already keeps its
    /// settlement. Returns `Invalid` for a reply.
    fn settle(&mut self, settlement: Option<Settlement>) -> Result<()> {
        if let Some(parent) = &self.reply_to {
            return Err(Error::Invalid(format!(
                "comment '{}' is a reply; settle '{parent}', which it replies to",
                self.id
            )));
        }
        self.settled = settlement.map(|new| self.settled.take().unwrap_or(new));
        Ok(())
    }
}

/// Returns a moment with times rounded to milliseconds. A point in time has no `end`.
fn moment(start: f64, end: Option<f64>) -> Result<Span> {
    let end = end.unwrap_or(start);
    if !(start >= 0.0 && end >= start && end.is_finite()) {
        return Err(Error::Unprocessable(format!(
            "start is {start} and end is {end}; they must be seconds of the video, end not before \
             start"
        )));
    }
    Ok(Span { start: rounded(start), end: rounded(end) })
}

/// Finds a comment by its id.
fn find(comments: &[Comment], video_id: VideoId, id: &str) -> Result<usize> {
    let index = comments.iter().position(|comment| comment.id == id);
    index.ok_or_else(|| unknown_comment(video_id, id))
}
