//! The connection to an OpenAI-compatible server, with its address, credentials, timeouts and
//! retries. The adapters for such servers build the requests and send them over this connection.
//! The API key never leaves this file except in the `Authorization` header.

mod streamed;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

use ports::{ErrorKind, PortError, Result};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::multipart::Form;
use reqwest::{RequestBuilder, StatusCode, Url};
use serde_json::Value;
use tokio::sync::Semaphore;

use self::streamed::{OnToken, StreamAssembler};
use crate::llm::Settings;

/// The server's address, credentials, timeouts and retries.
#[derive(Clone)]
pub struct Connection {
    /// Base URL to which `/chat/completions`, `/embeddings` and `/audio/transcriptions` are
    /// appended, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The API key, which is sent as a bearer token. `None` for servers without authentication.
    pub api_key: Option<String>,
    /// Timeout for connecting.
    pub connect_timeout: Duration,
    /// Timeout for a complete response.
    pub timeout: Duration,
    /// Maximum number of concurrent requests. Further requests wait.
    pub concurrency: usize,
    /// Retry policy.
    pub retry: Retry,
}

/// Retry policy. Requests are retried after overload (429), server errors (5xx) and broken
/// connections. They are not retried after a response timeout, because the request may have been
/// billed.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// Maximum number of requests, including the first.
    pub attempts: u32,
    /// The first pause. It doubles with each retry. The actual pause is random, between half the
    /// value and the full value.
    pub first_pause: Duration,
    /// Maximum length of a single pause, unless the server's `Retry-After` requests more.
    pub longest_pause: Duration,
    /// Maximum total length of all pauses. If a `Retry-After` would exceed this total, the request
    /// fails immediately.
    pub total_pause: Duration,
}

impl Default for Connection {
    /// Returns a connection to OpenAI's server with the default timeouts and retries of `[llm]`.
    fn default() -> Self {
        Settings::default().connection("https://api.openai.com/v1", "")
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: Settings::default().attempts,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(20),
            total_pause: Duration::from_secs(90),
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, api_key, connect_timeout, timeout, concurrency, retry } = self;
        f.debug_struct("Connection")
            .field("base_url", base_url)
            .field("api_key", &api_key.as_ref().map(|_| "[redacted]"))
            .field("connect_timeout", connect_timeout)
            .field("timeout", timeout)
            .field("concurrency", concurrency)
            .field("retry", retry)
            .finish()
    }
}

/// Returns whether a response is a stream of server-sent events.
fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Maximum size of a response body, in bytes.
const MAX_RESPONSE_BYTES: usize = 64 << 20;
/// Phrases that show that the server does not support a request. Some servers answer unsupported
/// requests with status 500.
const UNSUPPORTED: &[&str] = &["not supported", "unsupported", "does not support"];
/// Maximum number of characters of a server's error text that our messages quote.
const MAX_ERROR_CHARS: usize = 400;

/// An HTTP client for one server. It limits concurrent requests and retries failed ones.
pub(crate) struct Client {
    http: reqwest::Client,
    base_url: Url,
    api_key: Option<String>,
    permits: Semaphore,
    retry: Retry,
    timeout: Duration,
}

/// The result of an exchange: a JSON body, or the server's refusal.
pub(crate) struct Exchange {
    /// The body, or the refusal.
    pub(crate) outcome: std::result::Result<Value, Refusal>,
    /// Number of answered requests, including retries.
    pub(crate) calls: u32,
}

/// An error response from the server.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// The server's machine-readable code; empty if the server sends none.
    pub(crate) code: String,
    /// The server's message, shortened and without the API key.
    pub(crate) message: String,
}

impl Refusal {
    /// Returns whether the code or the message contains one of `marks`, which must be lower case.
    pub(crate) fn mentions(&self, marks: &[&str]) -> bool {
        let text = format!("{} {}", self.code, self.message).to_lowercase();
        marks.iter().any(|mark| text.contains(mark))
    }

