//! The stored record of a job.

use bytes::Bytes;
use ports::jobs::QueueLane;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::evaluation::run::RunRequest;
use crate::ingest::{IngestFields, IngestSource};
use crate::jobs::{Job, JobResult, JobStatus};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::metrics;
use crate::kernel::progress::Stage;
use crate::kernel::time::now;
use crate::kernel::video::VideoId;
use crate::library::collections::CollectionChange;

/// Key of the traceback in a failed job's `detail`.
const TRACEBACK: &str = "traceback";

/// Maximum length of a traceback, in characters.
const MAX_TRACEBACK_CHARS: usize = 2000;

/// The work of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub(crate) enum JobTask {
    /// Ingests a source.
    Ingest { source: IngestSource, fields: Box<IngestFields> },
    /// Reruns the named aggregators, or all of them.
    Aggregate { video_id: VideoId, aggregators: Option<Vec<String>>, force: bool },
    /// Recomputes a corrected video's aggregates.
    AggregateCorrected { video_id: VideoId },
    /// Renames, dissolves or deletes a collection.
    Collection { name: String, change: CollectionChange },
    /// Matches a published video against all alerts, or against one.
    Alerts { video_id: VideoId, alert: Option<String> },
    /// Runs an evaluation.
    Evaluate { evaluation: String, request: Box<RunRequest> },
    /// Unknown, since the job's record is unreadable.
    Unreadable,
}

impl JobTask {
    /// Returns the task's name in traces.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Ingest { .. } => "ingest",
            Self::Aggregate { .. } | Self::AggregateCorrected { .. } => "aggregate",
            Self::Alerts { .. } => "alerts",
            Self::Collection { .. } => "collection",
            Self::Evaluate { .. } => "evaluate",
            Self::Unreadable => "unreadable",
        }
    }

    /// Returns the collection that the task changes or assigns its video to, if any.
    fn collection(&self) -> Option<&str> {
        match self {
            Self::Ingest { fields, .. } => fields.metadata.collection(),
            Self::Collection { name, .. } => Some(name),
            Self::Aggregate { .. }
            | Self::AggregateCorrected { .. }
            | Self::Alerts { .. }
            | Self::Evaluate { .. }
            | Self::Unreadable => None,
        }
    }

    /// Returns the lane of the queue in which the task waits.
    pub(super) fn lane(&self) -> QueueLane {
        match self {
            Self::Alerts { .. } | Self::AggregateCorrected { .. } => QueueLane::FollowUp,
            Self::Ingest { .. }
            | Self::Aggregate { .. }
            | Self::Collection { .. }
            | Self::Evaluate { .. }
            | Self::Unreadable => QueueLane::Main,
        }
    }

    /// Whether the task must run even if this process and its queue are lost.
    pub(super) fn is_durable(&self) -> bool {
        matches!(self, Self::Collection { .. })
    }
}

/// Maps repeated requests to one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Idempotency {
    /// The client's idempotency key.
    pub(crate) key: String,
    /// A fingerprint of the request, to detect different requests with the same key.
    pub(crate) request: String,
    /// The client's permissions. Clients with other permissions may use the same key.
    #[serde(default)]
    pub(crate) access: Access,
}

impl Idempotency {
    /// Returns the job's id, which is derived from the key, so that it is the same on all
    /// instances.
    pub(super) fn job_id(&self) -> String {
        let key = match self.access.collections() {
            None => self.key.clone(),
            Some(_) => format!("{}\n{}", self.key, self.access),
        };
        Uuid::new_v5(&Uuid::NAMESPACE_OID, key.as_bytes()).simple().to_string()
    }
}

/// A job with its internal state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobRecord {
    pub(crate) job: Job,
    pub(crate) task: JobTask,
    /// The idempotency key of the job's request, if any.
    #[serde(alias = "asked")]
    pub(super) idempotency: Option<Idempotency>,
    /// Creation time, in microseconds since 1970, to order jobs created in the same second.
    pub(super) created: i64,
    /// The video that the job works on, once known.
    pub(super) video_id: Option<VideoId>,
    /// A random name for the current run. Every claim changes it.
    pub(super) worker: Option<String>,
    /// Number of claims that were not handed back.
    pub(super) attempts: u32,
    /// The reason for a requested cancellation.
    pub(super) cancel: Option<String>,
}

