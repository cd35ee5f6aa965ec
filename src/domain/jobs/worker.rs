//! The workers: they take jobs, keep what becomes of them, and see to what follows their end.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::jobs::{Lease, StoredJob};
use ports::{ErrorKind, PortError};
use tokio::sync::watch;
use tracing::Instrument;

use crate::domain::jobs::progress::RunningJob;
use crate::domain::jobs::{Job, JobRecord, JobResult, JobStatus, Jobs, Task};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::progress::Progress;
use crate::domain::kernel::video::VideoId;

/// Between attempts to reach a queue that does not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a job may take to reach a safe point after the grace.
const LAST_STEP: Duration = Duration::from_secs(5);

/// A job that somebody has taken.
enum Begun {
    /// It is to be worked on; with the version in which it is kept.
    Work(JobRecord, u64),
    /// It has ended already, or was to end.
    Ended(JobRecord),
    /// It is not kept any more.
    Gone,
}

/// How the work on a job is kept.
enum Kept {
    /// It has ended.
    Ended,
    /// It is to be taken by another.
    HandedBack,
    /// Somebody else has taken it, or nothing can be kept any more.
    Lost,
}

impl Jobs {
    /// Starts the workers of this instance.
    pub fn start(self: &Arc<Self>) {
        for _ in 0..self.limits.workers {
            let jobs = self.clone();
            self.workers.spawn(async move {
                while let Some(taken) = jobs.next().await {
                    jobs.work(taken).await;
                }
            });
        }
    }

    /// Stops a job: at once while it waits, at its next safe point while it runs.
    pub async fn cancel(self: &Arc<Self>, job_id: &str) -> Result<Job> {
        self.cancel_for(job_id, "the job was cancelled").await
    }

    /// Takes no new jobs and gives running ones `grace` to finish, then stops them at a safe point, which
    /// they get five seconds to reach.
    /// Where instances share the jobs, the others go on with them; else those that wait are
    /// cancelled too.
    pub async fn stop(self: &Arc<Self>, grace: Duration) {
        self.close().await;
        if !self.shared() {
            let waits = |job: &Job| job.status == JobStatus::Queued;
            let jobs = self.list().await.unwrap_or_default();
            for job in jobs.into_iter().filter(waits) {
                if let Err(error) = self.cancel_for(&job.job_id, "the service is stopping").await {
                    tracing::warn!(job_id = job.job_id, %error, "not cancelled");
                }
            }
        }
        if tokio::time::timeout(grace, self.workers.wait()).await.is_err() {
            self.ending.cancel();
            // One that reaches no safe point is taken up again at the next start.
            let _ = tokio::time::timeout(LAST_STEP, self.workers.wait()).await;
        }
    }

