//! Progress and cancellation of long-running work. A job provides the handle; the pipeline and the
//! aggregators report through it.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::error::{Error, Result};
use super::profile::Profile;
pub use super::stage::Stage;
use super::video::VideoId;

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
