//! `/jobs`: progress and results of ingests, aggregate re-runs, collection changes, alerts and
//! evaluations.

use std::collections::BTreeMap;

use futures::StreamExt;
use poem_openapi::param::{Path, Query};
use poem_openapi::{Enum, Object, OpenApi, Union};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, Busy, Change, JobListing};
use crate::http::wire::events::EventStream;
use crate::http::wire::job_status::JobStatusBody;
use crate::http::wire::params::Bounded;
use crate::http::wire::values::AnyObject;
use domain::aggregation;
use domain::aggregation::run::AggregatesResult;
use domain::alerts::AlertsResult;
use domain::ingest::{AggregationStatus, IngestResult};
use domain::jobs;
use domain::kernel::{profile, progress};
use domain::library::collections::CollectionResult;

/// The routes of this section.
pub(super) struct JobsApi(pub(super) Service);

#[OpenApi]
impl JobsApi {
    /// List jobs.
    ///
    /// Jobs are listed newest first. Old jobs are removed automatically.
    #[oai(path = "/jobs", method = "get", operation_id = "jobs")]
    async fn jobs(
        &self,
        token: CallerToken,
        /// Maximum number of jobs per page. Default: all.
        limit: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// Number of jobs to skip. Default: 0.
        #[oai(default = "none")]
        offset: Query<Bounded<0, { u32::MAX }>>,
    ) -> Result<Json<JobList>, ApiError<JobListing>> {
        let jobs = self.0.scoped(&token).jobs().await?;
        let total = jobs.len() as u32;
        let limit = limit.0.map_or(usize::MAX, |limit| limit.0 as usize);
        let page = jobs.into_iter().skip(offset.0.0 as usize).take(limit);
        Ok(Json(JobList { jobs: page.map(Into::into).collect(), total }))
    }

    /// Get a job.
    #[oai(path = "/jobs/:job_id", method = "get", operation_id = "job")]
    async fn job(
        &self,
        token: CallerToken,
        /// Id of the job.
        job_id: Path<String>,
    ) -> Result<Json<JobBody>, ApiError<Busy>> {
        Ok(Json(self.0.scoped(&token).job(&job_id).await?.into()))
    }

    /// Cancel a job.
    ///
    /// A queued job is cancelled immediately, a running one at its next safe point. A cancelled job
    /// has the status `failed` and the error `Cancelled: …`. The next ingest of the video reuses
    /// completed model calls. A finished job is not changed. Returns the job in its current state.
    #[oai(path = "/jobs/:job_id", method = "delete", operation_id = "cancel_job")]
    async fn cancel(
        &self,
        token: CallerToken,
        /// Id of the job.
        job_id: Path<String>,
    ) -> Result<Json<JobBody>, ApiError<Change>> {
        Ok(Json(self.0.scoped(&token).for_write()?.cancel_job(&job_id).await?.into()))
    }

    /// Stream a job's progress.
    ///
    /// Sends server-sent events named `job`: one immediately, then one after each change. The data
    /// of an event is the job as returned by `GET /jobs/{job_id}`. The stream ends when the job
    /// ends.
    #[oai(path = "/jobs/:job_id/events", method = "get", operation_id = "job_events")]
    async fn events(
        &self,
        token: CallerToken,
        /// Id of the job.
        job_id: Path<String>,
    ) -> Result<EventStream<JobBody>, ApiError<Busy>> {
        let changes = self.0.scoped(&token).watch_job(&job_id).await?;
        Ok(EventStream(changes.map(|job| ("job", job.into())).boxed()))
    }
}

fn none() -> Bounded<0, { u32::MAX }> {
    Bounded(0)
}

#[derive(Enum)]
#[oai(rename_all = "snake_case")]
#[oai(rename = "Stage")]
enum StageBody {
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
    /// The jobs, newest first.
    jobs: Vec<JobBody>,
    /// Number of jobs on all pages.
    total: u32,
}