    /// Cancels every unfinished job that works on a video.
    pub(crate) async fn cancel_all_of(
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
            // Not given up with the client that asked.
            let following = tokio::spawn(async move { service.follow_up(record, None).await });
            following.await.map_err(|e| Error::corrupt(format!("cancelling panicked: {e}")))?;
        }
        Ok(job)
    }

    /// Works on a job to its end.
    async fn work(self: &Arc<Self>, taken: Box<dyn Lease>) {
        let (record, version) = match self.begin(taken.job_id()).await {
            Ok(Begun::Work(record, version)) => (record, version),
            Ok(Begun::Ended(record)) => return self.follow_up(record, Some(taken)).await,
            Ok(Begun::Gone) => return ack(taken).await,
            Err(error)
                if error.is_corrupt()
                    && taken.delivery_count() >= self.settings.attempts.max(1) =>
            {
                return self.set_aside(taken, &error).await;
            }
            Err(error) => {
                tracing::warn!(job_id = taken.job_id(), error = %error.labelled(), "not begun");
                return tokio::time::sleep(PAUSE).await;
            }
        };
        let task = record.task.clone();
        let job = Arc::new(RunningJob::of(record, self.ending.child_token()));
        let changes = job.changes();
        let keeping = self.clone().keep(job.clone(), version, changes);
        let keeping = tokio::spawn(keeping);
        let work = self.clone().perform(job.job_id(), task, job.progress());
        // A panic must end as a failed job, not as one that runs for ever.
        let outcome = match tokio::spawn(work.instrument(job.span())).await {
            Ok(outcome) => outcome,
            Err(panic) => Err(Error::corrupt(format!("the job panicked: {panic}"))),
        };
        let others_go_on = self.shared() && self.ending.is_cancelled();
        match outcome {
            Err(Error::Cancelled(_)) if others_go_on && job.record().cancel.is_none() => {
                job.hand_back();
            }
            outcome => job.end(outcome),
        }
        match keeping.await.unwrap_or(Kept::Lost) {
            Kept::Ended => self.follow_up(job.record(), Some(taken)).await,
            Kept::HandedBack => {
                if let Err(error) = taken.nack().await {
                    tracing::warn!(%error, "a job is offered again only after a while");
                }
            }
            Kept::Lost => {}
        }
    }

    /// Ends a job that no instance can read, so that it is seen and not offered for ever.
    async fn set_aside(&self, taken: Box<dyn Lease>, error: &Error) {
        let record = JobRecord::unreadable(taken.job_id(), taken.delivery_count(), error);
        let kept = async {
            let Some(kept) = self.queue.get(taken.job_id()).await? else { return Ok(true) };
            let document = record.document()?;
            let swapped =
                self.queue.compare_and_swap(taken.job_id(), kept.version, &document).await?;
            Ok::<bool, Error>(swapped.is_some())
        };
        match kept.await {
            Ok(true) => {
                record.tell_end();
                ack(taken).await;
            }
            // It is offered once more.
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(job_id = taken.job_id(), error = %error.labelled(), "not set aside");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    async fn perform(
        self: Arc<Self>,
        job_id: String,
        task: Task,
        progress: Progress,
    ) -> Result<JobResult> {
        match task {
            Task::Ingest { source, fields } => {
                let done = self.ingest.ingest(source, &fields, progress).await?;
                self.queue_alerts().await;
                Ok(JobResult::Ingest(Box::new(done)))
            }
            Task::Alerts { video_id, alert } => {
                let done = self.alerts.tell(video_id, alert.as_deref(), &progress).await?;
                Ok(JobResult::Alerts(done))
            }
            Task::Aggregate { video_id, aggregators, force } => {
                let done =
                    self.ingest.aggregate_again(video_id, aggregators, force, progress).await?;
                Ok(JobResult::Aggregates(Box::new(done)))
            }
            Task::AggregateCorrected { video_id } => {
                let done = self.ingest.aggregate_corrected(video_id, progress).await?;
                Ok(JobResult::Aggregates(Box::new(done)))
            }
            Task::Collection { name, change } => {
                let done = self.change_videos_of(&name, &change, progress).await?;
                Ok(JobResult::Collection(done))
            }
            Task::Evaluate { evaluation, request } => {
                let done = self.evaluations.run(&evaluation, &job_id, &request, &progress).await?;
                Ok(JobResult::Evaluation(done))
            }
            Task::Unreadable => Err(Error::corrupt("what is kept of the job does not read back")),
        }
    }

    /// What follows a job's end: its source goes, who asked for it is told, old jobs are forgotten.
    async fn follow_up(&self, record: JobRecord, taken: Option<Box<dyn Lease>>) {
        self.settle(&record).await;
        let done = async move {
            if let Some(taken) = taken {
                ack(taken).await;
            }
        };
        let mut callback = None;
        if let Task::Ingest { source, fields } = &record.task {
            let done = record.job.status == JobStatus::Done;
            self.ingest.discard_source(source, done).await;
            callback = self.callback(fields).unwrap_or_else(|error| {
                // It was checked where the job was added.
                tracing::error!(error = %error.labelled(), "no callback: settings differ");
                None
            });
        }
        match callback {
            // Should this instance die before it is sent, another sends it.
            Some(callback) => {
                let job_id = record.job.job_id.clone();
                tokio::spawn(async move {
                    if let Some(notice) = record.notice() {
                        // What goes wrong has been logged.
                        let _ = callback.send(&job_id, notice).await;
                    }
                    done.await;
                });
            }
            None => done.await,
        }
        if let Err(error) = self.forget().await {
            tracing::warn!(error = %error.labelled(), "old jobs are not forgotten yet");
        }
    }
}

/// Says that nothing is left to do; unheard, the job is taken once more, and has ended.
async fn ack(taken: Box<dyn Lease>) {
    if let Err(error) = taken.ack().await {
        tracing::warn!(%error, "a job that has ended is taken once more");
    }
}

impl Jobs {
    /// The next job for this instance; `None` when it takes no more.
    async fn next(&self) -> Option<Box<dyn Lease>> {
        loop {
            let taken = tokio::select! {
                biased;
                () = self.stopping.cancelled() => return None,
                taken = self.queue.take() => taken,
            };
            match taken {
                Ok(taken) => return Some(taken),
                Err(error) => tracing::warn!(%error, "no job can be taken"),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Enters this instance as the one that works on a job.
    async fn begin(&self, job_id: &str) -> Result<Begun> {
        loop {
            let Some(kept) = self.queue.get(job_id).await? else { return Ok(Begun::Gone) };
            let version = kept.version;
            let mut record = JobRecord::read(kept.document)?;
            if record.is_final() {
                return Ok(Begun::Ended(record));
            }
            if let Some(reason) = record.cancel.clone() {
                record.end(Err(Error::Cancelled(reason)));
            } else if record.attempts >= self.settings.attempts.max(1) {
                record.end(Err(given_up(record.attempts)));
            } else {
                record.start();
            }
            let Some(version) =
                self.queue.compare_and_swap(job_id, version, &record.document()?).await?
            else {
                continue;
            };
            if record.is_final() {
                record.tell_end();
                return Ok(Begun::Ended(record));
            }
            if record.attempts > 1 {
                tracing::warn!(job_id, "goes on with the job of an instance that died");
            }
            return Ok(Begun::Work(record, version));
        }
    }

    /// Keeps what a job says of itself, and tells it what others ask of it.
    async fn keep(
        self: Arc<Self>,
        job: Arc<RunningJob>,
        mut version: u64,
        mut changes: watch::Receiver<JobRecord>,
    ) -> Kept {
        let job_id = job.job_id();
        let mut asked = self.clone().changes_of(job_id.clone());
        loop {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return Kept::Lost },
                kept = asked.next() => {
                    if kept.is_some_and(|kept| !job.notice(kept)) {
                        return Kept::Lost;
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
                    Ok(None) => return Kept::Lost,
                    Err(error) => {
                        tracing::warn!(job_id, error = %error.labelled(), "progress is not kept");
                        let passes = matches!(&error, Error::Port(error) if passes(error.kind()));
                        if self.ending.is_cancelled() || !passes {
                            job.stop("its progress cannot be kept");
                            return Kept::Lost;
                        }
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            };
            if record.is_final() {
                record.tell_end();
                return Kept::Ended;
            }
            if record.worker.is_none() {
                return Kept::HandedBack;
            }
        }
    }

    /// Keeps a running job's record over `version`. Answers with the version that is kept now and
    /// whether it is this record's, or with nothing when another worker has the job.
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
        let Some(kept) = self.queue.get(job_id).await? else { return Ok(None) };
        let now = kept.version;
        Ok(job.notice(kept).then_some((now, false)))
    }

    /// The changes of a job, whatever becomes of the connection.
    fn changes_of(self: Arc<Self>, job_id: String) -> BoxStream<'static, StoredJob> {
        let next = move |mut watched: Option<BoxStream<'static, ports::Result<StoredJob>>>| {
            let (jobs, job_id) = (self.clone(), job_id.clone());
            async move {
                loop {
                    if watched.is_none() {
                        watched = jobs.queue.watch(&job_id).await.ok();
                    }
                    let change = match &mut watched {
                        Some(changes) => changes.next().await,
                        None => None,
                    };
                    if let Some(Ok(kept)) = change {
                        return Some((kept, watched));
                    }
                    watched = None;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        stream::unfold(None, next).boxed()
    }
}

/// Whether trying again may help.
fn passes(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Full)
}

fn given_up(attempts: u32) -> Error {
    Error::Port(PortError::new(
        ErrorKind::Unavailable,
        format!(
            "the job was given up: {attempts} times an instance took it and was not heard of again \
             (jobs.attempts)"
        ),
    ))
}
