//! Jobs: queued, running and finished work. Instances that share the queue may run any of its jobs,
//! and take over jobs from dead instances.

mod alerts;
mod collections;
mod corrections;
mod deletion;
mod finish;
mod pending;
mod progress;
mod record;
mod store;
mod submit;
mod tasks;
mod worker;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::aggregation::run::AggregatesResult;
use crate::alerts::{Alerts, AlertsResult};
use crate::catalog::Catalog;
use crate::corrections::Corrections;
use crate::evaluation::Evaluations;
use crate::evaluation::run::RunReference;
use crate::frames::Frames;
use crate::ingest::{Ingest, IngestResult, IngestSettings, Sources, VideoAggregation};
use crate::kernel::ports::Stores;
use crate::kernel::progress::Stage;
use crate::kernel::webhook::CallbackSettings;
use crate::library::collections::CollectionResult;
use crate::library::metadata_editor::MetadataEditor;
use collections::CollectionChanges;
use deletion::VideoDeleter;
use finish::Finisher;
pub(crate) use record::{Idempotency, JobRecord, JobTask};
pub use store::JobStore;
pub use submit::Submission;
use tasks::TaskRunner;
pub use worker::Worker;

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

/// The use-cases over the queue of jobs.
pub struct Jobs {
    /// Reads and watches jobs.
    pub store: Arc<JobStore>,
    /// Queues jobs.
    pub submission: Arc<Submission>,
    /// Runs jobs on this instance.
    pub worker: Arc<Worker>,
    /// Cancels jobs.
    pub(crate) finisher: Arc<Finisher>,
    /// Deletes videos and cancels their ingests.
    pub(crate) deleter: Arc<VideoDeleter>,
}

/// The use-cases that jobs run.
#[derive(Clone)]
pub(crate) struct JobUseCases {
    pub(crate) metadata: Arc<MetadataEditor>,
    pub(crate) sources: Arc<Sources>,
    pub(crate) ingest: Arc<Ingest>,
    pub(crate) corrections: Arc<Corrections>,
    pub(crate) aggregation: Arc<VideoAggregation>,
    pub(crate) frames: Arc<Frames>,
    pub(crate) evaluations: Arc<Evaluations>,
    pub(crate) alerts: Arc<Alerts>,
}

impl Jobs {
    /// Builds the use-cases on these stores. `limits` bounds the running and waiting jobs.
    pub(crate) fn new(
        stores: &Stores,
        catalog: &Catalog,
        use_cases: JobUseCases,
        settings: JobSettings,
        limits: &IngestSettings,
        callbacks: CallbackSettings,
    ) -> Self {
        let JobUseCases {
            metadata,
            sources,
            ingest,
            corrections,
            aggregation,
            frames,
            evaluations,
            alerts,
        } = use_cases;
        let store = Arc::new(JobStore::new(stores, catalog, limits.queue, settings.history));
        let submission = Arc::new(Submission {
            store: store.clone(),
            ingest: ingest.clone(),
            sources: sources.clone(),
            metadata,
            corrections,
            aggregation: aggregation.clone(),
            evaluations: evaluations.clone(),
            alerts: alerts.clone(),
            aggregators: catalog.aggregators.clone(),
            records: catalog.records.clone(),
            listing: catalog.listing.clone(),
            publisher: catalog.publisher.clone(),
            storage: stores.storage.clone(),
            webhooks: stores.webhooks.clone(),
            callbacks,
        });
        let (ended, submitted) = (store.clone(), submission.clone());
        let finisher = Finisher { store: ended, submission: submitted, sources };
        let finisher = Arc::new(finisher);
        let deleter = VideoDeleter::new(catalog, finisher.clone(), frames, alerts.clone());
        let deleter = Arc::new(deleter);
        let collections = CollectionChanges::new(catalog, deleter.clone());
        let submitting = submission.clone();
        let tasks = TaskRunner {
            ingest,
            aggregation,
            alerts,
            evaluations,
            collections,
            submission: submitting,
        };
        let (workers, attempts) = (limits.workers, settings.attempts);
        let worker = Worker::new(store.clone(), tasks, finisher.clone(), workers, attempts);
        Self { store, submission, worker: Arc::new(worker), finisher, deleter }
    }
}
