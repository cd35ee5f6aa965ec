//! Videos whose record or documents are missing or corrupt, as of the last read. They are skipped,
//! reported by `/health`, and can be deleted or ingested again.

use std::collections::BTreeMap;

use parking_lot::{Mutex, MutexGuard};

use crate::kernel::video::VideoId;
use crate::records::documents::record_key;

/// Maximum number of reported videos.
const MAX_REPORTED: usize = 100;

/// A video that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableVideo {
    /// First 16 hex characters of the SHA-1 of the file.
    pub video_id: VideoId,
    /// Why the video cannot be read.
    pub error: String,
}

/// The known faults by video.
#[derive(Default)]
pub(crate) struct UnreadableVideos {
    faults: Mutex<BTreeMap<VideoId, ReadFault>>,
}

struct ReadFault {
    /// Key of the unreadable document.
    key: String,
    error: String,
}

impl UnreadableVideos {
    /// Marks a document as unreadable. Logs an error unless the video already had a fault.
    pub(crate) fn report(&self, video_id: VideoId, key: &str, error: &str) {
        let fault = ReadFault { key: key.to_owned(), error: error.to_owned() };
        if self.faults().insert(video_id, fault).is_none() {
            tracing::error!(
                %video_id,
                error,
                "a video cannot be read and is skipped; delete it or ingest it again"
            );
        }
    }

    /// Clears the fault of a document that was read successfully.
    pub(crate) fn mark_readable(&self, video_id: VideoId, key: &str) {
        self.retain(video_id, |fault| fault.key != key);
    }

    /// Clears a video's fault if the unreadable document is no longer referenced.
    pub(crate) fn retain_keys(&self, video_id: VideoId, is_referenced: impl Fn(&str) -> bool) {
        self.retain(video_id, |fault| is_referenced(&fault.key));
    }

    /// Whether a document of this video is unreadable.
    pub(crate) fn has(&self, video_id: VideoId) -> bool {
        self.faults().contains_key(&video_id)
    }

    /// Whether the record itself is unreadable.
    pub(crate) fn has_no_record(&self, video_id: VideoId) -> bool {
        self.faults().get(&video_id).is_some_and(|fault| fault.key == record_key(video_id))
    }

    /// Returns the ids of all unreadable videos.
    pub(crate) fn ids(&self) -> Vec<VideoId> {
        self.faults().keys().copied().collect()
    }

    /// Returns the first [`MAX_REPORTED`] unreadable videos, sorted by id.
    pub(crate) fn list(&self) -> Vec<UnreadableVideo> {
        let video = |(id, fault): (&VideoId, &ReadFault)| UnreadableVideo {
            video_id: *id,
            error: fault.error.clone(),
        };
        self.faults().iter().take(MAX_REPORTED).map(video).collect()
    }

    fn retain(&self, video_id: VideoId, keep: impl Fn(&ReadFault) -> bool) {
        let mut faults = self.faults();
        if faults.get(&video_id).is_some_and(|fault| !keep(fault)) {
            faults.remove(&video_id);
        }
    }

    fn faults(&self) -> MutexGuard<'_, BTreeMap<VideoId, ReadFault>> {
        self.faults.lock()
    }
}
