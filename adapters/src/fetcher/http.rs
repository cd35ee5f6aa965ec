//! Fetches sources over HTTP with reqwest.
//!
//! All connections go to checked addresses. Host names are resolved here, once, and the connector
//! receives only addresses that passed the check. IP addresses in URLs, including those of
//! redirects, are checked before each request. Proxies from the environment are ignored.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use ports::fetcher::{FetchResponse, SourceFetcher};
use ports::webhook::WebhookSender;
use ports::{ErrorKind, PortError, Result};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName,
    LOCATION,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect};
use tokio::time::Instant;
use url::Url;

use super::address::is_public;
use super::download::Download;
use super::head::{
    PrivateAddress, check_literal, disposition_filename, media_type, parse_url, redacted,
    redirect_target, status_error,
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

impl Default for HttpFetcherOptions {
    /// The defaults of `[fetch]`.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

/// Fetches sources over HTTP. Clones are cheap.
#[derive(Clone)]
pub struct HttpFetcher {
    client: Client,
    network: Network,
    pub(super) options: HttpFetcherOptions,
}

impl HttpFetcher {
    /// Creates a fetcher. Fails if TLS cannot be set up. *Blocks* while it reads the system's root
    /// certificates.
    pub fn new(options: HttpFetcherOptions) -> Result<Self> {
        Self::on(Network::system(), options)
    }

    fn on(network: Network, options: HttpFetcherOptions) -> Result<Self> {
        let resolver =
            CheckedResolver { network: network.clone(), allow_private: options.allow_private };
        let client = Client::builder()
            .user_agent(&options.user_agent)
            .connect_timeout(options.connect_timeout)
            .read_timeout(options.read_timeout)
            // A proxy would resolve names itself and bypass the check.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .dns_resolver(Arc::new(resolver))
            .build()
            .map_err(|e| {
                let message = format!("cannot set up https: {}", root_cause(&e));
                PortError::caused_by(ErrorKind::Unavailable, message, e)
            })?;
        Ok(Self { client, network, options })
    }

    pub(super) async fn send(
        &self,
        url: &Url,
        headers: HeaderMap,
        deadline: Instant,
    ) -> Result<Response> {
        // The request accepts no content encoding, because the exact bytes are hashed and stored.
        let request = self.client.get(url.clone()).headers(headers);
        let request = request.header(ACCEPT_ENCODING, "identity");
        let remaining = deadline.saturating_duration_since(Instant::now());
        self.send_checked(url, request.timeout(remaining)).await
    }

    /// Sends the request. Fails if the address is private and private addresses are not allowed.
    async fn send_checked(&self, url: &Url, request: RequestBuilder) -> Result<Response> {
        if !self.options.allow_private {
            check_literal(url)?;
        }
        let response = request.send().await.map_err(|e| self.send_error(url, e))?;
        match response.remote_addr() {
            Some(address)
                if !self.options.allow_private && !(self.network.is_public)(address.ip()) =>
            {
                Err(PrivateAddress(url.host_str().unwrap_or_default().to_owned()).into())
            }
            _ => Ok(response),
        }
    }

    fn fetch_response(&self, url: Url, response: Response, deadline: Instant) -> FetchResponse {
        let header = |name: HeaderName| response.headers().get(name).map(|value| value.as_bytes());
        let content_type =
            header(CONTENT_TYPE).and_then(|value| media_type(&String::from_utf8_lossy(value)));
        let filename = header(CONTENT_DISPOSITION).and_then(disposition_filename);
        let length =
            header(CONTENT_LENGTH).and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
        let address = redacted(&url);
        let body = Download::new(self.clone(), url, response, length, deadline).into_stream();
        FetchResponse { url: address, content_type, length, filename, body }
    }

    fn send_error(&self, url: &Url, e: reqwest::Error) -> PortError {
        if let Some(refusal) = causes(&e).find_map(|cause| cause.downcast_ref::<PrivateAddress>()) {
            return refusal.clone().into();
        }
        // reqwest shows the whole URL, which may include a password.
        let e = e.without_url();
        let shown = redacted(url);
        let (kind, message) = if e.is_timeout() {
            (ErrorKind::Timeout, format!("{shown} did not answer in time"))
        } else if e.is_dns() {
            let host = url.host_str().unwrap_or_default();
            (ErrorKind::Unavailable, format!("cannot find the host {host}: {}", root_cause(&e)))
        } else if e.is_builder() {
            (ErrorKind::Invalid, format!("cannot request {shown}: {}", root_cause(&e)))
        } else {
            (ErrorKind::Unavailable, format!("cannot reach {shown}: {}", root_cause(&e)))
        };
        PortError::caused_by(kind, message, e)
    }
}

#[async_trait]
impl SourceFetcher for HttpFetcher {
    async fn fetch(&self, url: &str) -> Result<FetchResponse> {
        let mut url = parse_url(url)?;
        let deadline = Instant::now() + self.options.total_timeout;
        for _ in 0..=self.options.max_redirects {
            let response = self.send(&url, HeaderMap::new(), deadline).await?;
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
        let request = self.client.post(url.clone()).header(CONTENT_TYPE, "application/json");
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let request = request.body(body).timeout(self.options.read_timeout);
        let status = self.send_checked(&url, request).await?.status();
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

/// Resolves names and decides which addresses are public. Tests replace it.
#[derive(Clone)]
struct Network {
    lookup: Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>,
    is_public: fn(IpAddr) -> bool,
}

impl Network {
    fn system() -> Self {
        Self {
            lookup: Arc::new(|host| {
                async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) }.boxed()
            }),
            is_public,
        }
    }
}

/// Resolves names for the connector and returns only checked addresses.
struct CheckedResolver {
    network: Network,
    allow_private: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (network, allow_private) = (self.network.clone(), self.allow_private);
        async move {
            let mut addresses = (network.lookup)(name.as_str().to_owned()).await?;
            if !allow_private && !addresses.is_empty() {
                addresses.retain(|address| (network.is_public)(address.ip()));
                if addresses.is_empty() {
                    // The error does not show the address, because clients must not see which
                    // address a name has.
                    return Err(PrivateAddress(name.as_str().to_owned()).into());
                }
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        }
        .boxed()
    }
}

fn causes<'a>(
    e: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(e), |e| e.source())
}

fn root_cause(e: &reqwest::Error) -> String {
    causes(e).last().map_or_else(String::new, ToString::to_string)
}
