//! A running job's handle on itself, and its trace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ports::jobs::KeptJob;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::{JobResult, Sheet, Stage};
use crate::domain::error::{Error, Result};
use crate::domain::meters;

/// A running job's handle on itself. What it says is kept soon after; of changes in quick
/// succession, the last.
#[derive(Clone)]
pub struct Progress(Arc<Running>);

struct Running {
    worker: Option<String>,
    sheet: watch::Sender<Sheet>,
    cancelled: CancellationToken,
    reason: Mutex<Option<String>>,
    since: Mutex<Instant>,
    trace: Trace,
}

/// A job's spans: one for the whole, and one for each stage in turn.
struct Trace {
    job: Span,
    stage: Mutex<Option<(String, Span)>>,
}

impl Trace {
    /// What the job does names its span.
    fn start(sheet: &Sheet) -> Self {
        let (what, job_id) = (sheet.task.name(), &sheet.job.job_id);
        let job = info_span!(parent: None, "job", otel.name = what, %job_id, error = Empty);
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
        // A span counts as ended when it was last left: not before its stages.
        self.job.in_scope(|| ());
    }
}

impl Progress {
    /// Of a job that has been taken. `cancelled` ends it at its next safe point.
    pub(super) fn of(sheet: Sheet, cancelled: CancellationToken) -> Self {
        Self(Arc::new(Running {
            trace: Trace::start(&sheet),
            worker: sheet.worker.clone(),
            sheet: watch::Sender::new(sheet),
            cancelled,
            reason: Mutex::default(),
            since: Mutex::new(Instant::now()),
        }))
    }

    /// The job's id.
    pub fn job_id(&self) -> String {
        self.0.sheet.borrow().job.job_id.clone()
    }

    /// Enters a stage with its detail.
    pub fn stage(&self, stage: Stage, detail: Value) {
        let detail = match detail {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        self.0.trace.enter(stage, &detail);
        self.change(|sheet| sheet.enter(stage, detail));
    }

    /// Says which video the job works on, so that deleting the video cancels it.
    pub fn video(&self, video_id: &str) {
        self.change(|sheet| sheet.video_id = Some(video_id.to_owned()));
    }

    /// Fails when the job has been cancelled: the safe points of the pipeline.
    pub fn check(&self) -> Result<()> {
        if self.0.cancelled.is_cancelled() { Err(self.cancellation()) } else { Ok(()) }
    }

    /// Runs `work` unless or until the job is cancelled, dropping it at its next await.
    pub async fn cancellable<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.0.cancelled.cancelled() => Err(self.cancellation()),
            outcome = work => outcome,
        }
    }

    fn cancellation(&self) -> Error {
        let reason = lock(&self.0.reason).clone();
        Error::Cancelled(reason.unwrap_or_else(|| "the service is stopping".into()))
    }

    pub(super) fn span(&self) -> Span {
        self.0.trace.job.clone()
    }

    pub(super) fn sheet(&self) -> Sheet {
        self.0.sheet.borrow().clone()
    }

    /// What has to be kept, from now on.
    pub(super) fn changes(&self) -> watch::Receiver<Sheet> {
        self.0.sheet.subscribe()
    }

    /// Takes in what is kept of the job, which others may have changed. False when another worker
    /// has the job now.
    pub(super) fn notice(&self, kept: KeptJob) -> bool {
        let Ok(kept) = Sheet::read(kept.document) else { return false };
        if kept.worker != self.0.worker {
            self.stop("another instance works on this job now");
            return false;
        }
        if let Some(reason) = kept.cancel {
            self.stop(&reason);
            self.0.sheet.send_if_modified(|sheet| {
                sheet.cancel = Some(reason);
                false
            });
        }
        true
    }

    /// Ends the work at its next safe point.
    pub(super) fn stop(&self, reason: &str) {
        lock(&self.0.reason).get_or_insert_with(|| reason.to_owned());
        self.0.cancelled.cancel();
    }

    /// The job has ended.
    pub(super) fn end(&self, outcome: Result<JobResult>) {
        self.0.trace.end(outcome.as_ref().err().map(Error::labelled).as_deref());
        self.change(|sheet| sheet.end(outcome));
    }

    /// The job is left to another instance.
    pub(super) fn hand_back(&self) {
        self.0.trace.end(None);
        self.change(Sheet::hand_back);
    }

    fn change(&self, change: impl FnOnce(&mut Sheet)) {
        self.0.sheet.send_modify(|sheet| {
            let before = sheet.job.stage;
            change(sheet);
            if sheet.job.stage != before || sheet.is_final() {
                let mut since = lock(&self.0.since);
                meters::stage_left(before, since.elapsed());
                *since = Instant::now();
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
