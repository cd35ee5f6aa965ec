//! Counts the changes that this process makes to listing entries, so that caches of what was derived
//! from videos can detect them.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::kernel::video::VideoId;

/// Number of counters. Videos are distributed among them by hash, so a change to one video also
/// counts for a few others.
const COUNTERS: usize = 1024;

/// The number of changes to the entries of videos.
pub(crate) struct EntryChanges(Box<[AtomicU64]>);

impl EntryChanges {
    pub(super) fn new() -> Self {
        Self((0..COUNTERS).map(|_| AtomicU64::new(0)).collect())
    }

    /// Counts a change to a video's entry. Call this after the change.
    pub(super) fn count(&self, video_id: VideoId) {
        self.counter(video_id).fetch_add(1, Ordering::AcqRel);
    }

    /// Returns a number that changes with each change to a video's entry.
    pub(crate) fn get(&self, video_id: VideoId) -> u64 {
        self.counter(video_id).load(Ordering::Acquire)
    }

    fn counter(&self, video_id: VideoId) -> &AtomicU64 {
        let mut hasher = DefaultHasher::new();
        video_id.hash(&mut hasher);
        &self.0[hasher.finish() as usize % COUNTERS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_counted_for_its_video() {
        let changes = EntryChanges::new();
        let [one, other] = [1, 2].map(|n| VideoId::from_digest([n; 20]));
        let before = (changes.get(one), changes.get(other));
        changes.count(one);
        assert_ne!(changes.get(one), before.0);
        assert_eq!(changes.get(other), before.1);
    }
}
