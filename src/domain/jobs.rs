//! Jobs: what runs, waits and has run. Held in memory; a restart forgets them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};

use super::aggregates::AggregatesResult;
use super::error::{Error, Result};
use super::ingest::IngestResult;
use super::meters;

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Accepted, waiting for a worker.
    Queued,
    /// A worker is on it.
    Running,
    /// Finished; `result` is set.
    Done,
    /// Ended by an error; `error` is set.
    Failed,
}

/// Where a running job is in the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing done yet.
    Starting,
    /// Download, hash, probe.
    Fetching,
    /// Boundary detectors and their fusion.
    Chunking,
    /// Chunks are known: `detail.chunks`.
    Chunked,
    /// An analyzer runs: `detail.analyzer`.
    Analyzing,
    /// Its output is embedded: `detail.analyzer`.
    Indexing,
    /// An aggregator runs: `detail.aggregator`.
    Aggregating,
    /// Finished.
    Complete,
}

impl JobStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Running, Self::Done, Self::Failed];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// No change comes after it.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

impl Stage {
    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Fetching => "fetching",
            Self::Chunking => "chunking",
            Self::Chunked => "chunked",
            Self::Analyzing => "analyzing",
            Self::Indexing => "indexing",
            Self::Aggregating => "aggregating",
            Self::Complete => "complete",
        }
    }
}

/// What a finished job yields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum JobResult {
    /// Of an ingest.
    Ingest(Box<IngestResult>),
    /// Of an aggregate re-run.
    Aggregates(Box<AggregatesResult>),
}

/// A job as clients see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Job {
    /// Its id.
    pub job_id: String,
    /// What it works on, for people to read: a file's name or a URL.
    pub source: String,
    /// Its status.
    pub status: JobStatus,
    /// Its stage.
    pub stage: Stage,
    /// What the stage is about.
    pub detail: Map<String, Value>,
    /// Set when done.
    pub result: Option<JobResult>,
    /// `TypeName: message`, set when failed.
    pub error: Option<String>,
    /// ISO 8601, second precision, UTC.
    pub created_at: String,
    /// ISO 8601, second precision, UTC.
    pub updated_at: String,
}

/// The current time as the contract writes it: ISO 8601, second precision, UTC.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// How many jobs run, wait and are remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct JobLimits {
    /// Jobs that run at once.
    pub workers: usize,
    /// Jobs that may wait; one more is refused.
    pub queue: usize,
    /// Finished jobs that are remembered.
    pub history: usize,
}

/// Every job this process has seen.
pub struct Jobs {
    limits: JobLimits,
    workers: Arc<Semaphore>,
    running: TaskTracker,
    stopping: CancellationToken,
    state: Arc<Mutex<State>>,
}

/// What a job is to be, beside its work.
#[derive(Default)]
pub struct Submission {
    /// What it does, for traces.
    pub what: &'static str,
    /// The file name or URL that clients know it by.
    pub source: String,
    /// Makes a request that is sent twice one job.
    pub idempotency: Option<Idempotency>,
    /// Learns of the job's end.
    pub ended: Option<Ended>,
}

/// What is done when a job has ended; must return at once.
pub type Ended = Box<dyn FnOnce(Job) + Send>;

/// Makes a request that is sent twice one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// Chosen by the client.
    pub key: String,
    /// Tells requests apart that a client gives the same key by mistake.
    pub request: String,
}

#[derive(Default)]
struct State {
    jobs: HashMap<String, Entry>,
    order: VecDeque<String>,
}

struct Entry {
    job: watch::Sender<Job>,
    idempotency: Option<Idempotency>,
    cancelled: CancellationToken,
    reason: Arc<Mutex<Option<String>>>,
    since: Instant,
    video_id: Option<String>,
}

/// A running job's handle on its own entry.
#[derive(Clone)]
pub struct Progress {
    job_id: String,
    state: Arc<Mutex<State>>,
    cancelled: CancellationToken,
    reason: Arc<Mutex<Option<String>>>,
    trace: Arc<Trace>,
}

/// A job's spans: one for the whole, and one for each stage in turn.
struct Trace {
    job: Span,
    stage: Mutex<Option<(String, Span)>>,
}

impl Trace {
    /// `what` the job does names its span.
    fn start(what: &'static str, job_id: &str) -> Self {
        let job = info_span!(parent: None, "job", otel.name = what, job_id, error = Empty);
        Self { job, stage: Mutex::default() }
    }

    /// Ends the span of the last stage and starts that of this one, if it is another.
    fn enter(&self, stage: Stage, detail: &Map<String, Value>) {
        let of = ["analyzer", "aggregator"].iter().find_map(|key| detail.get(*key)?.as_str());
        let name = [Some(stage.name()), of].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let mut current = lock(&self.stage);
        if current.as_ref().is_none_or(|(last, _)| *last != name) {
            let span = info_span!(parent: &self.job, "stage", otel.name = name);
            *current = Some((name, span));
        }
    }

    fn end(&self, error: Option<&str>) {
        lock(&self.stage).take();
        if let Some(error) = error {
            self.job.record("error", error);
        }
    }
}

