//! Jobs that change collections. A job changes the videos in a collection until none is left to
//! change, so a restarted job resumes where it stopped and includes videos that were added in the
//! meantime.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::json;

use crate::jobs::{Job, JobTask, Jobs};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::progress::{Progress, Stage};
use crate::kernel::video::{VideoId, unknown_video};
use crate::library::collections::{CollectionChange, CollectionResult};
use crate::publishing::removal::VideoDeletion;
use crate::records::metadata;

/// Number of videos listed per request.
const BATCH: usize = 200;

/// Number of videos changed concurrently.
const CONCURRENCY: usize = 8;

/// Delay between attempts to lock a video that is to be deleted.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(250);

impl Jobs {
    /// Queues a change to a collection. Returns `NotFound` if the caller may not see the
    /// collection, and `Forbidden` if the change would make its videos invisible to the caller.
    pub async fn change_collection(
        &self,
        access: &Access,
        name: &str,
        change: CollectionChange,
    ) -> Result<Job> {
        self.catalog.listing.count_in_collection(access, name).await?;
        let change = match change {
            CollectionChange::Rename(to) => {
                let to = metadata::collection_name(&to)?;
                access.check_collection(Some(&to))?;
                if to == name {
                    return Err(Error::Invalid(format!(
                        "collection '{name}' has that name already; give it another"
                    )));
                }
                CollectionChange::Rename(to)
            }
            CollectionChange::Dissolve => {
                access.check_collection(None)?;
                change
            }
            CollectionChange::Delete => change,
        };
        let task = JobTask::Collection { name: name.to_owned(), change };
        Ok(self.add(name.to_owned(), task, None).await?.job)
    }

    /// Changes every video in a collection.
    pub(super) async fn change_collection_videos(
        self: &Arc<Self>,
        name: &str,
        change: &CollectionChange,
        progress: Progress,
    ) -> Result<CollectionResult> {
        let mut done = 0;
        loop {
            let (ids, left) = self.catalog.listing.list_in_collection(name, BATCH).await?;
            progress.stage(Stage::Changing, json!({ "total": done + left, "done": done }));
            if ids.is_empty() {
                return Ok(CollectionResult { collection: name.to_owned(), videos: done });
            }
            let changed = stream::iter(ids).map(|id| self.change_video(id, name, change));
            let mut changed = std::pin::pin!(changed.buffer_unordered(CONCURRENCY));
            while let Some(outcome) =
                progress.cancellable(async { Ok(changed.next().await) }).await?
            {
                outcome?;
                done += 1;
            }
        }
    }

    async fn change_video(
        self: &Arc<Self>,
        video_id: VideoId,
        name: &str,
        change: &CollectionChange,
    ) -> Result<()> {
        let catalog = &self.catalog;
        let to = match change {
            CollectionChange::Rename(to) => Some(to.as_str()),
            CollectionChange::Dissolve => None,
            CollectionChange::Delete => {
                // Keep a video that was moved out of the collection in the meantime.
                let state = catalog.records.state(video_id).await?;
                let moved = |metadata: &metadata::VideoMetadata| {
                    metadata.collection.as_deref() != Some(name)
                };
                if state.record().is_some_and(|record| moved(&record.metadata)) {
                    return catalog.listing.relist(video_id).await;
                }
                return match self.delete_video(video_id).await {
                    Err(Error::NotFound(_)) => catalog.listing.relist(video_id).await,
                    deleted => deleted.map(drop),
                };
            }
        };
        catalog.metadata.move_to_collection(video_id, name, to).await
    }

    /// Removes a video's vectors, record, objects and local copies. If the video is being ingested,
    /// cancels the ingest first.
    pub(crate) async fn delete_video(self: &Arc<Self>, video_id: VideoId) -> Result<VideoDeletion> {
        let catalog = &self.catalog;
        // Unreadable records are deletable, too.
        if !catalog.records.state(video_id).await?.is_deletable() {
            return Err(unknown_video(video_id));
        }
        let lock = loop {
            // Repeat the cancellation, since a job reports its video only after a while.
            self.cancel_video_jobs(video_id, "the video was deleted").await?;
            match catalog.locks.try_lock(video_id).await? {
                Some(lock) => break lock,
                None => tokio::time::sleep(LOCK_RETRY_INTERVAL).await,
            }
        };
        let deleted = catalog.publisher.delete(video_id, &lock).await;
        self.frames.remove_video(video_id).await;
        deleted
    }
}
