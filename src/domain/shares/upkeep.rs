//! Keeps the stored shares consistent: removes those that expired long ago or whose video was
//! deleted, and verifies shares.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::change::EXPIRED_RETENTION_MS;
use super::{ShareId, Shares, StoredPart};
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
        let mut stored: BTreeMap<ShareId, Vec<VideoId>> = BTreeMap::new();
        let (mut removed, mut are_readable) = (0, true);
        for video_id in self.shared_videos().await? {
            if let Some(lock) = self.records.lock_if_gone(&self.locks, video_id).await? {
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
                    for id in left {
                        stored.entry(id).or_default().push(video_id);
                    }
                }
            }
        }
        for (id, videos) in &stored {
            if links.binary_search(id).is_err() {
                self.store_link(id, videos).await?;
            }
        }
        // Unreadable shares keep their links, so that they can be restored.
        for id in links.iter().filter(|_| are_readable) {
            if !stored.contains_key(id) && now - id.created_at() >= MIN_LINK_AGE_MS {
                self.store.delete(&share_link_key(id.as_str())).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Removes the parts of a video whose shares expired long ago. Returns their number, and the
    /// other shares.
    async fn remove_expired(
        &self,
        video_id: VideoId,
        now: i64,
    ) -> Result<(u64, BTreeSet<ShareId>)> {
        let _lock = self.changes.lock().await;
        self.change(video_id, |parts| {
            let before = parts.len();
            parts.retain(|part| !part.share.has_expired(now - EXPIRED_RETENTION_MS));
            let left = parts.iter().map(|part| part.share.id.clone()).collect();
            Ok(((before - parts.len()) as u64, left))
        })
        .await
    }

    /// Verifies all shares. Returns one line for each video whose shares are unreadable, that does not
    /// exist or that has shares without a link.
    pub(crate) async fn problems(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let links: BTreeSet<ShareId> = self.linked_shares().await?.into_iter().collect();
        for video_id in self.shared_videos().await? {
            let parts = match self.stored_parts(video_id).await {
                Err(error) if error.is_corrupt() => {
                    problems.push(format!("{video_id}: {error}; restore it or delete the video"));
                    continue;
                }
                parts => parts?,
            };
            // A store without an atomic `remove` keeps an empty document.
            if !parts.is_empty()
                && self.records.lock_if_gone(&self.locks, video_id).await?.is_some()
            {
                problems.push(format!("{video_id}: shares without a record"));
                continue;
            }
            let unlinked = parts.into_iter().filter(|part| !links.contains(&part.share.id));
            let unlinked = self.unlinked_parts(video_id, unlinked.collect()).await?;
            if unlinked > 0 {
                problems.push(format!(
                    "{video_id}: {unlinked} shares have no link; a scrub stores it again"
                ));
            }
        }
        Ok(problems)
    }

    /// Counts the parts whose share has no link. They may have been created or withdrawn since the
    /// links were listed.
    async fn unlinked_parts(&self, video_id: VideoId, parts: Vec<StoredPart>) -> Result<usize> {
        let mut unlinked = 0;
        for part in &parts {
            if self.linked_videos(&part.share.id).await?.is_empty()
                && self.stored_parts(video_id).await?.contains(part)
            {
                unlinked += 1;
            }
        }
        Ok(unlinked)
    }

    /// Lists the videos that have a document of shares.
    async fn shared_videos(&self) -> Result<Vec<VideoId>> {
        let files = self.store.children(SHARES).await?;
        Ok(files.iter().filter_map(|file| file.strip_suffix(".json")?.parse().ok()).collect())
    }
}