    /// Returns whether a retry may succeed.
    fn is_temporary(&self) -> bool {
        match self.status {
            StatusCode::REQUEST_TIMEOUT => true,
            // Waiting does not refill an exhausted quota.
            StatusCode::TOO_MANY_REQUESTS => !self.mentions(&["insufficient_quota"]),
            StatusCode::NOT_IMPLEMENTED => false,
            status => status.is_server_error() && !self.mentions(UNSUPPORTED),
        }
    }

    /// Converts the refusal to the error that the port reports.
    pub(crate) fn into_error(self) -> PortError {
        const LENGTH: &[&str] = &[
            "context_length",
            "context length",
            "maximum context",
            "context window",
            "context size",
            "too many tokens",
            "prompt is too long",
            "string_above_max_length",
        ];
        const POLICY: &[&str] = &[
            "content_filter",
            "content_policy",
            "content management policy",
            "insufficient_quota",
        ];
        let kind = match self.status {
            StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::TooLarge,
            _ if self.mentions(LENGTH) => ErrorKind::TooLarge,
            _ if self.mentions(POLICY) => ErrorKind::Denied,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PAYMENT_REQUIRED => {
                ErrorKind::Denied
            }
            StatusCode::NOT_FOUND => ErrorKind::NotFound,
            StatusCode::TOO_MANY_REQUESTS => ErrorKind::Unavailable,
            status if status.is_server_error() && !self.mentions(UNSUPPORTED) => {
                ErrorKind::Unavailable
            }
            status if status.is_client_error() || status.is_server_error() => ErrorKind::Invalid,
            _ => ErrorKind::Other,
        };
        PortError::new(kind, format!("the model server answered {}: {}", self.status, self.message))
    }
}

impl Client {
    /// Creates a client. Checks the options without sending a request.
    pub(crate) fn new(options: &Connection) -> Result<Self> {
        let invalid = |message: String| PortError::new(ErrorKind::Invalid, message);
        let mut base_url = Url::parse(options.base_url.trim()).map_err(|e| {
            invalid(format!(
                "the model server's url is {:?}, not an http(s) address: {e}",
                options.base_url
            ))
        })?;
        if !matches!(base_url.scheme(), "http" | "https") {
            return Err(invalid(format!(
                "the model server's url has the scheme {:?}; http and https are accepted",
                base_url.scheme()
            )));
        }
        if !base_url.path().ends_with('/') {
            base_url.set_path(&format!("{}/", base_url.path()));
        }
        let api_key = options.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        let mut headers = HeaderMap::new();
        if let Some(key) = api_key {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
                invalid(
                    "the model server's api key has characters that a header cannot carry"
                        .to_owned(),
                )
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let http = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(options.connect_timeout)
            .timeout(options.timeout)
            // A redirected POST would send prompts to a server that is not configured.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("shotlog/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| {
                PortError::caused_by(ErrorKind::Other, "cannot set up the http client", e)
            })?;
        Ok(Self {
            http,
            base_url,
            api_key: api_key.map(str::to_owned),
            permits: Semaphore::new(options.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            retry: options.retry.clone(),
            timeout: options.timeout,
        })
    }

