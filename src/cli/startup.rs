//! What `serve` does beside its requests until the stores are open: asks them again with growing
//! pauses while they do not answer, and gives up where no waiting helps.

use std::sync::Arc;
use std::time::Duration;

use ports::{ErrorKind, PortError};

use super::serve::tell;
use crate::domain::catalog::opening::Opened;
use crate::domain::search::reindex::Repair;
use crate::domain::{Error, Shotlog};

/// The listener opens after so long, however far the first attempt has come.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Stores that have not answered within this do not answer.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(60);

/// The first pause; each is twice as long as the one before, ...
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// ... up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Opens the stores, however long that takes. False where they are refused. An index that has lost
/// everything is filled before.
pub(super) async fn open(service: Arc<Shotlog>, repair: Repair) -> bool {
    let opening = &service.catalog.opening;
    let mut pause = FIRST_PAUSE;
    loop {
        let why = match attempt(&service, repair).await {
            Ok(()) => {
                opening.enter(Opened::Open);
                return true;
            }
            Err(error) if passes(&error) => error.labelled(),
            Err(error) => {
                opening.enter(Opened::Refused(error.to_string()));
                return false;
            }
        };
        tracing::warn!(error = %why, "the stores do not answer and are waited for");
        opening.enter(Opened::Waiting(why));
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn attempt(service: &Shotlog, repair: Repair) -> Result<(), Error> {
    let late = |_| {
        let message = format!("the stores did not answer within {} s", LONGEST_ATTEMPT.as_secs());
        PortError::new(ErrorKind::Timeout, message)
    };
    tokio::time::timeout(LONGEST_ATTEMPT, service.own_stores()).await.map_err(late)??;
    service.catalog.list_all().await?;
    if service.search.is_empty().await? {
        tell(&service.search.reindex(repair).await?);
    }
    tell(&service.search.reindex(Repair { unfinished: true, ..repair }).await?);
    Ok(())
}

/// Whether waiting may help.
fn passes(error: &Error) -> bool {
    use ErrorKind::{Corrupt, Denied, Invalid, NotFound, TooLarge};
    match error {
        Error::Busy { .. } => true,
        Error::Port(error) => {
            !matches!(error.kind(), Corrupt | Denied | Invalid | NotFound | TooLarge)
        }
        _ => false,
    }
}
