//! Reindexing: makes the index agree with the records again, at start-up and on demand. Calls the
//! embedder but no other model.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use ports::ErrorKind;
use ports::index::{Filter, IndexStatistics, Point};
use ports::units::seconds;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::indexing::point::revision_filter;
use crate::indexing::points;
use crate::indexing::stored_vectors::{CachingEmbedder, embedded_texts, stored_vectors};
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::listing::scrub_cursor::ScrubCursor;
use crate::records::locks::{LockTarget, VideoLock};
use crate::records::record::VideoRecord;
use crate::records::record_state::RecordState;
use crate::search::Search;
use crate::search::scrub::Scrub;

/// How often the index is polled for damage that a write has found.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);

/// When the index is checked, and how a repair treats videos without a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexSettings {
    /// Maximum number of videos without a record whose vectors and documents are removed at
    /// start-up or by a repair. If there are more, all of them are kept unless `--remove-orphans`
    /// is given.
    pub max_orphans: usize,
    /// How often the files of an embedded index are checked in full. Given in seconds in the
    /// configuration file. 0 disables the checks.
    #[serde(with = "seconds")]
    pub check_interval: Duration,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self { max_orphans: 10, check_interval: Duration::from_secs(3600) }
    }
}

/// What a repair covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repair {
    /// Rewrite every point, not only those that disagree with the record. The repair then waits for
    /// videos that are being changed.
    pub all: bool,
    /// Write every point again in the current format, with the vectors that the index has. The
    /// repair then waits for videos that are being changed.
    pub rewrite: bool,
    /// Remove everything that has no record, even if it exceeds [`IndexSettings::max_orphans`].
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
pub struct ReindexReport {
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

impl Search {
    /// Rebuilds points that disagree with the published records, finishes interrupted changes, and
    /// removes points without a record. Skips unreadable videos. If instances share an index, only
    /// one of them repairs it at a time. The others skip the repair, or wait if it is a full
    /// rebuild. An instance whose index is not shared checks every video, since other instances may
    /// have published any of them.
    pub async fn reindex(&self, repair: Repair) -> Result<ReindexReport> {
        let has_own_index = self.catalog.locks.are_shared() && !self.index.shared();
        let repair = Repair { unfinished: repair.unfinished && !has_own_index, ..repair };
        let mut done = ReindexReport::default();
        let elected = match has_own_index {
            true => None,
            false => self.lock_to_repair(LockTarget::Repair, repair.all).await?,
        };
        if !has_own_index && elected.is_none() {
            return Ok(done);
        }
        if repair.unfinished {
            for video_id in self.catalog.publisher.left_unfinished().await? {
                done.count(self.repair_video(video_id, repair).await?);
            }
            return Ok(done);
        }
        let mut scrub = Scrub::new(self.catalog.records.ids().await?);
        while let Some(video_id) = scrub.next() {
            scrub.record(video_id, self.repair_video(video_id, repair).await?);
        }
        self.finish_scrub(scrub, repair).await
    }

    /// Finishes a scrub over all videos and removes the points and documents of videos without a
    /// record.
    pub(super) async fn finish_scrub(&self, scrub: Scrub, repair: Repair) -> Result<ReindexReport> {
        let Scrub { mut done, mut orphans, .. } = scrub;
        // Videos ingested since the scrub began have a record too.
        let ids: BTreeSet<VideoId> = self.catalog.records.ids().await?.into_iter().collect();
        let known: Vec<VideoId> = ids.iter().copied().collect();
        for video_id in self.catalog.listing.listed_except(&known).await? {
            self.catalog.listing.relist(video_id).await?;
        }
        let cursor = ScrubCursor::completed(&self.points_version());
        let indexed = self.index.values("video_id").await?;
        let indexed: BTreeSet<VideoId> = indexed.iter().filter_map(|id| id.parse().ok()).collect();
        orphans.extend(indexed.difference(&ids));
        if !repair.remove_orphans && !self.may_remove_orphans(orphans.len(), ids.len()) {
            done.orphans_kept = orphans.len() as u64;
            tracing::warn!(
                orphans = orphans.len(),
                "vectors or documents of videos without a record are kept, since they may belong to \
                 other records than these (records.kind, index.collection); if not, `shotlog serve \
                 --remove-orphans` and `shotlog reindex --remove-orphans` remove them"
            );
            self.catalog.listing.save_scrub_cursor(cursor).await?;
            return Ok(done);
        }
        for &video_id in &orphans {
            let Some(lock) = self.lock_to_repair(video_id.into(), repair.all).await? else {
                continue;
            };
            // The video may have been ingested in the meantime.
            if self.catalog.records.state(video_id).await? != RecordState::Absent {
                continue;
            }
            self.catalog.publisher.remove_remains(video_id, &lock).await?;
            done.orphans += u64::from(indexed.contains(&video_id));
        }
        self.catalog.listing.save_scrub_cursor(cursor).await?;
        Ok(done)
    }

