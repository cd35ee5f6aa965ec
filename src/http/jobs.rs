//! `/jobs`: progress and outcome of ingests, aggregate re-runs, changes of collections, alerts and
//! evaluations.

use std::collections::BTreeMap;

use futures::StreamExt;
use poem_openapi::param::{Path, Query};
use poem_openapi::{Enum, Object, OpenApi, Union};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, Busy, Change, JobListing};
use super::events::Events;
use super::params::Bounded;
use super::values::AnyObject;
use crate::domain::aggregation;
use crate::domain::aggregation::run::AggregatesResult;
use crate::domain::alerts::AlertsResult;
use crate::domain::catalog::collections::CollectionResult;
use crate::domain::ingest::{Aggregated, IngestResult};
use crate::domain::jobs;
use crate::domain::kernel::{profile, progress};

/// The routes of this section.
pub(super) struct JobsApi(pub(super) Service);

#[OpenApi]
impl JobsApi {
    /// Every job that is remembered, newest first.
    #[oai(path = "/jobs", method = "get", operation_id = "jobs")]
    async fn jobs(
        &self,
        token: Token,
        /// Jobs on the page; all of them when left out.
        limit: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// Jobs to skip.
        #[oai(default = "none")]
        offset: Query<Bounded<0, { u32::MAX }>>,
    ) -> Result<Json<JobList>, ApiError<JobListing>> {
        let jobs = self.0.of(&token).jobs().await?;
        let total = jobs.len() as u32;
        let limit = limit.0.map_or(usize::MAX, |limit| limit.0 as usize);
        let page = jobs.into_iter().skip(offset.0.0 as usize).take(limit);
        Ok(Json(JobList { jobs: page.map(Into::into).collect(), total }))
    }

    /// One job.
    #[oai(path = "/jobs/:job_id", method = "get", operation_id = "job")]
    async fn job(&self, token: Token, job_id: Path<String>) -> Result<Json<Job>, ApiError<Busy>> {
        Ok(Json(self.0.of(&token).job(&job_id).await?.into()))
    }

    /// Cancel a job.
    ///
    /// At once while it is queued, at its next safe point while it runs; it ends as `failed` with
    /// `Cancelled: …`. What was paid for is kept for the next ingest of the same video. A job that
    /// has ended stays as it is. Answers with the job as it is now.
    #[oai(path = "/jobs/:job_id", method = "delete", operation_id = "cancel_job")]
    async fn cancel(
        &self,
        token: Token,
        job_id: Path<String>,
    ) -> Result<Json<Job>, ApiError<Change>> {
        Ok(Json(self.0.of(&token).cancel_job(&job_id).await?.into()))
    }

    /// A job's progress as server-sent events.
    ///
    /// Each event is named `job` and its data is the job as `GET /jobs/{job_id}` shows it: one at once,
    /// one after each change. The stream ends with the job.
    #[oai(path = "/jobs/:job_id/events", method = "get", operation_id = "job_events")]
    async fn events(
        &self,
        token: Token,
        job_id: Path<String>,
    ) -> Result<Events<Job>, ApiError<Busy>> {
        let changes = self.0.of(&token).watch_job(&job_id).await?;
        Ok(Events(changes.map(|job| ("job", job.into())).boxed()))
    }
}

fn none() -> Bounded<0, { u32::MAX }> {
    Bounded(0)
}

#[derive(Enum)]
#[oai(rename_all = "snake_case")]
pub(super) enum JobStatus {
    Queued,
    Running,
    Done,
    Failed,
}

#[derive(Enum)]
#[oai(rename_all = "snake_case")]
enum Stage {
    Starting,
    Fetching,
    Chunking,
    Chunked,
    Analyzing,
    Indexing,
    Aggregating,
    Changing,
    Alerting,
    Evaluating,
    Complete,
}

#[derive(Object)]
struct JobList {
    jobs: Vec<Job>,
    /// Jobs on all pages.
    total: u32,
}

#[derive(Object)]
pub(crate) struct Job {
    job_id: String,
    /// The uploaded file's name or the URL; on an aggregate re-run the video's file name, else the name
    /// of the collection, the alert or the evaluation.
    source: String,
    status: JobStatus,
    stage: Stage,
    /// `chunks` at `chunked`, `analyzer` at `analyzing` and `indexing`, `aggregator` at
    /// `aggregating`, `total` and `done` (videos) at `changing`, likewise (alerts) at
    /// `alerting`, `configuration`, `asked` and `of` at
    /// `evaluating`, `traceback` on a failed job.
    detail: AnyObject,
    /// Null until the job is done.
    #[oai(nullable)]
    result: Option<JobResult>,
    /// `TypeName: message` when failed.
    #[oai(nullable)]
    error: Option<String>,
    /// ISO 8601, second precision, UTC.
    created_at: String,
    /// ISO 8601, second precision, UTC.
    updated_at: String,
}

