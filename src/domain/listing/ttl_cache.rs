//! A cache of listing summaries for search hits. Its entries expire after a time to live (TTL). The
//! cache is used if the listing is on a server. Changes made by this process take effect at once,
//! and changes made by other instances take effect within the TTL. A search that finds points with
//! an unknown revision reads the listing again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::kernel::cache::ByteCache;
use crate::kernel::video::VideoId;
use crate::listing::EntrySummary;

/// Listing summaries by video.
pub(crate) struct TtlCache {
    entries: ByteCache<(ReadTime, Arc<EntrySummary>)>,
    ttl: Duration,
    /// Number of changes to the listing that this process has made.
    changes: AtomicU64,
}

/// The time when the listing was read, and the number of changes that had been made by then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadTime {
    at: Instant,
    changes: u64,
}

impl TtlCache {
    /// Creates a cache whose entries expire after `ttl` and that holds at most `capacity` bytes.
    pub(crate) fn new(ttl: Duration, capacity: usize) -> Self {
        Self { entries: ByteCache::new(capacity), ttl, changes: AtomicU64::new(0) }
    }

    /// Returns the current time. Call this before reading the listing.
    pub(crate) fn now(&self) -> ReadTime {
        ReadTime { at: Instant::now(), changes: self.changes.load(Ordering::Acquire) }
    }

    /// Returns a video's cached summary, unless it has expired or this process has changed the
    /// listing since then.
    pub(crate) fn get(&self, video_id: VideoId, now: &ReadTime) -> Option<Arc<EntrySummary>> {
        let (read, summary) = self.entries.get(video_id.as_str())?;
        let fresh = read.changes == now.changes && now.at - read.at < self.ttl;
        fresh.then_some(summary)
    }

    /// Caches the summary of a video.
    pub(crate) fn insert(&self, video_id: VideoId, read: &ReadTime, summary: Arc<EntrySummary>) {
        if self.ttl.is_zero() {
            return;
        }
        if let Ok(json) = serde_json::to_vec(&*summary) {
            self.entries.insert(video_id.as_str(), (*read, summary), json.len());
        }
    }

    /// Invalidates all entries. Call this after changing the listing.
    pub(crate) fn invalidate(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}
