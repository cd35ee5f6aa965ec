//! Applies corrections and queues the follow-up jobs: re-aggregation and alerts.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::analysis::correction::{Correction, CorrectionKind};
use crate::corrections::CorrectionDraft;
use crate::jobs::{Job, JobTask, Submission};
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;

impl Submission {
    /// Adds corrections to a video, either all or none. `aggregate` decides whether a job
    /// recomputes the video's aggregates. By default, a job does so if this needs no billed calls.
    /// The change completes even if the caller disconnects.
    pub async fn correct(
        self: &Arc<Self>,
        video_id: VideoId,
        drafts: Vec<CorrectionDraft>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        let submission = self.clone();
        join(tokio::spawn(async move {
            let added = submission.corrections.add(video_id, &drafts).await?;
            // Titles of chapters are corrected when they are read, and nothing is derived from them.
            let only_titles = drafts.iter().all(|draft| draft.of == CorrectionKind::Chapter);
            let aggregate = if only_titles { Some(false) } else { aggregate };
            Ok((added, submission.follow_corrections(video_id, aggregate).await?))
        }))
        .await
    }

    /// Removes one correction to a video, or all of them, and otherwise works like
    /// [`Self::correct`]. Returns the remaining corrections.
    pub async fn undo_corrections(
        self: &Arc<Self>,
        video_id: VideoId,
        id: Option<String>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        let submission = self.clone();
        join(tokio::spawn(async move {
            let remaining = submission.corrections.remove(video_id, id.as_deref()).await?;
            Ok((remaining, submission.follow_corrections(video_id, aggregate).await?))
        }))
        .await
    }

    async fn follow_corrections(
        &self,
        video_id: VideoId,
        aggregate: Option<bool>,
    ) -> Result<Option<Job>> {
        self.queue_alerts().await;
        let record = self.records.get(video_id).await?;
        let reaggregate = aggregate.unwrap_or_else(|| !self.aggregation.is_billed());
        if !reaggregate || record.aggregates.is_empty() {
            return Ok(None);
        }
        let task = JobTask::AggregateCorrected { video_id };
        Ok(Some(self.store.add(record.filename, task, None).await?.job))
    }
}

async fn join<T>(work: JoinHandle<Result<T>>) -> Result<T> {
    work.await.map_err(|e| Error::corrupt(format!("correcting panicked: {e}")))?
}
