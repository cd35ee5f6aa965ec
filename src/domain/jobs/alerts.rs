//! Queues jobs that match published videos against alerts.

use crate::jobs::{Job, JobRecord, JobStatus, JobTask, Submission};
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;

impl Submission {
    /// Retries an alert's failed webhook calls, using one job per video. Returns `Invalid` if the
    /// alert is paused.
    pub async fn retry_alert(&self, name: &str) -> Result<Vec<Job>> {
        let mut videos: Vec<VideoId> = Vec::new();
        let alert = self.alerts.get(name).await?;
        if alert.paused {
            return Err(Error::Invalid(format!("alert '{name}' is paused; resume it first")));
        }
        for failed in alert.failed {
            if !videos.contains(&failed.video_id) {
                videos.push(failed.video_id);
            }
        }
        let mut jobs = Vec::with_capacity(videos.len());
        for video_id in videos {
            let task = JobTask::Alerts { video_id, alert: Some(name.to_owned()) };
            jobs.push(self.store.add(name.to_owned(), task, None).await?.job);
        }
        Ok(jobs)
    }

    /// Queues alert jobs for the videos with a publication note. If queuing fails, it is tried
    /// again after the next ingest, correction or start of the service.
    pub(super) async fn queue_alerts(&self) {
        if let Err(error) = self.queue_publications().await {
            tracing::warn!(error = %error.labelled(), "could not queue alerts; retrying after the next ingest or start");
        }
    }

    async fn queue_publications(&self) -> Result<()> {
        let video_ids = self.publisher.publications().await?;
        if video_ids.is_empty() {
            return Ok(());
        }
        let waiting =
            self.store.records().await?.into_iter().filter(|r| r.job.status == JobStatus::Queued);
        let waiting: Vec<JobTask> = waiting.map(|record| record.task).collect();
        for video_id in video_ids {
            let task = JobTask::Alerts { video_id, alert: None };
            if !waiting.contains(&task) {
                // Ignores the queue limit, since no client could retry.
                let record = JobRecord::new(format!("alerts of {video_id}"), task, None);
                self.store
                    .queue
                    .add(record.task.lane(), &record.job.job_id, &record.document()?)
                    .await?;
            }
        }
        Ok(())
    }
}
