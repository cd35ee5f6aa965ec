//! Keeps the stored data consistent: opens the stores, repairs, scrubs and verifies them, checks
//! the index, and runs all of that in the background of a service.

pub(crate) mod background;
pub(crate) mod index_check;
pub mod reindex;
pub mod repair;
pub mod scrub;
pub(crate) mod startup;
pub mod verify;

use std::sync::Arc;
use std::time::Duration;

use ports::units::seconds;
use serde::{Deserialize, Serialize};

use crate::Settings;
use crate::catalog::Catalog;
use crate::ingest::Sources;
use crate::jobs::Jobs;
use crate::kernel::ports::{Models, Stores};
use crate::search::Search;
use background::{BackgroundTasks, Intervals};
use index_check::IndexCheck;
use reindex::Reindexer;
use repair::VideoRepairer;
use scrub::Scrubber;
use startup::Startup;
use verify::Verification;

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

/// The use-cases that keep the stored data consistent.
pub struct Maintenance {
    /// Makes the index agree with the records.
    pub reindexer: Arc<Reindexer>,
    /// Scrubs all videos.
    pub scrubber: Arc<Scrubber>,
    /// Checks the index for damage, and rebuilds it.
    pub index_check: Arc<IndexCheck>,
    /// Checks that the stores are consistent.
    pub verification: Verification,
    /// Opens the stores.
    pub startup: Arc<Startup>,
    /// Runs the jobs and the periodic maintenance.
    pub background: Arc<BackgroundTasks>,
}

impl Maintenance {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: &Catalog,
        search: &Search,
        jobs: &Jobs,
        sources: &Arc<Sources>,
        settings: &Settings,
    ) -> Self {
        let repairer = Arc::new(VideoRepairer::new(stores, models, catalog));
        let embedder = models.embedder.clone();
        let max_orphans = settings.index.max_orphans;
        let scrubber = Scrubber::new(stores, embedder, catalog, repairer.clone(), max_orphans);
        let scrubber = Arc::new(scrubber);
        let reindexer = Arc::new(Reindexer::new(stores, catalog, repairer, scrubber.clone()));
        let index_check = Arc::new(IndexCheck {
            index: stores.index.clone(),
            health: search.health.clone(),
            reindexer: reindexer.clone(),
        });
        let startup = Arc::new(Startup::new(catalog, jobs.store.clone(), reindexer.clone()));
        let background = Arc::new(BackgroundTasks {
            startup: startup.clone(),
            reindexer: reindexer.clone(),
            scrubber: scrubber.clone(),
            index_check: index_check.clone(),
            calibrator: search.calibrator.clone(),
            sources: sources.clone(),
            bins: catalog.bins.clone(),
            comments: catalog.comments.clone(),
            shares: catalog.shares.clone(),
            alerts: jobs.submission.alerts.clone(),
            submission: jobs.submission.clone(),
            worker: jobs.worker.clone(),
            reserve: settings.reserve(),
            intervals: Intervals {
                repair: settings.records.repair_interval,
                scrub: settings.records.scrub_interval,
                index_check: settings.index.check_interval,
            },
        });
        let alerts = jobs.submission.alerts.clone();
        let verification = Verification::new(stores, catalog, alerts);
        Self { reindexer, scrubber, index_check, verification, startup, background }
    }
}
