//! The background tasks of a service: jobs, score calibration, the index check, the periodic repair
//! and the scrub. The command line only starts them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::alerts::Alerts;
use crate::bins::Bins;
use crate::comments::Comments;
use crate::ingest::Sources;
use crate::jobs::{Submission, Worker};
use crate::kernel::disk::Reserve;
use crate::kernel::error::Result;
use crate::maintenance::index_check::IndexCheck;
use crate::maintenance::reindex::Reindexer;
use crate::maintenance::repair::Repair;
use crate::maintenance::scrub::{Scrub, Scrubber};
use crate::maintenance::startup::Startup;
use crate::search::calibration::Calibrator;
use crate::shares::Shares;

/// Minimum interval between two index checks, even if searches find damage.
const MIN_CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// Duration of a scrub slice. The scrub's progress is stored after each slice, so at most one slice
/// is repeated after a restart.
const SCRUB_SLICE: Duration = Duration::from_secs(5);

/// How often each task runs.
pub(super) struct Intervals {
    pub(super) repair: Duration,
    pub(super) scrub: Duration,
    /// Zero disables the periodic index check.
    pub(super) index_check: Duration,
}

/// Runs the jobs and the periodic maintenance of a service.
pub struct BackgroundTasks {
    pub(super) startup: Arc<Startup>,
    pub(super) reindexer: Arc<Reindexer>,
    pub(super) scrubber: Arc<Scrubber>,
    pub(super) index_check: Arc<IndexCheck>,
    pub(super) calibrator: Arc<Calibrator>,
    pub(super) sources: Arc<Sources>,
    pub(super) bins: Arc<Bins>,
    pub(super) comments: Arc<Comments>,
    pub(super) shares: Arc<Shares>,
    pub(super) alerts: Arc<Alerts>,
    pub(super) submission: Arc<Submission>,
    pub(super) worker: Arc<Worker>,
    pub(super) reserve: Reserve,
    pub(super) intervals: Intervals,
}

impl BackgroundTasks {
    /// Opens the stores, then runs the tasks that need them: jobs, calibration, checks and repairs.
    /// Returns only if the stores cannot be opened. If `remove_orphans` is set, the first repair
    /// removes everything that has no record.
    pub async fn run(self: Arc<Self>, remove_orphans: bool) {
        let repair = Repair { remove_orphans, ..Repair::default() };
        if !self.startup.open(repair).await {
            return;
        }
        let repair = Repair { unfinished: !remove_orphans, ..repair };
        tokio::spawn(calibrate(self.calibrator.clone()));
        tokio::spawn(check_index(self.index_check.clone(), self.intervals.index_check));
        self.resume_jobs().await;
        self.worker.start();
        self.repair_periodically(repair).await;
    }

    /// Periodically repairs videos whose change did not complete, because an instance or a store
    /// may fail at any time. Also scrubs all videos when a scrub is due.
    async fn repair_periodically(&self, first: Repair) {
        let (mut repair, mut begun) = (first, None);
        loop {
            match self.reindexer.reindex(repair).await {
                Ok(done) => {
                    done.log();
                    repair = Repair { unfinished: true, ..Repair::default() };
                }
                Err(error) => {
                    tracing::warn!(error = %error.labelled(), "the index could not be repaired")
                }
            }
            self.delete_expired_uploads().await;
            self.reserve.change(Reserve::fill).await;
            let next = Instant::now() + self.intervals.repair.max(Duration::from_secs(1));
            begun = match self.scrub(begun, next).await {
                Ok(left) => left,
                Err(error) => {
                    tracing::warn!(error = %error.labelled(), "the scrub did not complete");
                    None
                }
            };
            tokio::time::sleep_until(next).await;
            self.resume_jobs().await;
        }
    }

    /// Resumes a scrub, or starts the one that is due, and runs it until `until`. Returns the scrub
    /// if it has not finished.
    async fn scrub(&self, begun: Option<Scrub>, until: Instant) -> Result<Option<Scrub>> {
        let mut next = match begun {
            None => self.scrubber.due_scrub(self.intervals.scrub).await?,
            begun => begun,
        };
        while let Some(scrub) = next.take() {
            match self.scrubber.continue_scrub(scrub, SCRUB_SLICE).await? {
                ControlFlow::Break(done) => {
                    done.log();
                    self.sweep_bins().await;
                    self.sweep_comments().await;
                    self.sweep_shares().await;
                    self.sweep_alerts().await;
                }
                ControlFlow::Continue(left) if Instant::now() < until => next = Some(left),
                ControlFlow::Continue(left) => return Ok(Some(left)),
            }
        }
        Ok(None)
    }

    /// Removes the documents that interrupted changes of bins have left behind.
    async fn sweep_bins(&self) {
        match self.bins.sweep().await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "documents that no bin needs were removed"),
            Err(error) => {
                tracing::warn!(error = %error.labelled(), "the bins could not be swept");
            }
        }
    }

    /// Removes the comments on deleted videos that interrupted changes have left behind.
    async fn sweep_comments(&self) {
        match self.comments.sweep().await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "comments on deleted videos were removed"),
            Err(error) => {
                tracing::warn!(error = %error.labelled(), "the comments could not be swept");
            }
        }
    }

    /// Removes the shares that expired long ago, and those that interrupted changes have left behind.
    async fn sweep_shares(&self) {
        match self.shares.sweep().await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "expired shares were removed"),
            Err(error) => {
                tracing::warn!(error = %error.labelled(), "the shares could not be swept");
            }
        }
    }

    /// Removes the matches of deleted videos and alerts that interrupted deletions have left behind.
    async fn sweep_alerts(&self) {
        match self.alerts.sweep().await {
            Ok(0) => {}
            Ok(removed) => {
                tracing::info!(removed, "matches of deleted videos or alerts were removed")
            }
            Err(error) => {
                tracing::warn!(error = %error.labelled(), "the matches of alerts could not be swept");
            }
        }
    }

    async fn delete_expired_uploads(&self) {
        match self.sources.uploads.delete_expired().await {
            Ok(0) => {}
            Ok(swept) => tracing::info!(swept, "expired uploads were removed"),
            Err(error) => {
                tracing::warn!(error = %error.labelled(), "expired uploads could not be removed");
            }
        }
    }

    /// Requeues the jobs of instances that died.
    async fn resume_jobs(&self) {
        if let Err(error) = self.submission.resume().await {
            tracing::warn!(error = %error.labelled(), "orphaned jobs could not be requeued");
        }
    }
}

/// Checks the whole index periodically, because searches may not notice damage. Also checks it
/// whenever a search or a write has found damage.
async fn check_index(index_check: Arc<IndexCheck>, every: Duration) {
    loop {
        match index_check.repair_index().await {
            Ok(None) => {}
            Ok(Some(done)) => done.log(),
            Err(error) => tracing::error!(
                error = %error.labelled(),
                "the index could not be checked or repaired; `shotlog reindex` rebuilds it"
            ),
        }
        let due = (!every.is_zero()).then(|| Instant::now() + every);
        tokio::time::sleep(MIN_CHECK_INTERVAL).await;
        index_check.wait_until_due(due).await;
    }
}

/// Calibrates scores for this embedder in advance, so that no search has to wait for the
/// calibration.
async fn calibrate(calibrator: Arc<Calibrator>) {
    if let Err(error) = calibrator.calibrate().await {
        tracing::warn!(
            error = %error.labelled(),
            "scores could not be calibrated; the next search retries"
        );
    }
}