#[derive(Object)]
#[oai(rename = "Job")]
pub(crate) struct JobBody {
    /// Id of the job.
    job_id: String,
    /// What the job processes: the file name or URL for an ingest, the video's file name for an
    /// aggregate re-run, and the name of the collection, alert or evaluation for other jobs.
    source: String,
    status: JobStatusBody,
    stage: StageBody,
    /// Details, depending on `stage`: `chunks` at `chunked`; `analyzer` at `analyzing` and
    /// `indexing`; `aggregator` at `aggregating`; `total` and `done` at `changing` (numbers of
    /// videos) and at `alerting` (numbers of alerts); `configuration`, `asked` and `of` at
    /// `evaluating`; `traceback` if the job failed.
    detail: AnyObject,
    /// Result of the job; null until it is done.
    #[oai(nullable)]
    result: Option<JobResultBody>,
    /// `TypeName: message` if the job failed; null otherwise.
    #[oai(nullable)]
    error: Option<String>,
    /// Creation time (ISO 8601, UTC, to the second).
    created_at: String,
    /// Time of the last change (ISO 8601, UTC, to the second).
    updated_at: String,
}

#[derive(Union)]
#[oai(one_of)]
#[expect(clippy::large_enum_variant, reason = "written once, and most are of ingests")]
#[oai(rename = "JobResult")]
enum JobResultBody {
    Ingest(IngestOutcome),
    Aggregates(AggregatesOutcome),
    Alerts(AlertsOutcome),
    Collection(CollectionOutcome),
    Evaluation(EvaluationOutcome),
}

/// Result of an ingest. Only this kind of result has a `video_url`.
#[derive(Object)]
#[oai(rename = "IngestResult")]
struct IngestOutcome {
    /// Id of the video.
    video_id: String,
    /// URL of the video in storage.
    video_url: String,
    /// URL of the poster image; null if there is none.
    #[oai(nullable)]
    poster_url: Option<String>,
    /// Path of the video in the storage bucket.
    storage_path: String,
    /// File name of the video.
    filename: String,
    /// Duration of the video, in seconds.
    duration: f64,
    /// Size of the file, in bytes.
    size_bytes: u64,
    /// Id of the chunking configuration.
    chunk_config: String,
    /// Number of chunks.
    chunks: u32,
    /// Ids of the analyzers that have output for the video.
    analyzers: Vec<String>,
    /// Ids of analyzers whose output was deleted because the video was chunked differently and
    /// these analyzers were not part of this ingest.
    #[oai(skip_serializing_if_is_none)]
    dropped: Option<Vec<String>>,
    /// Messages about what was skipped or selected in the file; absent if there is nothing to
    /// report.
    #[oai(skip_serializing_if_is_none)]
    warnings: Option<Vec<String>>,
    /// Number of vectors written, by analyzer.
    indexed: BTreeMap<String, u64>,
    aggregated: AggregatedOutcome,
    /// Language model usage; absent if the model is not billed or was not called.
    #[oai(skip_serializing_if_is_none)]
    usage: Option<ModelUsageBody>,
    /// Cost of each step, by step name; absent if nothing was measured.
    #[oai(skip_serializing_if_is_none)]
    profile: Option<BTreeMap<String, StepCostBody>>,
}

/// Language model usage.
#[derive(Object)]
#[oai(rename = "ModelUsage")]
struct ModelUsageBody {
    /// Name of the model.
    model: String,
    /// Number of requests, including retries.
    calls: u32,
    /// Number of input tokens.
    input_tokens: u64,
    /// Number of output tokens.
    output_tokens: u64,
}

