//! Opens the stores while the service already answers requests. Retries with exponential backoff
//! while the stores are unreachable, and gives up on permanent errors.

use std::sync::Arc;
use std::time::Duration;

use ports::{ErrorKind, PortError};

use crate::catalog::Catalog;
use crate::jobs::JobStore;
use crate::kernel::error::{Error, Result};
use crate::listing::Listing;
use crate::maintenance::reindex::Reindexer;
use crate::maintenance::repair::Repair;
use crate::records::extractors::ExtractorStore;
use crate::records::install::Installation;
use crate::records::readiness::{StoreReadiness, StoreState};

/// Timeout of one attempt to open the stores.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(60);

/// The first backoff, which doubles with each attempt.
const INITIAL_BACKOFF: Duration = Duration::from_millis(500);

/// The maximum backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(15);

/// Opens the stores.
pub struct Startup {
    installation: Arc<Installation>,
    extractors: Arc<ExtractorStore>,
    listing: Arc<Listing>,
    readiness: Arc<StoreReadiness>,
    jobs: Arc<JobStore>,
    reindexer: Arc<Reindexer>,
}

impl Startup {
    pub(super) fn new(catalog: &Catalog, jobs: Arc<JobStore>, reindexer: Arc<Reindexer>) -> Self {
        Self {
            installation: catalog.installation.clone(),
            extractors: catalog.extractors.clone(),
            listing: catalog.listing.clone(),
            readiness: catalog.readiness.clone(),
            jobs,
            reindexer,
        }
    }

    /// Opens the stores, retrying until it succeeds. Returns false on a permanent error. An empty
    /// index is rebuilt before the stores count as open.
    pub(super) async fn open(&self, repair: Repair) -> bool {
        let mut backoff = INITIAL_BACKOFF;
        loop {
            let reason = match self.attempt(repair).await {
                Ok(()) => {
                    self.readiness.set(StoreState::Ready);
                    return true;
                }
                Err(error) if is_transient(&error) => error.labelled(),
                Err(error) => {
                    self.readiness.set(StoreState::Rejected(error.to_string()));
                    return false;
                }
            };
            tracing::warn!(error = %reason, "the stores do not answer; retrying");
            self.readiness.set(StoreState::Retrying(reason));
            tokio::time::sleep(backoff).await;
            backoff = (backoff * 2).min(MAX_BACKOFF);
        }
    }

    async fn attempt(&self, repair: Repair) -> Result<()> {
        let timeout_error = |_| {
            let message =
                format!("the stores did not answer within {} s", ATTEMPT_TIMEOUT.as_secs());
            PortError::new(ErrorKind::Timeout, message)
        };
        tokio::time::timeout(ATTEMPT_TIMEOUT, self.adopt_stores())
            .await
            .map_err(timeout_error)??;
        self.listing.rebuild().await?;
        if self.reindexer.is_empty().await? {
            self.reindexer.reindex(repair).await?.log();
        }
        self.reindexer.reindex(Repair { unfinished: true, ..repair }).await?.log();
        Ok(())
    }

    /// Registers this install as the owner of the index and the queue if they have no owner.
    /// Returns `Invalid` if another install owns one of them, and `NotFound` if a bucket does not
    /// exist.
    pub async fn adopt_stores(&self) -> Result<()> {
        self.installation.probe().await?;
        self.installation.adopt_index().await?;
        self.extractors.load().await?;
        self.jobs.adopt_queue(&self.installation.id().await?).await
    }
}

/// Whether a retry may succeed.
fn is_transient(error: &Error) -> bool {
    use ErrorKind::{Corrupt, Denied, Invalid, NotFound, TooLarge};
    match error {
        Error::Busy { .. } => true,
        Error::Port(error) => {
            !matches!(error.kind(), Corrupt | Denied | Invalid | NotFound | TooLarge)
        }
        _ => false,
    }
}
