//! Reads and writes the documents of shared parts, one per video, and the links, one per share.

use serde::{Deserialize, Serialize};

use super::{ShareId, Shares, StoredPart};
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::records::documents::{
    change_document, read_document, share_link_key, shares_key, to_document,
};

/// The shared parts of a video, those of the oldest share first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct ShareDocument {
    shares: Vec<StoredPart>,
}

/// The videos of a share.
#[derive(Debug, Serialize, Deserialize)]
struct ShareLink {
    video_id: VideoId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    other_videos: Vec<VideoId>,
}

impl Shares {
    /// Reads the shared parts of a video, those of the oldest share first. There are none if the video
    /// does not exist. Returns `Corrupt` if they are unreadable.
    pub(super) async fn stored_parts(&self, video_id: VideoId) -> Result<Vec<StoredPart>> {
        let stored: Option<ShareDocument> =
            read_document(&*self.store, &shares_key(video_id)).await?;
        Ok(stored.unwrap_or_default().shares)
    }

    /// Changes the shared parts of a video, again if another process has changed them in the meantime. The
    /// caller holds the lock on changes.
    pub(super) async fn change<T>(
        &self,
        video_id: VideoId,
        change: impl Fn(&mut Vec<StoredPart>) -> Result<T>,
    ) -> Result<T> {
        let change = |document: &mut ShareDocument| change(&mut document.shares);
        change_document(&*self.store, &shares_key(video_id), "shares are", change).await
    }

    /// Reads the videos of a share. There are none if there is no link.
    pub(super) async fn linked_videos(&self, id: &ShareId) -> Result<Vec<VideoId>> {
        let link: Option<ShareLink> =
            read_document(&*self.store, &share_link_key(id.as_str())).await?;
        let videos = |link: ShareLink| [vec![link.video_id], link.other_videos].concat();
        Ok(link.map(videos).unwrap_or_default())
    }

    /// Stores the link of a share whose parts are about to be stored.
    pub(super) async fn store_link(&self, id: &ShareId, videos: &[VideoId]) -> Result<()> {
        let Some((&video_id, others)) = videos.split_first() else { return Ok(()) };
        let key = share_link_key(id.as_str());
        let link = to_document(&key, &ShareLink { video_id, other_videos: others.to_vec() })?;
        Ok(self.store.put(&key, &link).await?)
    }

    /// Removes the link of a share that is not stored anymore. If this fails, [`Shares::sweep`]
    /// removes it later; in the meantime it opens nothing.
    pub(super) async fn remove_link(&self, id: &ShareId) {
        if let Err(error) = self.store.delete(&share_link_key(id.as_str())).await {
            tracing::warn!(%error, "the link of a withdrawn share is removed later");
        }
    }
}

/// Inserts the parts of a share in order.
pub(super) fn insert(stored: &mut Vec<StoredPart>, new: &[StoredPart]) {
    let Some(first) = new.first() else { return };
    let index = stored.partition_point(|other| other.share.id < first.share.id);
    stored.splice(index..index, new.iter().cloned());
}
