//! Bringing the index back in line with the records: at start-up and on demand. Costs embedding,
//! no other model call.

use std::collections::BTreeSet;

use ports::ErrorKind;
use ports::index::{Filter, Predicate, VectorIndex};
use serde::{Deserialize, Serialize};

use crate::domain::catalog::Stored;
use crate::domain::catalog::locks::VideoLock;
use crate::domain::kernel::error::Result;
use crate::domain::search::Search;
use crate::domain::search::indexing::points;

/// What a repair does with what has no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OrphanSettings {
    /// Videos without a record whose vectors or documents a start or a repair removes; more stay
    /// until it is told `--remove-orphans`.
    pub max_orphans: usize,
}

impl Default for OrphanSettings {
    fn default() -> Self {
        Self { max_orphans: 10 }
    }
}

/// What a repair may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repair {
    /// Every point is written again, not only those that disagree; waits for videos that are being
    /// changed.
    pub all: bool,
    /// What has no record is removed, however much it is.
    pub remove_orphans: bool,
}

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reindexed {
    /// Videos looked at.
    pub videos: u64,
    /// Analyzers whose points were written again.
    pub rebuilt: u64,
    /// Videos whose points had no record and were removed.
    pub orphans: u64,
    /// Videos whose points or documents had no record and were kept, since they are many.
    pub orphans_kept: u64,
    /// Videos that were passed over, since their record or documents do not read back.
    pub unreadable: u64,
}

impl Search {
    /// Rebuilds the points that disagree with the published records, and removes points without a
    /// record and leftovers of interrupted ingests. What does not read back is passed over.
    pub async fn reindex(&self, repair: Repair) -> Result<Reindexed> {
        let mut done = Reindexed::default();
        let ids: BTreeSet<String> = self.catalog.ids().await?.into_iter().collect();
        let mut orphans = BTreeSet::new();
        for video_id in &ids {
            let Some(_lock) = self.lock_to_repair(video_id, repair.all).await? else { continue };
            let stored = self.catalog.stored(video_id).await?;
            if stored == Stored::Absent {
                orphans.insert(video_id.clone());
            } else if let Some(rebuilt) = self.reindex_video(video_id, &stored, repair.all).await? {
                done.videos += 1;
                done.rebuilt += rebuilt;
            } else {
                done.unreadable += 1;
            }
        }
        let indexed: BTreeSet<String> = self.index.values("video_id").await?.into_iter().collect();
        orphans.extend(indexed.difference(&ids).cloned());
        if !repair.remove_orphans && !self.few(orphans.len(), ids.len()) {
            done.orphans_kept = orphans.len() as u64;
            tracing::warn!(
                orphans = orphans.len(),
                "vectors or documents of videos without a record are kept, since they may belong to \
                 other records than these (records.kind, index.collection); if not, `shotlog serve \
                 --remove-orphans` and `shotlog reindex --remove-orphans` remove them"
            );
            return Ok(done);
        }
        for video_id in &orphans {
            let Some(_lock) = self.lock_to_repair(video_id, repair.all).await? else { continue };
            if self.catalog.stored(video_id).await? != Stored::Absent {
                continue;
            }
            if indexed.contains(video_id) {
                self.index.replace(Some(&Filter::video(video_id)), Vec::new()).await?;
                done.orphans += 1;
            }
            if ids.contains(video_id) {
                self.remove_leftovers(video_id).await?;
            }
        }
        Ok(done)
    }

