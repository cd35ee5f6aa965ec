//! Whether the stores of this instance have answered and been found to belong together. Until then
//! reads go on as far as they can, and nothing is changed.

use std::time::Duration;

use tokio::sync::watch;

use crate::domain::kernel::error::{Error, Result};

/// Seconds after which a client may try again to change something.
const RETRY_AFTER: u32 = 5;

/// How far the opening of the stores has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// The first attempt is under way.
    Trying,
    /// A store does not answer, for the reason that is given; it is asked again.
    Waiting(String),
    /// They answer and belong together.
    Open,
    /// They never will without somebody's doing, for the reason that is given.
    Refused(String),
}

/// How far the opening of the stores has come, for everybody who depends on it. Open from the
/// beginning, unless somebody says that it opens them.
pub struct Opening(watch::Sender<Opened>);

impl Default for Opening {
    fn default() -> Self {
        Self(watch::Sender::new(Opened::Open))
    }
}

impl Opening {
    /// Enters how far it has come.
    pub fn enter(&self, opened: Opened) {
        self.0.send_replace(opened);
    }

    /// How far it has come.
    pub fn now(&self) -> Opened {
        self.0.borrow().clone()
    }

    /// `Busy` unless the stores are open.
    pub(crate) fn check(&self) -> Result<()> {
        match self.now() {
            Opened::Open => Ok(()),
            Opened::Trying | Opened::Waiting(_) | Opened::Refused(_) => Err(Error::Busy {
                message:
                    "the stores do not answer yet, so that nothing is changed; try again later"
                        .into(),
                retry_after: RETRY_AFTER,
            }),
        }
    }

    /// Waits for the end of the first attempt, at most so long.
    pub async fn attempted(&self, patience: Duration) {
        let mut changes = self.0.subscribe();
        let ended = changes.wait_for(|opened| *opened != Opened::Trying);
        // Late or not, what is known then counts.
        let _ = tokio::time::timeout(patience, ended).await;
    }

    /// Waits until the stores are refused, and says why.
    pub async fn refused(&self) -> String {
        let mut changes = self.0.subscribe();
        loop {
            if let Opened::Refused(why) = &*changes.borrow_and_update() {
                return why.clone();
            }
            if changes.changed().await.is_err() {
                // Nobody enters anything any more.
                return std::future::pending().await;
            }
        }
    }
}