/// Cost of one step of an ingest.
#[derive(Object)]
#[oai(rename = "StepCost")]
struct StepCostBody {
    /// Number of calls.
    calls: u64,
    /// Total duration in seconds; the durations of parallel calls are added up.
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
    /// Ids of the aggregators that were computed.
    ran: Vec<String>,
    /// Ids of the aggregators whose stored result was reused.
    reused: Vec<String>,
    /// Ids of all aggregators with a stored result.
    aggregates: Vec<String>,
    /// Ids of the aggregators that were skipped because the video lacks their dependencies; absent
    /// if there are none.
    #[oai(skip_serializing_if_is_none)]
    skipped: Option<Vec<String>>,
    /// Error of each aggregator that failed, as `TypeName: message`, by aggregator id; absent if
    /// none failed.
    #[oai(skip_serializing_if_is_none)]
    failed: Option<BTreeMap<String, String>>,
}

#[derive(Object)]
struct AggregatedFailed {
    /// Error of the aggregation, as `TypeName: message`. The ingest itself succeeded.
    error: String,
}

/// Result of an aggregate re-run.
#[derive(Object)]
#[oai(rename = "AggregatesResult")]
struct AggregatesOutcome {
    /// Id of the video.
    video_id: String,
    /// Ids of the aggregators that were computed.
    ran: Vec<String>,
    /// Ids of the aggregators whose stored result was reused.
    reused: Vec<String>,
    /// Ids of the aggregators that were skipped because the video lacks their dependencies.
    skipped: Vec<String>,
    /// Error of each aggregator that failed, as `TypeName: message`, by aggregator id.
    failed: BTreeMap<String, String>,
    /// Ids of all aggregators with a stored result.
    aggregates: Vec<String>,
    /// Whether stored results were recomputed because analyzer output had changed.
    recomputed_because_analyzers_changed: bool,
    /// Ids of the reused aggregators that would have called the language model.
    llm_calls_saved: Vec<String>,
}

/// Result of running the alerts on a video.
#[derive(Object)]
#[oai(rename = "AlertsResult")]
struct AlertsOutcome {
    /// Id of the video.
    video_id: String,
    /// Number of alerts that matched.
    alerts: u64,
    /// Number of matching alerts whose delivery failed.
    failed_deliveries: u64,
}

/// Result of a change to a collection.
#[derive(Object)]
#[oai(rename = "CollectionResult")]
struct CollectionOutcome {
    /// Name of the collection before the change.
    collection: String,
    /// Number of videos that were changed or deleted. If the service restarted during the job, only
    /// videos processed after the restart are counted.
    videos: u64,
}

/// Result of an evaluation run.
#[derive(Object)]
#[oai(rename = "EvaluationResult")]
struct EvaluationOutcome {
    /// Name of the evaluation.
    evaluation: String,
    /// Id of the run, for `GET /evaluations/{name}/runs/{run_id}`.
    run_id: String,
}

impl From<progress::Stage> for StageBody {
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

impl From<jobs::Job> for JobBody {
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

impl From<jobs::JobResult> for JobResultBody {
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
                AggregationStatus::Done { ran, reused, aggregates, skipped, failed } => {
                    AggregatedOutcome::Done(AggregatedDone {
                        ran,
                        reused,
                        aggregates,
                        skipped: Some(skipped).filter(|skipped| !skipped.is_empty()),
                        failed: Some(failed).filter(|failed| !failed.is_empty()),
                    })
                }
                AggregationStatus::Failed { error } => {
                    AggregatedOutcome::Failed(AggregatedFailed { error })
                }
            },
            usage: r.usage.map(Into::into),
            profile: (!r.profile.is_empty())
                .then(|| r.profile.into_iter().map(|(step, cost)| (step, cost.into())).collect()),
        }
    }
}

impl From<aggregation::result::ModelUsage> for ModelUsageBody {
    fn from(usage: aggregation::result::ModelUsage) -> Self {
        let aggregation::result::ModelUsage { model, calls, input_tokens, output_tokens } = usage;
        Self { model, calls, input_tokens, output_tokens }
    }
}

impl From<profile::StepCost> for StepCostBody {
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
