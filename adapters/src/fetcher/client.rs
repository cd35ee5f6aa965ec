//! The HTTP client behind every request to a URL that a client supplies.
//!
//! All connections go to checked addresses. Host names are resolved here, once, and the connector
//! receives only addresses that passed the check. IP addresses in URLs, including those of
//! redirects, are checked before each request. Proxies from the environment are ignored.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use ports::{ErrorKind, PortError, Result};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, redirect};
use tokio::time::Instant;
use url::Url;

use super::address::is_public;
use super::head::{PrivateAddress, check_literal, redacted};

/// An HTTP client that connects only to allowed addresses. Clones are cheap.
#[derive(Clone)]
pub(super) struct CheckedClient {
    client: Client,
    network: HostNetwork,
    allow_private: bool,
}

impl CheckedClient {
    /// Completes a builder that has the timeouts and the `User-Agent`. Fails if TLS cannot be set
    /// up.
    pub(super) fn new(
        builder: ClientBuilder,
        network: HostNetwork,
        allow_private: bool,
    ) -> Result<Self> {
        let resolver = CheckedResolver { network: network.clone(), allow_private };
        let client = builder
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
        Ok(Self { client, network, allow_private })
    }

    /// Sends a GET request, which has to be answered by the deadline.
    pub(super) async fn get(
        &self,
        url: &Url,
        headers: HeaderMap,
        deadline: Instant,
    ) -> Result<Response> {
        // The request accepts no content encoding, because the exact bytes are hashed and stored.
        let request = self.client.get(url.clone()).headers(headers);
        let request = request.header(ACCEPT_ENCODING, "identity");
        let remaining = deadline.saturating_duration_since(Instant::now());
        self.send(url, request.timeout(remaining)).await
    }

    /// Sends the request. Fails if the address is private and private addresses are not allowed.
    pub(super) async fn send(&self, url: &Url, request: RequestBuilder) -> Result<Response> {
        if !self.allow_private {
            check_literal(url)?;
        }
        let response = request.send().await.map_err(|e| self.send_error(url, e))?;
        match response.remote_addr() {
            Some(address) if !self.allow_private && !(self.network.is_public)(address.ip()) => {
                Err(PrivateAddress(url.host_str().unwrap_or_default().to_owned()).into())
            }
            _ => Ok(response),
        }
    }

    /// Starts a POST request. [`Self::send`] sends it.
    pub(super) fn post(&self, url: &Url) -> RequestBuilder {
        self.client.post(url.clone())
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

/// Resolves host names and decides which addresses are public. Tests replace it.
#[derive(Clone)]
pub(super) struct HostNetwork {
    pub(super) lookup:
        Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>,
    pub(super) is_public: fn(IpAddr) -> bool,
}

impl HostNetwork {
    pub(super) fn system() -> Self {
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
    network: HostNetwork,
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

pub(super) fn causes<'a>(
    e: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(e), |e| e.source())
}

fn root_cause(e: &reqwest::Error) -> String {
    causes(e).last().map_or_else(String::new, ToString::to_string)
}
