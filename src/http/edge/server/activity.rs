//! The state of a connection, which three parts share. The socket waits for bytes, requests record
//! when they start and end, and the server evicts idle connections.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::{Body, Frame, SizeHint};
use parking_lot::{Mutex, MutexGuard};
use poem::http::Version;
use tokio::time::Instant;

use crate::http::settings::HttpSettings;

/// A connection's state and timeouts.
pub(super) struct Activity {
    header_timeout: Duration,
    idle_timeout: Duration,
    /// How long sending may stall because the client does not read.
    pub(super) send_timeout: Duration,
    state: Mutex<State>,
}

struct State {
    /// Number of running requests. A request runs until its response body has been sent.
    running: usize,
    /// Whether any request has completed.
    answered: bool,
    /// Whether part of the next request's head has arrived. Not tracked for HTTP/2, where incoming
    /// frames need not belong to a request.
    head_started: bool,
    multiplexed: bool,
    /// Start of the current timeout: when the connection was opened, when the last request ended,
    /// or when the first byte of a later request arrived.
    since: Instant,
    /// Waker of the reader, set while the reader waits without a deadline.
    reader: Option<Waker>,
}

impl Activity {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        Self {
            header_timeout: settings.header_timeout,
            idle_timeout: settings.idle_timeout,
            send_timeout: settings.send_timeout,
            state: Mutex::new(State {
                running: 0,
                answered: false,
                head_started: false,
                multiplexed: false,
                since: Instant::now(),
                reader: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Records that a request's head is complete. The request runs until the returned guard is
    /// dropped.
    pub(super) fn start_request(self: &Arc<Self>, version: Version) -> RequestGuard {
        let mut state = self.state();
        state.running += 1;
        state.head_started = false;
        state.multiplexed = version == Version::HTTP_2;
        RequestGuard(self.clone())
    }

    /// Records that bytes have arrived.
    pub(super) fn bytes_received(&self) {
        let mut state = self.state();
        if state.running == 0 && !state.head_started && !state.multiplexed {
            state.head_started = true;
            if state.answered {
                state.since = Instant::now();
            }
        }
    }

    /// Returns the time by which the next bytes must arrive. While requests run, returns `None` and
    /// arranges to wake `reader` when a request ends.
    pub(super) fn deadline(&self, reader: &Waker) -> Option<Instant> {
        let mut state = self.state();
        if state.running > 0 {
            state.reader = Some(reader.clone());
            return None;
        }
        let idle = state.answered && !state.head_started;
        Some(state.since + if idle { self.idle_timeout } else { self.header_timeout })
    }

    /// Whether only part of a request's head has arrived.
    pub(super) fn is_head_incomplete(&self) -> bool {
        let state = self.state();
        state.running == 0 && state.head_started
    }

    /// Returns whether the connection has completed any request, and when it became idle. Returns
    /// `None` while requests run.
    pub(super) fn idle_since(&self) -> Option<(bool, Instant)> {
        let state = self.state();
        (state.running == 0).then_some((state.answered, state.since))
    }
}

/// Counts a request as running until the guard is dropped.
pub(super) struct RequestGuard(Arc<Activity>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        state.answered = true;
        state.since = Instant::now();
        // From now on, the reader must apply a deadline.
        if let Some(reader) = state.reader.take() {
            reader.wake();
        }
    }
}

/// A response body that counts its request as running until the body has been sent.
pub(super) struct GuardedBody<B> {
    body: B,
    _guard: RequestGuard,
}

impl<B> GuardedBody<B> {
    pub(super) fn new(body: B, guard: RequestGuard) -> Self {
        Self { body, _guard: guard }
    }
}

impl<B: Body + Unpin> Body for GuardedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
