//! Queueing what alerts are to be told.

use crate::domain::jobs::{Job, JobRecord, JobStatus, Jobs, Task};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;

impl Jobs {
    /// Queues what an alert could not be told, once more: one job for each video.
    pub async fn retry_alert(&self, name: &str) -> Result<Vec<Job>> {
        let mut videos: Vec<VideoId> = Vec::new();
        for failed in self.alerts.get(name).await?.failed {
            if !videos.contains(&failed.video_id) {
                videos.push(failed.video_id);
            }
        }
        let mut jobs = Vec::with_capacity(videos.len());
        for video_id in videos {
            let task = Task::Alerts { video_id, alert: Some(name.to_owned()) };
            jobs.push(self.add(name.to_owned(), task, None).await?.job);
        }
        Ok(jobs)
    }

    /// Queues what the alerts are to be told of the videos that are noted; what cannot be queued now is
    /// after the next ingest or start.
    pub(super) async fn queue_alerts(&self) {
        if let Err(error) = self.queue_publications().await {
            tracing::warn!(error = %error.labelled(), "alerts are told later");
        }
    }

    async fn queue_publications(&self) -> Result<()> {
        let noted = self.ingest.catalog.publications().await?;
        if noted.is_empty() {
            return Ok(());
        }
        let waiting =
            self.records().await?.into_iter().filter(|r| r.job.status == JobStatus::Queued);
        let waiting: Vec<Task> = waiting.map(|record| record.task).collect();
        for video_id in noted {
            let task = Task::Alerts { video_id, alert: None };
            if !waiting.contains(&task) {
                // However many wait already: nobody is there to try again.
                let record = JobRecord::new(format!("alerts of {video_id}"), task, None);
                self.queue.add(&record.job.job_id, &record.document()?).await?;
            }
        }
        Ok(())
    }
}
