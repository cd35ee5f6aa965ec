//! Jobs that wait, are worked on and have ended, kept for every instance that works on them.

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::Value;

use crate::Result;

/// A job as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredJob {
    /// What `/jobs` and callbacks call it.
    pub job_id: String,
    /// What is known of it; the queue does not look into it. `Null` where what is kept is no JSON.
    pub document: Value,
    /// Changes with every change of the document.
    pub version: u64,
}

/// A queue of jobs, and the document of each. Job ids are 1 to 64 letters, digits and `-`. A job is
/// worked on by one instance at a time and offered again when that one dies; its document stays
/// until it is removed.
#[async_trait]
pub trait JobQueue: Send + Sync {
    /// Whether the jobs outlive this process, and other instances may work on them.
    fn shared(&self) -> bool;

    /// Keeps a job and puts it at the end of the queue; or, where one of that id is kept, changes
    /// nothing and returns that one. MUST be atomic: of several calls with one id, in whatever
    /// process, one adds. A call that fails may leave the job added, but never kept and not queued.
    /// `TooLarge` when the queue takes no such document, or could not take it grown.
    async fn add(&self, job_id: &str, document: &Value) -> Result<Option<StoredJob>>;

    /// How many jobs wait for somebody to take them.
    async fn waiting(&self) -> Result<usize>;

    /// Waits for a job that nobody works on, and takes the one that has waited longest. A job that a
    /// dropped call was about to take is offered again, if only after a while.
    async fn take(&self) -> Result<Box<dyn Lease>>;

    /// One job, or `None` where it is not kept.
    async fn get(&self, job_id: &str) -> Result<Option<StoredJob>>;

    /// Every job, in no order.
    async fn list(&self) -> Result<Vec<StoredJob>>;

    /// Replaces the document if the job is still kept in `version`, and returns the new version.
    /// MUST be atomic: of several swaps of one version, in whatever process, one does it.
    async fn compare_and_swap(
        &self,
        job_id: &str,
        version: u64,
        document: &Value,
    ) -> Result<Option<u64>>;

    /// The job as it is and after each change; changes in quick succession may appear as one. Never
    /// yields where the job is not kept, and may not end when it is removed.
    async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Result<StoredJob>>>;

    /// Takes a job out of the queue, so that nobody takes it, and says whether it did; its document
    /// stays. False where the job is not waiting, and where the queue cannot be sure of that.
    async fn withdraw(&self, job_id: &str) -> Result<bool>;

    /// Removes the document of a job that is done with, if it is still kept in `version`.
    async fn remove(&self, job_id: &str, version: u64) -> Result<()>;

    /// Enters an install as the owner of the jobs where none is entered yet, and returns the one
    /// that is. A queue that no other install can reach belongs to whoever asks.
    async fn adopt(&self, install: &str) -> Result<String> {
        Ok(install.to_owned())
    }

    /// Fails unless jobs can be kept and taken.
    async fn probe(&self) -> Result<()>;
}

/// The right to work on a job. As long as it lives and its process does, nobody else takes the job;
/// dropped without a word, it counts as the death of its holder: the job is offered again.
#[async_trait]
pub trait Lease: Send + Sync {
    /// The job's id.
    fn job_id(&self) -> &str;

    /// How often the job has been offered, this time included.
    fn offers(&self) -> u32;

    /// Nothing is left to do: the job is not offered again.
    async fn ack(self: Box<Self>) -> Result<()>;

    /// The job is offered again, at once.
    async fn nack(self: Box<Self>) -> Result<()>;
}