    /// Reads everything that the index stores, and writes every point again where that is not what
    /// was written: whether it did.
    pub async fn mend_index(&self) -> Result<Option<Reindexed>> {
        match self.index.check().await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                tracing::error!(%error, "the index is damaged; every point is written again");
                self.reindex(Repair { all: true, ..Repair::default() }).await.map(Some)
            }
            checked => Ok(checked.map(|()| None)?),
        }
    }

    /// Whether there is nothing to search at all.
    pub async fn is_empty(&self) -> Result<bool> {
        Ok(self.index.count(&Filter::default()).await? == 0)
    }

    /// How many videos have points in an index but no record, if they are more than a repair
    /// removes without being told to.
    pub async fn many_orphans(&self, index: &dyn VectorIndex) -> Result<Option<u64>> {
        let ids: BTreeSet<String> = self.catalog.ids().await?.into_iter().collect();
        let indexed = index.values("video_id").await?;
        let orphans = indexed.iter().filter(|id| !ids.contains(*id)).count();
        Ok((!self.few(orphans, ids.len())).then_some(orphans as u64))
    }

    /// Records that know of no video at all are rather not those that the vectors were made from.
    fn few(&self, orphans: usize, videos: usize) -> bool {
        orphans == 0 || (orphans <= self.max_orphans && videos > 0)
    }

    /// Removes what an ingest that died left: objects first, by whose documents they are found.
    async fn remove_leftovers(&self, video_id: &str) -> Result<()> {
        match self.storage.delete_prefix(&format!("{video_id}/")).await {
            Ok(_) => self.catalog.sweep(video_id).await,
            Err(error) => {
                tracing::warn!(video_id, %error, "leftovers of an interrupted ingest remain");
                Ok(())
            }
        }
    }

    /// A video that is being changed needs no repair; a rebuild waits for it.
    async fn lock_to_repair(&self, video_id: &str, wait: bool) -> Result<Option<VideoLock>> {
        if wait {
            return self.catalog.locks.lock(video_id).await.map(Some);
        }
        self.catalog.locks.try_lock(video_id).await
    }

    /// How many analyzers' points of one video were rebuilt; `None` where it does not read back.
    async fn reindex_video(
        &self,
        video_id: &str,
        stored: &Stored,
        all: bool,
    ) -> Result<Option<u64>> {
        if stored.record().is_none() {
            return Ok(None);
        }
        self.catalog.sweep(video_id).await?;
        match self.mend_points(stored, all).await {
            Ok(rebuilt) => Ok(Some(rebuilt)),
            // Not a fault of the index.
            Err(error) if error.is_corrupt() && self.catalog.unreadable().has(video_id) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the points of a published video that disagree with its record, or all of them, and
    /// says of how many analyzers.
    pub(crate) async fn mend_points(&self, stored: &Stored, all: bool) -> Result<u64> {
        let Some(mut record) = stored.record().cloned() else { return Ok(0) };
        let of_video = Filter::video(&record.video_id);
        let there = self.index.count(&of_video).await?;
        let expected: u64 = record.analyzers.values().map(|entry| entry.points).sum();
        let mut stale = Vec::new();
        for (id, entry) in &record.analyzers {
            let current = of_video
                .clone()
                .and("revision", Predicate::AnyKeyword(vec![entry.revision.clone()]));
            let agrees = entry.embedder == self.models.embedder.model()
                && self.index.count(&current).await? == entry.points;
            if all || !agrees || there != expected {
                stale.push(id.clone());
            }
        }
        if stale.is_empty() && there == expected {
            return Ok(0);
        }
        let spans = self.catalog.spans(&record).await?;
        let mut fresh = Vec::new();
        let mut rebuilt = 0;
        for id in &stale {
            // An analyzer that is not registered now keeps its record; its points cannot be made.
            let Ok(analyzer) = self.catalog.analyzers.find(&self.models, id) else {
                if let Some(entry) = record.analyzers.get_mut(id) {
                    (entry.points, entry.embedder) = (0, String::new());
                }
                continue;
            };
            let outputs = self.catalog.outputs(&record, id).await?;
            let revision = record.analyzers.get(id).map(|e| e.revision.clone()).unwrap_or_default();
            let config = record.chunking.config();
            let points = points(
                &self.models,
                &record.video_id,
                &config,
                &revision,
                &spans,
                analyzer,
                &outputs,
            )
            .await?;
            if let Some(entry) = record.analyzers.get_mut(id) {
                entry.points = points.len() as u64;
                entry.embedder = self.models.embedder.model().to_owned();
            }
            fresh.extend(points);
            rebuilt += 1;
        }
        // When the total disagrees every analyzer is stale, so the whole video is the scope.
        let scope = if there == expected && !all {
            of_video.and("analyzer_id", Predicate::AnyKeyword(stale))
        } else {
            of_video
        };
        self.index.replace(Some(&scope), fresh).await?;
        // The revision stays: instances that search another index by this record go on.
        self.catalog.publish(stored, &record).await?;
        Ok(rebuilt)
    }
}
