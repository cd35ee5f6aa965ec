//! A socket that fails when the client sends or receives nothing for too long.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::activity::Activity;

/// A connection's socket with read and write timeouts.
pub(super) struct TimeoutStream {
    socket: TcpStream,
    activity: Arc<Activity>,
    reading: DeadlineTimer,
    writing: DeadlineTimer,
    /// When sending began to stall because the client does not read; `None` if sending is not
    /// stalled.
    unsent_since: Option<Instant>,
}

impl TimeoutStream {
    pub(super) fn new(socket: TcpStream, activity: Arc<Activity>) -> Self {
        let unset = || DeadlineTimer(Box::pin(sleep_until(Instant::now())));
        Self { socket, activity, reading: unset(), writing: unset(), unsent_since: None }
    }

    /// Returns the result of a write, or an error if sending has stalled for longer than the send
    /// timeout.
    fn check_write<T>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.unsent_since = None;
            return result;
        }
        let since = *self.unsent_since.get_or_insert_with(Instant::now);
        ready!(self.writing.poll_at(since + self.activity.send_timeout, context));
        Poll::Ready(Err(timed_out("the other side takes no bytes (http.send_timeout)")))
    }

    /// Tries to send 408 to a client whose request head did not arrive in time. Does not wait for
    /// the socket.
    fn send_request_timeout(&self) {
        const BODY: &str =
            r#"{"detail":"the request's head did not arrive in time (http.header_timeout)"}"#;
        let answer = format!(
            "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        // The connection is closed even if this fails.
        let _ = self.socket.try_write(answer.as_bytes());
    }
}

impl AsyncRead for TimeoutStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if let Poll::Ready(read) = Pin::new(&mut self.socket).poll_read(context, buffer) {
            if buffer.filled().len() > before {
                self.activity.bytes_received();
            }
            return Poll::Ready(read);
        }
        let Some(deadline) = self.activity.deadline(context.waker()) else {
            return Poll::Pending;
        };
        ready!(self.reading.poll_at(deadline, context));
        if self.activity.is_head_incomplete() {
            self.send_request_timeout();
        }
        Poll::Ready(Err(timed_out("no request came (http.header_timeout, http.idle_timeout)")))
    }
}

impl AsyncWrite for TimeoutStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.check_write(context, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.check_write(context, result)
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

/// A timer that can be reset to another deadline.
struct DeadlineTimer(Pin<Box<Sleep>>);

impl DeadlineTimer {
    /// Becomes ready once `moment` has passed.
    fn poll_at(&mut self, moment: Instant, context: &mut Context<'_>) -> Poll<()> {
        if self.0.deadline() != moment {
            self.0.as_mut().reset(moment);
        }
        self.0.as_mut().poll(context)
    }
}

fn timed_out(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}
