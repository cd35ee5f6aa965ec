//! A fetcher that answers from a script, and webhooks that keep what they are sent, for tests. Nothing leaves the process; what a script says
//! is read as a real response would be.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, stream};
use ports::fetcher::{FetchResponse, SourceFetcher};
use ports::webhook::WebhookSender;
use ports::{ErrorKind, PortError, Result};
use url::Url;

use super::body::whole;
use super::head::{
    check_literal, disposition_filename, media_type, parse_url, redirected, shown, status_error,
};

const MAX_REDIRECTS: usize = 5;

/// What is answered for one URL.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// `content-type`, `content-length`, `content-disposition` and `location` have their effect.
    pub headers: Vec<(String, String)>,
    /// The body's blocks; fewer bytes than `content-length` announces are a body cut off.
    pub body: Vec<Bytes>,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

/// Answers from a script. A URL without a response is a 404.
#[derive(Debug, Default)]
pub struct MemoryFetcher {
    allow_private: bool,
    responses: Mutex<HashMap<String, Response>>,
}

impl MemoryFetcher {
    /// Refuses literal addresses that are not public unless `allow_private`.
    pub fn new(allow_private: bool) -> Self {
        Self { allow_private, responses: Mutex::default() }
    }

    /// Scripts the answer for a URL, replacing an earlier one. User, query and fragment make no
    /// difference.
    pub fn respond(&self, url: &str, response: Response) {
        let address = parse_url(url).map_or_else(|_| url.to_owned(), |url| shown(&url));
        self.responses.lock().unwrap_or_else(PoisonError::into_inner).insert(address, response);
    }

    fn response(&self, url: &Url) -> Option<Response> {
        let responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        responses.get(&shown(url)).cloned()
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
                url = redirected(&url, location.as_bytes())?;
                continue;
            }
            if !(200..300).contains(&response.status) {
                return Err(status_error(response.status, "", &url));
            }
            let length = response.header("content-length").and_then(|length| length.parse().ok());
            return Ok(FetchResponse {
                url: shown(&url),
                content_type: response.header("content-type").and_then(media_type),
                length,
                filename: response
                    .header("content-disposition")
                    .and_then(|header| disposition_filename(header.as_bytes())),
                body: whole(
                    stream::iter(response.body.into_iter().map(Ok)).boxed(),
                    length,
                    shown(&url),
                ),
            });
        }
        Err(PortError::new(
            ErrorKind::Invalid,
            format!("{} redirects more than {MAX_REDIRECTS} times", shown(&url)),
        ))
    }
}

/// Keeps what it is told; fails as often as it is asked to.
#[derive(Default)]
pub struct MemoryWebhooks {
    notices: Mutex<Vec<Notice>>,
    failures: AtomicUsize,
}

/// A request that a [`MemoryWebhooks`] got.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// Where it was sent.
    pub url: String,
    /// Headers beside those of the body.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: Bytes,
}

impl MemoryWebhooks {
    /// The next so many requests fail.
    pub fn fail(&self, times: usize) {
        self.failures.store(times, Ordering::SeqCst);
    }

    /// Every request so far that did not fail.
    pub fn notices(&self) -> Vec<Notice> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl WebhookSender for MemoryWebhooks {
    async fn send(&self, url: &str, headers: &[(&str, String)], body: Bytes) -> Result<()> {
        let fewer = |left: usize| left.checked_sub(1);
        if self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).is_ok() {
            return Err(PortError::new(ErrorKind::Unavailable, "it does not answer"));
        }
        let headers = headers.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        let notice = Notice { url: url.into(), headers, body };
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        Ok(())
    }
}
