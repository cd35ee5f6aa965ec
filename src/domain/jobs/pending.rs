//! Durable jobs, which must run even if this process dies and its queue is lost. Each durable job
//! is stored in the records until it has ended, so that it can be queued again if the queue loses
//! it.

use crate::jobs::{JobRecord, JobStatus, JobStore};
use crate::kernel::error::Result;

/// Key prefix of durable jobs that have not ended.
const PENDING: &str = "pending/";

fn pending_key(job_id: &str) -> String {
    format!("{PENDING}{job_id}.json")
}

impl JobStore {
    /// Requeues the durable jobs that the queue has lost. They keep their ids.
    pub(super) async fn requeue_pending(&self) -> Result<()> {
        for name in self.records.children(PENDING).await? {
            let key = format!("{PENDING}{name}");
            let Some(document) = self.records.get(&key).await? else { continue };
            let existing = match JobRecord::read(document.clone()) {
                Ok(record) => {
                    self.queue.add(record.task.lane(), &record.job.job_id, &document).await?
                }
                Err(error) => {
                    tracing::error!(key, %error, "ignoring an unreadable durable job");
                    continue;
                }
            };
            // The job has ended, but its worker died before removing the record.
            if existing.is_some_and(|existing| {
                JobRecord::read(existing.document).is_ok_and(|r| r.is_final())
            }) {
                self.records.delete(&key).await?;
            }
        }
        Ok(())
    }

    /// Stores a durable job before it is queued.
    pub(super) async fn store_pending(&self, record: &JobRecord) -> Result<()> {
        if record.task.is_durable() {
            self.records.put(&pending_key(&record.job.job_id), &record.document()?).await?;
        }
        Ok(())
    }

    /// Removes the record of a durable job that has ended. If the job failed because the service is
    /// stopping, keeps the record, so that the job runs when the service has started again.
    pub(super) async fn remove_pending(&self, record: &JobRecord) {
        let stopped = !self.is_open() && record.job.status == JobStatus::Failed;
        if !record.task.is_durable() || stopped {
            return;
        }
        if let Err(error) = self.records.delete(&pending_key(&record.job.job_id)).await {
            tracing::warn!(job_id = %record.job.job_id, %error, "could not remove the record of an ended job");
        }
    }
}
