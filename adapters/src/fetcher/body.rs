//! Checks that response bodies are complete.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use ports::{ByteStream, ErrorKind, PortError, Result};

/// Passes `body` on until it ends or fails. A body that is shorter than `length` ends with an
/// error.
pub(super) fn check_length(
    body: BoxStream<'static, Result<Bytes>>,
    length: Option<u64>,
    address: String,
) -> ByteStream {
    let mut received = 0;
    let mut body = Some(body);
    stream::poll_fn(move |context| {
        let Some(open) = body.as_mut() else { return std::task::Poll::Ready(None) };
        open.poll_next_unpin(context).map(|item| match item {
            Some(Ok(block)) => {
                received += block.len() as u64;
                Some(Ok(block))
            }
            Some(Err(e)) => {
                body = None;
                Some(Err(e))
            }
            None => {
                body = None;
                length
                    .filter(|length| received < *length)
                    .map(|length| Err(truncated(&address, received, Some(length))))
            }
        })
    })
    .boxed()
}

/// Creates an error such as `http://host/clip.mp4 stopped after 10 of 20 bytes`.
pub(super) fn truncated(address: &str, received: u64, length: Option<u64>) -> PortError {
    let total = length.map_or_else(String::new, |length| format!(" of {length}"));
    PortError::new(
        ErrorKind::Unavailable,
        format!(
            "{address} stopped after {received}{total} bytes; try again when it sends them all"
        ),
    )
}
