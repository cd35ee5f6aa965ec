//! What was last read of the listing for the hits of searches, where the listing is on a server: its own
//! changes this process sees at once, those of other instances a little later. A search that meets
//! points which it does not know of reads anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::domain::catalog::listing::Listed;
use crate::domain::kernel::recent::Recent;
use crate::domain::kernel::video::VideoId;

/// Entries by their videos.
pub(super) struct Lately {
    kept: Recent<(Moment, Arc<Listed>)>,
    kept_for: Duration,
    /// How often this process has changed the listing.
    changes: AtomicU64,
}

/// When something is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    at: Instant,
    changes: u64,
}

impl Lately {
    /// Keeps what was read for so long, within so many bytes.
    pub(super) fn new(kept_for: Duration, room: usize) -> Self {
        Self { kept: Recent::new(room), kept_for, changes: AtomicU64::new(0) }
    }

    /// To be taken before the listing is read.
    pub(super) fn now(&self) -> Moment {
        Moment { at: Instant::now(), changes: self.changes.load(Ordering::Acquire) }
    }

    /// What was read of a video, unless it is too old or this process has changed the listing since.
    pub(super) fn get(&self, video_id: VideoId, now: &Moment) -> Option<Arc<Listed>> {
        let (read, listed) = self.kept.get(video_id.as_str())?;
        let fresh = read.changes == now.changes && now.at - read.at < self.kept_for;
        fresh.then_some(listed)
    }

    /// Keeps what was read of a video.
    pub(super) fn keep(&self, video_id: VideoId, read: &Moment, listed: Arc<Listed>) {
        if self.kept_for.is_zero() {
            return;
        }
        if let Ok(json) = serde_json::to_vec(&*listed) {
            self.kept.keep(video_id.as_str(), (*read, listed), json.len());
        }
    }

    /// This process has changed the listing.
    pub(super) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}
