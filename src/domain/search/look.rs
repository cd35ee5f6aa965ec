//! Looking at every video once in a while: whether its documents, its entry in the listing and its points
//! are those of its record. It leaves most of the time to the requests, and goes on where it was ended.

use std::collections::BTreeSet;
use std::ops::{Bound, ControlFlow};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::domain::catalog::locks::Locked;
use crate::domain::catalog::looked::Looked;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;
use crate::domain::search::Search;
use crate::domain::search::reindex::{Reindexed, Repair, Repaired};

/// The rest after each video, times what that one took.
const REST: u32 = 4;

/// A look at all videos, in order of their ids.
pub struct Look {
    ids: BTreeSet<VideoId>,
    /// The last one that was looked at.
    last: Option<VideoId>,
    /// Those without a record of which something is there.
    pub(super) orphans: BTreeSet<VideoId>,
    pub(super) done: Reindexed,
}

impl Look {
    pub(super) fn of(ids: impl IntoIterator<Item = VideoId>) -> Self {
        Self {
            ids: ids.into_iter().collect(),
            last: None,
            orphans: BTreeSet::new(),
            done: Reindexed::default(),
        }
    }

    pub(super) fn next(&self) -> Option<VideoId> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        self.ids.range((after, Bound::Unbounded)).next().copied()
    }

    pub(super) fn enter(&mut self, video_id: VideoId, state: Repaired) {
        self.last = Some(video_id);
        if state == Repaired::Orphan {
            self.orphans.insert(video_id);
        }
        self.done.count(state);
    }
}

impl Search {
    /// The look that is to be made, or to be gone on with; `None` where the last one came to its end
    /// within `records.scrub_interval`.
    pub async fn look_that_is_due(&self, every: Duration) -> Result<Option<Look>> {
        let looked = self.catalog.looked(self.models.embedder.model()).await?;
        if looked.holds(every) {
            return Ok(None);
        }
        let last = looked.up_to;
        Ok(Some(Look { last, ..Look::of(self.catalog.ids().await?) }))
    }

    /// Looks at a few more, for as long as `stretch`, notes how far that is, and mends what does not agree.
    /// What was done where that was the end, or where another instance repairs; else the look to go on with.
    pub async fn look_on(
        &self,
        mut look: Look,
        stretch: Duration,
    ) -> Result<ControlFlow<Reindexed, Look>> {
        let Some(_elected) = self.lock_to_repair(Locked::Repair, false).await? else {
            return Ok(ControlFlow::Break(look.done));
        };
        let repair = Repair::default();
        let begun = Instant::now();
        while let Some(video_id) = look.next() {
            let started = Instant::now();
            look.enter(video_id, self.repair_video(video_id, repair).await?);
            sleep(started.elapsed() * REST).await;
            if begun.elapsed() >= stretch {
                // Whoever goes on after an end has to find again what has no record.
                if look.orphans.is_empty() {
                    let looked = Looked::up_to(self.models.embedder.model(), look.last);
                    self.catalog.enter_looked(looked).await?;
                }
                return Ok(ControlFlow::Continue(look));
            }
        }
        Ok(ControlFlow::Break(self.end(look, repair).await?))
    }
}
