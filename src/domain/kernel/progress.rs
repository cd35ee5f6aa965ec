//! Where a long piece of work stands, and whether it is to stop. Jobs give the handle; the pipeline
//! and the aggregators say through it what they are at.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::error::{Error, Result};
use super::profile::Profile;
use super::video::VideoId;

/// Where a running job is in the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The videos of a collection are changed or deleted: `detail.total` of them in all,
    /// `detail.done` so far.
    Changing,
    /// Alerts are told of a video: `detail.total` of them are looked at, `detail.done` so far.
    Alerting,
    /// Judged questions are asked: `detail.configuration`, `detail.asked`, `detail.of`.
    Evaluating,
    /// Finished.
    Complete,
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
            Self::Changing => "changing",
            Self::Alerting => "alerting",
            Self::Evaluating => "evaluating",
            Self::Complete => "complete",
        }
    }
}

/// Who is told where the work stands.
pub trait Observer: Send + Sync {
    /// A stage is entered, or its detail has changed.
    fn stage(&self, stage: Stage, detail: Map<String, Value>);

    /// The video that is worked on is known.
    fn video(&self, video_id: VideoId);
}

/// A handle for the work itself: it tells an [`Observer`] and asks whether to go on.
#[derive(Clone)]
pub struct Progress {
    observer: Arc<dyn Observer>,
    cancellation: Cancellation,
    /// What the steps of the work take.
    pub profile: Profile,
}

/// Ends work at its next safe point, for a reason.
#[derive(Clone)]
pub struct Cancellation {
    token: CancellationToken,
    reason: Arc<Mutex<Option<String>>>,
}

impl Cancellation {
    /// Cancelled by [`Self::cancel`] or with `token`.
    pub fn with(token: CancellationToken) -> Self {
        Self { token, reason: Arc::default() }
    }

    /// Cancels; of several reasons the first is told.
    pub fn cancel(&self, reason: &str) {
        let mut told = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        told.get_or_insert_with(|| reason.to_owned());
        self.token.cancel();
    }

    fn error(&self) -> Error {
        let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Error::Cancelled(reason.unwrap_or_else(|| "the service is stopping".into()))
    }
}

impl Progress {
    /// Tells `observer`, and ends with `cancellation`.
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

    /// Says which video is worked on, so that deleting the video cancels the work.
    pub fn video(&self, video_id: VideoId) {
        self.observer.video(video_id);
    }

    /// Fails when the work has been cancelled: the safe points of the pipeline.
    pub fn check(&self) -> Result<()> {
        if self.cancellation.token.is_cancelled() { Err(self.cancellation.error()) } else { Ok(()) }
    }

    /// Runs `work` unless or until it is cancelled, dropping it at its next await.
    pub async fn cancellable<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.cancellation.token.cancelled() => Err(self.cancellation.error()),
            outcome = work => outcome,
        }
    }
}
