//! Videos whose record or documents do not read back, as whoever read them last has seen it. They
//! are passed over, named by `/health`, and can be deleted or ingested again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::catalog::published;
use crate::domain::kernel::video::VideoId;

/// Videos that are named at most.
const MOST: usize = 100;

/// A video that does not read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableVideo {
    /// First 16 hex characters of the SHA-1 of the file.
    pub video_id: VideoId,
    /// What is wrong with it.
    pub error: String,
}

/// What was seen, by video.
#[derive(Default)]
pub(crate) struct Unreadable {
    seen: Mutex<BTreeMap<VideoId, Fault>>,
}

struct Fault {
    /// The key of what does not read back.
    key: String,
    error: String,
}

impl Unreadable {
    /// Enters what does not read back, and logs it the first time.
    pub(crate) fn enter(&self, video_id: VideoId, key: &str, error: &str) {
        let fault = Fault { key: key.to_owned(), error: error.to_owned() };
        if self.seen().insert(video_id, fault).is_none() {
            tracing::error!(
                %video_id,
                error,
                "a video does not read back and is passed over; delete it or ingest it again"
            );
        }
    }

    /// What has this key reads back.
    pub(crate) fn reads(&self, video_id: VideoId, key: &str) {
        self.retain(video_id, |fault| fault.key != key);
    }

    /// Forgets a fault in anything that is not named any more.
    pub(crate) fn named(&self, video_id: VideoId, named: impl Fn(&str) -> bool) {
        self.retain(video_id, |fault| named(&fault.key));
    }

    /// Whether something of this video does not read back.
    pub(crate) fn has(&self, video_id: VideoId) -> bool {
        self.seen().contains_key(&video_id)
    }

    /// Whether what does not read back is the record itself.
    pub(crate) fn has_no_record(&self, video_id: VideoId) -> bool {
        self.seen().get(&video_id).is_some_and(|fault| fault.key == published(video_id))
    }

    /// Ids of all of them.
    pub(crate) fn ids(&self) -> Vec<VideoId> {
        self.seen().keys().copied().collect()
    }

    /// The first of these videos, in order of their ids.
    pub(crate) fn list(&self) -> Vec<UnreadableVideo> {
        let video = |(id, fault): (&VideoId, &Fault)| UnreadableVideo {
            video_id: *id,
            error: fault.error.clone(),
        };
        self.seen().iter().take(MOST).map(video).collect()
    }

    fn retain(&self, video_id: VideoId, stays: impl Fn(&Fault) -> bool) {
        let mut seen = self.seen();
        if seen.get(&video_id).is_some_and(|fault| !stays(fault)) {
            seen.remove(&video_id);
        }
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<VideoId, Fault>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
