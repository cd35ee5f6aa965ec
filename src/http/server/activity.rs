//! What a connection is doing, shared by the socket, which waits for bytes, the requests that run,
//! and the front, which looks for one to give up.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::{Body, Frame, SizeHint};
use poem::http::Version;
use tokio::time::Instant;

use super::HttpSettings;

/// A connection's state, and how long each may last.
pub(super) struct Activity {
    header_timeout: Duration,
    idle_timeout: Duration,
    /// For the other side to take bytes.
    pub(super) send_timeout: Duration,
    state: Mutex<State>,
}

struct State {
    /// Requests that run, their answers included.
    at_work: usize,
    /// Whether any request has been answered.
    answered: bool,
    /// Whether some of the next request's head has come. Not told of HTTP/2, whose frames may be
    /// about anything.
    begun: bool,
    multiplexed: bool,
    /// Since when nothing, or only the beginning of a head, has come.
    since: Instant,
    /// Who waits for bytes without a deadline.
    reader: Option<Waker>,
}

impl Activity {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        Self {
            header_timeout: settings.header_timeout,
            idle_timeout: settings.idle_timeout,
            send_timeout: settings.send_timeout,
            state: Mutex::new(State {
                at_work: 0,
                answered: false,
                begun: false,
                multiplexed: false,
                since: Instant::now(),
                reader: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request's head has come.
    pub(super) fn begin(self: &Arc<Self>, version: Version) -> AtWork {
        let mut state = self.state();
        state.at_work += 1;
        state.begun = false;
        state.multiplexed = version == Version::HTTP_2;
        AtWork(self.clone())
    }

    /// Bytes have come.
    pub(super) fn hear(&self) {
        let mut state = self.state();
        if state.at_work == 0 && !state.begun && !state.multiplexed {
            state.begun = true;
            if state.answered {
                state.since = Instant::now();
            }
        }
    }

    /// Until when bytes must come; `None` while requests run, after which the reader is woken.
    pub(super) fn deadline(&self, reader: &Waker) -> Option<Instant> {
        let mut state = self.state();
        if state.at_work > 0 {
            state.reader = Some(reader.clone());
            return None;
        }
        let idle = state.answered && !state.begun;
        Some(state.since + if idle { self.idle_timeout } else { self.header_timeout })
    }

    /// Whether a part of a request's head has come, and no more.
    pub(super) fn is_half_asked(&self) -> bool {
        let state = self.state();
        state.at_work == 0 && state.begun
    }

    /// Since when the connection waits for a request, after whether it ever had one; `None` while
    /// requests run.
    pub(super) fn silent_since(&self) -> Option<(bool, Instant)> {
        let state = self.state();
        (state.at_work == 0).then_some((state.answered, state.since))
    }
}

/// A request that runs, until it is dropped.
pub(super) struct AtWork(Arc<Activity>);

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.at_work -= 1;
        state.answered = true;
        state.since = Instant::now();
        // From here on there is a deadline.
        if let Some(reader) = state.reader.take() {
            reader.wake();
        }
    }
}

/// The body of an answer, whose request runs until the body has been sent.
pub(super) struct Watched<B> {
    body: B,
    _at_work: AtWork,
}

impl<B> Watched<B> {
    pub(super) fn new(body: B, at_work: AtWork) -> Self {
        Self { body, _at_work: at_work }
    }
}

impl<B: Body + Unpin> Body for Watched<B> {
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