impl JobRecord {
    /// Creates a new, queued job.
    pub(super) fn new(source: String, task: JobTask, idempotency: Option<Idempotency>) -> Self {
        let random = || Uuid::new_v4().simple().to_string();
        let job = Job {
            job_id: idempotency.as_ref().map_or_else(random, Idempotency::job_id),
            source,
            status: JobStatus::Queued,
            stage: Stage::Starting,
            detail: Map::new(),
            result: None,
            error: None,
            created_at: now(),
            updated_at: now(),
        };
        Self {
            job,
            task,
            idempotency,
            created: jiff::Timestamp::now().as_microsecond(),
            video_id: None,
            worker: None,
            attempts: 0,
            cancel: None,
        }
    }

    /// Creates the record of a failed job, to replace a record that no instance can read.
    pub(super) fn unreadable(job_id: &str, offers: u32, error: &Error) -> Self {
        let mut record = Self::new("unknown".into(), JobTask::Unreadable, None);
        record.job.job_id = job_id.to_owned();
        record.end(Err(Error::corrupt(format!(
            "the job was set aside, since what is kept of it did not read back when it was taken, \
             {offers} times (jobs.attempts); send the request again ({error})"
        ))));
        record
    }

    pub(super) fn read(document: Value) -> Result<Self> {
        serde_json::from_value(document)
            .map_err(|e| Error::corrupt(format!("a job does not read back: {e}")))
    }

    pub(super) fn document(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(|e| Error::corrupt(format!("cannot keep the job: {e}")))
    }

    /// Returns the video that the job works on, once known.
    pub(super) fn target_video(&self) -> Option<VideoId> {
        match &self.task {
            JobTask::Aggregate { video_id, .. }
            | JobTask::AggregateCorrected { video_id }
            | JobTask::Alerts { video_id, .. } => Some(*video_id),
            _ => self.video_id,
        }
    }

    /// Whether a caller may see the job. `video` is the collection of the job's video, if that
    /// video exists. If the video exists, and the job is done or its task names no collection, the
    /// collection of the video decides. Otherwise, the collection of the task decides.
    pub(super) fn is_visible(&self, access: &Access, video: Option<Option<&str>>) -> bool {
        let done = self.job.status == JobStatus::Done;
        match (video, self.task.collection()) {
            (Some(collection), task) if done || task.is_none() => access.sees(collection),
            (_, task) => access.sees(task),
        }
    }

    pub(super) fn is_final(&self) -> bool {
        self.job.status.is_final()
    }

    /// Marks the job as claimed by a worker.
    pub(super) fn start(&mut self) {
        self.worker = Some(Uuid::new_v4().simple().to_string());
        self.attempts += 1;
        self.job.status = JobStatus::Running;
        self.enter(Stage::Starting, Map::new());
    }

    /// Releases the job for another worker.
    pub(super) fn hand_back(&mut self) {
        self.worker = None;
        self.attempts = self.attempts.saturating_sub(1);
        self.job.status = JobStatus::Queued;
        self.enter(Stage::Starting, Map::new());
    }

    pub(super) fn enter(&mut self, stage: Stage, detail: Map<String, Value>) {
        self.job.stage = stage;
        self.job.detail = detail;
        self.job.updated_at = now();
    }

    /// Records the job's outcome.
    pub(super) fn end(&mut self, outcome: Result<JobResult>) {
        if let JobTask::Ingest { source, .. } = &mut self.task {
            source.redact();
        }
        match outcome {
            Ok(result) => {
                self.enter(Stage::Complete, Map::new());
                self.job.status = JobStatus::Done;
                self.job.result = Some(result);
            }
            Err(error) => {
                self.job.status = JobStatus::Failed;
                self.job.detail.insert(TRACEBACK.into(), json!(self.traceback(&error)));
                self.job.error = Some(error.labelled());
                self.job.updated_at = now();
            }
        }
    }

    /// Builds the body of the job's callback: the job as in `GET /jobs/{job_id}`, but without the
    /// internal traceback.
    pub(super) fn callback_body(mut self) -> Option<Bytes> {
        self.job.detail.remove(TRACEBACK);
        serde_json::to_vec(&self.job).ok().map(Bytes::from)
    }

    /// Logs and counts the end of the job. Call this once, after the end is persisted.
    pub(super) fn report_end(&self) {
        metrics::job_ended(self.job.status.name());
        if let Some(error) = &self.job.error {
            let Job { job_id, stage, .. } = &self.job;
            tracing::warn!(%job_id, stage = stage.name(), %error, "job failed");
        }
    }

    /// Formats the chain of causes, outermost first. If it is too long, cuts off the beginning.
    fn traceback(&self, error: &Error) -> String {
        let mut text = format!("while {:?}\n{}", self.job.stage, error.labelled());
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            text.push_str(&format!("\ncaused by: {inner}"));
            cause = inner.source();
        }
        let surplus = text.chars().count().saturating_sub(MAX_TRACEBACK_CHARS);
        text.chars().skip(surplus).collect()
    }
}
