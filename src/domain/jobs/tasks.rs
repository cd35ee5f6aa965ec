//! Runs the task of a job.

use std::sync::Arc;

use crate::alerts::Alerts;
use crate::evaluation::Evaluations;
use crate::ingest::{Ingest, VideoAggregation};
use crate::jobs::collections::CollectionChanges;
use crate::jobs::{JobResult, JobTask, Submission};
use crate::kernel::error::{Error, Result};
use crate::kernel::progress::Progress;

/// Runs tasks with the use-cases that carry them out.
pub(super) struct TaskRunner {
    pub(super) ingest: Arc<Ingest>,
    pub(super) aggregation: Arc<VideoAggregation>,
    pub(super) alerts: Arc<Alerts>,
    pub(super) evaluations: Arc<Evaluations>,
    pub(super) collections: CollectionChanges,
    /// Queues the alerts of ingested videos.
    pub(super) submission: Arc<Submission>,
}

impl TaskRunner {
    /// Runs a task to its end.
    pub(super) async fn run(
        self: Arc<Self>,
        job_id: String,
        task: JobTask,
        progress: Progress,
    ) -> Result<JobResult> {
        match task {
            JobTask::Ingest { source, fields } => {
                let done = self.ingest.ingest(source, &fields, progress).await?;
                self.submission.queue_alerts().await;
                Ok(JobResult::Ingest(Box::new(done)))
            }
            JobTask::Alerts { video_id, alert } => {
                let done = self.alerts.notify(video_id, alert.as_deref(), &progress).await?;
                Ok(JobResult::Alerts(done))
            }
            JobTask::Aggregate { video_id, aggregators, force } => {
                let done = self.aggregation.rerun(video_id, aggregators, force, progress).await?;
                Ok(JobResult::Aggregates(Box::new(done)))
            }
            JobTask::AggregateCorrected { video_id } => {
                let done = self.aggregation.rerun_corrected(video_id, progress).await?;
                Ok(JobResult::Aggregates(Box::new(done)))
            }
            JobTask::Collection { name, change } => {
                let done = self.collections.apply(&name, &change, progress).await?;
                Ok(JobResult::Collection(done))
            }
            JobTask::Evaluate { evaluation, request } => {
                let done = self.evaluations.run(&evaluation, &job_id, &request, &progress).await?;
                Ok(JobResult::Evaluation(done))
            }
            JobTask::Unreadable => Err(Error::corrupt("the record of the job does not read back")),
        }
    }
}
