//! Claims, publishes and removes videos. The protocol is described in
//! [`claim`](crate::publishing::claim).

pub(crate) mod claim;
pub(crate) mod publication;
pub mod removal;

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use ports::index::{IndexStatistics, VectorIndex};
use ports::records::RecordStore;
use ports::storage::ObjectStorage;

use crate::kernel::error::Result;
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::records::Records;
use crate::records::locks::VideoLocks;

/// Changes which record of a video is published, and removes the data that it replaces.
pub(crate) struct Publisher {
    pub(crate) store: Arc<dyn RecordStore>,
    pub(crate) storage: Arc<dyn ObjectStorage>,
    pub(crate) index: Arc<dyn VectorIndex>,
    pub(crate) statistics: Arc<dyn IndexStatistics>,
    pub(crate) records: Arc<Records>,
    pub(crate) listing: Arc<Listing>,
    pub(crate) locks: Arc<VideoLocks>,
    /// Videos with garbage left by interrupted changes.
    unfinished: Mutex<BTreeSet<VideoId>>,
}

impl Publisher {
    pub(crate) fn new(
        stores: &Stores,
        records: Arc<Records>,
        listing: Arc<Listing>,
        locks: Arc<VideoLocks>,
    ) -> Self {
        Self {
            store: stores.records.clone(),
            storage: stores.storage.clone(),
            index: stores.index.clone(),
            statistics: stores.index.clone(),
            records,
            listing,
            locks,
            unfinished: Mutex::default(),
        }
    }

    /// Returns the videos that this process knows to have garbage from interrupted changes.
    pub(crate) fn unfinished(&self) -> MutexGuard<'_, BTreeSet<VideoId>> {
        self.unfinished.lock()
    }

    /// Lists the videos that may have garbage from unfinished changes: videos that are locked, that
    /// this process left unfinished, or that are unreadable.
    pub(crate) async fn left_unfinished(&self) -> Result<BTreeSet<VideoId>> {
        let mut left: BTreeSet<VideoId> = self.locks.locked_videos().await?.into_iter().collect();
        left.extend(self.unfinished().iter());
        left.extend(self.records.unreadable().ids());
        Ok(left)
    }
}
