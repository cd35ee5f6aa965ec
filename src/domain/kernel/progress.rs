//! Progress and cancellation of long-running work. A job provides the handle; the pipeline and the
//! aggregators report through it.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::error::{Error, Result};
use super::profile::Profile;
use super::video::VideoId;

/// The pipeline stage of a running job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing is done yet.
    Starting,
    /// The source is downloaded, hashed and probed.
    Fetching,
    /// The boundary detectors run and their results are fused.
    Chunking,
    /// The chunks are known; `detail.chunks` is their number.
    Chunked,
    /// The analyzer `detail.analyzer` runs.
    Analyzing,
    /// The output of the analyzer `detail.analyzer` is embedded.
    Indexing,
    /// The aggregator `detail.aggregator` runs.
    Aggregating,
    /// The videos of a collection are changed or deleted, so far `detail.done` of `detail.total`.
    Changing,
    /// A video is matched against the alerts, so far `detail.done` of `detail.total`.
    Alerting,
    /// An evaluation runs and has asked `detail.asked` of `detail.of` questions with
    /// `detail.configuration`.
    Evaluating,
    /// Finished.
    Complete,
}

impl Stage {
    /// The name in API responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Fetching => "fetching",
            Self::Chunking => "chunking",
            Self::Chunked => "chunked",
            Self::Analyzing => "analyzing",
            Self::Indexing => "indexing",
            Self::Aggregating => "aggregating",
            Self::Changing => "changing",
            Self::Alerting => "alerting",
            Self::Evaluating => "evaluating",
            Self::Complete => "complete",
        }
    }
}

/// Receives progress updates.
pub trait Observer: Send + Sync {
    /// The work entered a stage, or the detail of the stage changed.
    fn stage(&self, stage: Stage, detail: Map<String, Value>);

    /// The id of the video was determined.
    fn video(&self, video_id: VideoId);
}

/// The handle that the work itself holds: it reports to an [`Observer`] and checks for
/// cancellation.
#[derive(Clone)]
pub struct Progress {
    observer: Arc<dyn Observer>,
    cancellation: Cancellation,
    /// Durations of the steps.
    pub profile: Profile,
}

/// Cancels work at its next safe point, with a reason.
#[derive(Clone)]
pub struct Cancellation {
    token: CancellationToken,
    reason: Arc<Mutex<Option<String>>>,
}

impl Cancellation {
    /// Creates a cancellation that [`Self::cancel`] or `token` triggers.
    pub fn new(token: CancellationToken) -> Self {
        Self { token, reason: Arc::default() }
    }

    /// Cancels the work. If called several times, the first reason is reported.
    pub fn cancel(&self, reason: &str) {
        let mut first = self.reason.lock();
        first.get_or_insert_with(|| reason.to_owned());
        self.token.cancel();
    }

    fn error(&self) -> Error {
        let reason = self.reason.lock().clone();
        Error::Cancelled(reason.unwrap_or_else(|| "the service is stopping".into()))
    }
}

impl Progress {
    /// Creates a handle that reports to `observer` and stops on `cancellation`.
    pub fn new(observer: Arc<dyn Observer>, cancellation: Cancellation) -> Self {
        Self { observer, cancellation, profile: Profile::default() }
    }

    /// Enters a stage with its detail, a JSON object or null.
    pub fn stage(&self, stage: Stage, detail: Value) {
        let detail = match detail {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        self.observer.stage(stage, detail);
    }

    /// Reports the id of the video, so that deleting the video cancels the work.
    pub fn video(&self, video_id: VideoId) {
        self.observer.video(video_id);
    }

    /// Marks a safe point of the pipeline. Returns an error if the work has been cancelled.
    pub fn check(&self) -> Result<()> {
        if self.cancellation.token.is_cancelled() { Err(self.cancellation.error()) } else { Ok(()) }
    }

    /// Runs `work` until it completes or is cancelled; on cancellation drops it at its next await.
    pub async fn cancellable<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.cancellation.token.cancelled() => Err(self.cancellation.error()),
            outcome = work => outcome,
        }
    }
}
