//! Jobs that have to be done whatever becomes of this process and its queue: each is entered in the
//! records until it has ended, and queued again from there.

use crate::domain::jobs::{JobRecord, JobStatus, Jobs};
use crate::domain::kernel::error::Result;

/// Below it lie the jobs that have not ended.
const PENDING: &str = "pending/";

fn key_of(job_id: &str) -> String {
    format!("{PENDING}{job_id}.json")
}

impl Jobs {
    /// Queues again what the records hold and the queue has lost, under the ids of then, and what alerts
    /// are still to be told.
    pub async fn resume(&self) -> Result<()> {
        for name in self.records.children(PENDING).await? {
            let key = format!("{PENDING}{name}");
            let Some(document) = self.records.get(&key).await? else { continue };
            let kept = match JobRecord::read(document.clone()) {
                Ok(record) => self.queue.add(&record.job.job_id, &document).await?,
                Err(error) => {
                    tracing::error!(key, %error, "a job that was to be done is left as it is");
                    continue;
                }
            };
            // It ended, and who worked on it died before that was entered.
            if kept.is_some_and(|kept| JobRecord::read(kept.document).is_ok_and(|r| r.is_final())) {
                self.records.delete(&key).await?;
            }
        }
        self.queue_alerts().await;
        Ok(())
    }

    /// Enters a job that has to be done, before it is queued.
    pub(super) async fn keep_pending(&self, record: &JobRecord) -> Result<()> {
        if record.task.is_lasting() {
            self.records.put(&key_of(&record.job.job_id), &record.document()?).await?;
        }
        Ok(())
    }

    /// Forgets a job that has ended: one that fails while the service stops is done after the
    /// next start.
    pub(super) async fn settle(&self, record: &JobRecord) {
        let stopped = !self.open() && record.job.status == JobStatus::Failed;
        if !record.task.is_lasting() || stopped {
            return;
        }
        if let Err(error) = self.records.delete(&key_of(&record.job.job_id)).await {
            tracing::warn!(job_id = %record.job.job_id, %error, "a job that has ended is kept");
        }
    }
}
