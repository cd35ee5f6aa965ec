//! Creates and withdraws shares.

use std::time::Duration;

use jiff::Timestamp;

use super::store::insert;
use super::{MAX_TITLE_CHARS, Share, ShareId, ShareSettings, SharedPart, Shares, unknown_share};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::{VideoId, unknown_video};
use crate::records::record::VideoRecord;

/// How long an expired share stays in the list, in milliseconds: a week, in which users can see that
/// it has expired.
pub(super) const EXPIRED_RETENTION_MS: i64 = 7 * 24 * 3600 * 1000;

/// A new share.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareDraft {
    /// Where the shared part begins, in seconds; `None` for the start of the video.
    pub start: Option<f64>,
    /// Where the shared part ends, in seconds; `None` for the end of the video.
    pub end: Option<f64>,
    /// The title; `None` for the title of the video, or its file name if it has none.
    pub title: Option<String>,
    /// How long the share is valid; `None` for the configured time.
    pub expires_in: Option<Duration>,
}

impl Shares {
    /// Shares a part of a video. `span` must lie within the video. Returns `NotFound` if there is no
    /// such video, `Unprocessable` if the title is too long or the share would be valid for too long,
    /// and `Invalid` if the video has too many shares.
    pub(crate) async fn add(
        &self,
        access: &Access,
        video_id: VideoId,
        span: Span,
        draft: &ShareDraft,
    ) -> Result<SharedPart> {
        self.readiness.check()?;
        let expiry = self.settings.check_expiry(draft.expires_in)?;
        let title = match &draft.title {
            Some(title) => check_title(title)?,
            None => default_title(&self.records.get(video_id).await?),
        };
        let now = Timestamp::now().as_millisecond();
        let share = Share {
            id: ShareId::random(now),
            span,
            title,
            created_at: now,
            expires_at: now.saturating_add(i64::try_from(expiry.as_millis()).unwrap_or(i64::MAX)),
            created_by: access.name().map(str::to_owned),
        };
        let _lock = self.changes.lock().await;
        let room = |shares: &mut Vec<Share>| self.settings.make_room(video_id, shares, now);
        room(&mut self.stored_shares(video_id).await?)?;
        self.store_link(&share.id, video_id).await?;
        let added = self.change(video_id, |shares| {
            // The store may have reported that an earlier attempt failed although it did not.
            if shares.iter().all(|other| other.id != share.id) {
                room(shares)?;
                insert(shares, share.clone());
            }
            Ok(())
        });
        added.await?;
        // The video may have been deleted in the meantime, and its shares with it.
        if self.is_gone(video_id).await? {
            self.remove(video_id, &share.id).await?;
            return Err(unknown_video(video_id));
        }
        Ok(SharedPart { video_id, share })
    }

    /// Withdraws a share. Returns `NotFound` if there is no such share or if the caller may not see
    /// its video.
    pub async fn withdraw(&self, access: &Access, id: &ShareId) -> Result<()> {
        self.readiness.check()?;
        let unknown = || unknown_share(id.as_str());
        let video_id = self.linked_video(id).await?.ok_or_else(unknown)?;
        match self.records.check_visible(access, video_id).await {
            Err(Error::NotFound(_)) => return Err(unknown()),
            visible => visible?,
        }
        let _lock = self.changes.lock().await;
        match self.remove(video_id, id).await? {
            true => Ok(()),
            false => Err(unknown()),
        }
    }

    /// Removes a share, then its link. Returns whether there was one. The caller holds the lock on
    /// changes.
    async fn remove(&self, video_id: VideoId, id: &ShareId) -> Result<bool> {
        let removed = self.change(video_id, |shares| {
            let before = shares.len();
            shares.retain(|share| share.id != *id);
            Ok(shares.len() < before)
        });
        let removed = removed.await?;
        self.remove_link(id).await;
        Ok(removed)
    }
}

impl ShareSettings {
    /// Returns how long a new share is valid. Returns `Unprocessable` if that is too long, or no time
    /// at all.
    fn check_expiry(&self, requested: Option<Duration>) -> Result<Duration> {
        let expiry = requested.unwrap_or(self.default_expiry);
        if expiry.is_zero() || expiry > self.max_expiry {
            return Err(Error::Unprocessable(format!(
                "expires_in is {} seconds; it must be from 1 to {} (shares.max_expiry)",
                expiry.as_secs(),
                self.max_expiry.as_secs()
            )));
        }
        Ok(expiry)
    }

    /// Removes the shares that expired long ago, or all expired ones if there is no room for another
    /// share. Returns `Invalid` if there is still none.
    fn make_room(&self, video_id: VideoId, shares: &mut Vec<Share>, now: i64) -> Result<()> {
        let max = self.max_per_video;
        shares.retain(|share| !share.has_expired(now - EXPIRED_RETENTION_MS));
        if shares.len() >= max {
            shares.retain(|share| !share.has_expired(now));
        }
        if shares.len() >= max {
            return Err(Error::Invalid(format!(
                "video '{video_id}' has {} shares; it may have {max} (shares.max_per_video): \
                 withdraw one first",
                shares.len()
            )));
        }
        Ok(())
    }
}

/// Puts a title on one line and checks its length.
fn check_title(title: &str) -> Result<String> {
    let title = one_line(title);
    if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
        return Err(Error::Unprocessable(format!(
            "title must have 1 to {MAX_TITLE_CHARS} characters"
        )));
    }
    Ok(title)
}

/// Returns the title of a video, or its file name without the extension.
fn default_title(record: &VideoRecord) -> String {
    let name = &record.filename;
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    let title = record.metadata.title().map(one_line).filter(|title| !title.is_empty());
    title.unwrap_or_else(|| stem.to_owned()).chars().take(MAX_TITLE_CHARS).collect()
}

/// Replaces control characters and runs of white space with single spaces.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(expires_at: i64) -> Share {
        Share {
            id: ShareId::random(0),
            span: Span { start: 0.0, end: 1.0 },
            title: "a".into(),
            created_at: 0,
            expires_at,
            created_by: None,
        }
    }

    #[test]
    fn expired_shares_make_room_for_new_ones() {
        let video_id = "0123456789abcdef".parse().expect("an id");
        let settings = ShareSettings { max_per_video: 3, ..ShareSettings::default() };
        let now = 10 * EXPIRED_RETENTION_MS;
        let left = |expiries: &[i64]| {
            let mut shares = expiries.iter().map(|expires_at| share(*expires_at)).collect();
            let room = settings.make_room(video_id, &mut shares, now);
            (room.is_ok(), shares.iter().map(|share| share.expires_at - now).collect::<Vec<_>>())
        };
        let old = now - EXPIRED_RETENTION_MS;
        assert_eq!(left(&[old, now - 1]), (true, vec![-1]), "recently expired ones stay");
        assert_eq!(
            left(&[now - 1, now + 1, now + 2]),
            (true, vec![1, 2]),
            "unless there is no room"
        );
        assert_eq!(left(&[now + 1, now + 2, now + 3]), (false, vec![1, 2, 3]));
    }

    #[test]
    fn titles_are_on_one_line() {
        assert_eq!(check_title(" The\n\u{0}harbour ").expect("a title"), "The harbour");
        for bad in ["", " \n", &"x".repeat(MAX_TITLE_CHARS + 1)] {
            assert!(matches!(check_title(bad), Err(Error::Unprocessable(_))), "{bad}");
        }
    }
}