#[derive(Union)]
#[oai(one_of)]
#[expect(clippy::large_enum_variant, reason = "written once, and most are of ingests")]
enum JobResult {
    Ingest(IngestOutcome),
    Aggregates(AggregatesOutcome),
    Alerts(AlertsOutcome),
    Collection(CollectionOutcome),
    Evaluation(EvaluationOutcome),
}

/// Result of an ingest; only it has `video_url`.
#[derive(Object)]
#[oai(rename = "IngestResult")]
struct IngestOutcome {
    video_id: String,
    video_url: String,
    #[oai(nullable)]
    poster_url: Option<String>,
    storage_path: String,
    filename: String,
    /// Length of the video, seconds.
    duration: f64,
    size_bytes: u64,
    chunk_config: String,
    /// Number of chunks.
    chunks: u32,
    analyzers: Vec<String>,
    /// Analyzers whose output is gone: the video was split otherwise, and they were not asked for.
    #[oai(skip_serializing_if_is_none)]
    dropped: Option<Vec<String>>,
    /// What of the file was left out or chosen, in sentences; absent without any.
    #[oai(skip_serializing_if_is_none)]
    warnings: Option<Vec<String>>,
    /// Vectors written, by analyzer.
    indexed: BTreeMap<String, u64>,
    aggregated: AggregatedOutcome,
    /// What the language model took; absent where it is not billed or was not asked.
    #[oai(skip_serializing_if_is_none)]
    usage: Option<ModelUsage>,
    /// What each step took, by its name.
    #[oai(skip_serializing_if_is_none)]
    profile: Option<BTreeMap<String, StepCost>>,
}

/// What the language model took.
#[derive(Object)]
struct ModelUsage {
    /// What the server calls the model.
    model: String,
    /// Requests that reached it, repetitions included.
    calls: u32,
    input_tokens: u64,
    output_tokens: u64,
}

/// What a step of an ingest took.
#[derive(Object)]
struct StepCost {
    /// How often it was done.
    calls: u64,
    /// How long that took in all, seconds; of calls at the same time each counts.
    seconds: f64,
}

#[derive(Union)]
#[oai(one_of, rename = "Aggregated")]
enum AggregatedOutcome {
    Done(AggregatedDone),
    Failed(AggregatedFailed),
}

#[derive(Object)]
struct AggregatedDone {
    ran: Vec<String>,
    reused: Vec<String>,
    aggregates: Vec<String>,
    /// Aggregators whose dependencies the video cannot satisfy; absent where there are none.
    #[oai(skip_serializing_if_is_none)]
    skipped: Option<Vec<String>>,
    /// Aggregator id to `TypeName: message`, of those that failed; absent where none did.
    #[oai(skip_serializing_if_is_none)]
    failed: Option<BTreeMap<String, String>>,
}

#[derive(Object)]
struct AggregatedFailed {
    /// `TypeName: message`; the ingest itself succeeded.
    error: String,
}

/// Result of an aggregate re-run.
#[derive(Object)]
#[oai(rename = "AggregatesResult")]
struct AggregatesOutcome {
    video_id: String,
    /// Computed this time.
    ran: Vec<String>,
    /// Already stored.
    reused: Vec<String>,
    /// Aggregators whose dependencies the video cannot satisfy.
    skipped: Vec<String>,
    /// Aggregator id to `TypeName: message`.
    failed: BTreeMap<String, String>,
    /// Everything now stored for the video.
    aggregates: Vec<String>,
    recomputed_because_analyzers_changed: bool,
    /// Which of the reused would have billed model calls.
    llm_calls_saved: Vec<String>,
}

/// What alerts were told of a video.
#[derive(Object)]
#[oai(rename = "AlertsResult")]
struct AlertsOutcome {
    video_id: String,
    /// Alerts that found what they look for.
    alerts: u64,
    /// Those of them whose delivery was given up.
    failed_deliveries: u64,
}

/// Result of a change of a collection.
#[derive(Object)]
#[oai(rename = "CollectionResult")]
struct CollectionOutcome {
    /// The name that it had.
    collection: String,
    /// Videos that were changed or deleted; after a restart in between, those since then.
    videos: u64,
}

/// Result of a run of an evaluation.
#[derive(Object)]
#[oai(rename = "EvaluationResult")]
struct EvaluationOutcome {
    /// Its name.
    evaluation: String,
    /// What `GET /evaluations/{name}/runs/{run_id}` takes.
    run_id: String,
}

