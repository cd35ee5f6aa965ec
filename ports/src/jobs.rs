//! The job queue: waiting, running and finished jobs, shared by every instance that works on them.

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::Value;

use crate::Result;
use crate::ownership::StoreOwnership;

/// A job and its document.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredJob {
    /// The id that `/jobs` and callbacks use.
    pub job_id: String,
    /// The state of the job, which the queue does not interpret. `Null` if the stored bytes are not
    /// JSON.
    pub document: Value,
    /// Increases whenever the document changes.
    pub version: u64,
}

/// Which workers take a job. Jobs of one lane do not wait for those of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLane {
    /// Jobs that users request, such as ingests, in the order of the requests.
    Main,
    /// Short jobs that follow from a finished one, such as the alerts of a new video.
    FollowUp,
}

/// A queue of jobs, each with a JSON document. A job id consists of 1 to 64 letters, digits and
/// `-`.
///
/// Only one instance at a time works on a job. If that instance dies, the queue delivers the job
/// again. A job's document stays until it is removed. The jobs of a shared queue outlive this
/// process.
///
/// ```
/// use adapters::jobs::MemoryJobs;
/// use serde_json::json;
/// use shotlog_ports::jobs::{JobQueue, QueueLane};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let jobs = MemoryJobs::new();
/// jobs.add(QueueLane::Main, "job-1", &json!({ "status": "queued" })).await?;
///
/// let lease = jobs.take(QueueLane::Main).await?;
/// let job = jobs.get(lease.job_id()).await?.expect("the job is stored");
/// jobs.compare_and_swap("job-1", job.version, &json!({ "status": "done" })).await?;
/// lease.ack().await?;
/// assert_eq!(jobs.waiting_count().await?, 0);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait JobQueue: StoreOwnership {
    /// Stores a job and appends it to a lane of the queue. If a job with this id exists, changes
    /// nothing and returns the existing job. MUST be atomic: if several calls, in any process, use
    /// the same id, exactly one adds the job. A failed call may have added the job, but never leaves
    /// a job that is stored but not queued. Returns `TooLarge` if the document exceeds the queue's
    /// limit or leaves too little room to grow.
    async fn add(
        &self,
        lane: QueueLane,
        job_id: &str,
        document: &Value,
    ) -> Result<Option<StoredJob>>;

    /// Returns the number of jobs waiting in both lanes.
    async fn waiting_count(&self) -> Result<usize>;

    /// Waits for a job of a lane that no instance is working on and leases the one that has waited
    /// longest. If the caller drops the call just as it leases a job, the queue delivers that job
    /// again, possibly after a delay.
    async fn take(&self, lane: QueueLane) -> Result<Box<dyn Lease>>;

    /// Reads the job with this id; returns `None` if there is no such job.
    async fn get(&self, job_id: &str) -> Result<Option<StoredJob>>;

    /// Reads every job, in no particular order.
    async fn list(&self) -> Result<Vec<StoredJob>>;

    /// If the job still has this `version`, replaces its document and returns the new version.
    /// Otherwise changes nothing and returns `None`. MUST be atomic: if several calls, in any
    /// process, expect the same version, exactly one succeeds.
    async fn compare_and_swap(
        &self,
        job_id: &str,
        version: u64,
        document: &Value,
    ) -> Result<Option<u64>>;

    /// Returns a stream that yields the job at once and again after each change. Changes in quick
    /// succession may be merged. The stream is empty if the job does not exist, and need not end
    /// when the job is removed.
    async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Result<StoredJob>>>;

    /// Removes a waiting job from the queue, keeps its document and returns `true`. Returns `false`
    /// if the job is not waiting, or if the queue cannot be certain that it is.
    async fn withdraw(&self, job_id: &str) -> Result<bool>;

    /// Removes the document of a finished job if it still has this `version`.
    async fn remove(&self, job_id: &str, version: u64) -> Result<()>;

    /// Checks that jobs can be stored and taken, and fails otherwise.
    async fn probe(&self) -> Result<()>;
}

/// The exclusive right to work on a job for as long as this value and its process live. If it is
/// dropped without [`ack`](Self::ack) or [`nack`](Self::nack), the queue assumes that its holder
/// has crashed and delivers the job again.
#[async_trait]
pub trait Lease: Send + Sync {
    /// Returns the job's id.
    fn job_id(&self) -> &str;

    /// Returns how many times the queue has delivered the job, including this time.
    fn delivery_count(&self) -> u32;

    /// Completes the job, so that the queue does not deliver it again.
    async fn ack(self: Box<Self>) -> Result<()>;

    /// Gives the job back, so that the queue delivers it again at once.
    async fn nack(self: Box<Self>) -> Result<()>;
}