impl Jobs {
    /// No jobs yet.
    pub fn new(limits: JobLimits) -> Self {
        Self {
            workers: Arc::new(Semaphore::new(limits.workers)),
            limits,
            running: TaskTracker::new(),
            stopping: CancellationToken::new(),
            state: Arc::default(),
        }
    }

    /// Queues `work` and returns its job, or the job that a request with the same key got before.
    /// `Busy` when the queue is full or the service is stopping.
    pub fn submit<F, W>(&self, submission: Submission, work: W) -> Result<Job>
    where
        W: FnOnce(Progress) -> F + Send + 'static,
        F: Future<Output = Result<JobResult>> + Send + 'static,
    {
        let Submission { what, source, idempotency, ended } = submission;
        if self.stopping.is_cancelled() {
            return Err(Error::Busy {
                message: "the service is stopping and takes no new jobs".into(),
                retry_after: 30,
            });
        }
        let job = Job {
            job_id: uuid::Uuid::new_v4().simple().to_string(),
            source,
            status: JobStatus::Queued,
            stage: Stage::Starting,
            detail: Map::new(),
            result: None,
            error: None,
            created_at: now(),
            updated_at: now(),
        };
        let progress = {
            let mut state = lock(&self.state);
            if let Some(asked) = &idempotency
                && let Some(job) = state.same_request(asked)?
            {
                return Ok(job);
            }
            let waiting = state.jobs.values().filter(|e| e.status() == JobStatus::Queued).count();
            if waiting >= self.limits.queue {
                return Err(Error::Busy {
                    message: format!("{waiting} jobs are waiting already; try again later"),
                    retry_after: 30,
                });
            }
            let entry = Entry {
                job: watch::Sender::new(job.clone()),
                idempotency,
                cancelled: CancellationToken::new(),
                reason: Arc::default(),
                since: Instant::now(),
                video_id: None,
            };
            let progress = Progress {
                job_id: job.job_id.clone(),
                state: self.state.clone(),
                cancelled: entry.cancelled.clone(),
                reason: entry.reason.clone(),
                trace: Arc::new(Trace::start(what, &job.job_id)),
            };
            state.order.push_back(job.job_id.clone());
            state.jobs.insert(job.job_id.clone(), entry);
            state.forget(self.limits.history);
            progress
        };
        let workers = self.workers.clone();
        let span = progress.trace.job.clone();
        let run = async move {
            let permit = tokio::select! {
                permit = workers.acquire_owned() => permit.ok(),
                () = progress.cancelled.cancelled() => None,
            };
            let outcome = if permit.is_some() {
                progress.change(|job| job.status = JobStatus::Running);
                // A panic must end as a failed job, not as one that runs for ever.
                let work = work(progress.clone()).instrument(Span::current());
                match tokio::spawn(work).await {
                    Ok(outcome) => outcome,
                    Err(panic) => Err(Error::corrupt(format!("the job panicked: {panic}"))),
                }
            } else {
                Err(progress.cancellation())
            };
            if let (Some(job), Some(ended)) = (progress.end(outcome), ended) {
                ended(job);
            }
        };
        self.running.spawn(run.instrument(span));
        Ok(job)
    }

    /// One job.
    pub fn get(&self, job_id: &str) -> Result<Job> {
        lock(&self.state).jobs.get(job_id).map(Entry::job).ok_or_else(|| unknown(job_id))
    }

    /// One job now and after each change. The sender is gone when the job is forgotten.
    pub fn watch(&self, job_id: &str) -> Result<watch::Receiver<Job>> {
        let state = lock(&self.state);
        state.jobs.get(job_id).map(|e| e.job.subscribe()).ok_or_else(|| unknown(job_id))
    }

    /// Cancels a job: at once while it waits, at its next safe point while it runs. One that has
    /// ended stays as it is. Returns the job as it is now.
    pub fn cancel(&self, job_id: &str, reason: &str) -> Result<Job> {
        let state = lock(&self.state);
        let entry = state.jobs.get(job_id).ok_or_else(|| unknown(job_id))?;
        entry.cancel(reason);
        Ok(entry.job())
    }

    /// Every job, newest first.
    pub fn list(&self) -> Vec<Job> {
        let state = lock(&self.state);
        state.order.iter().rev().filter_map(|id| state.jobs.get(id)).map(Entry::job).collect()
    }

    /// Cancels every unfinished job that works on a video.
    pub fn cancel_video(&self, video_id: &str, reason: &str) {
        let state = lock(&self.state);
        for entry in state.jobs.values().filter(|e| e.video_id.as_deref() == Some(video_id)) {
            entry.cancel(reason);
        }
    }

    /// Whether new jobs are taken.
    pub fn open(&self) -> bool {
        !self.stopping.is_cancelled()
    }

