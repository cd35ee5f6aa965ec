//! `get_job`: the progress of an ingest.

use poem_openapi::Object;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{HttpFailure, JobBody};
use crate::mcp::prose::inline;
use domain::jobs;

/// Reports the progress of an ingest.
pub(super) struct GetJob;

#[derive(Object)]
pub(super) struct JobRequest {
    /// The job id that ingest_url returned.
    #[oai(validator(min_length = 1))]
    job_id: String,
}

impl Tool for GetJob {
    const NAME: &'static str = "get_job";
    const TITLE: &'static str = "Progress of an ingest";
    const DESCRIPTION: &'static str = "Reports the progress of an ingest that ingest_url started: \
        `status` is queued, running, done or failed; `result.video_id` is the video once it is \
        done, `error` the reason if it failed. Poll every few seconds at most: an ingest takes about \
        as long as the video, or longer.";
    type Input = JobRequest;
    type Output = JobBody;

    async fn call(call: Call<'_>, input: JobRequest) -> Result<ToolAnswer<JobBody>, HttpFailure> {
        let job = call.service.job(&input.job_id).await?;
        Ok(ToolAnswer::new(describe_job(&job), job.into()))
    }
}

/// Describes a job in a sentence.
pub(super) fn describe_job(job: &jobs::Job) -> String {
    let (id, source, stage) = (&job.job_id, &job.source, job.stage.name());
    match (&job.result, &job.error) {
        (Some(jobs::JobResult::Ingest(done)), _) => {
            format!(
                "Job {id} is done: {source} is video {} with {} chunks.",
                done.video_id, done.chunks
            )
        }
        (Some(jobs::JobResult::Aggregates(done)), _) => {
            format!("Job {id} is done: video {} has new aggregates.", done.video_id)
        }
        (Some(jobs::JobResult::Alerts(done)), _) => {
            format!("Job {id} is done: {} alerts matched video {}.", done.alerts, done.video_id)
        }
        (Some(jobs::JobResult::Collection(done)), _) => {
            let (videos, name) = (done.videos, &done.collection);
            format!("Job {id} is done: {videos} videos of collection '{name}' were changed.")
        }
        (Some(jobs::JobResult::Evaluation(done)), _) => {
            format!("Job {id} is done: evaluation {} has its run {}.", done.evaluation, done.run_id)
        }
        (None, Some(error)) => format!("Job {id} of {source} failed while {stage}: {error}"),
        (None, None) => {
            let detail = inline(&job.detail.clone().into());
            format!("Job {id} of {source} is {}: {stage} {detail}", job.status.name())
        }
    }
}
