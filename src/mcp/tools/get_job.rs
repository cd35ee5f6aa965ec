//! `get_job`: where an ingest is.

use poem_openapi::Object;

use super::{Answer, Call, Tool};
use crate::domain::jobs;
use crate::http::views::{Failure, Job};
use crate::mcp::prose::inline;

/// Tells where an ingest is.
pub(super) struct GetJob;

#[derive(Object)]
pub(super) struct JobRequest {
    /// As ingest_url returned it.
    #[oai(validator(min_length = 1))]
    job_id: String,
}

impl Tool for GetJob {
    const NAME: &'static str = "get_job";
    const TITLE: &'static str = "Progress of an ingest";
    const DESCRIPTION: &'static str = "Where an ingest that ingest_url started is: `status` is \
        queued, running, done or failed; `result.video_id` names the video once it is done, `error` \
        says why it failed. Ask again every few seconds at most: ingesting takes about as long as \
        the video, or longer.";
    type Input = JobRequest;
    type Output = Job;

    async fn call(call: Call<'_>, input: JobRequest) -> Result<Answer<Job>, Failure> {
        let job = call.service.job(&input.job_id).await?;
        Ok(Answer::new(told(&job), job.into()))
    }
}

/// A job in a sentence.
pub(super) fn told(job: &jobs::Job) -> String {
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
            format!(
                "Job {id} is done: {} alerts were told of video {}.",
                done.alerts, done.video_id
            )
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
