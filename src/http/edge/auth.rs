//! Authentication: the `X-Core-Token` header, the browser's session cookie, and checks against
//! cross-site requests and DNS rebinding. The edge calls [`Guard::admit`] before routing.

use std::sync::Arc;

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Request, RequestBody, Result};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use subtle::ConstantTimeEq;

use super::hosts::Hosts;
use super::sessions::Sessions;
use crate::http::settings::{AuthToken, HttpOptions};
use crate::http::wire::failure::HttpFailure;
use domain::kernel::access::Access;
use domain::records::readiness::StoreState;
use domain::scoped::OpenShare;
use domain::shares::ShareId;
use domain::status::Status;
use domain::{Scoped, Shotlog};

/// The request header that carries the token.
pub(crate) const TOKEN_HEADER: &str = "X-Core-Token";

/// Where a request may carry the token, for error messages.
const TOKEN_HEADERS: &str = "X-Core-Token, or in Authorization as a Bearer's";

/// The access rights of a request's token. As an extractor, it declares the security scheme in the
/// OpenAPI document; [`Guard`] does the actual check.
pub(crate) struct CallerToken(Access);

impl CallerToken {
    /// Returns the rights that the edge attached to an admitted request.
    pub(crate) fn extract(request: &Request) -> Result<Self, HttpFailure> {
        request.data::<Access>().cloned().map(Self).ok_or_else(HttpFailure::internal)
    }
}

/// The service behind authentication: handlers reach its use-cases only on behalf of a caller.
#[derive(Clone)]
pub(crate) struct Service(Arc<Shotlog>);

impl Service {
    pub(crate) fn new(service: Arc<Shotlog>) -> Self {
        Self(service)
    }

    /// Returns the use-cases, limited to what this token may access.
    pub(crate) fn scoped(&self, token: &CallerToken) -> Scoped {
        self.0.scoped(token.0.clone())
    }

    /// Returns health and probes, which need no token.
    pub(crate) fn status(&self) -> &Status {
        &self.0.status
    }

    /// Opens the clip of a share, which needs no token. Returns `NotFound` if the share is not valid.
    pub(crate) async fn open_share(&self, share_id: &ShareId) -> domain::Result<OpenShare> {
        OpenShare::open(&self.0, share_id).await
    }

    /// Whether new jobs are accepted.
    pub(crate) fn takes_jobs(&self) -> bool {
        self.0.jobs.store.is_open()
    }

    /// Whether the index is complete; false while a damaged index is being rebuilt.
    pub(crate) fn index_is_complete(&self) -> bool {
        !self.0.search.health.is_rebuilding()
    }

    /// Returns whether the stores are open, or why they are not.
    pub(crate) fn store_readiness(&self) -> StoreState {
        self.0.catalog.readiness.state()
    }
}

impl<'a> ApiExtractor<'a> for CallerToken {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        registry.create_security_scheme(
            "Token",
            MetaSecurityScheme {
                ty: "apiKey",
                description: Some(
                    "One of the tokens in `auth.tokens`. A token may be limited to collections, to \
                     reading, or to both. Not required if no tokens are configured. \
                     `Authorization: Bearer` is also accepted.",
                ),
                name: Some(TOKEN_HEADER),
                key_in: Some("header"),
                scheme: None,
                bearer_format: None,
                flows: None,
                openid_connect_url: None,
            },
        );
    }

    fn security_schemes() -> Vec<&'static str> {
        vec!["Token"]
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> Result<Self> {
        Ok(Self::extract(request)?)
    }
}

/// Paths that need no token.
pub(crate) struct OpenPaths {
    pub(crate) exact: Vec<String>,
    /// Prefixes of paths that may be read without a token: those of shared clips, and of the public
    /// bucket if the service serves it.
    pub(crate) readable_prefixes: Vec<&'static str>,
}

/// Decides which requests are admitted.
pub(crate) struct Guard {
    tokens: Vec<AuthToken>,
    open: OpenPaths,
    /// `scheme://host[:port]` of the public address.
    origin: Option<String>,
    hosts: Hosts,
    pub(crate) sessions: Sessions,
}

impl Guard {
    pub(crate) fn new(options: &HttpOptions, open: OpenPaths) -> Self {
        let base = url::Url::parse(&options.base_url).ok();
        let usable = options.auth.tokens.iter().filter(|token| !token.token.is_empty());
        Self {
            tokens: options.auth.tokens.clone(),
            open,
            hosts: Hosts::new(options),
            sessions: Sessions {
                tokens: usable.cloned().collect(),
                ttl: options.auth.session_ttl,
                secure: base.as_ref().is_some_and(|base| base.scheme() == "https"),
            },
            origin: base.map(|base| base.origin().ascii_serialization()),
        }
    }

