//! What clients do with jobs: add, read, watch and cancel them.

use std::cmp::Reverse;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::jobs::{JobQueue, StoredJob};
use ports::records::RecordStore;
use ports::storage::ObjectStorage;
use ports::webhook::WebhookSender;
use ports::{ErrorKind, PortError};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::domain::alerts::Alerts;
use crate::domain::catalog::install::owned;
use crate::domain::evaluation::Evaluations;
use crate::domain::frames::Frames;
use crate::domain::ingest::{Ingest, IngestSettings};
use crate::domain::jobs::{Idempotency, Job, JobRecord, JobSettings, JobStatus, Task};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::ports::Stores;
use crate::domain::kernel::video::VideoId;
use crate::domain::kernel::webhook::CallbackSettings;

/// Seconds after which a client that was turned away may try again.
const RETRY_AFTER: u32 = 30;

/// The jobs of all instances that share the queue, and the workers of this one.
pub struct Jobs {
    pub(super) ingest: Arc<Ingest>,
    pub(super) frames: Arc<Frames>,
    pub(super) evaluations: Arc<Evaluations>,
    pub(super) alerts: Arc<Alerts>,
    pub(super) storage: Arc<dyn ObjectStorage>,
    /// Where the jobs are kept that have to be done whatever becomes of the queue.
    pub(super) records: Arc<dyn RecordStore>,
    pub(super) webhooks: Arc<dyn WebhookSender>,
    pub(super) callbacks: CallbackSettings,
    pub(super) queue: Arc<dyn JobQueue>,
    pub(super) settings: JobSettings,
    /// How many jobs run and wait.
    pub(super) limits: IngestSettings,
    pub(super) workers: TaskTracker,
    /// Cancelled when no new jobs are taken.
    pub(super) stopping: CancellationToken,
    /// Cancelled when running jobs have had their time.
    pub(super) ending: CancellationToken,
    /// Where the jobs are this process's alone, one at a time looks whether there is room and adds.
    adding: Mutex<()>,
}

/// The use-cases that jobs do.
pub(crate) struct JobUseCases {
    pub(crate) ingest: Arc<Ingest>,
    pub(crate) frames: Arc<Frames>,
    pub(crate) evaluations: Arc<Evaluations>,
    pub(crate) alerts: Arc<Alerts>,
}

/// The job that a request became.
pub(crate) struct Submitted {
    pub(crate) job: Job,
    /// Whether an earlier request with the same key became it.
    pub(crate) before: bool,
}

impl Jobs {
    pub(crate) fn new(
        stores: &Stores,
        does: JobUseCases,
        settings: JobSettings,
        limits: IngestSettings,
        callbacks: CallbackSettings,
    ) -> Arc<Self> {
        let JobUseCases { ingest, frames, evaluations, alerts } = does;
        Arc::new(Self {
            ingest,
            frames,
            evaluations,
            alerts,
            storage: stores.storage.clone(),
            records: stores.records.clone(),
            webhooks: stores.webhooks.clone(),
            callbacks,
            queue: stores.jobs.clone(),
            settings,
            limits,
            workers: TaskTracker::new(),
            stopping: CancellationToken::new(),
            ending: CancellationToken::new(),
            adding: Mutex::default(),
        })
    }

    /// Enters an install as the owner of the queue, where it has none yet. `Invalid` when another
    /// owns it.
    pub(crate) async fn own_queue(&self, install: &str) -> Result<()> {
        if self.queue.adopt(install).await.map_err(unreachable)? != install {
            return Err(owned("the queue holds the jobs", "jobs.name"));
        }
        Ok(())
    }

    /// Whether other instances may work on the jobs.
    pub(crate) fn shared(&self) -> bool {
        self.queue.shared()
    }

    /// Whether new jobs are taken.
    pub fn open(&self) -> bool {
        !self.stopping.is_cancelled()
    }

