//! Jobs that change collections. A job changes the videos in a collection until none is left to
//! change, so a restarted job resumes where it stopped and includes videos that were added in the
//! meantime.

use std::sync::Arc;

use futures::{StreamExt, stream};
use serde_json::json;

use crate::bins::Bins;
use crate::catalog::Catalog;
use crate::jobs::deletion::VideoDeleter;
use crate::jobs::{Job, JobTask, Submission};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::progress::{Progress, Stage};
use crate::kernel::video::VideoId;
use crate::library::collections::{CollectionChange, CollectionResult};
use crate::library::metadata_store::MetadataStore;
use crate::listing::Listing;
use crate::records::{Records, metadata};

/// Number of videos listed per request.
const BATCH: usize = 200;

/// Number of videos changed concurrently.
const CONCURRENCY: usize = 8;

impl Submission {
    /// Queues a change to a collection. Returns `NotFound` if the caller may not see the
    /// collection, and `Forbidden` if the change would make its videos invisible to the caller.
    pub async fn change_collection(
        &self,
        access: &Access,
        name: &str,
        change: CollectionChange,
    ) -> Result<Job> {
        self.listing.count_in_collection(access, name).await?;
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
        Ok(self.store.add(name.to_owned(), task, None).await?.job)
    }
}

/// Changes the videos and the bins in collections.
pub(super) struct CollectionChanges {
    records: Arc<Records>,
    listing: Arc<Listing>,
    metadata: Arc<MetadataStore>,
    bins: Arc<Bins>,
    deleter: Arc<VideoDeleter>,
}

impl CollectionChanges {
    pub(super) fn new(catalog: &Catalog, deleter: Arc<VideoDeleter>) -> Self {
        let (records, listing) = (catalog.records.clone(), catalog.listing.clone());
        let (metadata, bins) = (catalog.metadata.clone(), catalog.bins.clone());
        Self { records, listing, metadata, bins, deleter }
    }

    /// Changes every video in a collection, and then its bins. The bins of a collection whose videos
    /// are deleted stay.
    pub(super) async fn apply(
        &self,
        name: &str,
        change: &CollectionChange,
        progress: Progress,
    ) -> Result<CollectionResult> {
        let mut done = 0;
        loop {
            let (ids, left) = self.listing.list_in_collection(name, BATCH).await?;
            progress.stage(Stage::Changing, json!({ "total": done + left, "done": done }));
            if ids.is_empty() {
                self.change_bins(name, change).await?;
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

    async fn change_bins(&self, name: &str, change: &CollectionChange) -> Result<()> {
        match change {
            CollectionChange::Rename(to) => self.bins.move_to_collection(name, Some(to)).await,
            CollectionChange::Dissolve => self.bins.move_to_collection(name, None).await,
            CollectionChange::Delete => Ok(()),
        }
    }

    async fn change_video(
        &self,
        video_id: VideoId,
        name: &str,
        change: &CollectionChange,
    ) -> Result<()> {
        let to = match change {
            CollectionChange::Rename(to) => Some(to.as_str()),
            CollectionChange::Dissolve => None,
            CollectionChange::Delete => {
                // Keep a video that was moved out of the collection in the meantime.
                let state = self.records.state(video_id).await?;
                let moved = |metadata: &metadata::VideoMetadata| {
                    metadata.collection.as_deref() != Some(name)
                };
                if state.record().is_some_and(|record| moved(&record.metadata)) {
                    return self.listing.relist(video_id).await;
                }
                return match self.deleter.delete(video_id).await {
                    Err(Error::NotFound(_)) => self.listing.relist(video_id).await,
                    deleted => deleted.map(drop),
                };
            }
        };
        self.metadata.move_to_collection(video_id, name, to).await
    }
}
