//! The state of a connection, shared by its socket, which waits for bytes, its running requests, and the
//! server, which evicts idle connections.

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
    /// How long the client may take no bytes.
    pub(super) send_timeout: Duration,
    state: Mutex<State>,
}

struct State {
    /// Running requests, including their response bodies.
    running: usize,
    /// Whether any request has completed.
    answered: bool,
    /// Whether part of the next request's head has arrived. Unknown for HTTP/2, whose frames may be
    /// anything.
    head_started: bool,
    multiplexed: bool,
    /// Since when no request has been running, or since the first byte of a head.
    since: Instant,
    /// The reader that waits without a deadline.
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

    /// A request's head is complete.
    pub(super) fn start_request(self: &Arc<Self>, version: Version) -> RequestGuard {
        let mut state = self.state();
        state.running += 1;
        state.head_started = false;
        state.multiplexed = version == Version::HTTP_2;
        RequestGuard(self.clone())
    }

    /// Bytes have arrived.
    pub(super) fn bytes_received(&self) {
        let mut state = self.state();
        if state.running == 0 && !state.head_started && !state.multiplexed {
            state.head_started = true;
            if state.answered {
                state.since = Instant::now();
            }
        }
    }

    /// Until when bytes must arrive; `None` while requests run, after which `reader` is woken.
    pub(super) fn deadline(&self, reader: &Waker) -> Option<Instant> {
        let mut state = self.state();
        if state.running > 0 {
            state.reader = Some(reader.clone());
            return None;
        }
        let idle = state.answered && !state.head_started;
        Some(state.since + if idle { self.idle_timeout } else { self.header_timeout })
    }

    /// Whether a request's head has arrived in part.
    pub(super) fn is_head_incomplete(&self) -> bool {
        let state = self.state();
        state.running == 0 && state.head_started
    }

    /// Since when the connection has been idle, preceded by whether it ever served a request; `None` while
    /// requests run.
    pub(super) fn idle_since(&self) -> Option<(bool, Instant)> {
        let state = self.state();
        (state.running == 0).then_some((state.answered, state.since))
    }
}

/// Counts a running request until it is dropped.
pub(super) struct RequestGuard(Arc<Activity>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        state.answered = true;
        state.since = Instant::now();
        // The reader has a deadline again.
        if let Some(reader) = state.reader.take() {
            reader.wake();
        }
    }
}

/// A response body that keeps its request counted until it has been sent.
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
