//! `ingest_url`: takes a video from an address into the library.

use std::time::Duration;

use futures::StreamExt;
use poem_openapi::Object;

use super::get_job::told;
use super::{Answer, Call, Tool};
use crate::domain::jobs;
use crate::http::views::{Failure, Job, UrlIngestRequest};

/// Starts an ingest, and waits for it where the caller does.
pub(super) struct IngestUrl;

#[derive(Object)]
pub(super) struct Ingest {
    #[oai(flatten)]
    request: UrlIngestRequest,
    /// Longest time to wait for the end, seconds; the service may wait less. Null waits where the
    /// caller takes notifications of progress, and else not.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "86400")))]
    wait: Option<f64>,
}

impl Tool for IngestUrl {
    const NAME: &'static str = "ingest_url";
    const TITLE: &'static str = "Add a video";
    const DESCRIPTION: &'static str = "Downloads a video from an http(s) address and analyzes it, \
        as a job that goes on whether or not you wait. Returns the job: done, or still running \
        after `wait` seconds; ask get_job for it then. `analyzers` are comma-separated ids from \
        describe_library; each finds another kind of thing. The same bytes are the same video: \
        what was found before is used again. plan_ingest tells the cost beforehand.";
    const READS_ONLY: bool = false;
    type Input = Ingest;
    type Output = Job;

    async fn call(call: Call<'_>, input: Ingest) -> Result<Answer<Job>, Failure> {
        let (url, options) = input.request.split();
        let job = call.service.ingest_url(&url, options.into()).await?;
        let longest = call.settings.max_wait;
        let patience = match input.wait {
            Some(seconds) => Duration::from_secs_f64(seconds).min(longest),
            None if call.progress.is_some() => longest,
            None => Duration::ZERO,
        };
        let job = waited(&call, job, patience).await?;
        let mut text = told(&job);
        if !job.status.is_final() {
            text.push_str(&format!(
                "\nCall get_job with job_id {} to see how it goes.",
                job.job_id
            ));
        }
        Ok(Answer::new(text, job.into()))
    }
}

/// The job as it is when it has ended or patience has, its progress told meanwhile.
async fn waited(
    call: &Call<'_>,
    mut job: jobs::Job,
    patience: Duration,
) -> Result<jobs::Job, Failure> {
    if patience.is_zero() {
        return Ok(job);
    }
    let mut changes = call.service.watch_job(&job.job_id).await?;
    let enough = tokio::time::sleep(patience);
    tokio::pin!(enough);
    let mut step = 0;
    loop {
        tokio::select! {
            () = &mut enough => return Ok(job),
            change = changes.next() => match change {
                Some(changed) => job = changed,
                None => return Ok(job),
            }
        }
        step += 1;
        if let Some(progress) = &call.progress {
            progress.tell(step, &told(&job)).await;
        }
    }
}
