//! The owner of stored data that several installations may be able to reach.

use async_trait::async_trait;

use crate::Result;

/// A store that belongs to one installation.
#[async_trait]
pub trait StoreOwnership: Send + Sync {
    /// Whether other instances may read and change the same data.
    fn shared(&self) -> bool;

    /// Returns the installation that owns the data. If no owner is recorded, records `install` as
    /// the owner. If no other installation can reach the data, the caller is the owner.
    async fn adopt(&self, install: &str) -> Result<String>;
}
