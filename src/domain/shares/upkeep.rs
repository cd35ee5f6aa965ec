//! Keeps the stored shares consistent: removes those that expired long ago or whose video was
//! deleted, and verifies shares.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::change::EXPIRED_RETENTION_MS;
use super::{Share, ShareId, Shares};
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::records::documents::{SHARES, share_link_key, shares_key};

/// Minimum age of a link without a share that is removed, in milliseconds: an hour. The share of a
/// younger one may be about to be stored.
const MIN_LINK_AGE_MS: i64 = 3600 * 1000;

impl Shares {
    /// Removes the shares that expired long ago, those of videos that do not exist anymore, and links
    /// without a share. A share that is created while its video is being deleted may leave some
    /// behind. Stores the links that shares lack. Returns the number of removed documents and shares.
    pub async fn sweep(&self) -> Result<u64> {
        let now = Timestamp::now().as_millisecond();
        let links = self.linked_shares().await?;
        let (mut removed, mut stored, mut are_readable) = (0, BTreeSet::new(), true);
        for video_id in self.shared_videos().await? {
            // With the lock, the video is not published again in the meantime.
            if self.is_gone(video_id).await?
                && let Some(lock) = self.locks.try_lock(video_id).await?
                && self.is_gone(video_id).await?
            {
                lock.check()?;
                self.store.delete(&shares_key(video_id)).await?;
                removed += 1;
                continue;
            }
            match self.remove_expired(video_id, now).await {
                Err(error) if error.is_corrupt() => are_readable = false,
                swept => {
                    let (expired, left) = swept?;
                    removed += expired;
                    for id in left.iter().filter(|id| links.binary_search(id).is_err()) {
                        self.store_link(id, video_id).await?;
                    }
                    stored.extend(left);
                }
            }
        }
        // Unreadable shares keep their links, so that they can be restored.
        for id in links.iter().filter(|_| are_readable) {
            if !stored.contains(id) && now - id.created_at() >= MIN_LINK_AGE_MS {
                self.store.delete(&share_link_key(id.as_str())).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Removes the shares of a video that expired long ago. Returns their number, and the others.
    async fn remove_expired(&self, video_id: VideoId, now: i64) -> Result<(u64, Vec<ShareId>)> {
        let _lock = self.changes.lock().await;
        self.change(video_id, |shares| {
            let before = shares.len();
            shares.retain(|share| !share.has_expired(now - EXPIRED_RETENTION_MS));
            let left = shares.iter().map(|share| share.id.clone()).collect();
            Ok(((before - shares.len()) as u64, left))
        })
        .await
    }

    /// Verifies all shares. Returns one line for each video whose shares are unreadable, that does not
    /// exist or that has shares without a link.
    pub(crate) async fn problems(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let links: BTreeSet<ShareId> = self.linked_shares().await?.into_iter().collect();
        for video_id in self.shared_videos().await? {
            let shares = match self.stored_shares(video_id).await {
                Err(error) if error.is_corrupt() => {
                    problems.push(format!("{video_id}: {error}; restore it or delete the video"));
                    continue;
                }
                shares => shares?,
            };
            // A store without an atomic `remove` keeps an empty document.
            if !shares.is_empty() && self.is_orphaned(video_id).await? {
                problems.push(format!("{video_id}: shares without a record"));
                continue;
            }
            let unlinked = shares.into_iter().filter(|share| !links.contains(&share.id));
            let unlinked = self.unlinked_shares(video_id, unlinked.collect()).await?;
            if unlinked > 0 {
                problems.push(format!(
                    "{video_id}: {unlinked} shares have no link; a scrub stores it again"
                ));
            }
        }
        Ok(problems)
    }

    /// Counts the shares that have no link. They may have been created or withdrawn since the links
    /// were listed.
    async fn unlinked_shares(&self, video_id: VideoId, shares: Vec<Share>) -> Result<usize> {
        let mut unlinked = 0;
        for share in &shares {
            if self.linked_video(&share.id).await?.is_none()
                && self.stored_shares(video_id).await?.contains(share)
            {
                unlinked += 1;
            }
        }
        Ok(unlinked)
    }

    /// Whether a video does not exist and is not being deleted at this time.
    async fn is_orphaned(&self, video_id: VideoId) -> Result<bool> {
        Ok(self.is_gone(video_id).await?
            && self.locks.try_lock(video_id).await?.is_some()
            && self.is_gone(video_id).await?)
    }

    /// Lists the videos that have a document of shares.
    async fn shared_videos(&self) -> Result<Vec<VideoId>> {
        let files = self.store.children(SHARES).await?;
        Ok(files.iter().filter_map(|file| file.strip_suffix(".json")?.parse().ok()).collect())
    }
}
