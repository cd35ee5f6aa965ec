//! A socket that fails when the other side is silent, or takes no bytes, for too long.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::activity::Activity;

/// A connection's socket, held to its deadlines.
pub(super) struct Patient {
    socket: TcpStream,
    activity: Arc<Activity>,
    reading: Alarm,
    writing: Alarm,
    /// Since when the other side has taken no bytes.
    unsent_since: Option<Instant>,
}

impl Patient {
    pub(super) fn new(socket: TcpStream, activity: Arc<Activity>) -> Self {
        let unset = || Alarm(Box::pin(sleep_until(Instant::now())));
        Self { socket, activity, reading: unset(), writing: unset(), unsent_since: None }
    }

    /// What became of sending, unless it has stood still for too long.
    fn sent<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.unsent_since = None;
            return outcome;
        }
        let since = *self.unsent_since.get_or_insert_with(Instant::now);
        ready!(self.writing.at(since + self.activity.send_timeout, context));
        Poll::Ready(Err(late("the other side takes no bytes (http.send_timeout)")))
    }

    /// Tells a client that was too slow with a request's head why it is cut off, if it can be told
    /// at once.
    fn refuse(&self) {
        const BODY: &str =
            r#"{"detail":"the request's head did not arrive in time (http.header_timeout)"}"#;
        let answer = format!(
            "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        // Whoever cannot be told is cut off all the same.
        let _ = self.socket.try_write(answer.as_bytes());
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if let Poll::Ready(read) = Pin::new(&mut self.socket).poll_read(context, buffer) {
            if buffer.filled().len() > before {
                self.activity.hear();
            }
            return Poll::Ready(read);
        }
        let Some(deadline) = self.activity.deadline(context.waker()) else {
            return Poll::Pending;
        };
        ready!(self.reading.at(deadline, context));
        if self.activity.is_half_asked() {
            self.refuse();
        }
        Poll::Ready(Err(late("no request came (http.header_timeout, http.idle_timeout)")))
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.sent(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.sent(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

/// Wakes a task at one moment after the other.
struct Alarm(Pin<Box<Sleep>>);

impl Alarm {
    /// Ready once `moment` has come.
    fn at(&mut self, moment: Instant, context: &mut Context<'_>) -> Poll<()> {
        if self.0.deadline() != moment {
            self.0.as_mut().reset(moment);
        }
        self.0.as_mut().poll(context)
    }
}

fn late(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}
