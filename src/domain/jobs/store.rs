//! Adds, reads, watches and prunes jobs, and requests their cancellation.

use std::cmp::Reverse;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::jobs::{JobQueue, StoredJob};
use ports::records::RecordStore;
use ports::{ErrorKind, PortError};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::jobs::{Idempotency, Job, JobRecord, JobStatus, JobTask};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::records::install::owned_by_other_install;
use crate::records::readiness::StoreReadiness;

/// `Retry-After` for rejected requests, in seconds.
const RETRY_AFTER: u32 = 30;

/// The queue of jobs, and the jobs of all instances that share it.
pub struct JobStore {
    pub(super) queue: Arc<dyn JobQueue>,
    /// Stores durable jobs.
    pub(super) records: Arc<dyn RecordStore>,
    listing: Arc<Listing>,
    readiness: Arc<StoreReadiness>,
    /// Maximum number of waiting jobs.
    max_waiting: usize,
    /// Number of finished jobs to keep.
    history: usize,
    /// Cancelled to stop accepting and claiming jobs.
    stopping: CancellationToken,
    /// Held from the check of the queue limit until the job is added, if the queue is not shared.
    adding: Mutex<()>,
}

/// The outcome of a request for a job.
pub(super) struct Admission {
    pub(super) job: Job,
    /// Whether an earlier request with the same key created the job.
    pub(super) existing: bool,
}

impl JobStore {
    pub(super) fn new(
        stores: &Stores,
        catalog: &Catalog,
        max_waiting: usize,
        history: usize,
    ) -> Self {
        Self {
            queue: stores.jobs.clone(),
            records: stores.records.clone(),
            listing: catalog.listing.clone(),
            readiness: catalog.readiness.clone(),
            max_waiting,
            history,
            stopping: CancellationToken::new(),
            adding: Mutex::default(),
        }
    }

    /// Registers an install as the owner of the queue if the queue has none. Returns `Invalid` if
    /// another install owns it.
    pub(crate) async fn adopt_queue(&self, install: &str) -> Result<()> {
        if self.queue.adopt(install).await.map_err(queue_error)? != install {
            return Err(owned_by_other_install("the queue holds the jobs", "jobs.name"));
        }
        Ok(())
    }

    /// Whether other instances share the queue.
    pub(crate) fn shared(&self) -> bool {
        self.queue.shared()
    }

    /// Whether new jobs are accepted.
    pub fn is_open(&self) -> bool {
        !self.stopping.is_cancelled()
    }

    /// Queues a job with a human-readable `source`. Returns `Busy` if the queue is full or the
    /// service is stopping.
    pub(super) async fn add(
        &self,
        source: String,
        task: JobTask,
        idempotency: Option<Idempotency>,
    ) -> Result<Admission> {
        let _guard = if self.shared() { None } else { Some(self.adding.lock().await) };
        if let Some(job) = self.admit(idempotency.as_ref()).await? {
            return Ok(Admission { job, existing: true });
        }
        let record = JobRecord::new(source, task, idempotency);
        self.store_pending(&record).await?;
        let (lane, job_id) = (record.task.lane(), &record.job.job_id);
        let added = self.queue.add(lane, job_id, &record.document()?).await;
        if added.is_err() {
            // The client gets an error, so the job must not run later.
            self.remove_pending(&record).await;
        }
        let Some(stored) = added.map_err(queue_error)? else {
            return Ok(Admission { job: record.job, existing: false });
        };
        let stored = JobRecord::read(stored.document)?;
        // If the queue's response was lost, the stored job may be the one that this request
        // created.
        if (stored.created, &stored.task) == (record.created, &record.task) {
            return Ok(Admission { job: stored.job, existing: false });
        }
        Ok(Admission { job: stored.for_request(record.idempotency.as_ref())?, existing: true })
    }

    /// Returns the job created by an earlier request with the same key, or `None` if a new job may
    /// be added. Returns `Busy` if the queue is full or the service is stopping.
    pub(super) async fn admit(&self, idempotency: Option<&Idempotency>) -> Result<Option<Job>> {
        if let Some(idempotency) = idempotency
            && let Some(stored) =
                self.queue.get(&idempotency.job_id()).await.map_err(queue_error)?
        {
            return JobRecord::read(stored.document)?.for_request(Some(idempotency)).map(Some);
        }
        let busy = |message| Err(Error::Busy { message, retry_after: RETRY_AFTER });
        if !self.is_open() {
            return busy("the service is stopping and takes no new jobs".into());
        }
        self.readiness.check()?;
        let waiting = self.queue.waiting_count().await.map_err(queue_error)?;
        if waiting >= self.max_waiting {
            return busy(format!("{waiting} jobs are waiting already; try again later"));
        }
        Ok(None)
    }

    /// Stops accepting jobs, and waits for additions in progress.
    pub(super) async fn close(&self) {
        self.stopping.cancel();
        drop(self.adding.lock().await);
    }

    /// Waits until no more jobs are accepted.
    pub(super) async fn closed(&self) {
        self.stopping.cancelled().await;
    }

