//! `ingest_url`: downloads and ingests a video.

use std::time::Duration;

use futures::StreamExt;
use poem_openapi::Object;

use super::get_job::describe_job;
use super::{Call, Tool, ToolAnswer};
use crate::http::views::{HttpFailure, JobBody, UrlIngestRequest};
use domain::jobs;

/// Starts an ingest and optionally waits for it.
pub(super) struct IngestUrl;

#[derive(Object)]
#[oai(rename = "Ingest")]
pub(super) struct IngestUrlRequest {
    #[oai(flatten)]
    request: UrlIngestRequest,
    /// Maximum time to wait for the result, in seconds; the service may wait less. If null, the
    /// call waits only if the caller requested progress notifications.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "86400")))]
    wait: Option<f64>,
}

impl Tool for IngestUrl {
    const NAME: &'static str = "ingest_url";
    const TITLE: &'static str = "Add a video";
    const DESCRIPTION: &'static str = "Downloads a video from an http(s) URL and analyzes it as a \
        job, which continues whether or not you wait. Returns the job: done, or still running after \
        `wait` seconds; then poll get_job. `analyzers` are comma-separated ids from \
        describe_library. A file with the same bytes is the same video, and its stored results are \
        reused. plan_ingest estimates the cost.";
    const READ_ONLY: bool = false;
    type Input = IngestUrlRequest;
    type Output = JobBody;

    async fn call(
        call: Call<'_>,
        input: IngestUrlRequest,
    ) -> Result<ToolAnswer<JobBody>, HttpFailure> {
        let (url, options) = input.request.into_parts();
        let job = call.service.for_write()?.ingest_url(&url, options.into()).await?;
        let max_wait = call.settings.max_wait;
        let wait = match input.wait {
            Some(seconds) => Duration::from_secs_f64(seconds).min(max_wait),
            None if call.progress.is_some() => max_wait,
            None => Duration::ZERO,
        };
        let job = wait_for_job(&call, job, wait).await?;
        let mut text = describe_job(&job);
        if !job.status.is_final() {
            text.push_str(&format!("\nCall get_job with job_id {} for its progress.", job.job_id));
        }
        Ok(ToolAnswer::new(text, job.into()))
    }
}

/// Waits until the job ends or `wait` has passed, sending progress notifications.
async fn wait_for_job(
    call: &Call<'_>,
    mut job: jobs::Job,
    wait: Duration,
) -> Result<jobs::Job, HttpFailure> {
    if wait.is_zero() {
        return Ok(job);
    }
    let mut changes = call.service.watch_job(&job.job_id).await?;
    let timeout = tokio::time::sleep(wait);
    tokio::pin!(timeout);
    let mut step = 0;
    loop {
        tokio::select! {
            () = &mut timeout => return Ok(job),
            change = changes.next() => match change {
                Some(changed) => job = changed,
                None => return Ok(job),
            }
        }
        step += 1;
        if let Some(progress) = &call.progress {
            progress.notify(step, &describe_job(&job)).await;
        }
    }
}
