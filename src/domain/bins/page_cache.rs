//! Keeps pages of selects in memory, so that a change of a large bin need not read all of them.

use std::sync::Arc;

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
