//! What clients do with jobs: add, read, watch and cancel them.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::jobs::{JobQueue, KeptJob};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Idempotency, Job, JobLimits, JobStatus, Sheet, Task};
use crate::domain::error::{Error, Result};

/// Seconds after which a client that was turned away may try again.
const RETRY_AFTER: u32 = 30;

/// The jobs of all instances that share the queue, and the workers of this one.
pub(crate) struct Jobs {
    pub(super) queue: Arc<dyn JobQueue>,
    pub(super) limits: JobLimits,
    pub(super) workers: TaskTracker,
    /// Cancelled when no new jobs are taken.
    pub(super) stopping: CancellationToken,
    /// Cancelled when running jobs have had their time.
    pub(super) ending: CancellationToken,
    /// One at a time looks whether there is room, and adds.
    adding: Mutex<()>,
}

/// The job that a request became.
pub(crate) struct Submitted {
    pub(crate) job: Job,
    /// Whether an earlier request with the same key became it.
    pub(crate) before: bool,
}

impl Jobs {
    pub(crate) fn new(queue: Arc<dyn JobQueue>, limits: JobLimits) -> Self {
        Self {
            queue,
            limits,
            workers: TaskTracker::new(),
            stopping: CancellationToken::new(),
            ending: CancellationToken::new(),
            adding: Mutex::default(),
        }
    }

    /// Whether other instances may work on the jobs.
    pub(crate) fn shared(&self) -> bool {
        self.queue.shared()
    }

    /// Whether new jobs are taken.
    pub(crate) fn open(&self) -> bool {
        !self.stopping.is_cancelled()
    }

    /// Queues a job; `source` is what clients know it by. `Busy` when the queue is full or the
    /// service is stopping.
    pub(crate) async fn submit(
        &self,
        source: String,
        task: Task,
        asked: Option<Idempotency>,
    ) -> Result<Submitted> {
        if !self.open() {
            return Err(Error::Busy {
                message: "the service is stopping and takes no new jobs".into(),
                retry_after: RETRY_AFTER,
            });
        }
        let sheet = Sheet::new(source, task, asked);
        let document = sheet.document()?;
        let _one = self.adding.lock().await;
        if sheet.asked.is_some()
            && let Some(kept) = self.queue.get(&sheet.job.job_id).await?
        {
            return sheet.answered_before(kept);
        }
        let waiting = self.queue.waiting().await?;
        if waiting >= self.limits.queue {
            return Err(Error::Busy {
                message: format!("{waiting} jobs are waiting already; try again later"),
                retry_after: RETRY_AFTER,
            });
        }
        match self.queue.add(&sheet.job.job_id, &document).await? {
            None => Ok(Submitted { job: sheet.job, before: false }),
            Some(kept) => sheet.answered_before(kept),
        }
    }

    /// One job.
    pub(crate) async fn get(&self, job_id: &str) -> Result<Job> {
        Ok(self.find(job_id).await?.0.job)
    }

    /// Every job, newest first.
    pub(crate) async fn list(&self) -> Result<Vec<Job>> {
        Ok(self.sheets().await?.into_iter().map(|sheet| sheet.job).collect())
    }

    /// One job now and after each change, until it has ended.
    pub(crate) async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Job>> {
        self.find(job_id).await?;
        let changes = self.queue.watch(job_id).await?;
        let next = |changes: Option<BoxStream<'static, ports::Result<KeptJob>>>| async move {
            let mut changes = changes?;
            let job = Sheet::read(changes.next().await?.ok()?.document).ok()?.job;
            let more = (!job.status.is_final()).then_some(changes);
            Some((job, more))
        };
        Ok(stream::unfold(Some(changes), next).boxed())
    }

    /// Cancels a job: at once while it waits, at its next safe point while it runs. One that has
    /// ended stays as it is. Returns it as it is now, and whether this has ended it.
    pub(crate) async fn cancel(&self, job_id: &str, reason: &str) -> Result<(Sheet, bool)> {
        loop {
            let (mut sheet, version) = self.find(job_id).await?;
            if sheet.is_final() || sheet.cancel.is_some() {
                return Ok((sheet, false));
            }
            sheet.cancel = Some(reason.to_owned());
            let ends = sheet.job.status == JobStatus::Queued;
            if ends {
                sheet.end(Err(Error::Cancelled(reason.to_owned())));
            }
            if self.queue.swap(job_id, version, &sheet.document()?).await?.is_none() {
                continue;
            }
            if ends {
                sheet.tell_end();
                if let Err(error) = self.queue.withdraw(job_id).await {
                    tracing::warn!(job_id, %error, "a cancelled job is taken once more");
                }
            }
            return Ok((sheet, ends));
        }
    }

    /// Drops the oldest finished jobs beyond those that are remembered.
    pub(crate) async fn forget(&self) -> Result<()> {
        let finished = self.sheets().await?.into_iter().filter(Sheet::is_final);
        for sheet in finished.skip(self.limits.history) {
            self.queue.remove(&sheet.job.job_id).await?;
        }
        Ok(())
    }

    /// Every job, newest first.
    pub(super) async fn sheets(&self) -> Result<Vec<Sheet>> {
        let mut sheets = Vec::new();
        for kept in self.queue.list().await? {
            match Sheet::read(kept.document) {
                Ok(sheet) => sheets.push(sheet),
                Err(error) => tracing::warn!(job_id = %kept.job_id, %error, "not listed"),
            }
        }
        sheets.sort_by(|a, b| (b.created, &b.job.job_id).cmp(&(a.created, &a.job.job_id)));
        Ok(sheets)
    }

    async fn find(&self, job_id: &str) -> Result<(Sheet, u64)> {
        let form = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let kept = if (1..=64).contains(&job_id.len()) && job_id.chars().all(form) {
            self.queue.get(job_id).await?
        } else {
            None
        };
        let kept = kept.ok_or_else(|| {
            let forgotten = if self.shared() { "old ones are" } else { "a restart forgets jobs" };
            Error::NotFound(format!("unknown job '{job_id}'; {forgotten}"))
        })?;
        Ok((Sheet::read(kept.document)?, kept.version))
    }
}

impl Sheet {
    /// The kept job of a request with this one's key. `Unprocessable` when it was another request.
    fn answered_before(&self, kept: KeptJob) -> Result<Submitted> {
        let before = Self::read(kept.document)?;
        match &self.asked {
            Some(asked) if before.asked.as_ref() != Some(asked) => {
                Err(Error::Unprocessable(format!(
                    "Idempotency-Key: '{}' was given with another request, which became job {}; use a \
                 new key for a new request",
                    asked.key, before.job.job_id
                )))
            }
            _ => Ok(Submitted { job: before.job, before: true }),
        }
    }
}
