//! A queue on a server. It connects on first use.

use async_trait::async_trait;
use futures::stream::BoxStream;
use ports::Result;
use ports::jobs::{JobQueue, Lease, QueueLane, StoredJob};
use serde_json::Value;

use super::NatsJobs;
use crate::lazy::Lazy;

#[async_trait]
impl JobQueue for Lazy<NatsJobs> {
    async fn add(
        &self,
        lane: QueueLane,
        job_id: &str,
        document: &Value,
    ) -> Result<Option<StoredJob>> {
        self.get().await?.add(lane, job_id, document).await
    }

    async fn waiting_count(&self) -> Result<usize> {
        self.get().await?.waiting_count().await
    }

    async fn take(&self, lane: QueueLane) -> Result<Box<dyn Lease>> {
        self.get().await?.take(lane).await
    }

    async fn get(&self, job_id: &str) -> Result<Option<StoredJob>> {
        self.get().await?.get(job_id).await
    }

    async fn list(&self) -> Result<Vec<StoredJob>> {
        self.get().await?.list().await
    }

    async fn compare_and_swap(
        &self,
        job_id: &str,
        version: u64,
        document: &Value,
    ) -> Result<Option<u64>> {
        self.get().await?.compare_and_swap(job_id, version, document).await
    }

    async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Result<StoredJob>>> {
        self.get().await?.watch(job_id).await
    }

    async fn withdraw(&self, job_id: &str) -> Result<bool> {
        self.get().await?.withdraw(job_id).await
    }

    async fn remove(&self, job_id: &str, version: u64) -> Result<()> {
        self.get().await?.remove(job_id, version).await
    }

    async fn probe(&self) -> Result<()> {
        self.get().await?.probe().await
    }
}