impl From<jobs::JobStatus> for JobStatus {
    fn from(status: jobs::JobStatus) -> Self {
        match status {
            jobs::JobStatus::Queued => Self::Queued,
            jobs::JobStatus::Running => Self::Running,
            jobs::JobStatus::Done => Self::Done,
            jobs::JobStatus::Failed => Self::Failed,
        }
    }
}

impl From<progress::Stage> for Stage {
    fn from(stage: progress::Stage) -> Self {
        match stage {
            progress::Stage::Starting => Self::Starting,
            progress::Stage::Fetching => Self::Fetching,
            progress::Stage::Chunking => Self::Chunking,
            progress::Stage::Chunked => Self::Chunked,
            progress::Stage::Analyzing => Self::Analyzing,
            progress::Stage::Indexing => Self::Indexing,
            progress::Stage::Aggregating => Self::Aggregating,
            progress::Stage::Changing => Self::Changing,
            progress::Stage::Alerting => Self::Alerting,
            progress::Stage::Evaluating => Self::Evaluating,
            progress::Stage::Complete => Self::Complete,
        }
    }
}

impl From<jobs::Job> for Job {
    fn from(job: jobs::Job) -> Self {
        Self {
            job_id: job.job_id,
            source: job.source,
            status: job.status.into(),
            stage: job.stage.into(),
            detail: AnyObject(job.detail),
            result: job.result.map(Into::into),
            error: job.error,
            created_at: job.created_at,
            updated_at: job.updated_at,
        }
    }
}

impl From<jobs::JobResult> for JobResult {
    fn from(result: jobs::JobResult) -> Self {
        match result {
            jobs::JobResult::Ingest(result) => Self::Ingest((*result).into()),
            jobs::JobResult::Aggregates(result) => Self::Aggregates((*result).into()),
            jobs::JobResult::Alerts(AlertsResult { video_id, alerts, failed_deliveries }) => {
                let video_id = video_id.to_string();
                Self::Alerts(AlertsOutcome { video_id, alerts, failed_deliveries })
            }
            jobs::JobResult::Collection(CollectionResult { collection, videos }) => {
                Self::Collection(CollectionOutcome { collection, videos })
            }
            jobs::JobResult::Evaluation(done) => Self::Evaluation(EvaluationOutcome {
                evaluation: done.evaluation,
                run_id: done.run_id,
            }),
        }
    }
}

impl From<IngestResult> for IngestOutcome {
    fn from(r: IngestResult) -> Self {
        Self {
            video_id: r.video_id.to_string(),
            video_url: r.video_url,
            poster_url: r.poster_url,
            storage_path: r.storage_path,
            filename: r.filename,
            duration: r.duration,
            size_bytes: r.size_bytes,
            chunk_config: r.chunk_config,
            chunks: r.chunks,
            analyzers: r.analyzers,
            dropped: Some(r.dropped).filter(|dropped| !dropped.is_empty()),
            warnings: Some(r.warnings).filter(|warnings| !warnings.is_empty()),
            indexed: r.indexed,
            aggregated: match r.aggregated {
                Aggregated::Done { ran, reused, aggregates, skipped, failed } => {
                    AggregatedOutcome::Done(AggregatedDone {
                        ran,
                        reused,
                        aggregates,
                        skipped: Some(skipped).filter(|skipped| !skipped.is_empty()),
                        failed: Some(failed).filter(|failed| !failed.is_empty()),
                    })
                }
                Aggregated::Failed { error } => {
                    AggregatedOutcome::Failed(AggregatedFailed { error })
                }
            },
            usage: r.usage.map(Into::into),
            profile: (!r.profile.is_empty())
                .then(|| r.profile.into_iter().map(|(step, cost)| (step, cost.into())).collect()),
        }
    }
}

impl From<aggregation::result::ModelUsage> for ModelUsage {
    fn from(usage: aggregation::result::ModelUsage) -> Self {
        let aggregation::result::ModelUsage { model, calls, input_tokens, output_tokens } = usage;
        Self { model, calls, input_tokens, output_tokens }
    }
}

impl From<profile::StepCost> for StepCost {
    fn from(cost: profile::StepCost) -> Self {
        Self { calls: cost.calls, seconds: cost.seconds }
    }
}

impl From<AggregatesResult> for AggregatesOutcome {
    fn from(r: AggregatesResult) -> Self {
        Self {
            video_id: r.video_id.to_string(),
            ran: r.ran,
            reused: r.reused,
            skipped: r.skipped,
            failed: r.failed,
            aggregates: r.aggregates,
            recomputed_because_analyzers_changed: r.recomputed_because_analyzers_changed,
            llm_calls_saved: r.llm_calls_saved,
        }
    }
}
