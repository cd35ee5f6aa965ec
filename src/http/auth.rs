//! Who may call: the `X-Core-Token` header, the browser's session cookie, and the check that a
//! write does not come from a page of another site. Asked by the edge before anything is routed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::web::Data;
use poem::{IntoResponse, Request, Response, Result, handler};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use subtle::{Choice, ConstantTimeEq};

use super::HttpOptions;
use super::body;
use super::errors::Failure;
use super::storage;

/// The request header that carries the token.
pub(super) const TOKEN_HEADER: &str = "X-Core-Token";
const COOKIE: &str = "shotlog_session";

/// Declares in the document that an operation needs the token. The check itself is the [`Guard`]'s.
pub(super) struct Token;

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
                    "One of the tokens of `auth.tokens`; not needed when it is empty.",
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
        _: &'a Request,
        _: &mut poem::RequestBody,
        _: ExtractParamOptions<()>,
    ) -> Result<Self> {
        Ok(Self)
    }
}

/// Decides which requests go on.
pub(super) struct Guard {
    tokens: Vec<String>,
    /// Exact paths that need no token.
    open: Vec<String>,
    /// Whether the service itself serves the public bucket.
    serves_storage: bool,
    /// `scheme://host[:port]` of the public address.
    origin: Option<String>,
    secure: bool,
    sessions: Sessions,
}

impl Guard {
    pub(super) fn new(options: &HttpOptions, open: Vec<String>) -> Self {
        let base = url::Url::parse(&options.base_url).ok();
        Self {
            tokens: options.auth.tokens.clone(),
            open,
            serves_storage: options.serves_storage,
            secure: base.as_ref().is_some_and(|base| base.scheme() == "https"),
            origin: base.map(|base| base.origin().ascii_serialization()),
            sessions: Sessions {
                ttl: options.auth.session_ttl,
                most: options.auth.max_sessions,
                expiry: Mutex::default(),
            },
        }
    }

    /// Lets the request pass, or says why not.
    pub(super) fn admit(&self, request: &Request) -> Result<(), Failure> {
        let write = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        let header = request.headers().get(TOKEN_HEADER);
        if header.is_some_and(|token| self.accepts(token.as_bytes())) {
            return Ok(());
        }
        // A page of another site cannot add the header without the browser asking us first.
        if write && header.is_none() && self.foreign(request) {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                format!("a page of another site sent this; send {TOKEN_HEADER} or use this origin"),
            ));
        }
        if self.tokens.is_empty() || self.is_open(request.uri().path(), write) {
            return Ok(());
        }
        match header {
            Some(_) => Err(refused(format!("the token in {TOKEN_HEADER} is wrong"))),
            None if self.session(request, write) => Ok(()),
            None => Err(refused(format!("this route needs a token in the header {TOKEN_HEADER}"))),
        }
    }

    fn is_open(&self, path: &str, write: bool) -> bool {
        let public = self.serves_storage && path.starts_with(storage::ROOT);
        public && !write || self.open.iter().any(|open| open == path)
    }

    /// Compares with every token, taking the same time whichever fits.
    fn accepts(&self, given: &[u8]) -> bool {
        let mut fits = Choice::from(0);
        for token in self.tokens.iter().filter(|token| !token.is_empty()) {
            fits |= token.as_bytes().ct_eq(given);
        }
        fits.into()
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

    /// Whether a live session's cookie came with a request of our own pages. A write must say so.
    fn session(&self, request: &Request, write: bool) -> bool {
        let declared = request.headers().get(header::ORIGIN).is_some();
        !self.foreign(request)
            && fetch_site(request).is_none_or(|site| site == "same-origin" || site == "none")
            && (!write || declared)
            && cookie(request).is_some_and(|id| self.sessions.alive(id))
    }

    fn set_cookie(&self, id: &str, seconds: u64) -> String {
        let secure = if self.secure { "; Secure" } else { "" };
        format!("{COOKIE}={id}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }
}

fn refused(detail: String) -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, detail)
}

fn fetch_site(request: &Request) -> Option<&str> {
    request.header("sec-fetch-site")
}

fn cookie(request: &Request) -> Option<&str> {
    let values = request.headers().get_all(header::COOKIE).into_iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == COOKIE).then_some(value))
}

/// Live sessions, in memory: a restart ends them.
struct Sessions {
    ttl: Duration,
    most: usize,
    expiry: Mutex<HashMap<String, Instant>>,
}

impl Sessions {
    fn open(&self) -> String {
        let id = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let now = Instant::now();
        let mut expiry = self.lock();
        expiry.retain(|_, ends| *ends > now);
        if expiry.len() >= self.most {
            let oldest = expiry.iter().min_by_key(|(_, ends)| **ends).map(|(id, _)| id.clone());
            oldest.map(|id| expiry.remove(&id));
        }
        expiry.insert(id.clone(), now + self.ttl);
        id
    }

    fn alive(&self, id: &str) -> bool {
        self.lock().get(id).is_some_and(|ends| *ends > Instant::now())
    }

    fn close(&self, id: &str) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.expiry.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Whether a token is needed and whether the caller's cookie already stands for one.
#[handler]
pub(super) fn session_state(request: &Request, Data(guard): Data<&Arc<Guard>>) -> Response {
    let required = !guard.tokens.is_empty();
    let state = serde_json::json!({
        "required": required,
        "authenticated": !required || guard.session(request, false),
    });
    Response::builder()
        .content_type("application/json")
        .header(header::CACHE_CONTROL, "no-store")
        .body(state.to_string())
}

/// Exchanges the form field `token` for a session cookie. A browser that submits the form as a page
/// is sent back to the UI; a script gets 204 or 401.
#[handler]
pub(super) async fn open_session(
    request: &Request,
    payload: poem::Body,
    Data(guard): Data<&Arc<Guard>>,
) -> Result<Response> {
    let page = request.header("accept").is_some_and(|accept| accept.contains("text/html"));
    let bytes = body::read(request, payload, |options| options.server.max_form_bytes).await?;
    let fields = body::form(request, bytes.into()).await?;
    let token = fields.iter().find(|(name, _)| name == "token").map(|(_, token)| token.trim());
    let Some(token) = token else {
        return Err(Failure::unprocessable("token is missing; it must be a string").into());
    };
    let accepted = guard.accepts(token.as_bytes());
    if !accepted && !page {
        return Err(refused("the token is wrong".into()).into());
    }
    let response = match (page, accepted) {
        (true, true) => see_other("/"),
        (true, false) => see_other("/?session=refused"),
        (false, _) => StatusCode::NO_CONTENT.into_response(),
    };
    if !accepted {
        return Ok(response);
    }
    let cookie = guard.set_cookie(&guard.sessions.open(), guard.sessions.ttl.as_secs());
    Ok(response.with_header(header::SET_COOKIE, cookie).into_response())
}

/// Ends the session of the caller's cookie.
#[handler]
pub(super) fn close_session(request: &Request, Data(guard): Data<&Arc<Guard>>) -> Response {
    if let Some(id) = cookie(request) {
        guard.sessions.close(id);
    }
    StatusCode::NO_CONTENT.with_header(header::SET_COOKIE, guard.set_cookie("", 0)).into_response()
}

fn see_other(location: &'static str) -> Response {
    StatusCode::SEE_OTHER.with_header(header::LOCATION, location).into_response()
}