    /// Posts `body` to `path` under the base URL, with retries.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Exchange> {
        self.send(path, |request| request.json(body), None).await
    }

    /// Like [`Self::post`], but also passes the pieces of a streamed response to `on_token` as they
    /// arrive.
    pub(crate) async fn post_stream(
        &self,
        path: &str,
        body: &Value,
        on_token: OnToken<'_>,
    ) -> Result<Exchange> {
        self.send(path, |request| request.json(body), Some(on_token)).await
    }

    /// Like [`Self::post`], but sends a form, which `form` creates for every attempt.
    pub(crate) async fn post_form(
        &self,
        path: &str,
        form: impl Fn() -> Form + Sync,
    ) -> Result<Exchange> {
        self.send(path, |request| request.multipart(form()), None).await
    }

    /// Checks, with one unbilled request, that the server responds and accepts the API key. A
    /// server without a list of models also passes.
    pub(crate) async fn reach(&self) -> Result<()> {
        let url = self.base_url.join("models").map_err(|e| {
            PortError::caused_by(ErrorKind::Invalid, "the model server's url cannot be extended", e)
        })?;
        let response = match self.http.get(url).send().await {
            Ok(response) => response,
            Err(e) => return self.broken(e).map(|_| ()),
        };
        let status = response.status();
        let denied = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if denied || status.is_server_error() {
            let text = self.read(response, None).await.unwrap_or_default();
            return Err(self.refusal(status, &text).into_error());
        }
        Ok(())
    }

    async fn send(
        &self,
        path: &str,
        fill: impl Fn(RequestBuilder) -> RequestBuilder + Sync,
        on_token: Option<OnToken<'_>>,
    ) -> Result<Exchange> {
        let url = self.base_url.join(path).map_err(|e| {
            PortError::caused_by(ErrorKind::Invalid, "the model server's url cannot be extended", e)
        })?;
        let mut calls = 0;
        let mut paused = Duration::ZERO;
        let attempts = self.retry.attempts.max(1);
        for attempt in 1.. {
            let (failure, asked) = match self
                .send_once(fill(self.http.post(url.clone())), on_token, &mut calls)
                .await?
            {
                Attempt::Settled(outcome) => return Ok(Exchange { outcome, calls }),
                Attempt::Again { failure, retry_after } => (failure, retry_after),
            };
            if attempt >= attempts {
                return Err(failure);
            }
            let pause = asked.unwrap_or_else(|| self.retry.pause(attempt));
            paused += pause;
            if paused > self.retry.total_pause {
                return Err(PortError::new(
                    failure.kind(),
                    format!(
                        "{failure}; the next try would be after {:.0} s more",
                        pause.as_secs_f64().ceil()
                    ),
                ));
            }
            tracing::debug!(
                attempt,
                pause_ms = pause.as_millis(),
                "asking the model server again: {failure}"
            );
            tokio::time::sleep(pause).await;
        }
        unreachable!("the loop ends by returning")
    }

    async fn send_once(
        &self,
        request: RequestBuilder,
        on_token: Option<OnToken<'_>>,
        calls: &mut u32,
    ) -> Result<Attempt> {
        // Pauses are outside this function, so that a request does not occupy a slot while it waits
        // to be retried.
        let _permit =
            self.permits.acquire().await.map_err(|e| {
                PortError::caused_by(ErrorKind::Other, "the model client is closed", e)
            })?;
        let response = match request.send().await {
            Ok(response) => response,
            Err(e) => return self.broken(e),
        };
        *calls += 1;
        let status = response.status();
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let streams = status.is_success() && is_event_stream(response.headers());
        let mut streamed = on_token.filter(|_| streams).map(StreamAssembler::new);
        let text = match self.read(response, streamed.as_mut()).await {
            Ok(text) => text,
            Err(ReadFailure::Broken(e)) => return self.broken(e),
            Err(ReadFailure::TooLong) => {
                return Err(PortError::new(
                    ErrorKind::Corrupt,
                    format!("the model server's response exceeds {} MiB", MAX_RESPONSE_BYTES >> 20),
                ));
            }
        };
        if status.is_success() {
            return self.parse_success(&text, streamed).map(|body| Attempt::Settled(Ok(body)));
        }
        let refusal = self.refusal(status, &text);
        Ok(if refusal.is_temporary() {
            let failure = PortError::new(ErrorKind::Unavailable, refusal.into_error().to_string());
            Attempt::Again { failure, retry_after }
        } else {
            Attempt::Settled(Err(refusal))
        })
    }

    /// Returns the body of a successful response, assembled from its stream or parsed from its
    /// JSON.
    fn parse_success(&self, text: &[u8], streamed: Option<StreamAssembler<'_>>) -> Result<Value> {
        let corrupt = |message: String| PortError::new(ErrorKind::Corrupt, message);
        if let Some(streamed) = streamed {
            return streamed.finish().map_err(|why| {
                let why = self.presentable(&why);
                corrupt(format!("the model server's stream failed: {why}"))
            });
        }
        serde_json::from_slice(text).map_err(|e| {
            let shown = self.presentable(&String::from_utf8_lossy(text));
            corrupt(format!("the model server's response is not JSON: {e}: {shown}"))
        })
    }

    fn broken(&self, e: reqwest::Error) -> Result<Attempt> {
        let late = e.is_timeout() && !e.is_connect();
        let place = self.base_url.host_str().unwrap_or_default().to_owned();
        let e = e.without_url();
        if late {
            let message = format!(
                "the model server at {place} did not answer within {:.1} s",
                self.timeout.as_secs_f64()
            );
            return Err(PortError::caused_by(ErrorKind::Timeout, message, e));
        }
        if e.is_builder() {
            return Err(PortError::caused_by(ErrorKind::Invalid, "cannot write the request", e));
        }
        let cause = innermost(&e);
        let message = format!("cannot reach the model server at {place}: {cause}");
        let failure = PortError::caused_by(ErrorKind::Unavailable, message, e);
        Ok(Attempt::Again { failure, retry_after: None })
    }

    async fn read(
        &self,
        mut response: reqwest::Response,
        mut streamed: Option<&mut StreamAssembler<'_>>,
    ) -> Result<Vec<u8>, ReadFailure> {
        let mut text = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(ReadFailure::Broken)? {
            if text.len() + piece.len() > MAX_RESPONSE_BYTES {
                return Err(ReadFailure::TooLong);
            }
            if let Some(streamed) = &mut streamed {
                streamed.take(&piece);
            }
            text.extend_from_slice(&piece);
        }
        Ok(text)
    }

    /// Parses a server's error. Formats vary. `error` may be an object or a string. Some servers
    /// send `message` or `detail` instead, others plain text.
    fn refusal(&self, status: StatusCode, text: &[u8]) -> Refusal {
        let body: Value = serde_json::from_slice(text).unwrap_or(Value::Null);
        let error = match &body {
            Value::Array(errors) => errors.first().map_or(&Value::Null, |e| &e["error"]),
            body => &body["error"],
        };
        let text_at = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let message = text_at(&error["message"])
            .or_else(|| text_at(error))
            .or_else(|| text_at(&body["message"]))
            .or_else(|| text_at(&body["detail"]))
            .unwrap_or_else(|| String::from_utf8_lossy(&text[..text.len().min(4096)]).into_owned());
        let code = text_at(&error["code"])
            .into_iter()
            .chain(text_at(&error["type"]))
            .collect::<Vec<_>>()
            .join(" ");
        Refusal { status, code, message: self.presentable(&message) }
    }

    /// Shortens `text` to one line and removes the API key, which some servers quote.
    pub(crate) fn presentable(&self, text: &str) -> String {
        let text = match &self.api_key {
            Some(key) => text.replace(key, "[redacted]"),
            None => text.to_owned(),
        };
        let mut line: String = text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(MAX_ERROR_CHARS)
            .collect();
        if line.is_empty() {
            line.push_str("no explanation");
        }
        line
    }
}

