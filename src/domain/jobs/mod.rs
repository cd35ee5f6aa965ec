//! Jobs: queued, running and finished work. Instances that share the queue may run any of its jobs,
//! and take over jobs from dead instances.

mod alerts;
mod collections;
mod corrections;
mod pending;
mod progress;
mod record;
mod store;
mod submit;
mod worker;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::kernel::progress::Stage;

use crate::aggregation::run::AggregatesResult;
use crate::alerts::AlertsResult;
use crate::evaluation::run::RunReference;
use crate::ingest::IngestResult;
use crate::library::collections::CollectionResult;
pub(crate) use record::{Idempotency, JobRecord, JobTask};
pub use store::Jobs;
pub(crate) use store::{JobUseCases, Submission};

/// The status of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Accepted, waiting for a worker.
    Queued,
    /// A worker is running the job.
    Running,
    /// Finished; `result` is set.
    Done,
    /// Ended with an error; `error` is set.
    Failed,
}

impl JobStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Running, Self::Done, Self::Failed];

    /// Returns the status's name in API responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Whether the job has ended.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// The result of a finished job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobResult {
    /// The result of an ingest.
    Ingest(Box<IngestResult>),
    /// The result of rerunning aggregators.
    Aggregates(Box<AggregatesResult>),
    /// The result of matching a video against alerts.
    Alerts(AlertsResult),
    /// The result of a change to a collection.
    Collection(CollectionResult),
    /// The result of running an evaluation.
    Evaluation(RunReference),
}

/// A job as clients see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The job's id in `/jobs` and callbacks.
    pub job_id: String,
    /// Human-readable source: a file name, a URL, or the name of a collection, an alert or an
    /// evaluation.
    pub source: String,
    /// The status.
    pub status: JobStatus,
    /// The current stage.
    pub stage: Stage,
    /// Details of the current stage.
    pub detail: Map<String, Value>,
    /// The result; set if the job is done.
    pub result: Option<JobResult>,
    /// The error, as `TypeName: message`; set if the job failed.
    pub error: Option<String>,
    /// When the job was created, in ISO 8601 (UTC), to the second.
    pub created_at: String,
    /// When the job last changed, in ISO 8601 (UTC), to the second.
    pub updated_at: String,
}

/// How many finished jobs to keep, and how many times to attempt a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobSettings {
    /// Number of finished jobs to keep.
    pub history: usize,
    /// Maximum number of attempts to run a job if the instance that runs it dies. With the NATS
    /// queue, this is also the number of attempts to read an unreadable job before it is set aside.
    pub attempts: u32,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self { history: 1000, attempts: 3 }
    }
}
