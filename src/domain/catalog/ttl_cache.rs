//! TTL cache of listing summaries for search hits, used if the listing is on a server. Changes by this
//! process take effect at once, those by other instances after the TTL at the latest. A search that meets
//! points of an unknown revision reads the listing again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::catalog::listing::EntrySummary;
use crate::kernel::lru::LruCache;
use crate::kernel::video::VideoId;

/// Listing summaries by video.
pub(super) struct TtlCache {
    entries: LruCache<(ReadTime, Arc<EntrySummary>)>,
    ttl: Duration,
    /// Number of changes of the listing by this process.
    changes: AtomicU64,
}

/// The time of a read, by the clock and by the number of changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadTime {
    at: Instant,
    changes: u64,
}

impl TtlCache {
    /// A cache with this time to live and a capacity in bytes.
    pub(super) fn new(ttl: Duration, capacity: usize) -> Self {
        Self { entries: LruCache::new(capacity), ttl, changes: AtomicU64::new(0) }
    }

    /// The current time; take it before reading the listing.
    pub(super) fn now(&self) -> ReadTime {
        ReadTime { at: Instant::now(), changes: self.changes.load(Ordering::Acquire) }
    }

    /// The cached summary of a video, unless it has expired or this process has changed the listing
    /// since.
    pub(super) fn get(&self, video_id: VideoId, now: &ReadTime) -> Option<Arc<EntrySummary>> {
        let (read, summary) = self.entries.get(video_id.as_str())?;
        let fresh = read.changes == now.changes && now.at - read.at < self.ttl;
        fresh.then_some(summary)
    }

    /// Caches the summary of a video.
    pub(super) fn insert(&self, video_id: VideoId, read: &ReadTime, summary: Arc<EntrySummary>) {
        if self.ttl.is_zero() {
            return;
        }
        if let Ok(json) = serde_json::to_vec(&*summary) {
            self.entries.insert(video_id.as_str(), (*read, summary), json.len());
        }
    }

    /// Invalidates all entries, since this process has changed the listing.
    pub(super) fn invalidate(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}
