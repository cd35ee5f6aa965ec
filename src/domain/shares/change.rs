//! Creates and withdraws shares.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::store::insert;
use super::{
    MAX_TITLE_CHARS, Share, ShareId, ShareSettings, ShareView, SharedPart, Shares, StoredPart,
    unknown_share,
};
use crate::bins::BinId;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::{VideoId, unknown_video};
use crate::records::record::VideoRecord;

/// How long an expired share stays in the list, in milliseconds: a week, in which users can see that
/// it has expired.
pub(super) const EXPIRED_RETENTION_MS: i64 = 7 * 24 * 3600 * 1000;

/// A new share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareDraft {
    /// The title; `None` for that of the bin or of the video, or the video's file name if it has no
    /// title.
    pub title: Option<String>,
    /// How long the share is valid; `None` for the configured time.
    pub expires_in: Option<Duration>,
}

impl Shares {
    /// Shares a part of a video. `part` must lie within the video. Returns `NotFound` if there is no
    /// such video, `Unprocessable` if the title is too long or the share would be valid for too long,
    /// and `Invalid` if the video has too many shares.
    pub(crate) async fn add(
        &self,
        access: &Access,
        part: SharedPart,
        draft: &ShareDraft,
    ) -> Result<ShareView> {
        self.readiness.check()?;
        let expiry = self.settings.check_expiry(draft.expires_in)?;
        let title = match &draft.title {
            Some(title) => check_title(title)?,
            None => default_title(&self.records.get(part.video_id).await?),
        };
        self.store(new_share(access, title, expiry, None), &[part]).await
    }

    /// Shares parts of videos that are selects of a bin. Each must lie within its video. Returns the
    /// errors of [`Self::add`], and `Invalid` if there are too many parts.
    pub(crate) async fn add_bin(
        &self,
        access: &Access,
        (bin_id, name): (&BinId, &str),
        parts: &[SharedPart],
        draft: &ShareDraft,
    ) -> Result<ShareView> {
        self.readiness.check()?;
        let expiry = self.settings.check_expiry(draft.expires_in)?;
        let title = check_title(draft.title.as_deref().unwrap_or(name))?;
        self.store(new_share(access, title, expiry, Some(bin_id.clone())), parts).await
    }

    /// Checks the number of parts of a new share.
    pub(crate) fn check_parts(&self, count: usize) -> Result<()> {
        let max = self.settings.max_parts;
        match count > max {
            true => Err(Error::Invalid(format!(
                "{count} selects are too many for one link; it may have {max} (shares.max_parts): \
                 name some of them in select_ids"
            ))),
            false => Ok(()),
        }
    }

    /// Stores a new share: its link, then its parts.
    async fn store(&self, share: Share, parts: &[SharedPart]) -> Result<ShareView> {
        let view = ShareView::new(share.clone(), parts).ok_or_else(|| {
            Error::Invalid("the videos of all selects to share are missing".into())
        })?;
        let mut by_video: BTreeMap<VideoId, Vec<StoredPart>> = BTreeMap::new();
        for (position, SharedPart { video_id, span }) in parts.iter().copied().enumerate() {
            let part = StoredPart { share: share.clone(), span, position };
            by_video.entry(video_id).or_default().push(part);
        }
        let videos: Vec<VideoId> = by_video.keys().copied().collect();
        let _lock = self.changes.lock().await;
        for (video_id, new) in &by_video {
            let mut stored = self.stored_parts(*video_id).await?;
            self.settings.make_room(*video_id, &mut stored, new.len(), share.created_at)?;
        }
        self.store_link(&share.id, &videos).await?;
        for (video_id, new) in &by_video {
            if let Err(error) = self.store_parts(*video_id, new).await {
                // A share of which parts are missing would look complete.
                self.remove(&videos, &share.id).await?;
                return Err(error);
            }
        }
        Ok(view)
    }

    async fn store_parts(&self, video_id: VideoId, new: &[StoredPart]) -> Result<()> {
        let Some(StoredPart { share, .. }) = new.first() else { return Ok(()) };
        let added = self.change(video_id, |stored| {
            // The store may have reported that an earlier attempt failed although it did not.
            if stored.iter().all(|other| other.share.id != share.id) {
                self.settings.make_room(video_id, stored, new.len(), share.created_at)?;
                insert(stored, new);
            }
            Ok(())
        });
        added.await?;
        // The video may have been deleted in the meantime, and its shares with it.
        match self.records.is_gone(video_id).await? {
            true => Err(unknown_video(video_id)),
            false => Ok(()),
        }
    }

