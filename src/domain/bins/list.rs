//! Lists bins. Only their small head documents are read, never their selects, and none of them if
//! nothing has changed since the last list.

use std::cmp::Reverse;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use super::head::BinHead;
use super::usage::{retain_using, visible_bins};
use super::{Bin, BinId, Bins, FOLDER, ID_DIGITS};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::records::MAX_CONCURRENT_READS;

/// The order of a list of bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinOrder {
    /// By name, ignoring case.
    Name,
    /// By last change, newest first.
    Changed,
}

/// A page of a list of bins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinQuery {
    /// The order.
    pub order: BinOrder,
    /// Only bins in this collection.
    pub collection: Option<String>,
    /// Only bins with selects of this video.
    pub video_id: Option<VideoId>,
    /// Maximum number of bins.
    pub limit: usize,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
}

/// A page of bins.
#[derive(Debug, Clone, PartialEq)]
pub struct BinList {
    /// The bins of this page.
    pub bins: Vec<Bin>,
    /// Number of bins on all pages.
    pub total: usize,
    /// Number of selects of the requested video in the bins on all pages.
    pub video_selects: Option<usize>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// The place of a bin in a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ListPosition {
    Name(String, BinId),
    Changed(Reverse<i64>, BinId),
}

impl Bins {
    /// Lists the bins that the caller may see. Omits unreadable bins. Returns `Invalid` if the
    /// cursor is malformed.
    pub async fn list(&self, access: &Access, query: &BinQuery) -> Result<BinList> {
        let after =
            query.cursor.as_deref().map(|text| query.order.read_cursor(text)).transpose()?;
        let all = self.heads().await?;
        let listed = all.iter().filter(|head| {
            let collection = head.collection.as_deref();
            access.sees(collection)
                && query.collection.as_deref().is_none_or(|wanted| collection == Some(wanted))
        });
        let mut heads: Vec<&BinHead> = listed.collect();
        let video_selects = match query.video_id {
            Some(video_id) => Some(retain_using(self, &mut heads, video_id).await?),
            None => None,
        };
        let total = heads.len();
        let mut bins: Vec<(ListPosition, &BinHead)> =
            heads.into_iter().map(|head| (query.order.position(head), head)).collect();
        bins.retain(|(position, _)| after.as_ref().is_none_or(|after| position > after));
        bins.sort_by(|(a, _), (b, _)| a.cmp(b));
        let more = bins.len() > query.limit;
        bins.truncate(query.limit);
        let next = bins.last().filter(|_| more).map(|(position, _)| position.cursor());
        let heads: Vec<&BinHead> = bins.into_iter().map(|(_, head)| head).collect();
        let bins = visible_bins(self, access, &heads).await?;
        Ok(BinList { bins, total, video_selects, next })
    }

    /// Returns all bins without their selects, as kept in memory if none has changed. Logs and omits
    /// unreadable ones.
    async fn heads(&self) -> Result<Arc<[BinHead]>> {
        let version = self.store.folder_version(FOLDER).await?;
        if let Some(version) = &version
            && let Some(heads) = self.head_cache.get(version)
        {
            return Ok(heads);
        }
        let ids = self.ids().await?;
        let count = ids.len();
        let heads: Arc<[BinHead]> = read_heads(self, ids).await?.into();
        // An unreadable bin may be repaired behind the service.
        if let Some(version) = version
            && heads.len() == count
        {
            self.head_cache.keep(version, heads.clone(), self.settings.cache_bytes);
        }
        Ok(heads)
    }
}

/// Reads bins without their selects. Logs and omits unreadable ones.
async fn read_heads(bins: &Bins, ids: Vec<BinId>) -> Result<Vec<BinHead>> {
    let reads = stream::iter(ids).map(|id| async move {
        match bins.stored(&id).await {
            Err(error) if error.is_corrupt() => {
                tracing::warn!(%error, "a bin is not listed");
                Ok(None)
            }
            stored => stored,
        }
    });
    let stored: Vec<_> = reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
    Ok(stored.into_iter().flatten().map(|stored| stored.head).collect())
}

impl BinOrder {
    fn position(self, head: &BinHead) -> ListPosition {
        let id = head.bin_id.clone();
        match self {
            Self::Name => ListPosition::Name(head.name.to_lowercase(), id),
            Self::Changed => ListPosition::Changed(Reverse(head.changed_at), id),
        }
    }

    fn read_cursor(self, text: &str) -> Result<ListPosition> {
        let position = || {
            let (kind, rest) = text.split_at_checked(1)?;
            let (id, key) = rest.split_at_checked(ID_DIGITS)?;
            let id = BinId::read(id)?;
            match (self, kind) {
                (Self::Name, "n") => Some(ListPosition::Name(key.to_owned(), id)),
                (Self::Changed, "c") => Some(ListPosition::Changed(Reverse(key.parse().ok()?), id)),
                _ => None,
            }
        };
        position().ok_or_else(|| {
            Error::Invalid(format!(
                "cursor is '{text}'; it must be the `next` of a page of bins in the same order"
            ))
        })
    }
}

impl ListPosition {
    fn cursor(&self) -> String {
        match self {
            Self::Name(name, id) => format!("n{id}{name}"),
            Self::Changed(Reverse(changed_at), id) => format!("c{id}{changed_at}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_belong_to_their_order() {
        let mut head = BinHead::new("Selects – Ünit 2".into(), String::new(), None);
        head.changed_at = 1_700_000_000_123;
        for order in [BinOrder::Name, BinOrder::Changed] {
            let position = order.position(&head);
            assert_eq!(order.read_cursor(&position.cursor()).expect("a cursor"), position);
        }
        let by_name = BinOrder::Name.position(&head).cursor();
        for bad in
            [by_name.as_str(), "", "c", "c0123456789ab", "c0123456789abx", "ü", "x0123456789ab1"]
        {
            assert!(matches!(BinOrder::Changed.read_cursor(bad), Err(Error::Invalid(_))), "{bad}");
        }
    }
}