    /// Queues a job; `source` is what clients know it by. `Busy` when the queue is full or the
    /// service is stopping.
    pub(super) async fn add(
        &self,
        source: String,
        task: Task,
        idempotency: Option<Idempotency>,
    ) -> Result<Submitted> {
        let _one = if self.shared() { None } else { Some(self.adding.lock().await) };
        if let Some(job) = self.admit(idempotency.as_ref()).await? {
            return Ok(Submitted { job, before: true });
        }
        let record = JobRecord::new(source, task, idempotency);
        self.keep_pending(&record).await?;
        let added = self.queue.add(&record.job.job_id, &record.document()?).await;
        if added.is_err() {
            // Whoever is told that it failed does not expect it to be done.
            self.settle(&record).await;
        }
        let Some(kept) = added.map_err(unreachable)? else {
            return Ok(Submitted { job: record.job, before: false });
        };
        let kept = JobRecord::read(kept.document)?;
        // An answer that got lost leaves the queue unsure who has added it.
        if (kept.created, &kept.task) == (record.created, &record.task) {
            return Ok(Submitted { job: kept.job, before: false });
        }
        Ok(Submitted { job: kept.for_request(record.idempotency.as_ref())?, before: true })
    }

    /// The job that an earlier request with the same key became, or nothing when there is room for
    /// a new one. `Busy` when the queue is full or the service is stopping.
    pub(super) async fn admit(&self, idempotency: Option<&Idempotency>) -> Result<Option<Job>> {
        if let Some(idempotency) = idempotency
            && let Some(kept) = self.queue.get(&idempotency.job_id()).await.map_err(unreachable)?
        {
            return JobRecord::read(kept.document)?.for_request(Some(idempotency)).map(Some);
        }
        let busy = |message| Err(Error::Busy { message, retry_after: RETRY_AFTER });
        if !self.open() {
            return busy("the service is stopping and takes no new jobs".into());
        }
        self.ingest.catalog.opening.check()?;
        let waiting = self.queue.waiting_count().await.map_err(unreachable)?;
        if waiting >= self.limits.queue {
            return busy(format!("{waiting} jobs are waiting already; try again later"));
        }
        Ok(None)
    }

    /// Takes no new jobs; those that are being added now are in the queue.
    pub(super) async fn close(&self) {
        self.stopping.cancel();
        self.workers.close();
        drop(self.adding.lock().await);
    }

    /// One job.
    pub async fn get(&self, job_id: &str) -> Result<Job> {
        Ok(self.find(job_id).await?.0.job)
    }

    /// One job, if a caller sees it; else it is `NotFound`, as one that is not kept.
    pub async fn get_seen(&self, access: &Access, job_id: &str) -> Result<Job> {
        let (record, _) = self.find(job_id).await?;
        let mut seen = self.seen(access, vec![record]).await?;
        seen.pop().map(|record| record.job).ok_or_else(|| self.unknown(job_id))
    }

    /// The jobs that a caller sees, newest first.
    pub async fn list_seen(&self, access: &Access) -> Result<Vec<Job>> {
        let records = self.seen(access, self.records().await?).await?;
        Ok(records.into_iter().map(|record| record.job).collect())
    }

    /// Those of some jobs that a caller sees.
    async fn seen(&self, access: &Access, mut jobs: Vec<JobRecord>) -> Result<Vec<JobRecord>> {
        if access.collections().is_none() {
            return Ok(jobs);
        }
        let ids: Vec<VideoId> = jobs.iter().filter_map(JobRecord::of_video).collect();
        let listed = self.ingest.catalog.listed(&ids).await?;
        jobs.retain(|job| {
            let video = job.of_video().and_then(|id| listed.get(&id));
            job.is_seen(access, video.map(|video| video.about.collection.as_deref()))
        });
        Ok(jobs)
    }

    /// Every job, newest first.
    pub async fn list(&self) -> Result<Vec<Job>> {
        Ok(self.records().await?.into_iter().map(|record| record.job).collect())
    }

