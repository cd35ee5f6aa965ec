//! Whether the index can be searched: searches report damage here, and the index check waits for
//! these reports and says when the points of a damaged index are being rebuilt.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use crate::kernel::error::{Error, Result};

/// `Retry-After` in the response to a search on a damaged index, in seconds.
const RETRY_AFTER_SECONDS: u32 = 5;

/// Whether the index is damaged or being rebuilt.
#[derive(Debug, Default)]
pub struct IndexHealth {
    /// Notified when a search finds the index damaged.
    damage: Notify,
    /// Whether the points of a damaged index are being rebuilt.
    rebuilding: AtomicBool,
}

impl IndexHealth {
    /// Returns `Busy` while the points of a damaged index are being rebuilt.
    pub fn ensure_ready(&self) -> Result<()> {
        if self.is_rebuilding() { Err(rebuilding()) } else { Ok(()) }
    }

    /// Whether the points of a damaged index are being rebuilt.
    pub fn is_rebuilding(&self) -> bool {
        self.rebuilding.load(Ordering::Acquire)
    }

    /// Sets whether the points of a damaged index are being rebuilt.
    pub(crate) fn set_rebuilding(&self, rebuilding: bool) {
        self.rebuilding.store(rebuilding, Ordering::Release);
    }

    /// Converts an error that means index damage to `Busy` and triggers a check of the index.
    /// Returns any other error unchanged.
    pub(crate) fn report_damage(&self, error: Error) -> Error {
        if !error.is_corrupt() {
            return error;
        }
        tracing::error!(%error, "a search has met damage in the index, which is checked");
        self.damage.notify_one();
        rebuilding()
    }

    /// Waits until a search reports damage.
    pub(crate) async fn damage_reported(&self) {
        self.damage.notified().await;
    }
}

fn rebuilding() -> Error {
    Error::Busy {
        message:
            "the search index is damaged and is being rebuilt from the records; try again shortly"
                .into(),
        retry_after: RETRY_AFTER_SECONDS,
    }
}
