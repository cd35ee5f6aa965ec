//! Reindexing: makes the index agree with the records again, at start-up and on demand.

use std::collections::BTreeSet;
use std::sync::Arc;

use ports::index::{Filter, Index, IndexStatistics};

use crate::catalog::Catalog;
use crate::kernel::error::Result;
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::maintenance::repair::{Repair, RepairReport, VideoRepairer};
use crate::maintenance::scrub::Scrubber;
use crate::publishing::Publisher;
use crate::records::Records;
use crate::records::locks::{LockTarget, VideoLocks};

/// Makes the index agree with the records.
pub struct Reindexer {
    index: Arc<dyn Index>,
    records: Arc<Records>,
    publisher: Arc<Publisher>,
    locks: Arc<VideoLocks>,
    repairer: Arc<VideoRepairer>,
    scrubber: Arc<Scrubber>,
}

impl Reindexer {
    pub(super) fn new(
        stores: &Stores,
        catalog: &Catalog,
        repairer: Arc<VideoRepairer>,
        scrubber: Arc<Scrubber>,
    ) -> Self {
        Self {
            index: stores.index.clone(),
            records: catalog.records.clone(),
            publisher: catalog.publisher.clone(),
            locks: catalog.locks.clone(),
            repairer,
            scrubber,
        }
    }

    /// Rebuilds points that disagree with the published records, finishes interrupted changes, and
    /// removes points without a record. Skips unreadable videos. If instances share an index, only
    /// one of them repairs it at a time. The others skip the repair, or wait if it is a full
    /// rebuild. An instance whose index is not shared checks every video, since other instances may
    /// have published any of them.
    pub async fn reindex(&self, repair: Repair) -> Result<RepairReport> {
        let has_own_index = self.locks.are_shared() && !self.index.shared();
        let repair = Repair { unfinished: repair.unfinished && !has_own_index, ..repair };
        let mut done = RepairReport::default();
        let elected = match has_own_index {
            true => None,
            false => self.repairer.lock(LockTarget::Repair, repair.all).await?,
        };
        if !has_own_index && elected.is_none() {
            return Ok(done);
        }
        if repair.unfinished {
            for video_id in self.publisher.left_unfinished().await? {
                done.count(self.repairer.repair(video_id, repair).await?);
            }
            return Ok(done);
        }
        self.scrubber.scrub_all(repair).await
    }

    /// Checks whether the index has no points at all.
    pub async fn is_empty(&self) -> Result<bool> {
        Ok(self.index.count(&Filter::default()).await? == 0)
    }

    /// Counts the videos that have points in `index` but no record. Returns `None` if a repair may
    /// remove all of them without `remove_orphans`.
    pub async fn excess_orphans(&self, index: &dyn IndexStatistics) -> Result<Option<u64>> {
        let ids: BTreeSet<VideoId> = self.records.ids().await?.into_iter().collect();
        let indexed = index.values("video_id").await?;
        let recorded = |id: &String| id.parse().is_ok_and(|id: VideoId| ids.contains(&id));
        let orphans = indexed.iter().filter(|id| !recorded(id)).count();
        Ok((!self.scrubber.may_remove_orphans(orphans, ids.len())).then_some(orphans as u64))
    }
}
