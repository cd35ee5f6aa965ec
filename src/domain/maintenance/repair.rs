//! Repairs one video: removes the documents that a failed change has left behind, and rewrites the
//! points that disagree with the record. Calls the embedder but no other model.

use std::collections::HashMap;
use std::sync::Arc;

use ports::index::{Index, Point};

use crate::analysis::Analyzers;
use crate::catalog::Catalog;
use crate::indexing::point::revision_filter;
use crate::indexing::stored_vectors::{CachingEmbedder, embedded_texts, stored_vectors};
use crate::indexing::{VectorModels, points};
use crate::kernel::error::Result;
use crate::kernel::ports::{Models, Stores};
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::publishing::Publisher;
use crate::records::Records;
use crate::records::locks::{LockTarget, VideoLock, VideoLocks};
use crate::records::record::VideoRecord;
use crate::records::record_state::RecordState;

/// What a repair covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repair {
    /// Rewrite every point, not only those that disagree with the record. The repair then waits for
    /// videos that are being changed.
    pub all: bool,
    /// Write every point again in the current format, with the vectors that the index has. The
    /// repair then waits for videos that are being changed.
    pub rewrite: bool,
    /// Remove everything that has no record, even if it exceeds `index.max_orphans`.
    pub remove_orphans: bool,
    /// Repair only videos with an unfinished change: those that this process could not clean up,
    /// and those left locked by instances that died.
    pub unfinished: bool,
}

impl Repair {
    /// Whether every point is written again.
    fn writes_all(self) -> bool {
        self.all || self.rewrite
    }
}

/// The result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// Number of videos checked.
    pub videos: u64,
    /// Number of analyzers whose points were rewritten.
    pub rebuilt: u64,
    /// Number of videos without a record whose points were removed.
    pub orphans: u64,
    /// Number of videos without a record whose points or documents were kept because there were too
    /// many such videos.
    pub orphans_kept: u64,
    /// Number of videos skipped because their record or documents are unreadable.
    pub unreadable: u64,
}

/// The outcome of repairing one video.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RepairOutcome {
    /// The points of this many analyzers were rewritten.
    Rebuilt(u64),
    /// The video has no record, and nothing is left of it.
    Cleared,
    /// The video has no record but still has documents or points.
    Orphan,
    /// The record or documents are unreadable.
    Unreadable,
    /// The video is being changed.
    Busy,
}

impl RepairReport {
    pub(super) fn count(&mut self, state: RepairOutcome) {
        match state {
            RepairOutcome::Rebuilt(analyzers) => {
                self.videos += 1;
                self.rebuilt += analyzers;
            }
            RepairOutcome::Unreadable => self.unreadable += 1,
            RepairOutcome::Cleared | RepairOutcome::Orphan | RepairOutcome::Busy => {}
        }
    }

    /// Logs what the repair changed, if anything.
    pub(super) fn log(&self) {
        if self.rebuilt + self.orphans > 0 {
            tracing::warn!(
                rebuilt = self.rebuilt,
                orphans = self.orphans,
                "the index disagreed with the records and was repaired"
            );
        }
    }
}

/// Makes the data of one video agree with its record.
pub(super) struct VideoRepairer {
    index: Arc<dyn Index>,
    models: Models,
    records: Arc<Records>,
    listing: Arc<Listing>,
    publisher: Arc<Publisher>,
    locks: Arc<VideoLocks>,
    analyzers: Analyzers,
}

impl VideoRepairer {
    pub(super) fn new(stores: &Stores, models: &Models, catalog: &Catalog) -> Self {
        Self {
            index: stores.index.clone(),
            models: models.clone(),
            records: catalog.records.clone(),
            listing: catalog.listing.clone(),
            publisher: catalog.publisher.clone(),
            locks: catalog.locks.clone(),
            analyzers: catalog.analyzers.clone(),
        }
    }

    /// Locks `what` for repair. If it is being changed, it needs no repair, and `None` is returned.
    /// With `wait`, waits for the change to end instead.
    pub(super) async fn lock(&self, what: LockTarget, wait: bool) -> Result<Option<VideoLock>> {
        if wait {
            return self.locks.lock(what).await.map(Some);
        }
        self.locks.try_lock(what).await
    }