    /// Takes no new jobs, lets running ones go on for `grace`, then cancels them and waits until
    /// each has reached a safe point. Waiting jobs are cancelled at once.
    pub async fn stop(&self, grace: std::time::Duration) {
        self.stopping.cancel();
        self.running.close();
        let reason = "the service is stopping";
        for entry in lock(&self.state).jobs.values().filter(|e| e.status() == JobStatus::Queued) {
            entry.cancel(reason);
        }
        if tokio::time::timeout(grace, self.running.wait()).await.is_err() {
            for entry in lock(&self.state).jobs.values() {
                entry.cancel(reason);
            }
            self.running.wait().await;
        }
    }
}

impl Entry {
    fn job(&self) -> Job {
        self.job.borrow().clone()
    }

    fn status(&self) -> JobStatus {
        self.job.borrow().status
    }

    fn cancel(&self, reason: &str) {
        if !self.status().is_final() {
            lock(&self.reason).get_or_insert_with(|| reason.to_owned());
            self.cancelled.cancel();
        }
    }
}

impl State {
    /// The job of an earlier request with this key. `Unprocessable` when it was another request.
    fn same_request(&self, asked: &Idempotency) -> Result<Option<Job>> {
        let known = self
            .jobs
            .values()
            .find(|e| e.idempotency.as_ref().is_some_and(|known| known.key == asked.key));
        match known {
            Some(entry) if entry.idempotency.as_ref() != Some(asked) => {
                Err(Error::Unprocessable(format!(
                    "Idempotency-Key: '{}' was given with another request, which became job {}; \
                     use a new key for a new request",
                    asked.key,
                    entry.job.borrow().job_id
                )))
            }
            known => Ok(known.map(Entry::job)),
        }
    }

    /// Drops the oldest finished jobs beyond `history`.
    fn forget(&mut self, history: usize) {
        let finished = |e: &Entry| e.status().is_final();
        let mut surplus =
            self.jobs.values().filter(|e| finished(e)).count().saturating_sub(history);
        let jobs = &mut self.jobs;
        self.order.retain(|id| {
            let drop = surplus > 0 && jobs.get(id).is_some_and(finished);
            if drop {
                surplus -= 1;
                jobs.remove(id);
            }
            !drop
        });
    }
}

impl Progress {
    /// The job's id.
    pub fn job_id(&self) -> &str {
        &self.job_id
    }

    /// Enters a stage with its detail.
    pub fn stage(&self, stage: Stage, detail: Value) {
        let detail = match detail {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        self.trace.enter(stage, &detail);
        self.change(|job| {
            job.stage = stage;
            job.detail = detail;
        });
    }

    /// Says which video the job works on, so that deleting the video cancels it.
    pub fn video(&self, video_id: &str) {
        if let Some(entry) = lock(&self.state).jobs.get_mut(&self.job_id) {
            entry.video_id = Some(video_id.to_owned());
        }
    }

    /// Fails when the job has been cancelled: the safe points of the pipeline.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.is_cancelled() { Err(self.cancellation()) } else { Ok(()) }
    }

    /// Runs `work` unless or until the job is cancelled, dropping it at its next await.
    pub async fn cancellable<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Err(self.cancellation()),
            outcome = work => outcome,
        }
    }

    fn cancellation(&self) -> Error {
        Error::Cancelled(
            lock(&self.reason).clone().unwrap_or_else(|| "the job was cancelled".into()),
        )
    }

    fn change(&self, change: impl FnOnce(&mut Job)) {
        if let Some(entry) = lock(&self.state).jobs.get_mut(&self.job_id) {
            let before = entry.job.borrow().stage;
            entry.job.send_modify(|job| {
                change(job);
                job.updated_at = now();
            });
            let after = entry.job();
            if after.stage != before || after.status.is_final() {
                meters::stage_left(before, entry.since.elapsed());
                entry.since = Instant::now();
            }
            if after.status.is_final() {
                meters::job_ended(after.status);
            }
        }
    }

    /// The job as it has ended.
    fn end(&self, outcome: Result<JobResult>) -> Option<Job> {
        self.trace.end(outcome.as_ref().err().map(Error::labelled).as_deref());
        self.change(|job| match outcome {
            Ok(result) => {
                job.status = JobStatus::Done;
                job.stage = Stage::Complete;
                job.detail = Map::new();
                job.result = Some(result);
            }
            Err(error) => {
                tracing::warn!(job_id = %job.job_id, stage = ?job.stage, error = %error.labelled(), "job failed");
                job.status = JobStatus::Failed;
                job.detail.insert("traceback".into(), json!(traceback(job.stage, &error)));
                job.error = Some(error.labelled());
            }
        });
        lock(&self.state).jobs.get(&self.job_id).map(Entry::job)
    }
}

fn unknown(job_id: &str) -> Error {
    Error::NotFound(format!("unknown job '{job_id}'; a restart forgets jobs"))
}

/// The chain of causes, outermost first, at most its last 2000 characters.
fn traceback(stage: Stage, error: &Error) -> String {
    let mut text = format!("while {stage:?}\n{}", error.labelled());
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(&format!("\ncaused by: {inner}"));
        cause = inner.source();
    }
    let surplus = text.chars().count().saturating_sub(2000);
    text.chars().skip(surplus).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
