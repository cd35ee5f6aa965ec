//! Corrections, and what follows them: the aggregates of the video, and alerts.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::domain::analysis::correction::Correction;
use crate::domain::ingest::correct::CorrectionDraft;
use crate::domain::jobs::{Job, Jobs, Task};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;

impl Jobs {
    /// Corrects a video: every correction, or none. Its aggregates are computed again by a job:
    /// where `aggregate` does not say otherwise, if that bills nothing. Goes on when the caller does
    /// not wait for it.
    pub async fn correct(
        self: &Arc<Self>,
        video_id: VideoId,
        drafts: Vec<CorrectionDraft>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        let jobs = self.clone();
        finished(tokio::spawn(async move {
            let made = jobs.ingest.correct(video_id, &drafts).await?;
            Ok((made, jobs.follow_corrections(video_id, aggregate).await?))
        }))
        .await
    }

    /// Undoes one correction of a video, or all, in the same way; answers with those that are left.
    pub async fn undo_corrections(
        self: &Arc<Self>,
        video_id: VideoId,
        id: Option<String>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        let jobs = self.clone();
        finished(tokio::spawn(async move {
            let left = jobs.ingest.undo_corrections(video_id, id.as_deref()).await?;
            Ok((left, jobs.follow_corrections(video_id, aggregate).await?))
        }))
        .await
    }

    async fn follow_corrections(
        &self,
        video_id: VideoId,
        aggregate: Option<bool>,
    ) -> Result<Option<Job>> {
        self.queue_alerts().await;
        let record = self.ingest.catalog.record(video_id).await?;
        let wanted = aggregate.unwrap_or_else(|| !self.ingest.bills_aggregates());
        if !wanted || record.aggregates.is_empty() {
            return Ok(None);
        }
        let task = Task::AggregateCorrected { video_id };
        Ok(Some(self.add(record.filename, task, None).await?.job))
    }
}

async fn finished<T>(work: JoinHandle<Result<T>>) -> Result<T> {
    work.await.map_err(|e| Error::corrupt(format!("correcting panicked: {e}")))?
}
