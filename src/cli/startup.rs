//! Opens the stores while the service already answers requests. Retries with exponential backoff
//! while the stores are unreachable, and gives up on permanent errors.

use std::sync::Arc;
use std::time::Duration;

use ports::{ErrorKind, PortError};

use domain::records::readiness::StoreState;
use domain::search::reindex::{ReindexReport, Repair};
use domain::{Error, Shotlog};

/// Maximum time that the listener waits for the first attempt to open the stores.
pub(super) const STARTUP_WAIT: Duration = Duration::from_secs(5);

/// Timeout of one attempt to open the stores.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(60);

/// The first backoff, which doubles with each attempt.
const INITIAL_BACKOFF: Duration = Duration::from_millis(500);

/// The maximum backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(15);

/// Opens the stores, retrying until it succeeds. Returns false on a permanent error. An empty index
/// is rebuilt before the stores count as open.
pub(super) async fn open(service: Arc<Shotlog>, repair: Repair) -> bool {
    let readiness = &service.catalog.readiness;
    let mut backoff = INITIAL_BACKOFF;
    loop {
        let reason = match attempt(&service, repair).await {
            Ok(()) => {
                readiness.set(StoreState::Ready);
                return true;
            }
            Err(error) if is_transient(&error) => error.labelled(),
            Err(error) => {
                readiness.set(StoreState::Rejected(error.to_string()));
                return false;
            }
        };
        tracing::warn!(error = %reason, "the stores do not answer; retrying");
        readiness.set(StoreState::Retrying(reason));
        tokio::time::sleep(backoff).await;
        backoff = (backoff * 2).min(MAX_BACKOFF);
    }
}

async fn attempt(service: &Shotlog, repair: Repair) -> Result<(), Error> {
    let timeout_error = |_| {
        let message = format!("the stores did not answer within {} s", ATTEMPT_TIMEOUT.as_secs());
        PortError::new(ErrorKind::Timeout, message)
    };
    tokio::time::timeout(ATTEMPT_TIMEOUT, service.adopt_stores())
        .await
        .map_err(timeout_error)??;
    service.catalog.listing.rebuild().await?;
    if service.search.is_empty().await? {
        log_repair(&service.search.reindex(repair).await?);
    }
    log_repair(&service.search.reindex(Repair { unfinished: true, ..repair }).await?);
    Ok(())
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

/// Logs what a repair of the index changed, if anything.
pub(super) fn log_repair(repaired: &ReindexReport) {
    if repaired.rebuilt + repaired.orphans > 0 {
        tracing::warn!(
            rebuilt = repaired.rebuilt,
            orphans = repaired.orphans,
            "the index disagreed with the records and was repaired"
        );
    }
}
