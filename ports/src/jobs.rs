//! The job queue: waiting, running and finished jobs, shared by every instance that works on them.

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::Value;

use crate::Result;

/// A job and its document.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredJob {
    /// The id that `/jobs` and callbacks use.
    pub job_id: String,
    /// The job's state, opaque to the queue. `Null` if the stored bytes are not JSON.
    pub document: Value,
    /// Increases whenever the document changes.
    pub version: u64,
}

/// A queue of jobs, each with a JSON document. A job id consists of 1 to 64 letters, digits and
/// `-`.
///
/// One instance at a time works on a job; if that instance dies, the queue delivers the job again.
/// The document stays until it is removed.
///
/// ```
/// use adapters::jobs::MemoryJobs;
/// use serde_json::json;
/// use shotlog_ports::jobs::JobQueue;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let jobs = MemoryJobs::new();
/// jobs.add("job-1", &json!({ "status": "queued" })).await?;
///
/// let lease = jobs.take().await?;
/// let job = jobs.get(lease.job_id()).await?.expect("the job is stored");
/// jobs.compare_and_swap("job-1", job.version, &json!({ "status": "done" })).await?;
/// lease.ack().await?;
/// assert_eq!(jobs.waiting_count().await?, 0);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait JobQueue: Send + Sync {
    /// Whether jobs outlive this process and other instances may work on them.
    fn shared(&self) -> bool;

    /// Stores a job and appends it to the queue. If a job with this id exists, changes nothing and
    /// returns that job. MUST be atomic: if several calls, in any process, use the same id, exactly
    /// one adds the job. A failed call may have added the job, but never leaves a job that is
    /// stored and not queued. Returns `TooLarge` if the document exceeds the queue's limit or
    /// leaves too little room to grow.
    async fn add(&self, job_id: &str, document: &Value) -> Result<Option<StoredJob>>;

    /// Returns the number of jobs waiting in the queue.
    async fn waiting_count(&self) -> Result<usize>;

    /// Waits for a job that no instance is working on and leases the one that has waited longest.
    /// If the call is dropped just as it leases a job, the queue delivers that job again, possibly
    /// after a delay.
    async fn take(&self) -> Result<Box<dyn Lease>>;

    /// Reads the job with this id; returns `None` if there is none.
    async fn get(&self, job_id: &str) -> Result<Option<StoredJob>>;

    /// Reads every job, in no particular order.
    async fn list(&self) -> Result<Vec<StoredJob>>;

    /// Replaces the document and returns the new version if the job still has this `version`;
    /// otherwise changes nothing and returns `None`. MUST be atomic: if several calls, in any
    /// process, expect the same version, exactly one succeeds.
    async fn compare_and_swap(
        &self,
        job_id: &str,
        version: u64,
        document: &Value,
    ) -> Result<Option<u64>>;

    /// Returns a stream that yields the job at once and after each change; changes in quick
    /// succession may be merged. The stream is empty if the job does not exist, and need not end
    /// when the job is removed.
    async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Result<StoredJob>>>;

    /// Removes a waiting job from the queue, but keeps its document, and returns whether it did so:
    /// `false` if the job is not waiting, or if the queue cannot be certain that it is.
    async fn withdraw(&self, job_id: &str) -> Result<bool>;

    /// Removes the document of a finished job if it still has this `version`.
    async fn remove(&self, job_id: &str, version: u64) -> Result<()>;

    /// Records an installation as the owner of the jobs unless one is recorded, and returns the
    /// owner. If no other installation can reach the queue, the caller is the owner.
    async fn adopt(&self, install: &str) -> Result<String> {
        Ok(install.to_owned())
    }

    /// Checks that jobs can be stored and taken, and fails otherwise.
    async fn probe(&self) -> Result<()>;
}

/// The exclusive right to work on a job for as long as this value and its process live. Dropping it
/// without [`ack`](Self::ack) or [`nack`](Self::nack) counts as a crash of its holder: the queue
/// delivers the job again.
#[async_trait]
pub trait Lease: Send + Sync {
    /// Returns the job's id.
    fn job_id(&self) -> &str;

    /// Returns how many times the queue has delivered the job, including this time.
    fn delivery_count(&self) -> u32;

    /// Completes the job: the queue does not deliver it again.
    async fn ack(self: Box<Self>) -> Result<()>;

    /// Gives the job back: the queue delivers it again at once.
    async fn nack(self: Box<Self>) -> Result<()>;
}
