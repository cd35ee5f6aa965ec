//! Claims, publishes and removes videos. The protocol is described in
//! [`claim`](crate::catalog::claim).

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use ports::index::VectorIndex;
use ports::records::RecordStore;
use ports::storage::ObjectStorage;

use crate::catalog::listing::Listing;
use crate::catalog::locks::VideoLocks;
use crate::catalog::records::Records;
use crate::kernel::error::Result;
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;

/// Changes which record of a video is published, and removes the data that it replaces.
pub(crate) struct Publisher {
    pub(super) store: Arc<dyn RecordStore>,
    pub(super) storage: Arc<dyn ObjectStorage>,
    pub(super) index: Arc<dyn VectorIndex>,
    pub(super) records: Arc<Records>,
    pub(super) listing: Arc<Listing>,
    pub(super) locks: Arc<VideoLocks>,
    /// Videos with garbage left by interrupted changes.
    unfinished: Mutex<BTreeSet<VideoId>>,
}

impl Publisher {
    pub(super) fn new(
        stores: &Stores,
        records: Arc<Records>,
        listing: Arc<Listing>,
        locks: Arc<VideoLocks>,
    ) -> Self {
        Self {
            store: stores.records.clone(),
            storage: stores.storage.clone(),
            index: stores.index.clone(),
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
