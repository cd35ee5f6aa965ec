//! Lists shares: those of one video, or of all videos that the caller may see.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt, stream};

use super::{Share, ShareId, SharedPart, Shares};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::records::MAX_CONCURRENT_READS;
use crate::records::documents::SHARE_LINKS;

/// Maximum number of links that are read for one page. A page of a caller who may see few of the
/// videos has fewer shares, so that a request does not read every link.
const MAX_LINKS: usize = 2000;

/// Number of links that are read together.
const LINK_BATCH: usize = 200;

/// A page of shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareQuery {
    /// Only shares of this video.
    pub video_id: Option<VideoId>,
    /// Maximum number of shares.
    pub limit: usize,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
}

/// A page of shares.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareList {
    /// The shares of this page, newest first.
    pub shares: Vec<SharedPart>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

impl Shares {
    /// Lists shares, newest first, including those that expired recently. Returns `NotFound` if there
    /// is no such video or the caller may not see it, and `Invalid` if the cursor is malformed.
    pub async fn list(&self, access: &Access, query: &ShareQuery) -> Result<ShareList> {
        let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
        match query.video_id {
            Some(video_id) => {
                self.records.check_visible(access, video_id).await?;
                self.records.get(video_id).await?;
                let shares = self.stored_shares(video_id).await?.into_iter().rev();
                let shares = shares.filter(|s| before.as_ref().is_none_or(|id| s.id < *id));
                let shares = shares.map(|share| SharedPart { video_id, share });
                Ok(page(shares.take(query.limit + 1).collect(), query.limit, None))
            }
            None => self.list_all(access, before.as_ref(), query.limit).await,
        }
    }

    /// Lists the shares of all videos that the caller may see.
    async fn list_all(
        &self,
        access: &Access,
        before: Option<&ShareId>,
        limit: usize,
    ) -> Result<ShareList> {
        let mut ids = self.linked_shares().await?;
        ids.retain(|id| before.is_none_or(|before| id < before));
        ids.reverse();
        let last_read = ids.get(MAX_LINKS - 1).filter(|_| ids.len() > MAX_LINKS).cloned();
        ids.truncate(MAX_LINKS);
        let mut shares = Vec::new();
        for batch in ids.chunks(LINK_BATCH) {
            shares.extend(self.visible_shares(access, batch).await?);
            if shares.len() > limit {
                break;
            }
        }
        Ok(page(shares, limit, last_read))
    }

    /// Reads the shares that links open, in the order of the links. Omits those of videos that the
    /// caller may not see.
    async fn visible_shares(&self, access: &Access, ids: &[ShareId]) -> Result<Vec<SharedPart>> {
        let links = stream::iter(ids.to_vec()).map(|id| async move {
            let video_id = match self.linked_video(&id).await {
                Err(error) if error.is_corrupt() => None,
                video_id => video_id?,
            };
            Ok::<_, Error>(video_id.map(|video_id| (id, video_id)))
        });
        let links: Vec<_> = links.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        let links: Vec<(ShareId, VideoId)> = links.into_iter().flatten().collect();
        let videos: BTreeSet<VideoId> = links.iter().map(|(_, video_id)| *video_id).collect();
        let videos: Vec<VideoId> = videos.into_iter().collect();
        let visible = self.listing.entries(access, &videos).await?;
        let visible: Vec<VideoId> = visible.into_iter().map(|video| video.video_id).collect();
        let mut shares = self.shares_of_videos(visible).await?;
        let share = |(id, video_id): (ShareId, VideoId)| {
            Some(SharedPart { video_id, share: shares.remove(&(video_id, id))? })
        };
        Ok(links.into_iter().filter_map(share).collect())
    }

    /// Reads the shares of videos. Omits unreadable ones, which `verify` reports.
    async fn shares_of_videos(
        &self,
        videos: Vec<VideoId>,
    ) -> Result<BTreeMap<(VideoId, ShareId), Share>> {
        let reads = stream::iter(videos).map(|video_id| async move {
            let shares = match self.stored_shares(video_id).await {
                Err(error) if error.is_corrupt() => {
                    tracing::warn!(%video_id, %error, "shares are not listed");
                    Vec::new()
                }
                shares => shares?,
            };
            let by_id = move |share: Share| ((video_id, share.id.clone()), share);
            Ok::<_, Error>(shares.into_iter().map(by_id).collect::<Vec<_>>())
        });
        let shares: Vec<_> = reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        Ok(shares.into_iter().flatten().collect())
    }

    /// Lists the ids of all links, oldest first.
    pub(super) async fn linked_shares(&self) -> Result<Vec<ShareId>> {
        let files = self.store.children(SHARE_LINKS).await?;
        let mut ids: Vec<ShareId> =
            files.iter().filter_map(|file| file.strip_suffix(".json")?.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids)
    }
}

/// Returns a page of at most `limit` shares. `last_read` is the last link that was read, if there are
/// more.
fn page(mut shares: Vec<SharedPart>, limit: usize, last_read: Option<ShareId>) -> ShareList {
    let more = shares.len() > limit;
    shares.truncate(limit);
    let last = shares.last().filter(|_| more).map(|last| last.share.id.clone());
    let next = last.or(last_read).map(String::from);
    ShareList { shares, next }
}

/// Parses a cursor: the id of the last share of a page.
fn parse_cursor(cursor: &str) -> Result<ShareId> {
    cursor.parse().map_err(|_| {
        Error::Invalid(format!("cursor is '{cursor}'; it must be the `next` of a page of shares"))
    })
}