    /// Withdraws a share. Returns `NotFound` if there is no such share or if the caller may see none
    /// of its videos.
    pub async fn withdraw(&self, access: &Access, id: &ShareId) -> Result<()> {
        self.readiness.check()?;
        let unknown = || unknown_share(id.as_str());
        let videos = self.linked_videos(id).await?;
        if !self.sees_any(access, &videos).await? {
            return Err(unknown());
        }
        let _lock = self.changes.lock().await;
        match self.remove(&videos, id).await? {
            true => Ok(()),
            false => Err(unknown()),
        }
    }

    async fn sees_any(&self, access: &Access, videos: &[VideoId]) -> Result<bool> {
        for video_id in videos {
            match self.records.check_visible(access, *video_id).await {
                Err(Error::NotFound(_)) => {}
                visible => return visible.map(|_| true),
            }
        }
        Ok(false)
    }

    /// Removes the parts of a share, then its link. Returns whether there were any. The caller holds
    /// the lock on changes.
    async fn remove(&self, videos: &[VideoId], id: &ShareId) -> Result<bool> {
        let mut was_there = false;
        for video_id in videos {
            let removed = self.change(*video_id, |parts| {
                let before = parts.len();
                parts.retain(|part| part.share.id != *id);
                Ok(parts.len() < before)
            });
            was_there |= removed.await?;
        }
        self.remove_link(id).await;
        Ok(was_there)
    }
}

/// Creates a share that begins now.
fn new_share(access: &Access, title: String, expiry: Duration, bin_id: Option<BinId>) -> Share {
    let now = Timestamp::now().as_millisecond();
    Share {
        id: ShareId::random(now),
        title,
        created_at: now,
        expires_at: now.saturating_add(i64::try_from(expiry.as_millis()).unwrap_or(i64::MAX)),
        created_by: access.name().map(str::to_owned),
        bin_id,
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

    /// Removes the parts that expired long ago, or all expired ones if there is no room for `count`
    /// more. Returns `Invalid` if there is still none.
    fn make_room(
        &self,
        video_id: VideoId,
        parts: &mut Vec<StoredPart>,
        count: usize,
        now: i64,
    ) -> Result<()> {
        let max = self.max_per_video;
        parts.retain(|part| !part.share.has_expired(now - EXPIRED_RETENTION_MS));
        if parts.len() + count > max {
            parts.retain(|part| !part.share.has_expired(now));
        }
        if parts.len() + count > max {
            return Err(Error::Invalid(format!(
                "video '{video_id}' has {} shares; it may have {max} (shares.max_per_video): \
                 withdraw one first",
                parts.len()
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
pub(crate) fn default_title(record: &VideoRecord) -> String {
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
    use crate::kernel::time::Span;

    fn part(expires_at: i64) -> StoredPart {
        let share = Share {
            id: ShareId::random(0),
            title: "a".into(),
            created_at: 0,
            expires_at,
            created_by: None,
            bin_id: None,
        };
        StoredPart { share, span: Span { start: 0.0, end: 1.0 }, position: 0 }
    }

    #[test]
    fn expired_shares_make_room_for_new_ones() {
        let video_id = "0123456789abcdef".parse().expect("an id");
        let settings = ShareSettings { max_per_video: 3, ..ShareSettings::default() };
        let now = 10 * EXPIRED_RETENTION_MS;
        let left = |expiries: &[i64], count| {
            let mut parts = expiries.iter().map(|expires_at| part(*expires_at)).collect();
            let room = settings.make_room(video_id, &mut parts, count, now);
            (room.is_ok(), parts.iter().map(|p| p.share.expires_at - now).collect::<Vec<_>>())
        };
        let old = now - EXPIRED_RETENTION_MS;
        assert_eq!(left(&[old, now - 1], 1), (true, vec![-1]), "recently expired ones stay");
        assert_eq!(
            left(&[now - 1, now + 1, now + 2], 1),
            (true, vec![1, 2]),
            "unless there is no room"
        );
        assert_eq!(left(&[now + 1, now + 2, now + 3], 1), (false, vec![1, 2, 3]));
        assert_eq!(left(&[now - 1, now + 1], 2), (true, vec![1]));
        assert_eq!(left(&[now + 1, now + 2], 2), (false, vec![1, 2]));
    }

    #[test]
    fn titles_are_on_one_line() {
        assert_eq!(check_title(" The\n\u{0}harbour ").expect("a title"), "The harbour");
        for bad in ["", " \n", &"x".repeat(MAX_TITLE_CHARS + 1)] {
            assert!(matches!(check_title(bad), Err(Error::Unprocessable(_))), "{bad}");
        }
    }
}
