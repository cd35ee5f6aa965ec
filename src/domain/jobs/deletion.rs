//! Deletes videos after it has cancelled their ingests.

use std::sync::Arc;
use std::time::Duration;

use crate::alerts::Alerts;
use crate::catalog::Catalog;
use crate::frames::Frames;
use crate::jobs::finish::Finisher;
use crate::kernel::error::Result;
use crate::kernel::video::{VideoId, unknown_video};
use crate::publishing::Publisher;
use crate::publishing::removal::VideoDeletion;
use crate::records::Records;
use crate::records::locks::VideoLocks;

/// Delay between attempts to lock a video that is to be deleted.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// Deletes videos.
pub(crate) struct VideoDeleter {
    finisher: Arc<Finisher>,
    records: Arc<Records>,
    locks: Arc<VideoLocks>,
    publisher: Arc<Publisher>,
    frames: Arc<Frames>,
    alerts: Arc<Alerts>,
}

impl VideoDeleter {
    pub(super) fn new(
        catalog: &Catalog,
        finisher: Arc<Finisher>,
        frames: Arc<Frames>,
        alerts: Arc<Alerts>,
    ) -> Self {
        let (records, locks) = (catalog.records.clone(), catalog.locks.clone());
        Self { finisher, records, locks, publisher: catalog.publisher.clone(), frames, alerts }
    }

    /// Removes a video's vectors, record, objects, local copies and matches of alerts. If the video is being ingested,
    /// cancels the ingest first.
    pub(crate) async fn delete(&self, video_id: VideoId) -> Result<VideoDeletion> {
        // Unreadable records are deletable, too.
        if !self.records.state(video_id).await?.is_deletable() {
            return Err(unknown_video(video_id));
        }
        let lock = loop {
            // Repeat the cancellation, since a job reports its video only after a while.
            self.finisher.cancel_video_jobs(video_id, "the video was deleted").await?;
            match self.locks.try_lock(video_id).await? {
                Some(lock) => break lock,
                None => tokio::time::sleep(LOCK_RETRY_INTERVAL).await,
            }
        };
        let deleted = self.publisher.delete(video_id, &lock).await;
        self.frames.remove_video(video_id).await;
        // If this fails, a later sweep removes the matches.
        if deleted.is_ok()
            && let Err(error) = self.alerts.remove_video(video_id).await
        {
            tracing::warn!(%video_id, error = %error.labelled(), "matches of alerts were not removed");
        }
        deleted
    }
}
