//! The workers, which claim jobs, run them, persist their progress and do the follow-up work when a
//! job ends.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::jobs::{Lease, StoredJob};
use ports::{ErrorKind, PortError};
use tokio::sync::watch;
use tracing::Instrument;

use crate::jobs::progress::RunningJob;
use crate::jobs::{Job, JobRecord, JobResult, JobStatus, JobTask, Jobs};
use crate::kernel::error::{Error, Result};
use crate::kernel::progress::Progress;
use crate::kernel::video::VideoId;

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

impl Jobs {
    /// Starts this instance's workers.
    pub fn start(self: &Arc<Self>) {
        for _ in 0..self.limits.workers {
            let jobs = self.clone();
            self.workers.spawn(async move {
                while let Some(lease) = jobs.next().await {
                    jobs.work(lease).await;
                }
            });
        }
    }

    /// Cancels a job. A waiting job ends immediately, and a running job ends at its next safe
    /// point.
    pub async fn cancel(self: &Arc<Self>, job_id: &str) -> Result<Job> {
        self.cancel_for(job_id, "the job was cancelled").await
    }

    /// Stops accepting jobs and waits up to `grace` for running jobs to end. Then stops the
    /// remaining ones at a safe point, which they must reach within five more seconds. If instances
    /// share the queue, other instances continue the jobs; otherwise, waiting jobs are cancelled.
    pub async fn stop(self: &Arc<Self>, grace: Duration) {
        self.close().await;
        if !self.shared() {
            let waits = |job: &Job| job.status == JobStatus::Queued;
            let jobs = self.list().await.unwrap_or_default();
            for job in jobs.into_iter().filter(waits) {
                if let Err(error) = self.cancel_for(&job.job_id, "the service is stopping").await {
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

    /// Cancels all unfinished jobs that work on a video.
    pub(crate) async fn cancel_video_jobs(
        self: &Arc<Self>,
        video_id: VideoId,
        reason: &str,
    ) -> Result<()> {
        for record in self.records().await? {
            if record.video_id == Some(video_id) && !record.is_final() {
                self.cancel_for(&record.job.job_id, reason).await?;
            }
        }
        Ok(())
    }

    async fn cancel_for(self: &Arc<Self>, job_id: &str, reason: &str) -> Result<Job> {
        let (record, follow_up) = self.request_cancel(job_id, reason).await?;
        let job = record.job.clone();
        if follow_up {
            let service = self.clone();
            // The task completes even if the client disconnects.
            let following = tokio::spawn(async move { service.follow_up(record, None).await });
            following.await.map_err(|e| Error::corrupt(format!("cancelling panicked: {e}")))?;
        }
        Ok(job)
    }

    /// Runs a claimed job to its end.
    async fn work(self: &Arc<Self>, lease: Box<dyn Lease>) {
        let (record, version) = match self.claim(lease.job_id()).await {
            Ok(ClaimOutcome::Work(record, version)) => (record, version),
            Ok(ClaimOutcome::Ended(record)) => return self.follow_up(record, Some(lease)).await,
            Ok(ClaimOutcome::Gone) => return ack(lease).await,
            Err(error)
                if error.is_corrupt()
                    && lease.delivery_count() >= self.settings.attempts.max(1) =>
            {
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
        let work = self.clone().run_task(job.job_id(), task, job.progress());
        // A panic must fail the job, not leave it running forever.
        let outcome = match tokio::spawn(work.instrument(job.span())).await {
            Ok(outcome) => outcome,
            Err(panic) => Err(Error::corrupt(format!("the job panicked: {panic}"))),
        };
        let others_continue = self.shared() && self.ending.is_cancelled();
        match outcome {
            Err(Error::Cancelled(_)) if others_continue && job.record().cancel.is_none() => {
                job.hand_back();
            }
            outcome => job.end(outcome),
        }
        match persisting.await.unwrap_or(PersistOutcome::Lost) {
            PersistOutcome::Ended => self.follow_up(job.record(), Some(lease)).await,
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

    async fn run_task(
        self: Arc<Self>,
        job_id: String,
        task: JobTask,
        progress: Progress,
    ) -> Result<JobResult> {
        match task {
            JobTask::Ingest { source, fields } => {
                let done = self.ingest.ingest(source, &fields, progress).await?;
                self.queue_alerts().await;
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
                let done = self.change_collection_videos(&name, &change, progress).await?;
                Ok(JobResult::Collection(done))
            }
            JobTask::Evaluate { evaluation, request } => {
                let done = self.evaluations.run(&evaluation, &job_id, &request, &progress).await?;
                Ok(JobResult::Evaluation(done))
            }
            JobTask::Unreadable => Err(Error::corrupt("the record of the job does not read back")),
        }
    }

    /// Does the follow-up work when a job ends: removes its source, calls its webhook and prunes
    /// the history.
    async fn follow_up(&self, record: JobRecord, lease: Option<Box<dyn Lease>>) {
        self.remove_pending(&record).await;
        let finish = async move {
            if let Some(lease) = lease {
                ack(lease).await;
            }
        };
        let mut callback = None;
        if let JobTask::Ingest { source, fields } = &record.task {
            let done = record.job.status == JobStatus::Done;
            self.sources.discard(source, done).await;
            callback = self.callback(fields).unwrap_or_else(|error| {
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
        if let Err(error) = self.prune_history().await {
            tracing::warn!(error = %error.labelled(), "could not prune old jobs");
        }
    }
}

/// Acknowledges a job. If this fails, the ended job is redelivered.
async fn ack(lease: Box<dyn Lease>) {
    if let Err(error) = lease.ack().await {
        tracing::warn!(%error, "could not acknowledge an ended job; it will be redelivered");
    }
}

impl Jobs {
    /// Waits for the next job for this instance; returns `None` when the instance is stopping.
    async fn next(&self) -> Option<Box<dyn Lease>> {
        loop {
            let lease = tokio::select! {
                biased;
                () = self.stopping.cancelled() => return None,
                lease = self.queue.take() => lease,
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
            } else if record.attempts >= self.settings.attempts.max(1) {
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
            let (jobs, job_id) = (self.clone(), job_id.clone());
            async move {
                loop {
                    if stream.is_none() {
                        stream = jobs.queue.watch(&job_id).await.ok();
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
