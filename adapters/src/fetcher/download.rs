//! The body of a download. If it stalls or breaks off, it resumes with a range request. The HTTP
//! fetcher creates the body, which sends every request through the checked client.

use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use ports::{ByteStream, ErrorKind, PortError, Result};
use reqwest::header::{
    ACCEPT_RANGES, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_RANGE, RANGE,
};
use reqwest::{Response, StatusCode};
use tokio::time::Instant;
use url::Url;

use super::body::truncated;
use super::client::CheckedClient;
use super::head::redacted;

/// Pause before the second consecutive attempt to resume. It doubles with each further attempt.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Download {
    client: CheckedClient,
    url: Url,
    /// ETag that identifies this version of the file, if the server sends one and supports ranges.
    etag: Option<HeaderValue>,
    /// Length of the whole file in bytes, if the server announces it.
    length: Option<u64>,
    received: u64,
    deadline: Instant,
    resumes_left: usize,
    body: BoxStream<'static, reqwest::Result<Bytes>>,
}

impl Download {
    pub(super) fn new(
        client: CheckedClient,
        url: Url,
        response: Response,
        length: Option<u64>,
        max_resumes: usize,
        deadline: Instant,
    ) -> Self {
        Self {
            client,
            url,
            etag: resumable(response.status(), response.headers()),
            length,
            received: 0,
            deadline,
            resumes_left: max_resumes,
            body: response.bytes_stream().boxed(),
        }
    }

    /// Yields blocks until the end of the file or the first error that resuming cannot fix.
    pub(super) fn into_stream(self) -> ByteStream {
        let next = |mut download: Self| async move {
            let block = download.next().await?;
            Ok(block.map(|block| (block, download)))
        };
        stream::try_unfold(self, next).boxed()
    }

    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            let broken = match self.body.next().await {
                Some(Ok(block)) => {
                    self.received += block.len() as u64;
                    return Ok(Some(block));
                }
                None if self.length.is_none_or(|length| self.received >= length) => {
                    return Ok(None);
                }
                Some(Err(e)) if e.is_timeout() => self.too_slow(e),
                Some(Err(_)) | None => truncated(&redacted(&self.url), self.received, self.length),
            };
            if !self.resume().await {
                return Err(broken);
            }
        }
    }

    fn too_slow(&self, e: reqwest::Error) -> PortError {
        let message = format!(
            "{} was too slow: {} bytes arrived in time",
            redacted(&self.url),
            self.received
        );
        PortError::caused_by(ErrorKind::Timeout, message, e.without_url())
    }

    /// Tries to continue the body with the rest of the file. Returns whether it succeeded.
    async fn resume(&mut self) -> bool {
        let Some(etag) = self.etag.clone() else { return false };
        let mut pause = Duration::ZERO;
        while self.resumes_left > 0 && Instant::now() + pause < self.deadline {
            self.resumes_left -= 1;
            tokio::time::sleep(pause).await;
            pause = if pause.is_zero() { PAUSE } else { 2 * pause };
            let range = HeaderValue::from_str(&format!("bytes={}-", self.received));
            let Ok(range) = range else { return false };
            let headers = HeaderMap::from_iter([(RANGE, range), (IF_RANGE, etag.clone())]);
            let Ok(response) = self.client.get(&self.url, headers, self.deadline).await else {
                continue;
            };
            if response.status().is_server_error() {
                continue;
            }
            // The response must be the rest of the same file to continue the bytes received so far.
            if !self.continues(&response) {
                return false;
            }
            tracing::debug!(url = %redacted(&self.url), from = self.received, "resuming a download");
            self.body = response.bytes_stream().boxed();
            return true;
        }
        false
    }

    fn continues(&self, response: &Response) -> bool {
        let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
        let from = range.and_then(first_byte);
        response.status() == StatusCode::PARTIAL_CONTENT && from == Some(self.received)
    }
}

/// Returns the file's ETag if the server supports ranges. The ETag must be a strong validator,
/// because a weak one may stand for different bytes.
fn resumable(status: StatusCode, headers: &HeaderMap) -> Option<HeaderValue> {
    let ranges = headers.get(ACCEPT_RANGES).is_some_and(|unit| unit == "bytes");
    let etag = headers.get(ETAG).filter(|etag| etag.as_bytes().starts_with(b"\""));
    etag.filter(|_| ranges && status == StatusCode::OK).cloned()
}

/// Returns the position of the first byte in a `Content-Range` header.
fn first_byte(range: &str) -> Option<u64> {
    range.strip_prefix("bytes ")?.split_once('-')?.0.trim().parse().ok()
}