    /// Reads one job.
    pub async fn get(&self, job_id: &str) -> Result<Job> {
        Ok(self.find(job_id).await?.0.job)
    }

    /// Reads one job. If the caller may not see it, returns `NotFound`, as for a job that does not
    /// exist.
    pub async fn get_visible(&self, access: &Access, job_id: &str) -> Result<Job> {
        let (record, _) = self.find(job_id).await?;
        let mut visible = self.visible(access, vec![record]).await?;
        visible.pop().map(|record| record.job).ok_or_else(|| self.unknown(job_id))
    }

    /// Lists the jobs that a caller may see, newest first.
    pub async fn list_visible(&self, access: &Access) -> Result<Vec<Job>> {
        let records = self.visible(access, self.records().await?).await?;
        Ok(records.into_iter().map(|record| record.job).collect())
    }

    /// Selects the jobs among `jobs` that a caller may see.
    async fn visible(&self, access: &Access, mut jobs: Vec<JobRecord>) -> Result<Vec<JobRecord>> {
        if access.collections().is_none() {
            return Ok(jobs);
        }
        let ids: Vec<VideoId> = jobs.iter().filter_map(JobRecord::target_video).collect();
        let summaries = self.listing.summaries(&ids).await?;
        jobs.retain(|job| {
            let video = job.target_video().and_then(|id| summaries.get(&id));
            job.is_visible(access, video.map(|video| video.metadata.collection.as_deref()))
        });
        Ok(jobs)
    }

    /// Lists all jobs, newest first.
    pub async fn list(&self) -> Result<Vec<Job>> {
        Ok(self.records().await?.into_iter().map(|record| record.job).collect())
    }

    /// Streams a job's current state and then each change until the job has ended.
    pub async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Job>> {
        self.find(job_id).await?;
        let changes = self.queue.watch(job_id).await.map_err(queue_error)?;
        let next = |changes: Option<BoxStream<'static, ports::Result<StoredJob>>>| async move {
            let mut changes = changes?;
            let job = JobRecord::read(changes.next().await?.ok()?.document).ok()?.job;
            let more = (!job.status.is_final()).then_some(changes);
            Some((job, more))
        };
        Ok(stream::unfold(Some(changes), next).boxed())
    }

    /// Cancels a job. A waiting job ends immediately, a running job ends at its next safe point,
    /// and an ended job stays unchanged. Returns the job's current record, and whether the caller
    /// must do the follow-up work for the ended job, because no worker will.
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
            if swapped.map_err(queue_error)?.is_none() {
                continue;
            }
            if !ends {
                return Ok((record, false));
            }
            record.report_end();
            let withdrawn = self.queue.withdraw(job_id).await.map_err(queue_error)?;
            return Ok((record, withdrawn));
        }
    }

    /// Removes the oldest finished jobs beyond the history limit.
    pub(crate) async fn prune_history(&self) -> Result<()> {
        let finished =
            self.versioned_records().await?.into_iter().filter(|(record, _)| record.is_final());
        for (record, version) in finished.skip(self.history) {
            self.queue.remove(&record.job.job_id, version).await.map_err(queue_error)?;
        }
        Ok(())
    }

    /// Reads the records of all jobs, newest first.
    pub(super) async fn records(&self) -> Result<Vec<JobRecord>> {
        Ok(self.versioned_records().await?.into_iter().map(|(record, _)| record).collect())
    }

    /// Reads the records of all jobs with their stored versions, newest first.
    async fn versioned_records(&self) -> Result<Vec<(JobRecord, u64)>> {
        let mut records = Vec::new();
        for stored in self.queue.list().await.map_err(queue_error)? {
            match JobRecord::read(stored.document) {
                Ok(record) => records.push((record, stored.version)),
                Err(error) => {
                    tracing::warn!(job_id = %stored.job_id, %error, "ignoring an unreadable job")
                }
            }
        }
        let age =
            |(record, _): &(JobRecord, u64)| Reverse((record.created, record.job.job_id.clone()));
        records.sort_by_cached_key(age);
        Ok(records)
    }

    async fn find(&self, job_id: &str) -> Result<(JobRecord, u64)> {
        let is_id_char = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let stored = if (1..=64).contains(&job_id.len()) && job_id.chars().all(is_id_char) {
            self.queue.get(job_id).await.map_err(queue_error)?
        } else {
            None
        };
        let stored = stored.ok_or_else(|| self.unknown(job_id))?;
        Ok((JobRecord::read(stored.document)?, stored.version))
    }

    fn unknown(&self, job_id: &str) -> Error {
        let restart = if self.shared() { "" } else { ", a restart forgets all" };
        Error::NotFound(format!("unknown job '{job_id}'; old ones are forgotten{restart}"))
    }
}

/// Converts errors from the queue. If the queue is unreachable, the result is `Busy`, so that
/// clients retry.
fn queue_error(error: PortError) -> Error {
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
    /// Returns the job, or `Unprocessable` if a different request with the same key created it.
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
