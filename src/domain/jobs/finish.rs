//! Ends jobs: cancels them, and does the follow-up work when one has ended.

use std::sync::Arc;

use ports::jobs::Lease;

use crate::ingest::Sources;
use crate::jobs::store::JobStore;
use crate::jobs::{Job, JobRecord, JobStatus, JobTask, Submission};
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;

/// Cancels jobs, and does the follow-up work when a job has ended.
pub(crate) struct Finisher {
    pub(super) store: Arc<JobStore>,
    pub(super) submission: Arc<Submission>,
    pub(super) sources: Arc<Sources>,
}

impl Finisher {
    /// Cancels a job. A waiting job ends immediately, and a running job ends at its next safe
    /// point.
    pub(crate) async fn cancel(self: &Arc<Self>, job_id: &str) -> Result<Job> {
        self.cancel_for(job_id, "the job was cancelled").await
    }

    /// Cancels all unfinished jobs that work on a video.
    pub(crate) async fn cancel_video_jobs(
        self: &Arc<Self>,
        video_id: VideoId,
        reason: &str,
    ) -> Result<()> {
        for record in self.store.records().await? {
            if record.video_id == Some(video_id) && !record.is_final() {
                self.cancel_for(&record.job.job_id, reason).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn cancel_for(self: &Arc<Self>, job_id: &str, reason: &str) -> Result<Job> {
        let (record, follow_up) = self.store.request_cancel(job_id, reason).await?;
        let job = record.job.clone();
        if follow_up {
            let finisher = self.clone();
            // The task completes even if the client disconnects.
            let following = tokio::spawn(async move { finisher.follow_up(record, None).await });
            following.await.map_err(|e| Error::corrupt(format!("cancelling panicked: {e}")))?;
        }
        Ok(job)
    }

    /// Does the follow-up work when a job ends: removes its source, calls its webhook and prunes
    /// the history.
    pub(super) async fn follow_up(&self, record: JobRecord, lease: Option<Box<dyn Lease>>) {
        self.store.remove_pending(&record).await;
        let finish = async move {
            if let Some(lease) = lease {
                ack(lease).await;
            }
        };
        let mut callback = None;
        if let JobTask::Ingest { source, fields } = &record.task {
            let done = record.job.status == JobStatus::Done;
            self.sources.discard(source, done).await;
            callback = self.submission.callback(fields).unwrap_or_else(|error| {
                // The callback was validated when the job was added.
                tracing::error!(error = %error.labelled(), "no callback: settings differ");
                None
            });
        }
        match callback {
            // The lease is acknowledged after the callback, so that another instance sends the
            // callback if this one dies.
            Some(callback) => {
                let job_id = record.job.job_id.clone();
                tokio::spawn(async move {
                    if let Some(body) = record.callback_body() {
                        // `send` logs errors.
                        let _ = callback.send(&job_id, body).await;
                    }
                    finish.await;
                });
            }
            None => finish.await,
        }
        if let Err(error) = self.store.prune_history().await {
            tracing::warn!(error = %error.labelled(), "could not prune old jobs");
        }
    }
}

/// Acknowledges a job. If this fails, the ended job is redelivered.
pub(super) async fn ack(lease: Box<dyn Lease>) {
    if let Err(error) = lease.ack().await {
        tracing::warn!(%error, "could not acknowledge an ended job; it will be redelivered");
    }
}
