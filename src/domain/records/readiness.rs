//! Tracks whether the stores are ready, that is, whether they answer and belong to the same
//! install. Until they are ready, the instance serves reads as far as possible and changes nothing.

use std::time::Duration;

use tokio::sync::watch;

use crate::kernel::error::{Error, Result};

/// `Retry-After` for rejected changes, in seconds.
const RETRY_AFTER: u32 = 5;

/// The progress of opening the stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreState {
    /// The first attempt is in progress.
    Connecting,
    /// A store does not answer, for the given reason. The instance keeps trying.
    Retrying(String),
    /// The stores answer and belong together.
    Ready,
    /// Opening the stores failed permanently, for the given reason. An operator must intervene.
    Rejected(String),
}

/// The shared state of the stores. It is `Ready` until [`Self::set`] is called.
pub struct StoreReadiness(watch::Sender<StoreState>);

impl Default for StoreReadiness {
    fn default() -> Self {
        Self(watch::Sender::new(StoreState::Ready))
    }
}

impl StoreReadiness {
    /// Sets the state.
    pub fn set(&self, state: StoreState) {
        self.0.send_replace(state);
    }

    /// Returns the current state.
    pub fn state(&self) -> StoreState {
        self.0.borrow().clone()
    }

    /// Checks that the stores are ready and returns `Busy` if not.
    pub(crate) fn check(&self) -> Result<()> {
        match self.state() {
            StoreState::Ready => Ok(()),
            StoreState::Connecting | StoreState::Retrying(_) | StoreState::Rejected(_) => {
                Err(Error::Busy {
                    message:
                        "the stores do not answer yet, so that nothing is changed; try again later"
                            .into(),
                    retry_after: RETRY_AFTER,
                })
            }
        }
    }

    /// Waits until the first attempt to open the stores has ended, but no longer than `timeout`.
    pub async fn first_attempt(&self, timeout: Duration) {
        let mut changes = self.0.subscribe();
        let ended = changes.wait_for(|state| *state != StoreState::Connecting);
        // On a timeout, the caller uses the state as it is then.
        let _ = tokio::time::timeout(timeout, ended).await;
    }

    /// Waits until opening the stores has failed permanently, and returns the reason.
    pub async fn rejected(&self) -> String {
        let mut changes = self.0.subscribe();
        loop {
            if let StoreState::Rejected(reason) = &*changes.borrow_and_update() {
                return reason.clone();
            }
            if changes.changed().await.is_err() {
                // The sender is gone, so the state cannot change anymore.
                return std::future::pending().await;
            }
        }
    }
}