    /// Verifies everything that the index stores, and rewrites every point if the index is damaged
    /// or an earlier rewrite failed. Returns `None` if no rewrite was needed.
    pub async fn repair_index(&self) -> Result<Option<ReindexReport>> {
        match self.index.check().await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                tracing::error!(%error, "the index is damaged; every point is written again");
                self.health.set_rebuilding(true);
                self.index.reset().await?;
            }
            checked => checked?,
        }
        if !self.health.is_rebuilding() {
            return Ok(None);
        }
        let done = self.reindex(Repair { all: true, ..Repair::default() }).await?;
        self.health.set_rebuilding(false);
        Ok(Some(done))
    }

    /// Waits until the index has to be checked. The wait ends when a search or a write has found
    /// damage, when a rebuild is pending, or at the time `due`.
    pub async fn wait_for_index_check(&self, due: Option<Instant>) {
        loop {
            let reported =
                tokio::time::timeout(PROBE_INTERVAL, self.health.damage_reported()).await;
            let is_due = due.is_some_and(|due| Instant::now() >= due);
            if reported.is_ok() || is_due || self.health.is_rebuilding() {
                return;
            }
            if matches!(self.index.probe().await, Err(e) if e.kind() == ErrorKind::Corrupt) {
                return;
            }
        }
    }

    /// Checks whether the index has no points at all.
    pub async fn is_empty(&self) -> Result<bool> {
        Ok(self.index.count(&Filter::default()).await? == 0)
    }

    /// Counts the videos that have points in `index` but no record. Returns `None` if a repair may
    /// remove all of them without `remove_orphans`.
    pub async fn excess_orphans(&self, index: &dyn IndexStatistics) -> Result<Option<u64>> {
        let ids: BTreeSet<VideoId> = self.catalog.records.ids().await?.into_iter().collect();
        let indexed = index.values("video_id").await?;
        let recorded = |id: &String| id.parse().is_ok_and(|id: VideoId| ids.contains(&id));
        let orphans = indexed.iter().filter(|id| !recorded(id)).count();
        Ok((!self.may_remove_orphans(orphans, ids.len())).then_some(orphans as u64))
    }

    /// Whether a repair may remove this many orphans. If the record store is empty, it is probably
    /// not the one that the vectors belong to.
    fn may_remove_orphans(&self, orphans: usize, videos: usize) -> bool {
        orphans == 0 || (orphans <= self.max_orphans && videos > 0)
    }

    /// Locks `what` for repair. If it is being changed, it needs no repair, and `None` is returned.
    /// With `wait`, waits for the change to end instead.
    pub(super) async fn lock_to_repair(
        &self,
        what: LockTarget,
        wait: bool,
    ) -> Result<Option<VideoLock>> {
        if wait {
            return self.catalog.locks.lock(what).await.map(Some);
        }
        self.catalog.locks.try_lock(what).await
    }

    /// Repairs one video. A video that needs no repair is not locked.
    pub(super) async fn repair_video(
        &self,
        video_id: VideoId,
        repair: Repair,
    ) -> Result<RepairOutcome> {
        if !repair.all && !repair.rewrite && !repair.unfinished {
            let stored = self.catalog.records.state(video_id).await?;
            match &stored {
                RecordState::Absent => return self.orphan_outcome(video_id).await,
                RecordState::Unreadable(..) => {
                    self.catalog.listing.relist(video_id).await?;
                    return Ok(RepairOutcome::Unreadable);
                }
                RecordState::Record(record, _) => {
                    let (documents, revisions) =
                        self.catalog.publisher.garbage(video_id, &stored).await?;
                    let clean = documents.is_empty() && revisions.is_empty();
                    let listed = self.catalog.listing.is_current(video_id, &stored).await?;
                    if clean && listed && self.stale(record).await?.is_empty() {
                        return Ok(RepairOutcome::Rebuilt(0));
                    }
                }
                RecordState::Tombstone(..) => {}
            }
        }
        let Some(lock) = self.lock_to_repair(video_id.into(), repair.writes_all()).await? else {
            return Ok(RepairOutcome::Busy);
        };
        self.catalog.listing.relist(video_id).await?;
        let repaired = match self.catalog.records.state(video_id).await? {
            RecordState::Absent => return self.orphan_outcome(video_id).await,
            RecordState::Unreadable(..) => RepairOutcome::Unreadable,
            RecordState::Tombstone(..) => {
                self.catalog.publisher.remove_remains(video_id, &lock).await?;
                RepairOutcome::Cleared
            }
            RecordState::Record(..) => {
                match self.repair_points(video_id, &lock, repair).await {
                    Ok(rebuilt) => RepairOutcome::Rebuilt(rebuilt),
                    // The fault lies in the video's documents, not in the index.
                    Err(error)
                        if error.is_corrupt()
                            && self.catalog.records.unreadable().has(video_id) =>
                    {
                        RepairOutcome::Unreadable
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        lock.remove_stale_locks().await?;
        self.catalog.publisher.unfinished().remove(&video_id);
        Ok(repaired)
    }

    /// Determines the outcome for a video without a record. The video is an orphan if any of its
    /// documents or points remain.
    async fn orphan_outcome(&self, video_id: VideoId) -> Result<RepairOutcome> {
        self.catalog.listing.relist(video_id).await?;
        let remains = self.catalog.publisher.garbage(video_id, &RecordState::Absent).await?;
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
        let claim = self.catalog.publisher.claim(video_id, lock).await?;
        let Some(mut record) = claim.base.record().cloned() else { return Ok(0) };
        self.catalog.publisher.clean(video_id, &claim.base).await?;
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
        self.catalog.publisher.publish(&claim, record).await?;
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
        let spans = self.catalog.records.spans(record).await?;
        let config = record.chunking.config();
        let (mut fresh, mut rebuilt) = (Vec::new(), 0);
        for id in analyzers {
            let outputs = self.catalog.records.outputs(record, id).await?;
            let Some(entry) = record.analyzers.get_mut(id) else { continue };
            // An analyzer that is no longer registered keeps its record, but its points cannot be
            // built.
            let Ok(analyzer) = self.catalog.analyzers.find(&self.models, id) else {
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
            let analyzer_points =
                points(&embedder, record.video_id, &config, revision, &spans, &*analyzer, &outputs)
                    .await?;
            entry.points = analyzer_points.len() as u64;
            entry.embedder = self.models.embedder.model().to_owned();
            fresh.extend(analyzer_points);
            rebuilt += 1;
        }
        Ok((fresh, rebuilt))
    }
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

impl ReindexReport {
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
}
