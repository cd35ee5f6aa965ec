//! Reads and writes the documents of shares, one per video, and the links, one per share.

use serde::{Deserialize, Serialize};

use super::{Share, ShareId, Shares};
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::records::documents::{
    change_document, read_document, share_link_key, shares_key, to_document,
};
use crate::records::record_state::RecordState;

/// The shares of a video, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct ShareDocument {
    shares: Vec<Share>,
}

/// The video of a share.
#[derive(Debug, Serialize, Deserialize)]
struct ShareLink {
    video_id: VideoId,
}

impl Shares {
    /// Reads the shares of a video, oldest first. There are none if the video does not exist. Returns
    /// `Corrupt` if they are unreadable.
    pub(super) async fn stored_shares(&self, video_id: VideoId) -> Result<Vec<Share>> {
        let stored: Option<ShareDocument> =
            read_document(&*self.store, &shares_key(video_id)).await?;
        Ok(stored.unwrap_or_default().shares)
    }

    /// Changes the shares of a video, again if another process has changed them in the meantime. The
    /// caller holds the lock on changes.
    pub(super) async fn change<T>(
        &self,
        video_id: VideoId,
        change: impl Fn(&mut Vec<Share>) -> Result<T>,
    ) -> Result<T> {
        let change = |document: &mut ShareDocument| change(&mut document.shares);
        change_document(&*self.store, &shares_key(video_id), "shares are", change).await
    }

    /// Reads the video of a share. Returns `None` if there is no link.
    pub(super) async fn linked_video(&self, id: &ShareId) -> Result<Option<VideoId>> {
        let link: Option<ShareLink> =
            read_document(&*self.store, &share_link_key(id.as_str())).await?;
        Ok(link.map(|link| link.video_id))
    }

    /// Stores the link of a share that is about to be stored.
    pub(super) async fn store_link(&self, id: &ShareId, video_id: VideoId) -> Result<()> {
        let key = share_link_key(id.as_str());
        let link = to_document(&key, &ShareLink { video_id })?;
        Ok(self.store.put(&key, &link).await?)
    }

    /// Removes the link of a share that is not stored anymore. If this fails, [`Shares::sweep`]
    /// removes it later; in the meantime it opens nothing.
    pub(super) async fn remove_link(&self, id: &ShareId) {
        if let Err(error) = self.store.delete(&share_link_key(id.as_str())).await {
            tracing::warn!(%error, "the link of a withdrawn share is removed later");
        }
    }

    /// Whether there is no such video. An unreadable video exists.
    pub(super) async fn is_gone(&self, video_id: VideoId) -> Result<bool> {
        let state = self.records.state(video_id).await?;
        Ok(matches!(state, RecordState::Absent | RecordState::Tombstone(..)))
    }
}

/// Inserts a share in order.
pub(super) fn insert(shares: &mut Vec<Share>, share: Share) {
    let index = shares.partition_point(|other| other.id < share.id);
    shares.insert(index, share);
}
