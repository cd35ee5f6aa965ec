//! A running job's state and its trace.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use ports::jobs::StoredJob;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::jobs::{JobRecord, JobResult};
use crate::kernel::error::{Error, Result};
use crate::kernel::metrics;
use crate::kernel::progress::{Cancellation, Observer, Progress, Stage};
use crate::kernel::video::VideoId;

/// A running job. Its progress is persisted asynchronously. If several changes follow in quick
/// succession, only the last one is persisted.
pub(super) struct RunningJob {
    worker: Option<String>,
    record: watch::Sender<JobRecord>,
    cancellation: Cancellation,
    since: Mutex<Instant>,
    trace: Trace,
}

/// A job's tracing spans: one for the job, and one for the current stage.
struct Trace {
    job: Span,
    stage: Mutex<Option<(String, Span)>>,
}

impl Trace {
    /// Starts the span of the job, named after its task.
    fn start(record: &JobRecord) -> Self {
        let (task, job_id) = (record.task.name(), &record.job.job_id);
        let job = info_span!(parent: None, "job", otel.name = task, %job_id, error = Empty);
        Self { job, stage: Mutex::default() }
    }

    /// Starts the span of a stage and ends the span of the previous stage, unless the stage is
    /// unchanged.
    fn enter(&self, stage: Stage, detail: &Map<String, Value>) {
        let component =
            ["analyzer", "aggregator"].iter().find_map(|key| detail.get(*key)?.as_str());
        let name =
            [Some(stage.name()), component].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let mut current = self.stage.lock();
        if current.as_ref().is_none_or(|(last, _)| *last != name) {
            let span = info_span!(parent: &self.job, "stage", otel.name = name);
            *current = Some((name, span));
        }
    }

    fn end(&self, error: Option<&str>) {
        self.stage.lock().take();
        if let Some(error) = error {
            self.job.record("error", error);
        }
        // A span's end is the time when it was last exited, so exit the job's span after its
        // stages.
        self.job.in_scope(|| ());
    }
}

impl Observer for RunningJob {
    fn stage(&self, stage: Stage, detail: Map<String, Value>) {
        self.trace.enter(stage, &detail);
        self.change(|record| record.enter(stage, detail));
    }

    fn video(&self, video_id: VideoId) {
        self.change(|record| record.video_id = Some(video_id));
    }
}

impl RunningJob {
    /// Wraps a job that a worker has claimed. `cancelled` stops the job at its next safe point.
    pub(super) fn new(record: JobRecord, cancelled: CancellationToken) -> Self {
        Self {
            trace: Trace::start(&record),
            worker: record.worker.clone(),
            record: watch::Sender::new(record),
            cancellation: Cancellation::new(cancelled),
            since: Mutex::new(Instant::now()),
        }
    }

    /// Returns the progress handle for the work.
    pub(super) fn progress(self: &Arc<Self>) -> Progress {
        Progress::new(self.clone(), self.cancellation.clone())
    }

    /// Returns the job's id.
    pub(super) fn job_id(&self) -> String {
        self.record.borrow().job.job_id.clone()
    }

    pub(super) fn span(&self) -> Span {
        self.trace.job.clone()
    }

    pub(super) fn record(&self) -> JobRecord {
        self.record.borrow().clone()
    }

    /// Returns a receiver for the changes from now on. The caller must persist them.
    pub(super) fn changes(&self) -> watch::Receiver<JobRecord> {
        self.record.subscribe()
    }

    /// Applies changes that others made to the stored job, such as a cancellation or takeover.
    /// Returns `false` if another worker has the job now.
    pub(super) fn sync(&self, stored: StoredJob) -> bool {
        let Ok(stored) = JobRecord::read(stored.document) else { return false };
        if stored.worker != self.worker {
            self.stop("another instance works on this job now");
            return false;
        }
        if let Some(reason) = stored.cancel {
            self.stop(&reason);
            self.record.send_if_modified(|record| {
                record.cancel = Some(reason);
                false
            });
        }
        true
    }

    /// Stops the work at its next safe point.
    pub(super) fn stop(&self, reason: &str) {
        self.cancellation.cancel(reason);
    }

    /// Records the outcome of the job.
    pub(super) fn end(&self, outcome: Result<JobResult>) {
        self.trace.end(outcome.as_ref().err().map(Error::labelled).as_deref());
        self.change(|record| record.end(outcome));
    }

    /// Releases the job so that another instance can run it.
    pub(super) fn hand_back(&self) {
        self.trace.end(None);
        self.change(JobRecord::hand_back);
    }

    fn change(&self, change: impl FnOnce(&mut JobRecord)) {
        self.record.send_modify(|record| {
            let before = record.job.stage;
            change(record);
            if record.job.stage != before || record.is_final() {
                let mut since = self.since.lock();
                metrics::stage_left(before, since.elapsed());
                *since = Instant::now();
            }
        });
    }
}
