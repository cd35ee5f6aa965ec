//! Bringing the index back in line with the records: at start-up and on demand. Costs embedding,
//! no other model call.

use std::collections::BTreeSet;

use ports::index::{Filter, Test};

use crate::domain::catalog::locks::VideoLock;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::Result;
use crate::domain::search::Search;
use crate::domain::search::indexing;

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reindexed {
    /// Videos looked at.
    pub videos: u64,
    /// Analyzers whose points were written again.
    pub rebuilt: u64,
    /// Videos whose points had no record and were removed.
    pub orphans: u64,
}

impl Search {
    /// Rebuilds the points that disagree with the published records and removes those without a
    /// record; with `all`, rebuilds every point. Leftovers of interrupted ingests are removed.
    pub async fn reindex(&self, all: bool) -> Result<Reindexed> {
        let mut done = Reindexed::default();
        let mut known = BTreeSet::new();
        for video_id in self.catalog.ids().await? {
            let Some(_claim) = self.claim_to_repair(&video_id, all).await? else { continue };
            let Some(record) = self.catalog.find(&video_id).await? else {
                self.remove_leftovers(&video_id).await?;
                continue;
            };
            known.insert(video_id.clone());
            done.videos += 1;
            done.rebuilt += self.reindex_video(record, all).await?;
        }
        for video_id in self.index.values("video_id").await? {
            let Some(_claim) = self.claim_to_repair(&video_id, all).await? else { continue };
            if !known.contains(&video_id) && self.catalog.find(&video_id).await?.is_none() {
                self.index.replace(Some(&Filter::video(&video_id)), Vec::new()).await?;
                done.orphans += 1;
            }
        }
        Ok(done)
    }

    /// Removes what an ingest that died left: objects first, by whose documents they are found.
    async fn remove_leftovers(&self, video_id: &str) -> Result<()> {
        match self.storage.delete_prefix(&format!("{video_id}/")).await {
            Ok(_) => self.catalog.sweep(video_id, None).await,
            Err(error) => {
                tracing::warn!(video_id, %error, "leftovers of an interrupted ingest remain");
                Ok(())
            }
        }
    }

    /// A video that is being changed needs no repair; a rebuild waits for it.
    async fn claim_to_repair(&self, video_id: &str, wait: bool) -> Result<Option<VideoLock>> {
        if wait {
            return self.catalog.locks.lock(video_id).await.map(Some);
        }
        self.catalog.locks.try_lock(video_id).await
    }

    /// How many analyzers' points of one video were rebuilt.
    async fn reindex_video(&self, mut record: VideoRecord, all: bool) -> Result<u64> {
        self.catalog.sweep(&record.video_id, Some(&record)).await?;
        let of_video = Filter::video(&record.video_id);
        let stored = self.index.count(&of_video).await?;
        let expected: u64 = record.analyzers.values().map(|entry| entry.points).sum();
        let mut stale = Vec::new();
        for (id, entry) in &record.analyzers {
            let current =
                of_video.clone().and("revision", Test::AnyKeyword(vec![entry.revision.clone()]));
            let agrees = entry.embedder == self.models.embedder.model()
                && self.index.count(&current).await? == entry.points;
            if all || !agrees || stored != expected {
                stale.push(id.clone());
            }
        }
        if stale.is_empty() && stored == expected {
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
            let points = indexing::points(
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
        let scope = if stored == expected && !all {
            of_video.and("analyzer_id", Test::AnyKeyword(stale))
        } else {
            of_video
        };
        self.index.replace(Some(&scope), fresh).await?;
        // The revision stays: instances that search another index by this record go on.
        self.catalog.publish(&record).await?;
        Ok(rebuilt)
    }
}
