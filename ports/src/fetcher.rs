//! Downloading a source from an http(s) URL.

use async_trait::async_trait;

use crate::{ByteStream, Result};

/// A response whose body has not been read yet.
pub struct FetchResponse {
    /// The final URL after redirects, without user, password, query or fragment.
    pub url: String,
    /// The `Content-Type` header without parameters, in lower case.
    pub content_type: Option<String>,
    /// The length announced by the server, in bytes.
    pub length: Option<u64>,
    /// The filename proposed by the server in `Content-Disposition`, not sanitized.
    pub filename: Option<String>,
    /// The body. An error ends the stream. A body that is shorter than announced ends with an
    /// error. An adapter MAY resume an interrupted body if the server still has the same file.
    pub body: ByteStream,
}

/// Opens http(s) URLs.
///
/// MUST refuse (`Denied`) every address that is not public, no matter which host name, redirect or
/// DNS answer leads there, unless the check is disabled for trusted networks. A status other than
/// 2xx is an error: `NotFound` for 404 and 410, `Denied` for 401 and 403, `Unavailable` for 429 and
/// 5xx, `Invalid` for all others.
///
/// ```
/// use adapters::fetcher::{MemoryFetcher, Response};
/// use futures::TryStreamExt;
/// use shotlog_ports::{ErrorKind, fetcher::SourceFetcher};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let fetcher = MemoryFetcher::new(false);
/// let response = Response { status: 200, body: vec!["video".into()], ..Response::default() };
/// fetcher.respond("https://example.com/clip.mp4", response);
///
/// let response = fetcher.fetch("https://example.com/clip.mp4").await?;
/// let blocks: Vec<bytes::Bytes> = response.body.try_collect().await?;
/// assert_eq!(blocks.concat(), b"video");
///
/// let error = fetcher.fetch("http://127.0.0.1/clip.mp4").await.err().expect("a private address");
/// assert_eq!(error.kind(), ErrorKind::Denied);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait SourceFetcher: Send + Sync {
    /// Sends the request and reads the head of the response.
    async fn fetch(&self, url: &str) -> Result<FetchResponse>;
}
