//! Lists shares: those of one video, or of all videos that the caller may see.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt, stream};

use super::{ShareId, ShareView, Shares, StoredPart};
use crate::bins::BinId;
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
    /// Only shares of this bin.
    pub bin_id: Option<BinId>,
    /// Maximum number of shares.
    pub limit: usize,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
}

/// A page of shares.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareList {
    /// The shares of this page, newest first.
    pub shares: Vec<ShareView>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

impl Shares {
    /// Lists shares, newest first, including those that expired recently. Returns `NotFound` if there
    /// is no such video or the caller may not see it, and `Invalid` if the cursor is malformed.
    pub async fn list(&self, access: &Access, query: &ShareQuery) -> Result<ShareList> {
        let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
        let mut ids = match query.video_id {
            Some(video_id) => {
                self.records.check_visible(access, video_id).await?;
                self.records.get(video_id).await?;
                let parts = self.stored_parts(video_id).await?;
                let mut ids: Vec<ShareId> = parts.into_iter().map(|part| part.share.id).collect();
                ids.dedup();
                ids
            }
            None => self.linked_shares().await?,
        };
        ids.retain(|id| before.as_ref().is_none_or(|before| id < before));
        ids.reverse();
        let last_read = ids.get(MAX_LINKS - 1).filter(|_| ids.len() > MAX_LINKS).cloned();
        ids.truncate(MAX_LINKS);
        let mut shares = Vec::new();
        for batch in ids.chunks(LINK_BATCH) {
            let visible = self.visible_shares(access, batch).await?.into_iter();
            let of_bin =
                |view: &ShareView| query.bin_id.is_none() || view.share.bin_id == query.bin_id;
            shares.extend(visible.filter(of_bin));
            if shares.len() > query.limit {
                break;
            }
        }
        Ok(page(shares, query.limit, last_read))
    }

    /// Reads the shares that links open, in the order of the links. Omits parts of videos that the
    /// caller may not see, and shares without other parts.
    async fn visible_shares(&self, access: &Access, ids: &[ShareId]) -> Result<Vec<ShareView>> {
        let links = stream::iter(ids.to_vec()).map(|id| async move {
            let videos = match self.linked_videos(&id).await {
                Err(error) if error.is_corrupt() => Vec::new(),
                videos => videos?,
            };
            Ok::<_, Error>((id, videos))
        });
        let links: Vec<_> = links.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        let videos: BTreeSet<VideoId> =
            links.iter().flat_map(|(_, videos)| videos).copied().collect();
        let videos: Vec<VideoId> = videos.into_iter().collect();
        let visible = self.listing.entries(access, &videos).await?;
        let visible: Vec<VideoId> = visible.into_iter().map(|video| video.video_id).collect();
        let mut parts = self.parts_by_share(visible).await?;
        let share = |(id, _): (ShareId, _)| ShareView::from_stored(parts.remove(&id)?);
        Ok(links.into_iter().filter_map(share).collect())
    }

    /// Reads the shared parts of videos. Omits unreadable ones, which `verify` reports.
    async fn parts_by_share(
        &self,
        videos: Vec<VideoId>,
    ) -> Result<BTreeMap<ShareId, Vec<(VideoId, StoredPart)>>> {
        let reads = stream::iter(videos).map(|video_id| async move {
            let parts = match self.stored_parts(video_id).await {
                Err(error) if error.is_corrupt() => {
                    tracing::warn!(%video_id, %error, "shares are not listed");
                    Vec::new()
                }
                parts => parts?,
            };
            Ok::<_, Error>((video_id, parts))
        });
        let read: Vec<_> = reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        let mut by_share: BTreeMap<ShareId, Vec<(VideoId, StoredPart)>> = BTreeMap::new();
        for (video_id, parts) in read {
            for part in parts {
                by_share.entry(part.share.id.clone()).or_default().push((video_id, part));
            }
        }
        Ok(by_share)
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
fn page(mut shares: Vec<ShareView>, limit: usize, last_read: Option<ShareId>) -> ShareList {
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
