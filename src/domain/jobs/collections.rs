//! Changing collections as jobs: each goes from video to video until none is left, so that whoever begins
//! it anew goes on where another has stopped, and what is put there meanwhile is met too.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::json;

use crate::domain::catalog::about;
use crate::domain::catalog::collections::{CollectionChange, CollectionResult};
use crate::domain::catalog::videos::Deleted;
use crate::domain::jobs::{Job, Jobs, Task};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::progress::{Progress, Stage};
use crate::domain::kernel::video::{VideoId, unknown};

/// Videos of a collection that are looked up at once.
const BATCH: usize = 200;

/// Videos that are changed at once.
const AT_ONCE: usize = 8;

/// How often a video that is worked on is looked at before it is deleted.
const LOCK_EVERY: Duration = Duration::from_millis(250);

impl Jobs {
    /// Queues a change of a collection. `NotFound` where the caller does not see it, `Forbidden` where
    /// its videos would leave what they see.
    pub async fn change_collection(
        &self,
        access: &Access,
        name: &str,
        change: CollectionChange,
    ) -> Result<Job> {
        self.ingest.catalog.count_in(access, name).await?;
        let change = match change {
            CollectionChange::Rename(to) => {
                let to = about::collection_name(&to)?;
                access.check_place(Some(&to))?;
                if to == name {
                    return Err(Error::Invalid(format!(
                        "collection '{name}' has that name already; give it another"
                    )));
                }
                CollectionChange::Rename(to)
            }
            CollectionChange::Dissolve => {
                access.check_place(None)?;
                change
            }
            CollectionChange::Delete => change,
        };
        let task = Task::Collection { name: name.to_owned(), change };
        Ok(self.add(name.to_owned(), task, None).await?.job)
    }

    /// Changes every video of a collection.
    pub(super) async fn change_videos_of(
        self: &Arc<Self>,
        name: &str,
        change: &CollectionChange,
        progress: Progress,
    ) -> Result<CollectionResult> {
        let mut done = 0;
        loop {
            let (ids, left) = self.ingest.catalog.some_in(name, BATCH).await?;
            progress.stage(Stage::Changing, json!({ "total": done + left, "done": done }));
            if ids.is_empty() {
                return Ok(CollectionResult { collection: name.to_owned(), videos: done });
            }
            let changed = stream::iter(ids).map(|id| self.change_video(id, name, change));
            let mut changed = std::pin::pin!(changed.buffer_unordered(AT_ONCE));
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
        let catalog = &self.ingest.catalog;
        let to = match change {
            CollectionChange::Rename(to) => Some(to.as_str()),
            CollectionChange::Dissolve => None,
            CollectionChange::Delete => {
                // Whoever has taken it out of the collection meanwhile keeps it.
                let stored = catalog.stored(video_id).await?;
                let moved = |about: &about::About| about.collection.as_deref() != Some(name);
                if stored.record().is_some_and(|record| moved(&record.about)) {
                    return catalog.relist(video_id).await;
                }
                return match self.delete_video(video_id).await {
                    Err(Error::NotFound(_)) => catalog.relist(video_id).await,
                    deleted => deleted.map(drop),
                };
            }
        };
        catalog.recollect(video_id, name, to).await
    }

    /// Removes vectors, record, objects and local copies of a video. A running ingest of it is cancelled
    /// first.
    pub(crate) async fn delete_video(self: &Arc<Self>, video_id: VideoId) -> Result<Deleted> {
        let catalog = &self.ingest.catalog;
        // Also one whose record does not read back.
        if !catalog.stored(video_id).await?.is_deletable() {
            return Err(unknown(video_id));
        }
        let lock = loop {
            // Again, since a job tells only after a while which video it works on.
            self.cancel_all_of(video_id, "the video was deleted").await?;
            match catalog.locks.try_lock(video_id).await? {
                Some(lock) => break lock,
                None => tokio::time::sleep(LOCK_EVERY).await,
            }
        };
        let deleted = catalog.delete(video_id, &lock).await;
        self.frames.forget(video_id).await;
        deleted
    }
}