    /// Repairs one video. A video that needs no repair is not locked.
    pub(super) async fn repair(&self, video_id: VideoId, repair: Repair) -> Result<RepairOutcome> {
        if !repair.all && !repair.rewrite && !repair.unfinished {
            let stored = self.records.state(video_id).await?;
            match &stored {
                RecordState::Absent => return self.orphan_outcome(video_id).await,
                RecordState::Unreadable(..) => {
                    self.listing.relist(video_id).await?;
                    return Ok(RepairOutcome::Unreadable);
                }
                RecordState::Record(record, _) => {
                    let (documents, revisions) = self.publisher.garbage(video_id, &stored).await?;
                    let clean = documents.is_empty() && revisions.is_empty();
                    let listed = self.listing.is_current(video_id, &stored).await?;
                    if clean && listed && self.stale(record).await?.is_empty() {
                        return Ok(RepairOutcome::Rebuilt(0));
                    }
                }
                RecordState::Tombstone(..) => {}
            }
        }
        let Some(lock) = self.lock(video_id.into(), repair.writes_all()).await? else {
            return Ok(RepairOutcome::Busy);
        };
        self.listing.relist(video_id).await?;
        let repaired = match self.records.state(video_id).await? {
            RecordState::Absent => return self.orphan_outcome(video_id).await,
            RecordState::Unreadable(..) => RepairOutcome::Unreadable,
            RecordState::Tombstone(..) => {
                self.publisher.remove_remains(video_id, &lock).await?;
                RepairOutcome::Cleared
            }
            RecordState::Record(..) => {
                match self.repair_points(video_id, &lock, repair).await {
                    Ok(rebuilt) => RepairOutcome::Rebuilt(rebuilt),
                    // The fault lies in the video's documents, not in the index.
                    Err(error) if error.is_corrupt() && self.records.unreadable().has(video_id) => {
                        RepairOutcome::Unreadable
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        lock.remove_stale_locks().await?;
        self.publisher.unfinished().remove(&video_id);
        Ok(repaired)
    }

    /// Determines the outcome for a video without a record. The video is an orphan if any of its
    /// documents or points remain.
    async fn orphan_outcome(&self, video_id: VideoId) -> Result<RepairOutcome> {
        self.listing.relist(video_id).await?;
        let remains = self.publisher.garbage(video_id, &RecordState::Absent).await?;
        Ok(if remains == Default::default() {
            RepairOutcome::Cleared
        } else {
            RepairOutcome::Orphan
        })
    }

    /// Finds the analyzers whose points come from another embedder, are stored in an earlier format
    /// or are not as many as the record states.
    async fn stale(&self, record: &VideoRecord) -> Result<Vec<String>> {
        let mut stale = Vec::new();
        for (id, entry) in &record.analyzers {
            let current = revision_filter(record.video_id, vec![entry.revision.clone()]);
            let agrees = entry.embedder == self.models.embedder.model()
                && self.index.count(&current).await? == entry.points;
            if !agrees {
                stale.push(id.clone());
            }
        }
        Ok(stale)
    }

    /// Removes a video's surplus documents and rewrites the points that disagree with its record,
    /// or every point if `all` is set. Returns the number of analyzers rebuilt.
    async fn repair_points(
        &self,
        video_id: VideoId,
        lock: &VideoLock,
        repair: Repair,
    ) -> Result<u64> {
        let claim = self.publisher.claim(video_id, lock).await?;
        let Some(mut record) = claim.base.record().cloned() else { return Ok(0) };
        self.publisher.clean(video_id, &claim.base).await?;
        let stale = match repair.writes_all() {
            true => record.analyzers.keys().cloned().collect(),
            false => self.stale(&record).await?,
        };
        if stale.is_empty() {
            return Ok(0);
        }
        let (fresh, rebuilt) = self.rebuild_points(&mut record, &stale, repair.rewrite).await?;
        let revisions = stale.iter().filter_map(|id| record.analyzers.get(id));
        let revisions = revisions.map(|entry| entry.revision.clone()).collect();
        lock.check()?;
        // The revisions do not change, so instances that use this record with another index keep
        // working. Rebuilding is deterministic: any instance writes the same points at any time.
        self.index.replace(Some(&revision_filter(video_id, revisions)), fresh).await?;
        self.publisher.publish(&claim, record).await?;
        Ok(rebuilt)
    }

    /// Rebuilds the points of these analyzers from their stored outputs and updates the record.
    /// Returns the points and the number of analyzers rebuilt.
    async fn rebuild_points(
        &self,
        record: &mut VideoRecord,
        analyzers: &[String],
        reuse_vectors: bool,
    ) -> Result<(Vec<Point>, u64)> {
        let spans = self.records.spans(record).await?;
        let config = record.chunking.config();
        let (mut fresh, mut rebuilt) = (Vec::new(), 0);
        for id in analyzers {
            let outputs = self.records.outputs(record, id).await?;
            let Some(entry) = record.analyzers.get_mut(id) else { continue };
            // An analyzer that is no longer registered keeps its record, but its points cannot be
            // built.
            let Ok(analyzer) = self.analyzers.find(&self.models, id) else {
                (entry.points, entry.embedder) = (0, String::new());
                continue;
            };
            let embedder = self.models.embedder.as_ref();
            let revision = &entry.revision;
            let vectors = match reuse_vectors && entry.embedder == embedder.model() {
                true => {
                    let texts = embedded_texts(&outputs);
                    stored_vectors(self.index.as_ref(), record.video_id, revision, texts).await?
                }
                false => HashMap::new(),
            };
            let embedder = CachingEmbedder { vectors, embedder };
            let models = VectorModels::new(&embedder, &self.models);
            let id = record.video_id;
            let analyzer_points =
                points(models, id, &config, revision, &spans, &*analyzer, &outputs).await?;
            entry.points = analyzer_points.len() as u64;
            entry.embedder = self.models.embedder.model().to_owned();
            fresh.extend(analyzer_points);
            rebuilt += 1;
        }
        Ok((fresh, rebuilt))
    }
}
