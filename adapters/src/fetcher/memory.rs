//! A fetcher with scripted responses and a webhook sender that records requests, for tests. No
//! request leaves the process. Responses are parsed like those of real servers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use ports::fetcher::{FetchResponse, SourceFetcher};
use ports::webhook::WebhookSender;
use ports::{ErrorKind, PortError, Result};
use url::Url;

use super::body::check_length;
use super::head::{
    check_literal, disposition_filename, media_type, parse_url, redacted, redirect_target,
    status_error,
};

const MAX_REDIRECTS: usize = 5;

/// The response for one URL.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Headers. `content-type`, `content-length`, `content-disposition` and `location` are
    /// interpreted.
    pub headers: Vec<(String, String)>,
    /// The body as blocks. A body that is shorter than `content-length` counts as broken off.
    pub body: Vec<Bytes>,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

/// A fetcher that returns scripted responses, and status 404 for other URLs.
#[derive(Debug, Default)]
pub struct MemoryFetcher {
    allow_private: bool,
    responses: Mutex<HashMap<String, Response>>,
}

impl MemoryFetcher {
    /// Creates a fetcher without responses. It rejects private IP addresses in URLs unless
    /// `allow_private` is true.
    pub fn new(allow_private: bool) -> Self {
        Self { allow_private, responses: Mutex::default() }
    }

    /// Sets the response for a URL, replacing any earlier one. Ignores user, query and fragment.
    pub fn respond(&self, url: &str, response: Response) {
        let address = parse_url(url).map_or_else(|_| url.to_owned(), |url| redacted(&url));
        self.responses.lock().insert(address, response);
    }

    fn response(&self, url: &Url) -> Option<Response> {
        let responses = self.responses.lock();
        responses.get(&redacted(url)).cloned()
    }
}

#[async_trait]
impl SourceFetcher for MemoryFetcher {
    async fn fetch(&self, url: &str) -> Result<FetchResponse> {
        let mut url = parse_url(url)?;
        for _ in 0..=MAX_REDIRECTS {
            if !self.allow_private {
                check_literal(&url)?;
            }
            let Some(response) = self.response(&url) else {
                return Err(status_error(404, "Not Found", &url));
            };
            if let (301 | 302 | 303 | 307 | 308, Some(location)) =
                (response.status, response.header("location"))
            {
                url = redirect_target(&url, location.as_bytes())?;
                continue;
            }
            if !(200..300).contains(&response.status) {
                return Err(status_error(response.status, "", &url));
            }
            let length = response.header("content-length").and_then(|length| length.parse().ok());
            return Ok(FetchResponse {
                url: redacted(&url),
                content_type: response.header("content-type").and_then(media_type),
                length,
                filename: response
                    .header("content-disposition")
                    .and_then(|header| disposition_filename(header.as_bytes())),
                body: check_length(
                    stream::iter(response.body.into_iter().map(Ok)).boxed(),
                    length,
                    redacted(&url),
                ),
            });
        }
        Err(PortError::new(
            ErrorKind::Invalid,
            format!("{} redirects more than {MAX_REDIRECTS} times", redacted(&url)),
        ))
    }
}

/// A webhook sender that records all requests except those that fail because of [`Self::fail`].
#[derive(Default)]
pub struct MemoryWebhooks {
    notices: Mutex<Vec<WebhookRequest>>,
    failures: AtomicUsize,
}

/// A request that [`MemoryWebhooks`] received.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookRequest {
    /// The URL that was called.
    pub url: String,
    /// The headers, except those that describe the body.
    pub headers: Vec<(String, String)>,
    /// The JSON body.
    pub body: Bytes,
}

impl MemoryWebhooks {
    /// Makes the next `times` requests fail.
    pub fn fail(&self, times: usize) {
        self.failures.store(times, Ordering::SeqCst);
    }

    /// Returns all successful requests so far.
    pub fn requests(&self) -> Vec<WebhookRequest> {
        self.notices.lock().clone()
    }
}

#[async_trait]
impl WebhookSender for MemoryWebhooks {
    async fn send(&self, url: &str, headers: &[(&str, String)], body: Bytes) -> Result<()> {
        let fewer = |left: usize| left.checked_sub(1);
        if self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).is_ok() {
            return Err(PortError::new(ErrorKind::Unavailable, "the receiver does not answer"));
        }
        let headers = headers.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        let notice = WebhookRequest { url: url.into(), headers, body };
        self.notices.lock().push(notice);
        Ok(())
    }
}
