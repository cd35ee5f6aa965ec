//! The scrub: a periodic background check of every video that compares its documents, its listing
//! entry and its index points with its record. It pauses most of the time to leave capacity for
//! requests, and resumes after a restart.

use std::collections::BTreeSet;
use std::ops::{Bound, ControlFlow};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::indexing::point::POINT_FORMAT;
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::listing::scrub_cursor::ScrubCursor;
use crate::records::locks::LockTarget;
use crate::search::Search;
use crate::search::reindex::{ReindexReport, Repair, RepairOutcome};

/// Pause after each video, as a multiple of the time spent on the video.
const PAUSE_FACTOR: u32 = 4;

/// The state of a scrub over all videos, in order of video id.
pub struct Scrub {
    ids: BTreeSet<VideoId>,
    /// The last video checked.
    last: Option<VideoId>,
    /// Videos that have no record but still have documents or points.
    pub(super) orphans: BTreeSet<VideoId>,
    pub(super) done: ReindexReport,
    /// Whether every point is written again.
    rewrite: bool,
}

impl Scrub {
    pub(super) fn new(ids: impl IntoIterator<Item = VideoId>) -> Self {
        Self {
            ids: ids.into_iter().collect(),
            last: None,
            orphans: BTreeSet::new(),
            done: ReindexReport::default(),
            rewrite: false,
        }
    }

    pub(super) fn next(&self) -> Option<VideoId> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        self.ids.range((after, Bound::Unbounded)).next().copied()
    }

    pub(super) fn record(&mut self, video_id: VideoId, state: RepairOutcome) {
        self.last = Some(video_id);
        if state == RepairOutcome::Orphan {
            self.orphans.insert(video_id);
        }
        self.done.count(state);
    }
}

impl Search {
    /// Returns the name of the embedder and the format of points. If either changes, a scrub that
    /// rewrites every point is due.
    pub(super) fn points_version(&self) -> String {
        format!("{}/format {POINT_FORMAT}", self.models.embedder.model())
    }

    /// Returns the scrub that is due, either a new or an interrupted one. Returns `None` if the
    /// last scrub finished less than `interval` ago.
    pub async fn due_scrub(&self, interval: Duration) -> Result<Option<Scrub>> {
        let cursor = self.catalog.listing.scrub_cursor(&self.points_version()).await?;
        if cursor.is_recent(interval) {
            return Ok(None);
        }
        let (last, rewrite) = (cursor.up_to, cursor.rewrite);
        Ok(Some(Scrub { last, rewrite, ..Scrub::new(self.catalog.records.ids().await?) }))
    }

    /// Checks and repairs videos until `budget` is used up, then saves the scrub's position.
    /// Returns a report if the last video was reached or if another instance holds the repair lock;
    /// otherwise returns the scrub to continue.
    pub async fn continue_scrub(
        &self,
        mut scrub: Scrub,
        budget: Duration,
    ) -> Result<ControlFlow<ReindexReport, Scrub>> {
        let Some(_elected) = self.lock_to_repair(LockTarget::Repair, false).await? else {
            return Ok(ControlFlow::Break(scrub.done));
        };
        let repair = Repair { rewrite: scrub.rewrite, ..Repair::default() };
        let scrub_started = Instant::now();
        while let Some(video_id) = scrub.next() {
            let started = Instant::now();
            scrub.record(video_id, self.repair_video(video_id, repair).await?);
            sleep(started.elapsed() * PAUSE_FACTOR).await;
            if scrub_started.elapsed() >= budget {
                // Orphans are not saved, so the position is not saved either once there are any:
                // after a restart, the scrub has to find them again.
                if scrub.orphans.is_empty() {
                    let mut cursor = ScrubCursor::up_to(&self.points_version(), scrub.last);
                    cursor.rewrite = scrub.rewrite;
                    self.catalog.listing.save_scrub_cursor(cursor).await?;
                }
                return Ok(ControlFlow::Continue(scrub));
            }
        }
        Ok(ControlFlow::Break(self.finish_scrub(scrub, repair).await?))
    }
}
