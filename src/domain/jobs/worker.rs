//! Claims jobs of the queue, runs them and persists their progress.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::jobs::{JobQueue, Lease, QueueLane, StoredJob};
use ports::{ErrorKind, PortError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::jobs::finish::{Finisher, ack};
use crate::jobs::progress::RunningJob;
use crate::jobs::store::JobStore;
use crate::jobs::tasks::TaskRunner;
use crate::jobs::{Job, JobRecord, JobStatus};
use crate::kernel::error::{Error, Result};

/// Delay before retrying after the queue fails.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// How long a job may take to reach a safe point after the grace period.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The outcome of claiming a job.
enum ClaimOutcome {
    /// A job to run, with its stored version.
    Work(JobRecord, u64),
    /// A job that had already ended, or that ended when it was claimed because it was cancelled or
    /// had no attempts left.
    Ended(JobRecord),
    /// The job is no longer stored.
    Gone,
}

/// The outcome of persisting a job's progress.
enum PersistOutcome {
    /// The end of the job is persisted.
    Ended,
    /// The job is released for another worker.
    HandedBack,
    /// Another worker has the job, or its progress cannot be persisted.
    Lost,
}

/// Runs the jobs of the queue on this instance.
pub struct Worker {
    queue: Arc<dyn JobQueue>,
    store: Arc<JobStore>,
    tasks: Arc<TaskRunner>,
    finisher: Arc<Finisher>,
    /// Number of jobs of the main lane to run at a time; if any, also one of the other lane.
    concurrency: usize,
    /// Maximum number of attempts to run a job.
    attempts: u32,
    workers: TaskTracker,
    /// Cancelled to stop running jobs after the grace period.
    ending: CancellationToken,
}

impl Worker {
    pub(super) fn new(
        store: Arc<JobStore>,
        tasks: TaskRunner,
        finisher: Arc<Finisher>,
        concurrency: usize,
        attempts: u32,
    ) -> Self {
        Self {
            queue: store.queue.clone(),
            store,
            tasks: Arc::new(tasks),
            finisher,
            concurrency,
            attempts: attempts.max(1),
            workers: TaskTracker::new(),
            ending: CancellationToken::new(),
        }
    }

    /// Starts this instance's workers.
    pub fn start(self: &Arc<Self>) {
        for _ in 0..self.concurrency {
            self.start_one(QueueLane::Main);
        }
        if self.concurrency > 0 {
            self.start_one(QueueLane::FollowUp);
        }
    }

    fn start_one(self: &Arc<Self>, lane: QueueLane) {
        let worker = self.clone();
        self.workers.spawn(async move {
            while let Some(lease) = worker.next(lane).await {
                worker.work(lease).await;
            }
        });
    }

    /// Stops accepting jobs and waits up to `grace` for running jobs to end. Then stops the
    /// remaining ones at a safe point, which they must reach within five more seconds. If instances
    /// share the queue, other instances continue the jobs; otherwise, waiting jobs are cancelled.
    pub async fn stop(&self, grace: Duration) {
        self.store.close().await;
        self.workers.close();
        if !self.store.shared() {
            let waits = |job: &Job| job.status == JobStatus::Queued;
            let jobs = self.store.list().await.unwrap_or_default();
            for job in jobs.into_iter().filter(waits) {
                if let Err(error) =
                    self.finisher.cancel_for(&job.job_id, "the service is stopping").await
                {
                    tracing::warn!(job_id = job.job_id, %error, "could not cancel a job");
                }
            }
        }
        if tokio::time::timeout(grace, self.workers.wait()).await.is_err() {
            self.ending.cancel();
            // A job that reaches no safe point is resumed when the service has started again.
            let _ = tokio::time::timeout(STOP_TIMEOUT, self.workers.wait()).await;
        }
    }

    /// Runs a claimed job to its end.
    async fn work(self: &Arc<Self>, lease: Box<dyn Lease>) {
        let (record, version) = match self.claim(lease.job_id()).await {
            Ok(ClaimOutcome::Work(record, version)) => (record, version),
            Ok(ClaimOutcome::Ended(record)) => {
                return self.finisher.follow_up(record, Some(lease)).await;
            }
            Ok(ClaimOutcome::Gone) => return ack(lease).await,
            Err(error) if error.is_corrupt() && lease.delivery_count() >= self.attempts => {
                return self.set_aside(lease, &error).await;
            }
            Err(error) => {
                tracing::warn!(job_id = lease.job_id(), error = %error.labelled(), "could not claim a job");
                return tokio::time::sleep(RETRY_DELAY).await;
            }
        };
        let task = record.task.clone();
        let job = Arc::new(RunningJob::new(record, self.ending.child_token()));
        let changes = job.changes();
        let persisting = self.clone().persist(job.clone(), version, changes);
        let persisting = tokio::spawn(persisting);
        let work = self.tasks.clone().run(job.job_id(), task, job.progress());
        // A panic must fail the job, not leave it running forever.
        let outcome = match tokio::spawn(work.instrument(job.span())).await {
            Ok(outcome) => outcome,
            Err(panic) => Err(Error::corrupt(format!("the job panicked: {panic}"))),
        };
        let others_continue = self.store.shared() && self.ending.is_cancelled();
        match outcome {
            Err(Error::Cancelled(_)) if others_continue && job.record().cancel.is_none() => {
                job.hand_back();
            }
            outcome => job.end(outcome),
        }
        match persisting.await.unwrap_or(PersistOutcome::Lost) {
            PersistOutcome::Ended => self.finisher.follow_up(job.record(), Some(lease)).await,
            PersistOutcome::HandedBack => {
                if let Err(error) = lease.nack().await {
                    tracing::warn!(%error, "could not release a job; it will be redelivered after a timeout");
                }
            }
            PersistOutcome::Lost => {}
        }
    }

    /// Marks an unreadable job as failed, so that it is visible and is not redelivered forever.
    async fn set_aside(&self, lease: Box<dyn Lease>, error: &Error) {
        let record = JobRecord::unreadable(lease.job_id(), lease.delivery_count(), error);
        let replaced = async {
            let Some(stored) = self.queue.get(lease.job_id()).await? else { return Ok(true) };
            let document = record.document()?;
            let swapped =
                self.queue.compare_and_swap(lease.job_id(), stored.version, &document).await?;
            Ok::<bool, Error>(swapped.is_some())
        };
        match replaced.await {
            Ok(true) => {
                record.report_end();
                ack(lease).await;
            }
            // The job will be redelivered.
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(job_id = lease.job_id(), error = %error.labelled(), "could not set a job aside");
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }

    /// Waits for the next job of a lane for this instance; returns `None` when the instance is
    /// stopping.
    async fn next(&self, lane: QueueLane) -> Option<Box<dyn Lease>> {
        loop {
            let lease = tokio::select! {
                biased;
                () = self.store.closed() => return None,
                lease = self.queue.take(lane) => lease,
            };
            match lease {
                Ok(lease) => return Some(lease),
                Err(error) => tracing::warn!(%error, "could not take a job from the queue"),
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    /// Claims a job for this instance.
    async fn claim(&self, job_id: &str) -> Result<ClaimOutcome> {
        loop {
            let Some(stored) = self.queue.get(job_id).await? else { return Ok(ClaimOutcome::Gone) };
            let version = stored.version;
            let mut record = JobRecord::read(stored.document)?;
            if record.is_final() {
                return Ok(ClaimOutcome::Ended(record));
            }
            if let Some(reason) = record.cancel.clone() {
                record.end(Err(Error::Cancelled(reason)));
            } else if record.attempts >= self.attempts {
                record.end(Err(attempts_exhausted(record.attempts)));
            } else {
                record.start();
            }
            let Some(version) =
                self.queue.compare_and_swap(job_id, version, &record.document()?).await?
            else {
                continue;
            };
            if record.is_final() {
                record.report_end();
                return Ok(ClaimOutcome::Ended(record));
            }
            if record.attempts > 1 {
                tracing::warn!(job_id, "resuming the job of a dead instance");
            }
            return Ok(ClaimOutcome::Work(record, version));
        }
    }

    /// Persists a job's progress, and applies changes that others make to the stored job.
    async fn persist(
        self: Arc<Self>,
        job: Arc<RunningJob>,
        mut version: u64,
        mut changes: watch::Receiver<JobRecord>,
    ) -> PersistOutcome {
        let job_id = job.job_id();
        let mut external_changes = self.clone().watch_stored(job_id.clone());
        loop {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return PersistOutcome::Lost },
                stored = external_changes.next() => {
                    if stored.is_some_and(|stored| !job.sync(stored)) {
                        return PersistOutcome::Lost;
                    }
                    continue;
                }
            }
            let record = loop {
                let record = changes.borrow_and_update().clone();
                match self.write(&record, version, &job).await {
                    Ok(Some((now, true))) => {
                        version = now;
                        break record;
                    }
                    Ok(Some((now, false))) => version = now,
                    Ok(None) => return PersistOutcome::Lost,
                    Err(error) => {
                        tracing::warn!(job_id, error = %error.labelled(), "could not persist the progress of a job");
                        let transient =
                            matches!(&error, Error::Port(error) if is_transient(error.kind()));
                        if self.ending.is_cancelled() || !transient {
                            job.stop("its progress cannot be stored");
                            return PersistOutcome::Lost;
                        }
                        tokio::time::sleep(RETRY_DELAY).await;
                    }
                }
            };
            if record.is_final() {
                record.report_end();
                return PersistOutcome::Ended;
            }
            if record.worker.is_none() {
                return PersistOutcome::HandedBack;
            }
        }
    }

    /// Replaces `version` of a running job's stored record with `record`. Returns the stored
    /// version and whether it contains `record`, or `None` if another worker has the job.
    async fn write(
        &self,
        record: &JobRecord,
        version: u64,
        job: &RunningJob,
    ) -> Result<Option<(u64, bool)>> {
        let job_id = &record.job.job_id;
        if let Some(now) = self.queue.compare_and_swap(job_id, version, &record.document()?).await?
        {
            return Ok(Some((now, true)));
        }
        let Some(stored) = self.queue.get(job_id).await? else { return Ok(None) };
        let now = stored.version;
        Ok(job.sync(stored).then_some((now, false)))
    }

    /// Streams the changes to a stored job, and reconnects if the stream breaks.
    fn watch_stored(self: Arc<Self>, job_id: String) -> BoxStream<'static, StoredJob> {
        let next = move |mut stream: Option<BoxStream<'static, ports::Result<StoredJob>>>| {
            let (worker, job_id) = (self.clone(), job_id.clone());
            async move {
                loop {
                    if stream.is_none() {
                        stream = worker.queue.watch(&job_id).await.ok();
                    }
                    let change = match &mut stream {
                        Some(changes) => changes.next().await,
                        None => None,
                    };
                    if let Some(Ok(stored)) = change {
                        return Some((stored, stream));
                    }
                    stream = None;
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        };
        stream::unfold(None, next).boxed()
    }
}

/// Whether a retry may succeed.
fn is_transient(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Full)
}

fn attempts_exhausted(attempts: u32) -> Error {
    Error::Port(PortError::new(
        ErrorKind::Unavailable,
        format!(
            "the job was given up: its instance stopped responding {attempts} times (jobs.attempts)"
        ),
    ))
}
