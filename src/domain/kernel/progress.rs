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
    /// The work has not begun yet.
    Starting,
    /// The source is being downloaded, hashed and probed.
    Fetching,
    /// The boundary detectors are running and their results are being fused.
    Chunking,
    /// The chunks are known; `detail.chunks` says how many there are.
    Chunked,
    /// The analyzer `detail.analyzer` is running.
    Analyzing,
    /// The output of the analyzer `detail.analyzer` is being embedded.
    Indexing,
    /// The aggregator `detail.aggregator` is running.
    Aggregating,
    /// The videos in a collection are being changed or deleted, so far `detail.done` of
    /// `detail.total`.
    Changing,
    /// A video is being matched against the alerts, so far `detail.done` of `detail.total`.
    Alerting,
    /// An evaluation is running and has asked `detail.asked` of `detail.of` questions with the
    /// configuration `detail.configuration`.
    Evaluating,
    /// The work has finished.
    Complete,
}

impl Stage {
    /// Returns the stage's name in API responses.
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
    /// Called when the work enters a stage, or when the detail of the stage changes.
    fn stage(&self, stage: Stage, detail: Map<String, Value>);

    /// Called when the id of the video is known.
    fn video(&self, video_id: VideoId);
}

/// The handle that running work holds to report to an [`Observer`] and to check for cancellation.
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
    /// Creates a cancellation that is triggered by [`Self::cancel`] or by `token`.
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

    /// Enters a stage. `detail` is a JSON object or null.
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

    /// Marks a point at which the work can stop safely. Returns an error if the work has been
    /// cancelled.
    pub fn check(&self) -> Result<()> {
        if self.cancellation.token.is_cancelled() { Err(self.cancellation.error()) } else { Ok(()) }
    }

    /// Runs `work` until it completes or is cancelled. On cancellation, drops `work` at its current
    /// await point.
    pub async fn cancellable<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.cancellation.token.cancelled() => Err(self.cancellation.error()),
            outcome = work => outcome,
        }
    }
}
