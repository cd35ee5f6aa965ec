//! Fetches sources and sends webhooks over HTTP. Every request, also to a redirect's target, goes
//! through the checked client.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use ports::fetcher::{FetchResponse, SourceFetcher};
use ports::webhook::WebhookSender;
use ports::{ErrorKind, PortError, Result};
use reqwest::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
};
use reqwest::{Client, Response, StatusCode};
use tokio::time::Instant;
use url::Url;

use super::client::{CheckedClient, HostNetwork};
use super::download::Download;
use super::head::{
    disposition_filename, media_type, parse_url, redacted, redirect_target, status_error,
};

#[cfg(test)]
mod tests;

/// Limits and headers for requests.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpFetcherOptions {
    /// Timeout for looking up the host name and connecting.
    pub connect_timeout: Duration,
    /// Timeout for the next bytes from the server.
    pub read_timeout: Duration,
    /// Timeout for the whole download, from the first request to the last byte.
    pub total_timeout: Duration,
    /// Maximum number of redirects to follow.
    pub max_redirects: usize,
    /// Maximum number of times to resume a body that stalls or breaks off, if the server supports
    /// it.
    pub max_resumes: usize,
    /// Whether to allow private addresses.
    pub allow_private: bool,
    /// The `User-Agent` header.
    pub user_agent: String,
}

/// Fetches sources over HTTP. Clones are cheap.
#[derive(Clone)]
pub struct HttpFetcher {
    client: CheckedClient,
    options: HttpFetcherOptions,
}

impl HttpFetcher {
    /// Creates a fetcher. Fails if TLS cannot be set up. *Blocks* while it reads the system's root
    /// certificates.
    pub fn new(options: HttpFetcherOptions) -> Result<Self> {
        Self::on(HostNetwork::system(), options)
    }

    fn on(network: HostNetwork, options: HttpFetcherOptions) -> Result<Self> {
        let builder = Client::builder()
            .user_agent(&options.user_agent)
            .connect_timeout(options.connect_timeout)
            .read_timeout(options.read_timeout);
        Ok(Self { client: CheckedClient::new(builder, network, options.allow_private)?, options })
    }

    fn fetch_response(&self, url: Url, response: Response, deadline: Instant) -> FetchResponse {
        let header = |name: HeaderName| response.headers().get(name).map(|value| value.as_bytes());
        let content_type =
            header(CONTENT_TYPE).and_then(|value| media_type(&String::from_utf8_lossy(value)));
        let filename = header(CONTENT_DISPOSITION).and_then(disposition_filename);
        let length =
            header(CONTENT_LENGTH).and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
        let address = redacted(&url);
        let resumes = self.options.max_resumes;
        let download = Download::new(self.client.clone(), url, response, length, resumes, deadline);
        let body = download.into_stream();
        FetchResponse { url: address, content_type, length, filename, body }
    }
}

#[async_trait]
impl SourceFetcher for HttpFetcher {
    async fn fetch(&self, url: &str) -> Result<FetchResponse> {
        let mut url = parse_url(url)?;
        let deadline = Instant::now() + self.options.total_timeout;
        for _ in 0..=self.options.max_redirects {
            let response = self.client.get(&url, HeaderMap::new(), deadline).await?;
            let status = response.status();
            match response.headers().get(LOCATION) {
                Some(location) if is_redirect(status) => {
                    url = redirect_target(&url, location.as_bytes())?;
                }
                _ if status.is_success() => return Ok(self.fetch_response(url, response, deadline)),
                _ => {
                    let reason = status.canonical_reason().unwrap_or_default();
                    return Err(status_error(status.as_u16(), reason, &url));
                }
            }
        }
        Err(PortError::new(
            ErrorKind::Invalid,
            format!("{} redirects more than {} times", redacted(&url), self.options.max_redirects),
        ))
    }
}

#[async_trait]
impl WebhookSender for HttpFetcher {
    async fn send(&self, url: &str, headers: &[(&str, String)], body: Bytes) -> Result<()> {
        let url = parse_url(url)?;
        let request = self.client.post(&url).header(CONTENT_TYPE, "application/json");
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let request = request.body(body).timeout(self.options.read_timeout);
        let status = self.client.send(&url, request).await?.status();
        if status.is_success() {
            return Ok(());
        }
        let reason = status.canonical_reason().unwrap_or_default();
        Err(status_error(status.as_u16(), reason, &url))
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}
