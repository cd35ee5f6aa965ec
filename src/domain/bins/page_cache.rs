//! Keeps pages of selects in memory, so that a change of a large bin need not read all of them, and
//! the bins without their selects, so that a list of many bins need not read each of them.

use std::sync::Arc;

use parking_lot::Mutex;
use ports::records::Version;

use super::head::BinHead;
use super::select::Select;
use crate::kernel::cache::ByteCache;

/// Stored pages by key. A page never changes, so that none is stale.
pub(super) struct PageCache(ByteCache<Arc<[Select]>>);

impl PageCache {
    /// Creates an empty cache that holds at most `capacity` bytes.
    pub(super) fn new(capacity: usize) -> Self {
        Self(ByteCache::new(capacity))
    }

    pub(super) fn get(&self, key: &str) -> Option<Arc<[Select]>> {
        self.0.get(key)
    }

    /// Stores a page and returns it.
    pub(super) fn insert(&self, key: &str, selects: &[Select]) -> Arc<[Select]> {
        let page: Arc<[Select]> = selects.into();
        let bytes = selects.iter().map(Select::memory).sum();
        self.0.insert(key, page.clone(), bytes);
        page
    }
}

/// All bins without their selects, as they were in a version of their folder.
#[derive(Default)]
pub(super) struct HeadCache(Mutex<Option<(Version, Arc<[BinHead]>)>>);

impl HeadCache {
    pub(super) fn get(&self, version: &Version) -> Option<Arc<[BinHead]>> {
        let kept = self.0.lock();
        kept.as_ref().filter(|(of, _)| of == version).map(|(_, heads)| heads.clone())
    }

    /// Keeps bins that were read at `version` or later, unless they take more than `capacity` bytes.
    pub(super) fn keep(&self, version: Version, heads: Arc<[BinHead]>, capacity: usize) {
        let bytes: usize = heads.iter().map(BinHead::memory).sum();
        *self.0.lock() = (bytes <= capacity).then_some((version, heads));
    }
}