    /// Returns the caller's access rights if the request is admitted, otherwise the failure to
    /// send.
    pub(crate) fn admit(&self, request: &Request) -> Result<Access, HttpFailure> {
        if self.tokens.is_empty()
            && let Some(host) = self.hosts.foreign_host(request)
        {
            return Err(HttpFailure::new(
                StatusCode::FORBIDDEN,
                format!(
                    "the request was sent to '{}'; without tokens the service answers to localhost, \
                     IP addresses, the name in http.base_url and those in http.hosts only",
                    crate::http::wire::params::excerpt(&host)
                ),
            ));
        }
        let write = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        let token = request_token(request);
        if let Some(access) = token.and_then(|token| self.access(token)) {
            return Ok(access.clone());
        }
        // A page on another site cannot set the token header without a CORS preflight.
        if write && token.is_none() && self.is_cross_site(request) {
            return Err(HttpFailure::new(
                StatusCode::FORBIDDEN,
                format!("a page of another site sent this; send {TOKEN_HEADER} or use this origin"),
            ));
        }
        // A wrong bearer token does not rule out a session, because a reverse proxy may have added
        // the token.
        if !request.headers().contains_key(TOKEN_HEADER)
            && let Some(access) = self.session(request, write)
        {
            return Ok(access.clone());
        }
        if self.tokens.is_empty() || self.is_open(request.uri().path(), write) {
            return Ok(Access::default());
        }
        match token {
            Some(_) => Err(unauthorized(format!("the token in {TOKEN_HEADERS} is wrong"))),
            None => {
                Err(unauthorized(format!("this route needs a token in the header {TOKEN_HEADERS}")))
            }
        }
    }

    fn is_open(&self, path: &str, write: bool) -> bool {
        let public = self.open.readable_prefixes.iter().any(|prefix| path.starts_with(prefix));
        public && !write || self.open.exact.iter().any(|open| open == path)
    }

    /// Whether callers need a token.
    pub(crate) fn needs_tokens(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// Returns the access rights of the token `sent` if it is valid. The comparison with the
    /// accepted tokens takes constant time.
    pub(crate) fn access(&self, sent: &[u8]) -> Option<&Access> {
        let mut matching = None;
        for token in self.tokens.iter().filter(|token| !token.token.is_empty()) {
            if token.token.as_bytes().ct_eq(sent).into() {
                matching = Some(&token.access);
            }
        }
        matching
    }

    /// Whether the browser reports that a page on another site sent the request.
    fn is_cross_site(&self, request: &Request) -> bool {
        match request.headers().get(header::ORIGIN) {
            Some(origin) => !self.is_own_origin(origin, request),
            None => fetch_site(request).is_some_and(|site| site != "same-origin" && site != "none"),
        }
    }

    /// Whether an origin is the public address or the address that the request was sent to.
    fn is_own_origin(&self, origin: &HeaderValue, request: &Request) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        let host = request.header("host").unwrap_or_default();
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        self.origin.as_deref() == Some(origin)
            || (!host.is_empty() && authority.is_some_and(|own| own.eq_ignore_ascii_case(host)))
    }

    /// Returns the access rights of the request's session if its cookie is valid and the request
    /// comes from our own pages. A write must carry an `Origin` header.
    pub(crate) fn session(&self, request: &Request, write: bool) -> Option<&Access> {
        let declared = request.headers().get(header::ORIGIN).is_some();
        let ours = !self.is_cross_site(request)
            && fetch_site(request).is_none_or(|site| site == "same-origin" || site == "none")
            && (!write || declared);
        self.sessions.access(request).filter(|_| ours)
    }
}

/// Returns the token of a request, from either header.
fn request_token(request: &Request) -> Option<&[u8]> {
    let own = request.headers().get(TOKEN_HEADER).map(HeaderValue::as_bytes);
    own.or_else(|| bearer(request))
}

fn unauthorized(detail: String) -> HttpFailure {
    HttpFailure::new(StatusCode::UNAUTHORIZED, detail)
}

/// Returns the token of an `Authorization: Bearer` header.
fn bearer(request: &Request) -> Option<&[u8]> {
    let value = request.headers().get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked(b"bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

fn fetch_site(request: &Request) -> Option<&str> {
    request.header("sec-fetch-site")
}