    /// One job now and after each change, until it has ended.
    pub async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Job>> {
        self.find(job_id).await?;
        let changes = self.queue.watch(job_id).await.map_err(unreachable)?;
        let next = |changes: Option<BoxStream<'static, ports::Result<StoredJob>>>| async move {
            let mut changes = changes?;
            let job = JobRecord::read(changes.next().await?.ok()?.document).ok()?.job;
            let more = (!job.status.is_final()).then_some(changes);
            Some((job, more))
        };
        Ok(stream::unfold(Some(changes), next).boxed())
    }

    /// Cancels a job: at once while it waits, at its next safe point while it runs. One that has
    /// ended stays as it is. Returns it as it is now, and whether what follows its end is left to
    /// the caller: no worker will see it.
    pub(super) async fn request_cancel(
        &self,
        job_id: &str,
        reason: &str,
    ) -> Result<(JobRecord, bool)> {
        loop {
            let (mut record, version) = self.find(job_id).await?;
            if record.is_final() || record.cancel.is_some() {
                return Ok((record, false));
            }
            record.cancel = Some(reason.to_owned());
            let ends = record.job.status == JobStatus::Queued;
            if ends {
                record.end(Err(Error::Cancelled(reason.to_owned())));
            }
            let swapped = self.queue.compare_and_swap(job_id, version, &record.document()?).await;
            if swapped.map_err(unreachable)?.is_none() {
                continue;
            }
            if !ends {
                return Ok((record, false));
            }
            record.tell_end();
            let withdrawn = self.queue.withdraw(job_id).await.map_err(unreachable)?;
            return Ok((record, withdrawn));
        }
    }

    /// Drops the oldest finished jobs beyond those that are remembered.
    pub(crate) async fn forget(&self) -> Result<()> {
        let finished = self.kept().await?.into_iter().filter(|(record, _)| record.is_final());
        for (record, version) in finished.skip(self.settings.history) {
            self.queue.remove(&record.job.job_id, version).await.map_err(unreachable)?;
        }
        Ok(())
    }

    /// Every job, newest first.
    pub(super) async fn records(&self) -> Result<Vec<JobRecord>> {
        Ok(self.kept().await?.into_iter().map(|(record, _)| record).collect())
    }

    /// Every job with the version in which it is kept, newest first.
    async fn kept(&self) -> Result<Vec<(JobRecord, u64)>> {
        let mut records = Vec::new();
        for kept in self.queue.list().await.map_err(unreachable)? {
            match JobRecord::read(kept.document) {
                Ok(record) => records.push((record, kept.version)),
                Err(error) => tracing::warn!(job_id = %kept.job_id, %error, "not listed"),
            }
        }
        let age =
            |(record, _): &(JobRecord, u64)| Reverse((record.created, record.job.job_id.clone()));
        records.sort_by_cached_key(age);
        Ok(records)
    }

    async fn find(&self, job_id: &str) -> Result<(JobRecord, u64)> {
        let form = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let kept = if (1..=64).contains(&job_id.len()) && job_id.chars().all(form) {
            self.queue.get(job_id).await.map_err(unreachable)?
        } else {
            None
        };
        let kept = kept.ok_or_else(|| self.unknown(job_id))?;
        Ok((JobRecord::read(kept.document)?, kept.version))
    }

    fn unknown(&self, job_id: &str) -> Error {
        let restart = if self.shared() { "" } else { ", a restart forgets all" };
        Error::NotFound(format!("unknown job '{job_id}'; old ones are forgotten{restart}"))
    }
}

/// Clients may try again when the queue is back.
fn unreachable(error: PortError) -> Error {
    match error.kind() {
        ErrorKind::Unavailable | ErrorKind::Timeout => {
            tracing::error!(%error, "the job queue does not answer");
            Error::Busy { message: "the job queue does not answer".into(), retry_after: 5 }
        }
        ErrorKind::TooLarge => Error::Unprocessable(format!("the request is too long: {error}")),
        _ => Error::Port(error),
    }
}

impl JobRecord {
    /// The job, if this request became it. `Unprocessable` when another one with its key did.
    fn for_request(self, idempotency: Option<&Idempotency>) -> Result<Job> {
        match idempotency {
            Some(idempotency) if self.idempotency.as_ref() != Some(idempotency) => {
                Err(Error::Unprocessable(format!(
                    "Idempotency-Key: '{}' was given with another request, which became job {}; \
                     use a new key for a new request",
                    idempotency.key, self.job.job_id
                )))
            }
            _ => Ok(self.job),
        }
    }
}