enum Attempt {
    Settled(std::result::Result<Value, Refusal>),
    Again { failure: PortError, retry_after: Option<Duration> },
}

enum ReadFailure {
    Broken(reqwest::Error),
    TooLong,
}

impl Retry {
    fn pause(&self, attempt: u32) -> Duration {
        let longest = self
            .first_pause
            .saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)))
            .min(self.longest_pause);
        // Every `RandomState` has a new seed. The seeds are random enough to spread the retries of
        // different clients.
        let draw = RandomState::new().hash_one(attempt) as f64 / u64::MAX as f64;
        longest.mul_f64(0.5 + 0.5 * draw)
    }
}

/// Parses `Retry-After`, which holds seconds or an HTTP date. A date in the past means no delay.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

fn innermost(e: &dyn std::error::Error) -> String {
    let mut cause = e;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(retry_after: &str) -> HeaderMap {
        HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(retry_after).unwrap())])
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        let cases = [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("-3", Some(0)),
            ("Wed, 21 Oct 2026 07:28:30 GMT", Some(30)),
            ("Wed, 21 Oct 2026 07:00:00 GMT", Some(0)),
            ("soon", None),
            ("NaN", Some(0)),
            ("1e300", None),
        ];
        for (value, expected) in cases {
            let found = retry_after(&headers(value), now);
            assert_eq!(found, expected.map(Duration::from_secs), "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_vary() {
        let retry = Retry {
            attempts: 9,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_millis(350),
            total_pause: Duration::from_secs(9),
        };
        for (attempt, most) in [(1, 100), (2, 200), (3, 350), (40, 350)] {
            for _ in 0..50 {
                let pause = retry.pause(attempt);
                assert!(pause <= Duration::from_millis(most), "{attempt}: {pause:?}");
                assert!(pause >= Duration::from_millis(most / 2), "{attempt}: {pause:?}");
            }
        }
        assert!((0..20).any(|_| retry.pause(3) != retry.pause(3)));
    }

    #[test]
    fn the_key_is_shown_nowhere() {
        let options = Connection { api_key: Some("sk-secret".to_owned()), ..Connection::default() };
        assert!(!format!("{options:?}").contains("sk-secret"));
        let client = Client::new(&options).unwrap();
        let refusal = client.refusal(
            StatusCode::UNAUTHORIZED,
            br#"{"error": {"message": "Incorrect API key provided: sk-secret.", "code": "invalid_api_key"}}"#,
        );
        let error = refusal.into_error();
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(!error.to_string().contains("sk-secret"), "{error}");
    }

    #[test]
    fn refusals_become_kinds() {
        let client = Client::new(&Connection::default()).unwrap();
        let cases = [
            (
                400,
                r#"{"error": {"message": "x", "code": "context_length_exceeded"}}"#,
                ErrorKind::TooLarge,
            ),
            (
                400,
                r#"{"error": "This model's maximum context length is 4096 tokens"}"#,
                ErrorKind::TooLarge,
            ),
            (413, "too big", ErrorKind::TooLarge),
            (400, r#"{"error": {"message": "x", "code": "content_filter"}}"#, ErrorKind::Denied),
            (
                429,
                r#"{"error": {"message": "x", "type": "insufficient_quota"}}"#,
                ErrorKind::Denied,
            ),
            (403, "", ErrorKind::Denied),
            (404, r#"{"detail": "no such model"}"#, ErrorKind::NotFound),
            (422, r#"{"message": "bad field"}"#, ErrorKind::Invalid),
            (500, r#"{"error": {"message": "out of memory"}}"#, ErrorKind::Unavailable),
            (500, r#"{"error": {"message": "image input is not supported"}}"#, ErrorKind::Invalid),
            (302, "", ErrorKind::Other),
        ];
        for (status, body, kind) in cases {
            let refusal = client.refusal(StatusCode::from_u16(status).unwrap(), body.as_bytes());
            assert_eq!(refusal.into_error().kind(), kind, "{status} {body}");
        }
    }

    #[test]
    fn addresses_are_checked() {
        for (url, right) in [
            ("http://localhost:11434/v1", true),
            ("https://api.openai.com/v1/", true),
            ("localhost:8000", false),
            ("ftp://host/", false),
            ("", false),
        ] {
            let options = Connection { base_url: url.to_owned(), ..Connection::default() };
            assert_eq!(Client::new(&options).is_ok(), right, "{url}");
        }
    }
}
