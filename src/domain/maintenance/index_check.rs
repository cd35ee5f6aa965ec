//! The index check: finds damage in what the index stores, and rebuilds a damaged index.

use std::sync::Arc;
use std::time::Duration;

use ports::ErrorKind;
use ports::index::Index;
use tokio::time::Instant;

use crate::indexing::health::IndexHealth;
use crate::kernel::error::Result;
use crate::maintenance::reindex::Reindexer;
use crate::maintenance::repair::{Repair, RepairReport};

/// How often the index is polled for damage that a write has found.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);

/// Checks the index for damage, and rebuilds it.
pub struct IndexCheck {
    pub(super) index: Arc<dyn Index>,
    pub(super) health: Arc<IndexHealth>,
    pub(super) reindexer: Arc<Reindexer>,
}

impl IndexCheck {
    /// Verifies everything that the index stores, and rewrites every point if the index is damaged
    /// or an earlier rewrite failed. Returns `None` if no rewrite was needed.
    pub async fn repair_index(&self) -> Result<Option<RepairReport>> {
        match self.index.check().await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                tracing::error!(%error, "the index is damaged; every point is written again");
                self.health.set_rebuilding(true);
                self.index.reset().await?;
            }
            checked => checked?,
        }
        if !self.health.is_rebuilding() {
            return Ok(None);
        }
        let done = self.reindexer.reindex(Repair { all: true, ..Repair::default() }).await?;
        self.health.set_rebuilding(false);
        Ok(Some(done))
    }

    /// Waits until the index has to be checked. The wait ends when a search or a write has found
    /// damage, when a rebuild is pending, or at the time `due`.
    pub async fn wait_until_due(&self, due: Option<Instant>) {
        loop {
            let reported =
                tokio::time::timeout(PROBE_INTERVAL, self.health.damage_reported()).await;
            let is_due = due.is_some_and(|due| Instant::now() >= due);
            if reported.is_ok() || is_due || self.health.is_rebuilding() {
                return;
            }
            if matches!(self.index.probe().await, Err(e) if e.kind() == ErrorKind::Corrupt) {
                return;
            }
        }
    }
}
