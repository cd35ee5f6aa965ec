//! The scrub: a periodic background check of every video that compares its documents, its listing
//! entry and its index points with its record. It pauses most of the time to leave capacity for
//! requests, and resumes after a restart.

use std::collections::BTreeSet;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::time::Duration;

use ports::embedder::Embedder;
use ports::index::IndexStatistics;
use tokio::time::{Instant, sleep};

use crate::catalog::Catalog;
use crate::indexing::point::POINT_FORMAT;
use crate::kernel::error::Result;
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::listing::scrub_cursor::ScrubCursor;
use crate::maintenance::repair::{Repair, RepairOutcome, RepairReport, VideoRepairer};
use crate::publishing::Publisher;
use crate::records::Records;
use crate::records::locks::LockTarget;
use crate::records::record_state::RecordState;

/// Pause after each video, as a multiple of the time spent on the video.
const PAUSE_FACTOR: u32 = 4;

/// The state of a scrub over all videos, in order of video id.
pub struct Scrub {
    ids: BTreeSet<VideoId>,
    /// The last video checked.
    last: Option<VideoId>,
    /// Videos that have no record but still have documents or points.
    orphans: BTreeSet<VideoId>,
    done: RepairReport,
    /// Whether every point is written again.
    rewrite: bool,
}

impl Scrub {
    fn new(ids: impl IntoIterator<Item = VideoId>) -> Self {
        Self {
            ids: ids.into_iter().collect(),
            last: None,
            orphans: BTreeSet::new(),
            done: RepairReport::default(),
            rewrite: false,
        }
    }

    fn next(&self) -> Option<VideoId> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        self.ids.range((after, Bound::Unbounded)).next().copied()
    }

    fn record(&mut self, video_id: VideoId, state: RepairOutcome) {
        self.last = Some(video_id);
        if state == RepairOutcome::Orphan {
            self.orphans.insert(video_id);
        }
        self.done.count(state);
    }
}

/// Scrubs all videos.
pub struct Scrubber {
    index: Arc<dyn IndexStatistics>,
    embedder: Arc<dyn Embedder>,
    records: Arc<Records>,
    listing: Arc<Listing>,
    publisher: Arc<Publisher>,
    repairer: Arc<VideoRepairer>,
    /// Maximum number of videos without a record that a repair removes if `remove_orphans` is not
    /// set.
    max_orphans: usize,
}

impl Scrubber {
    pub(super) fn new(
        stores: &Stores,
        embedder: Arc<dyn Embedder>,
        catalog: &Catalog,
        repairer: Arc<VideoRepairer>,
        max_orphans: usize,
    ) -> Self {
        Self {
            index: stores.index.clone(),
            embedder,
            records: catalog.records.clone(),
            listing: catalog.listing.clone(),
            publisher: catalog.publisher.clone(),
            repairer,
            max_orphans,
        }
    }

    /// Returns the name of the embedder and the format of points. If either changes, a scrub that
    /// rewrites every point is due.
    fn points_version(&self) -> String {
        format!("{}/format {POINT_FORMAT}", self.embedder.model())
    }

    /// Returns the scrub that is due, either a new or an interrupted one. Returns `None` if the
    /// last scrub finished less than `interval` ago.
    pub async fn due_scrub(&self, interval: Duration) -> Result<Option<Scrub>> {
        let cursor = self.listing.scrub_cursor(&self.points_version()).await?;
        if cursor.is_recent(interval) {
            return Ok(None);
        }
        let (last, rewrite) = (cursor.up_to, cursor.rewrite);
        Ok(Some(Scrub { last, rewrite, ..Scrub::new(self.records.ids().await?) }))
    }

    /// Checks and repairs videos until `budget` is used up, then saves the scrub's position.
    /// Returns a report if the last video was reached or if another instance holds the repair lock;
    /// otherwise returns the scrub to continue.
    pub async fn continue_scrub(
        &self,
        mut scrub: Scrub,
        budget: Duration,
    ) -> Result<ControlFlow<RepairReport, Scrub>> {
        let Some(_elected) = self.repairer.lock(LockTarget::Repair, false).await? else {
            return Ok(ControlFlow::Break(scrub.done));
        };
        let repair = Repair { rewrite: scrub.rewrite, ..Repair::default() };
        let scrub_started = Instant::now();
        while let Some(video_id) = scrub.next() {
            let started = Instant::now();
            scrub.record(video_id, self.repairer.repair(video_id, repair).await?);
            sleep(started.elapsed() * PAUSE_FACTOR).await;
            if scrub_started.elapsed() >= budget {
                // Orphans are not saved, so the position is not saved either once there are any:
                // after a restart, the scrub has to find them again.
                if scrub.orphans.is_empty() {
                    let mut cursor = ScrubCursor::up_to(&self.points_version(), scrub.last);
                    cursor.rewrite = scrub.rewrite;
                    self.listing.save_scrub_cursor(cursor).await?;
                }
                return Ok(ControlFlow::Continue(scrub));
            }
        }
        Ok(ControlFlow::Break(self.finish(scrub, repair).await?))
    }

    /// Checks and repairs all videos without a pause.
    pub(super) async fn scrub_all(&self, repair: Repair) -> Result<RepairReport> {
        let mut scrub = Scrub::new(self.records.ids().await?);
        while let Some(video_id) = scrub.next() {
            scrub.record(video_id, self.repairer.repair(video_id, repair).await?);
        }
        self.finish(scrub, repair).await
    }

    /// Finishes a scrub over all videos and removes the points and documents of videos without a
    /// record.
    async fn finish(&self, scrub: Scrub, repair: Repair) -> Result<RepairReport> {
        let Scrub { mut done, mut orphans, .. } = scrub;
        // Videos ingested since the scrub began have a record too.
        let ids: BTreeSet<VideoId> = self.records.ids().await?.into_iter().collect();
        let known: Vec<VideoId> = ids.iter().copied().collect();
        for video_id in self.listing.listed_except(&known).await? {
            self.listing.relist(video_id).await?;
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
            self.listing.save_scrub_cursor(cursor).await?;
            return Ok(done);
        }
        for &video_id in &orphans {
            let Some(lock) = self.repairer.lock(video_id.into(), repair.all).await? else {
                continue;
            };
            // The video may have been ingested in the meantime.
            if self.records.state(video_id).await? != RecordState::Absent {
                continue;
            }
            self.publisher.remove_remains(video_id, &lock).await?;
            done.orphans += u64::from(indexed.contains(&video_id));
        }
        self.listing.save_scrub_cursor(cursor).await?;
        Ok(done)
    }

    /// Whether a repair may remove this many orphans. If the record store is empty, it is probably
    /// not the one that the vectors belong to.
    pub(super) fn may_remove_orphans(&self, orphans: usize, videos: usize) -> bool {
        orphans == 0 || (orphans <= self.max_orphans && videos > 0)
    }
}
