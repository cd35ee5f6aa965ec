//! Bringing the index back in line with the records: at start-up and on demand. Costs embedding,
//! no other model call.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ports::ErrorKind;
use ports::index::{Filter, Point, Predicate, VectorIndex};
use ports::units::seconds;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::domain::catalog::Stored;
use crate::domain::catalog::locks::{Locked, VideoLock};
use crate::domain::catalog::looked::Looked;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;
use crate::domain::search::Search;
use crate::domain::search::indexing::points;
use crate::domain::search::look::Look;

/// When a search that met damage may be tried again, seconds.
const MENDED_AFTER: u32 = 5;

/// How often the index is probed for damage that a write has met.
const PROBE_EVERY: Duration = Duration::from_secs(2);

/// When the index is checked, and what a repair does with what has no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexSettings {
    /// Videos without a record whose vectors or documents a start or a repair removes; more stay
    /// until it is told `--remove-orphans`.
    pub max_orphans: usize,
    /// Time between two checks of all files of an embedded index, in the file seconds; 0: never.
    #[serde(with = "seconds")]
    pub check_interval: Duration,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self { max_orphans: 10, check_interval: Duration::from_secs(3600) }
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
    /// Only videos are looked at that a change was begun on and has not come to its end: what this
    /// process could not remove, and what instances that died had locked.
    pub unfinished: bool,
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
    /// Rebuilds the points that disagree with the published records, finishes what was interrupted,
    /// and removes points without a record. What does not read back is passed over. Of the instances
    /// that share an index one at a time does so; the others leave it to that one, but for a rebuild,
    /// which waits. One with an index of its own has to look at everything that others may publish.
    pub async fn reindex(&self, repair: Repair) -> Result<Reindexed> {
        let alone = self.catalog.locks.are_shared() && !self.index.shared();
        let repair = Repair { unfinished: repair.unfinished && !alone, ..repair };
        let mut done = Reindexed::default();
        let elected = match alone {
            true => None,
            false => self.lock_to_repair(Locked::Repair, repair.all).await?,
        };
        if !alone && elected.is_none() {
            return Ok(done);
        }
        if repair.unfinished {
            for video_id in self.catalog.left_unfinished().await? {
                done.count(self.repair_video(video_id, repair).await?);
            }
            return Ok(done);
        }
        let mut look = Look::of(self.catalog.ids().await?);
        while let Some(video_id) = look.next() {
            look.enter(video_id, self.repair_video(video_id, repair).await?);
        }
        self.end(look, repair).await
    }

    /// What no video by itself tells: removes what has no record.
    pub(super) async fn end(&self, look: Look, repair: Repair) -> Result<Reindexed> {
        let Look { mut done, mut orphans, .. } = look;
        // What was ingested since the look began has a record too.
        let ids: BTreeSet<VideoId> = self.catalog.ids().await?.into_iter().collect();
        let known: Vec<VideoId> = ids.iter().copied().collect();
        for video_id in self.catalog.listed_beside(&known).await? {
            self.catalog.relist(video_id).await?;
        }
        let looked = Looked::whole(self.models.embedder.model());
        let indexed = self.index.values("video_id").await?;
        let indexed: BTreeSet<VideoId> = indexed.iter().filter_map(|id| id.parse().ok()).collect();
        orphans.extend(indexed.difference(&ids));
        if !repair.remove_orphans && !self.few(orphans.len(), ids.len()) {
            done.orphans_kept = orphans.len() as u64;
            tracing::warn!(
                orphans = orphans.len(),
                "vectors or documents of videos without a record are kept, since they may belong to \
                 other records than these (records.kind, index.collection); if not, `shotlog serve \
                 --remove-orphans` and `shotlog reindex --remove-orphans` remove them"
            );
            self.catalog.enter_looked(looked).await?;
            return Ok(done);
        }
        for &video_id in &orphans {
            let Some(lock) = self.lock_to_repair(video_id.into(), repair.all).await? else {
                continue;
            };
            // It may have been ingested since.
            if self.catalog.stored(video_id).await? != Stored::Absent {
                continue;
            }
            self.catalog.clear(video_id, &lock).await?;
            done.orphans += u64::from(indexed.contains(&video_id));
        }
        self.catalog.enter_looked(looked).await?;
        Ok(done)
    }

    /// Reads everything that the index stores, and writes every point again where that is not what
    /// was written, or where doing so failed before: whether it did.
    pub async fn mend_index(&self) -> Result<Option<Reindexed>> {
        match self.index.check().await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                tracing::error!(%error, "the index is damaged; every point is written again");
                self.rebuilding.store(true, Ordering::Release);
                self.index.reset().await?;
            }
            checked => checked?,
        }
        if !self.rebuilding.load(Ordering::Acquire) {
            return Ok(None);
        }
        let done = self.reindex(Repair { all: true, ..Repair::default() }).await?;
        self.rebuilding.store(false, Ordering::Release);
        Ok(Some(done))
    }

    /// Waits until the index has to be checked: when a search or a change has met damage, when it is
    /// still to be written again, or at `due`.
    pub async fn check_due(&self, due: Option<Instant>) {
        loop {
            let reported = tokio::time::timeout(PROBE_EVERY, self.damage.notified()).await;
            let is_due = due.is_some_and(|due| Instant::now() >= due);
            if reported.is_ok() || is_due || self.check_index().is_err() {
                return;
            }
            if matches!(self.index.probe().await, Err(e) if e.kind() == ErrorKind::Corrupt) {
                return;
            }
        }
    }

    /// `Busy` while the points of a damaged index are written again.
    pub fn check_index(&self) -> Result<()> {
        if self.rebuilding.load(Ordering::Acquire) { Err(being_rebuilt()) } else { Ok(()) }
    }

    /// What a search fails with that meets damage in the index, which is told to be mended.
    pub(super) fn mended_soon(&self, error: Error) -> Error {
        if !error.is_corrupt() {
            return error;
        }
        tracing::error!(%error, "a search has met damage in the index, which is checked");
        self.damage.notify_one();
        being_rebuilt()
    }

    /// Whether there is nothing to search at all.
    pub async fn is_empty(&self) -> Result<bool> {
        Ok(self.index.count(&Filter::default()).await? == 0)
    }

    /// How many videos have points in an index but no record, if they are more than a repair
    /// removes without being told to.
    pub async fn many_orphans(&self, index: &dyn VectorIndex) -> Result<Option<u64>> {
        let ids: BTreeSet<VideoId> = self.catalog.ids().await?.into_iter().collect();
        let indexed = index.values("video_id").await?;
        let recorded = |id: &String| id.parse().is_ok_and(|id: VideoId| ids.contains(&id));
        let orphans = indexed.iter().filter(|id| !recorded(id)).count();
        Ok((!self.few(orphans, ids.len())).then_some(orphans as u64))
    }

    /// Records that know of no video at all are rather not those that the vectors were made from.
    fn few(&self, orphans: usize, videos: usize) -> bool {
        orphans == 0 || (orphans <= self.max_orphans && videos > 0)
    }

    /// A video that is being changed needs no repair; a rebuild waits for it.
    pub(super) async fn lock_to_repair(
        &self,
        what: Locked,
        wait: bool,
    ) -> Result<Option<VideoLock>> {
        if wait {
            return self.catalog.locks.lock(what).await.map(Some);
        }
        self.catalog.locks.try_lock(what).await
    }

    /// Brings one video in line. What needs nothing is not locked.
    pub(super) async fn repair_video(&self, video_id: VideoId, repair: Repair) -> Result<Repaired> {
        if !repair.all && !repair.unfinished {
            let stored = self.catalog.stored(video_id).await?;
            match &stored {
                Stored::Absent => return self.orphaned(video_id).await,
                Stored::Unreadable(..) => {
                    self.catalog.relist(video_id).await?;
                    return Ok(Repaired::Unreadable);
                }
                Stored::Record(record, _) => {
                    let (documents, revisions) = self.catalog.surplus(video_id, &stored).await?;
                    let clean = documents.is_empty() && revisions.is_empty();
                    let listed = self.catalog.is_listed(video_id, &stored).await?;
                    if clean && listed && self.stale(record).await?.is_empty() {
                        return Ok(Repaired::Rebuilt(0));
                    }
                }
                Stored::Tombstone(..) => {}
            }
        }
        let Some(lock) = self.lock_to_repair(video_id.into(), repair.all).await? else {
            return Ok(Repaired::Busy);
        };
        self.catalog.relist(video_id).await?;
        let repaired = match self.catalog.stored(video_id).await? {
            Stored::Absent => return self.orphaned(video_id).await,
            Stored::Unreadable(..) => Repaired::Unreadable,
            Stored::Tombstone(..) => {
                self.catalog.clear(video_id, &lock).await?;
                Repaired::Cleared
            }
            Stored::Record(..) => match self.mend(video_id, &lock, repair.all).await {
                Ok(rebuilt) => Repaired::Rebuilt(rebuilt),
                // Not a fault of the index.
                Err(error) if error.is_corrupt() && self.catalog.unreadable().has(video_id) => {
                    Repaired::Unreadable
                }
                Err(error) => return Err(error),
            },
        };
        lock.forget_the_dead().await?;
        self.catalog.unfinished().remove(&video_id);
        Ok(repaired)
    }

    /// A video without a record: an orphan, unless nothing is left of it.
    async fn orphaned(&self, video_id: VideoId) -> Result<Repaired> {
        self.catalog.relist(video_id).await?;
        let nothing = self.catalog.surplus(video_id, &Stored::Absent).await?;
        Ok(if nothing == Default::default() { Repaired::Cleared } else { Repaired::Orphan })
    }

    /// The analyzers whose points are not those that the record counts.
    async fn stale(&self, record: &VideoRecord) -> Result<Vec<String>> {
        let mut stale = Vec::new();
        for (id, entry) in &record.analyzers {
            let current = revisions_of(record.video_id, vec![entry.revision.clone()]);
            let agrees = entry.embedder == self.models.embedder.model()
                && self.index.count(&current).await? == entry.points;
            if !agrees {
                stale.push(id.clone());
            }
        }
        Ok(stale)
    }

    /// Removes the garbage of a video and writes its points that disagree with its record, or all of
    /// them; says of how many analyzers.
    async fn mend(&self, video_id: VideoId, lock: &VideoLock, all: bool) -> Result<u64> {
        let claim = self.catalog.claim(video_id, lock).await?;
        let Some(mut record) = claim.found.record().cloned() else { return Ok(0) };
        self.catalog.clean(video_id, &claim.found).await?;
        let stale = match all {
            true => record.analyzers.keys().cloned().collect(),
            false => self.stale(&record).await?,
        };
        if stale.is_empty() {
            return Ok(0);
        }
        let (fresh, rebuilt) = self.points_of(&mut record, &stale).await?;
        let revisions = stale.iter().filter_map(|id| record.analyzers.get(id));
        let revisions = revisions.map(|entry| entry.revision.clone()).collect();
        lock.check()?;
        // The revisions stay: instances that search another index by this record go on. Whoever
        // writes these points, and whenever, writes the same.
        self.index.replace(Some(&revisions_of(video_id, revisions)), fresh).await?;
        self.catalog.publish(&claim, record).await?;
        Ok(rebuilt)
    }

    /// The points of these analyzers, made again of their outputs and entered into the record; of how
    /// many they are.
    async fn points_of(
        &self,
        record: &mut VideoRecord,
        analyzers: &[String],
    ) -> Result<(Vec<Point>, u64)> {
        let spans = self.catalog.spans(record).await?;
        let config = record.chunking.config();
        let (mut fresh, mut rebuilt) = (Vec::new(), 0);
        for id in analyzers {
            let outputs = self.catalog.outputs(record, id).await?;
            let Some(entry) = record.analyzers.get_mut(id) else { continue };
            // An analyzer that is not registered now keeps its record; its points cannot be made.
            let Ok(analyzer) = self.catalog.analyzers.find(&self.models, id) else {
                (entry.points, entry.embedder) = (0, String::new());
                continue;
            };
            let (embedder, revision) = (self.models.embedder.as_ref(), &entry.revision);
            let of_analyzer =
                points(embedder, record.video_id, &config, revision, &spans, &*analyzer, &outputs)
                    .await?;
            entry.points = of_analyzer.len() as u64;
            entry.embedder = self.models.embedder.model().to_owned();
            fresh.extend(of_analyzer);
            rebuilt += 1;
        }
        Ok((fresh, rebuilt))
    }
}

fn being_rebuilt() -> Error {
    Error::Busy {
        message:
            "the search index is damaged and is being written again from the records; try again \
                  shortly"
                .into(),
        retry_after: MENDED_AFTER,
    }
}

/// The points of a video that are of these runs.
fn revisions_of(video_id: VideoId, revisions: Vec<String>) -> Filter {
    Filter::video(video_id).and("revision", Predicate::AnyKeyword(revisions))
}

/// What became of one video in a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repaired {
    /// The points of so many analyzers were written again.
    Rebuilt(u64),
    /// It has no record, and nothing is left of it.
    Cleared,
    /// It has no record, and something is there.
    Orphan,
    /// It does not read back.
    Unreadable,
    /// It is being changed.
    Busy,
}

impl Reindexed {
    pub(super) fn count(&mut self, state: Repaired) {
        match state {
            Repaired::Rebuilt(analyzers) => {
                self.videos += 1;
                self.rebuilt += analyzers;
            }
            Repaired::Unreadable => self.unreadable += 1,
            Repaired::Cleared | Repaired::Orphan | Repaired::Busy => {}
        }
    }
}
