//! What the queue keeps of a job.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::domain::catalog::collections::CollectionChange;
use crate::domain::evaluation::run::RunRequest;
use crate::domain::ingest::{IngestFields, Source};
use crate::domain::jobs::{Job, JobResult, JobStatus};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::metrics;
use crate::domain::kernel::progress::Stage;
use crate::domain::kernel::time::now;
use crate::domain::kernel::video::VideoId;

/// Where a failed job's `detail` keeps the account of its failure.
const TRACEBACK: &str = "traceback";

/// Longest account of a failure, characters.
const MOST_TRACEBACK: usize = 2000;

/// What a job is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub(crate) enum Task {
    /// Ingest a source.
    Ingest { source: Source, fields: Box<IngestFields> },
    /// Run aggregators again: the named ones, or all.
    Aggregate { video_id: VideoId, aggregators: Option<Vec<String>>, force: bool },
    /// Compute the aggregates of a video again that was corrected.
    AggregateCorrected { video_id: VideoId },
    /// Rename, dissolve or delete a collection.
    Collection { name: String, change: CollectionChange },
    /// Tell all alerts, or one, of a video that was published.
    Alerts { video_id: VideoId, alert: Option<String> },
    /// Run an evaluation.
    Evaluate { evaluation: String, request: Box<RunRequest> },
    /// Unknown: what was kept of the job does not read back.
    Unreadable,
}

impl Task {
    /// For traces.
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

    /// The collection that it is about, or that it puts its video into.
    fn collection(&self) -> Option<&str> {
        match self {
            Self::Ingest { fields, .. } => fields.about.collection(),
            Self::Collection { name, .. } => Some(name),
            Self::Aggregate { .. }
            | Self::AggregateCorrected { .. }
            | Self::Alerts { .. }
            | Self::Evaluate { .. }
            | Self::Unreadable => None,
        }
    }

    /// Whether it is done even if this process ends before it is.
    pub(super) fn is_lasting(&self) -> bool {
        matches!(self, Self::Collection { .. })
    }
}

/// Makes a request that is sent twice one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Idempotency {
    /// Chosen by the client.
    pub(crate) key: String,
    /// Tells requests apart that a client gives the same key by mistake.
    pub(crate) request: String,
    /// Whose key it is: others have theirs.
    #[serde(default)]
    pub(crate) access: Access,
}

impl Idempotency {
    /// A key is one job's, on whichever instance it is used.
    pub(super) fn job_id(&self) -> String {
        let key = match self.access.collections() {
            None => self.key.clone(),
            Some(_) => format!("{}\n{}", self.key, self.access),
        };
        Uuid::new_v5(&Uuid::NAMESPACE_OID, key.as_bytes()).simple().to_string()
    }
}

/// A job with what clients do not see of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobRecord {
    pub(crate) job: Job,
    pub(crate) task: Task,
    /// The request that it came from, if that had a key.
    #[serde(alias = "asked")]
    pub(super) idempotency: Option<Idempotency>,
    /// Microseconds since 1970: jobs of one second have an order too.
    pub(super) created: i64,
    /// The video that it works on, once that is known.
    pub(super) video_id: Option<VideoId>,
    /// Who works on it: another name each time it is taken.
    pub(super) worker: Option<String>,
    /// How often it has been taken and not handed back.
    pub(super) attempts: u32,
    /// Why it is to stop, when it is.
    pub(super) cancel: Option<String>,
}

impl JobRecord {
    /// A job that waits.
    pub(super) fn new(source: String, task: Task, idempotency: Option<Idempotency>) -> Self {
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

    /// What is kept in place of a job that no instance could read.
    pub(super) fn unreadable(job_id: &str, offers: u32, error: &Error) -> Self {
        let mut record = Self::new("unknown".into(), Task::Unreadable, None);
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

    /// The video that it works on, once that is known.
    pub(super) fn of_video(&self) -> Option<VideoId> {
        match &self.task {
            Task::Aggregate { video_id, .. }
            | Task::AggregateCorrected { video_id }
            | Task::Alerts { video_id, .. } => Some(*video_id),
            _ => self.video_id,
        }
    }

    /// Whether a caller sees it, given the collection of its video where that is there. One that has
    /// made a video goes with it, any other with what it is about.
    pub(super) fn is_seen(&self, access: &Access, of_video: Option<Option<&str>>) -> bool {
        let done = self.job.status == JobStatus::Done;
        match (of_video, self.task.collection()) {
            (Some(collection), about) if done || about.is_none() => access.sees(collection),
            (_, about) => access.sees(about),
        }
    }

    pub(super) fn is_final(&self) -> bool {
        self.job.status.is_final()
    }

    /// A worker has taken it.
    pub(super) fn start(&mut self) {
        self.worker = Some(Uuid::new_v4().simple().to_string());
        self.attempts += 1;
        self.job.status = JobStatus::Running;
        self.enter(Stage::Starting, Map::new());
    }

    /// Its worker leaves it to another.
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

    /// It has ended.
    pub(super) fn end(&mut self, outcome: Result<JobResult>) {
        if let Task::Ingest { source, .. } = &mut self.task {
            source.forget_secrets();
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

    /// What whoever asked for it is told: the job as `GET /jobs/{job_id}` shows it, but for the
    /// traceback. What went on inside is for those who may ask the service.
    pub(super) fn notice(mut self) -> Option<Bytes> {
        self.job.detail.remove(TRACEBACK);
        serde_json::to_vec(&self.job).ok().map(Bytes::from)
    }

    /// Says once, where it is kept, how the job has ended.
    pub(super) fn tell_end(&self) {
        metrics::job_ended(self.job.status.name());
        if let Some(error) = &self.job.error {
            let Job { job_id, stage, .. } = &self.job;
            tracing::warn!(%job_id, stage = stage.name(), %error, "job failed");
        }
    }

    /// The chain of causes, outermost first, or the end of it.
    fn traceback(&self, error: &Error) -> String {
        let mut text = format!("while {:?}\n{}", self.job.stage, error.labelled());
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            text.push_str(&format!("\ncaused by: {inner}"));
            cause = inner.source();
        }
        let surplus = text.chars().count().saturating_sub(MOST_TRACEBACK);
        text.chars().skip(surplus).collect()
    }
}
