//! Jobs: what runs, waits and has run. The queue keeps them; any instance that shares it may work on
//! any of them, and takes over those of an instance that died.

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

use crate::domain::kernel::progress::Stage;

use crate::domain::aggregation::run::AggregatesResult;
use crate::domain::alerts::AlertsResult;
use crate::domain::catalog::collections::CollectionResult;
use crate::domain::evaluation::run::Evaluated;
use crate::domain::ingest::IngestResult;
pub(crate) use record::{Idempotency, JobRecord, Task};
pub use store::Jobs;
pub(crate) use store::{JobUseCases, Submitted};

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Accepted, waiting for a worker.
    Queued,
    /// A worker is on it.
    Running,
    /// Finished; `result` is set.
    Done,
    /// Ended by an error; `error` is set.
    Failed,
}

impl JobStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Running, Self::Done, Self::Failed];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// No change comes after it.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// What a finished job yields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobResult {
    /// Of an ingest.
    Ingest(Box<IngestResult>),
    /// Of an aggregate re-run.
    Aggregates(Box<AggregatesResult>),
    /// Of telling alerts of a video.
    Alerts(AlertsResult),
    /// Of a change of a collection.
    Collection(CollectionResult),
    /// Of a run of an evaluation.
    Evaluation(Evaluated),
}

/// A job as clients see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What `/jobs` and callbacks call it.
    pub job_id: String,
    /// What it works on, for people to read: a file's name, a URL, or the name of a collection, an alert
    /// or an evaluation.
    pub source: String,
    /// Whether it waits, runs, is done or has failed.
    pub status: JobStatus,
    /// The step that it is in.
    pub stage: Stage,
    /// What the stage is about.
    pub detail: Map<String, Value>,
    /// Set when done.
    pub result: Option<JobResult>,
    /// `TypeName: message`, set when failed.
    pub error: Option<String>,
    /// ISO 8601, second precision, UTC.
    pub created_at: String,
    /// ISO 8601, second precision, UTC.
    pub updated_at: String,
}

/// How long jobs are remembered and tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobSettings {
    /// Finished jobs that are remembered.
    pub history: usize,
    /// Times that a job may end with the instance that works on it before it is given up, and that
    /// one which does not read back is taken before it is set aside (nats).
    pub attempts: u32,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self { history: 1000, attempts: 3 }
    }
}
