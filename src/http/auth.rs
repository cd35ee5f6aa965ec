//! Who may call: the `X-Core-Token` header, the browser's session cookie, and the checks that a
//! request does not come from a page of another site, in its own name or in one that leads here.
//! Asked by the edge before anything is routed.

use std::sync::Arc;

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Request, RequestBody, Result};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use subtle::ConstantTimeEq;

use super::HttpOptions;
use super::errors::Failure;
use super::hosts::Hosts;
use super::session::Sessions;
use super::settings::AuthToken;
use super::storage;
use crate::domain::catalog::opening::Opened;
use crate::domain::kernel::access::Access;
use crate::domain::status::Status;
use crate::domain::{Scoped, Shotlog};

/// The request header that carries the token.
pub(super) const TOKEN_HEADER: &str = "X-Core-Token";

/// Where a request may carry the token.
const HEADERS: &str = "X-Core-Token, or in Authorization as a Bearer's";

/// What the token of a request reaches. Declares in the document that an operation needs one; the check
/// itself is the [`Guard`]'s.
pub(super) struct Token(Access);

impl Token {
    /// That of a request which the edge has let pass.
    pub(super) fn of(request: &Request) -> Result<Self, Failure> {
        request.data::<Access>().cloned().map(Self).ok_or_else(Failure::internal)
    }
}

/// The service, behind the tokens: handlers get at its use-cases in the name of a caller alone.
#[derive(Clone)]
pub(super) struct Service(Arc<Shotlog>);

impl Service {
    pub(super) fn new(service: Arc<Shotlog>) -> Self {
        Self(service)
    }

    /// The use-cases, for who sent this token.
    pub(super) fn of(&self, token: &Token) -> Scoped {
        self.0.scoped(token.0.clone())
    }

    /// Whether the service works: anybody may know.
    pub(super) fn status(&self) -> &Status {
        &self.0.status
    }

    /// Whether new jobs are taken.
    pub(super) fn takes_jobs(&self) -> bool {
        self.0.jobs.open()
    }

    /// Whether the index has all points: not while those of a damaged one are written again.
    pub(super) fn index_is_whole(&self) -> bool {
        self.0.search.check_index().is_ok()
    }

    /// Whether the stores are open.
    pub(super) fn opened(&self) -> Opened {
        self.0.catalog.opening.now()
    }
}

impl<'a> ApiExtractor<'a> for Token {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        registry.create_security_scheme(
            "Token",
            MetaSecurityScheme {
                ty: "apiKey",
                description: Some(
                    "One of the tokens of `auth.tokens`, which may be bound to collections and to \
                     reading; not needed when that is empty. `Authorization: Bearer` takes it too.",
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
        Ok(Self::of(request)?)
    }
}

/// Decides which requests go on.
pub(super) struct Guard {
    tokens: Vec<AuthToken>,
    /// Exact paths that need no token.
    open: Vec<String>,
    /// Whether the service itself serves the public bucket.
    serves_storage: bool,
    /// `scheme://host[:port]` of the public address.
    origin: Option<String>,
    hosts: Hosts,
    pub(super) sessions: Sessions,
}

impl Guard {
    pub(super) fn new(options: &HttpOptions, open: Vec<String>) -> Self {
        let base = url::Url::parse(&options.base_url).ok();
        let usable = options.auth.tokens.iter().filter(|token| !token.token.is_empty());
        Self {
            tokens: options.auth.tokens.clone(),
            open,
            serves_storage: options.serves_storage,
            hosts: Hosts::new(options),
            sessions: Sessions {
                tokens: usable.cloned().collect(),
                ttl: options.auth.session_ttl,
                secure: base.as_ref().is_some_and(|base| base.scheme() == "https"),
            },
            origin: base.map(|base| base.origin().ascii_serialization()),
        }
    }

    /// Lets the request pass with what it reaches, or says why not.
    pub(super) fn admit(&self, request: &Request) -> Result<Access, Failure> {
        if self.tokens.is_empty()
            && let Some(host) = self.hosts.refused(request)
        {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                format!(
                    "the request was sent to '{}'; without tokens the service answers to localhost, \
                     IP addresses, the name in http.base_url and those in http.hosts only",
                    super::params::shown(&host)
                ),
            ));
        }
        let write = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        let given = given(request);
        if let Some(access) = given.and_then(|token| self.access(token)) {
            return Ok(access.clone());
        }
        // A page of another site cannot add the header without the browser asking us first.
        if write && given.is_none() && self.foreign(request) {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                format!("a page of another site sent this; send {TOKEN_HEADER} or use this origin"),
            ));
        }
        // A proxy in front may have put a bearer's token of its own there.
        if !request.headers().contains_key(TOKEN_HEADER)
            && let Some(access) = self.session(request, write)
        {
            return Ok(access.clone());
        }
        if self.tokens.is_empty() || self.is_open(request.uri().path(), write) {
            return Ok(Access::default());
        }
        match given {
            Some(_) => Err(refused(format!("the token in {HEADERS} is wrong"))),
            None => Err(refused(format!("this route needs a token in the header {HEADERS}"))),
        }
    }

    fn is_open(&self, path: &str, write: bool) -> bool {
        let public = self.serves_storage && path.starts_with(storage::ROOT);
        public && !write || self.open.iter().any(|open| open == path)
    }

    /// Whether callers need a token.
    pub(super) fn needs_tokens(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// What a token reaches, if it is one. Compares with every token, taking the same time whichever
    /// fits.
    pub(super) fn access(&self, given: &[u8]) -> Option<&Access> {
        let mut fits = None;
        for token in self.tokens.iter().filter(|token| !token.token.is_empty()) {
            if token.token.as_bytes().ct_eq(given).into() {
                fits = Some(&token.access);
            }
        }
        fits
    }

    /// Whether the browser says that another site's page sent the request.
    fn foreign(&self, request: &Request) -> bool {
        match request.headers().get(header::ORIGIN) {
            Some(origin) => !self.own(origin, request),
            None => fetch_site(request).is_some_and(|site| site != "same-origin" && site != "none"),
        }
    }

    /// Whether an origin is the public address or the address the request was sent to.
    fn own(&self, origin: &HeaderValue, request: &Request) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        let host = request.header("host").unwrap_or_default();
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        self.origin.as_deref() == Some(origin)
            || (!host.is_empty() && authority.is_some_and(|own| own.eq_ignore_ascii_case(host)))
    }

    /// What a live session reaches whose cookie came with a request of our own pages. A write must say
    /// that it does.
    pub(super) fn session(&self, request: &Request, write: bool) -> Option<&Access> {
        let declared = request.headers().get(header::ORIGIN).is_some();
        let ours = !self.foreign(request)
            && fetch_site(request).is_none_or(|site| site == "same-origin" || site == "none")
            && (!write || declared);
        self.sessions.access(request).filter(|_| ours)
    }
}

/// The token that a request carries.
fn given(request: &Request) -> Option<&[u8]> {
    let own = request.headers().get(TOKEN_HEADER).map(HeaderValue::as_bytes);
    own.or_else(|| bearer(request))
}

fn refused(detail: String) -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, detail)
}

/// The token of `Authorization: Bearer`.
fn bearer(request: &Request) -> Option<&[u8]> {
    let value = request.headers().get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked(b"bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

fn fetch_site(request: &Request) -> Option<&str> {
    request.header("sec-fetch-site")
}
