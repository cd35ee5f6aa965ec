//! Every failure a client can see: one body shape, one exhaustive match from the domain's errors to
//! statuses, and the statuses each route declares.

use std::marker::PhantomData;

use hyper::ext::ReasonPhrase;
use poem::error::{MethodNotAllowedError, NotFoundError, ReadBodyError, ResponseError};
use poem::http::{StatusCode, header};
use poem::{Body, Response};
use poem_openapi::error::{ContentTypeError, ParseParamError, ParsePathError};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaHeader, MetaMediaType, MetaResponse, MetaResponses, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiResponse, Object};
use ports::ErrorKind;

use super::body::Json;
use super::params;
use crate::domain;

/// When to try again where a disk is full, seconds: somebody has to make room.
const ROOM_AFTER: u32 = 60;

/// What every request is answered that a full disk refuses.
const NO_ROOM: &str = "no space is left on the disk; delete videos or free some, then try again";

/// The body of every error.
#[derive(Object)]
#[oai(rename = "Error")]
pub(super) struct Problem {
    /// What was wrong and what would be right.
    pub(super) detail: String,
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
    /// When to try again, seconds from now.
    pub(super) retry_after: Option<u32>,
    pub(super) allow: Option<String>,
    /// The encodings of bodies that are accepted, where it was another one.
    pub(super) accept_encoding: Option<&'static str>,
    /// What `Content-Range` says of a range that lies outside.
    pub(super) content_range: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            retry_after: None,
            allow: None,
            accept_encoding: None,
            content_range: None,
        }
    }

    pub(crate) fn unprocessable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(super) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }

    /// What the client of an unhandled failure is told; the log holds the rest.
    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal error; the server log has the details under this response's X-Request-Id",
        )
    }

    /// The file is not the one that the client knows.
    pub(super) fn changed() -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "the file is not the one that If-Match names")
    }

    /// A range of a file of `size` bytes.
    pub(super) fn out_of_range(size: u64) -> Self {
        let detail = format!("the file has {size} bytes; the range lies outside them");
        Self {
            content_range: Some(format!("bytes */{size}")),
            ..Self::new(StatusCode::RANGE_NOT_SATISFIABLE, detail)
        }
    }

    pub(super) fn busy(detail: impl Into<String>, retry_after: u32) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
        }
    }

    pub(super) fn into_response(self) -> Response {
        let body = serde_json::json!({ "detail": self.detail }).to_string();
        let mut response = Response::builder()
            .status(self.status)
            .content_type("application/json")
            .body(Body::from_string(body));
        if self.status == mismatch() {
            // hyper knows no phrase for the number that tus chose, and would write "<none>".
            let phrase = ReasonPhrase::from_static(b"Checksum Mismatch");
            response.extensions_mut().insert(phrase);
        }
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some(allow) = self.allow.and_then(|allow| allow.parse().ok()) {
            headers.insert(header::ALLOW, allow);
        }
        if let Some(accepted) = self.accept_encoding {
            headers.insert(header::ACCEPT_ENCODING, header::HeaderValue::from_static(accepted));
        }
        if let Some(range) = self.content_range.and_then(|range| range.parse().ok()) {
            headers.insert(header::CONTENT_RANGE, range);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                header::HeaderValue::from_static("ApiKey realm=\"shotlog\""),
            );
        }
        response
    }
}

impl ResponseError for Failure {
    fn status(&self) -> StatusCode {
        self.status
    }

    fn as_response(&self) -> Response {
        self.clone().into_response()
    }
}

impl From<domain::Error> for Failure {
    fn from(error: domain::Error) -> Self {
        use domain::Error;
        match error {
            Error::Invalid(detail) => Self::new(StatusCode::BAD_REQUEST, detail),
            Error::Unprocessable(detail) => Self::unprocessable(detail),
            Error::Forbidden(detail) => Self::new(StatusCode::FORBIDDEN, detail),
            Error::NotFound(detail) => Self::not_found(detail),
            Error::Conflict(detail) => Self::new(StatusCode::CONFLICT, detail),
            Error::Mismatch(detail) => Self::new(mismatch(), detail),
            Error::TooLarge(detail) => Self::too_large(detail),
            Error::Busy { message, retry_after } => Self::busy(message, retry_after),
            Error::Cancelled(detail) => Self::busy(detail, 30),
            Error::BudgetExhausted(detail) => Self::new(StatusCode::BAD_REQUEST, detail),
            Error::Port(error) if error.kind() == ErrorKind::Full => {
                tracing::error!(trace = %chain(&error), "no room");
                Self::busy(NO_ROOM, ROOM_AFTER)
            }
            Error::Port(error) => {
                tracing::error!(kind = ?error.kind(), trace = %chain(&error), "request failed");
                Self::internal()
            }
        }
    }
}

/// "Checksum Mismatch", as tus 1.0 numbers it.
fn mismatch() -> StatusCode {
    StatusCode::from_u16(460).unwrap_or(StatusCode::BAD_REQUEST)
}

/// An error and its causes, outermost first.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str("; caused by: ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

/// Turns whatever the framework or a handler failed with into the one error shape.
pub(super) fn failure(error: poem::Error, path: &str, allow: Option<String>) -> Failure {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.clone();
    }
    if let Some(e) = error.downcast_ref::<ParseParamError>() {
        return Failure::unprocessable(format!("{} {}", e.name, params::reason(&e.reason)));
    }
    if let Some(e) = error.downcast_ref::<ParsePathError>() {
        return Failure::unprocessable(params::reason(&e.reason));
    }
    if let Some(e) = error.downcast_ref::<ContentTypeError>() {
        return Failure::unprocessable(e.to_string());
    }
    // A path segment that is not text names nothing that exists.
    if error.is::<NotFoundError>() || error.is::<poem::error::ParsePathError>() {
        return Failure::not_found(format!("there is nothing at '{path}'; /docs lists the routes"));
    }
    if error.is::<MethodNotAllowedError>() {
        let accepted = allow.as_deref().unwrap_or("nothing");
        let detail = format!("'{path}' does not take this method; it takes {accepted}");
        return Failure { allow, ..Failure::new(StatusCode::METHOD_NOT_ALLOWED, detail) };
    }
    match error.downcast_ref::<ReadBodyError>() {
        Some(ReadBodyError::PayloadTooLarge) => {
            return Failure::too_large("the body is larger than this route takes");
        }
        Some(ReadBodyError::Io(_) | ReadBodyError::Utf8(_)) => {
            return Failure::unprocessable("the body ended before it was complete");
        }
        _ => {}
    }
    let status = error.status();
    if status.is_server_error() {
        tracing::error!(error = %error, "request failed");
        return Failure::internal();
    }
    Failure::new(status, error.to_string())
}

/// The error statuses a group of routes answers with.
pub(super) trait Declares: Send + Sync + 'static {
    const STATUSES: &'static [u16];
}

macro_rules! declares {
    ($($(#[$doc:meta])* $name:ident = $statuses:expr;)*) => {$(
        $(#[$doc])*
        pub(super) enum $name {}
        impl Declares for $name {
            const STATUSES: &'static [u16] = &$statuses;
        }
    )*};
}

declares! {
    /// Open routes that take nothing.
    Open = [403, 422, 500];
    /// Reads that take nothing.
    Plain = [401, 403, 422, 500];
    /// Listings with checked parameters.
    Listing = [400, 401, 403, 422, 500];
    /// Reads of one thing by its id.
    OfOne = [401, 403, 404, 422, 500];
    /// Reads of one thing that name analyzers or aggregators.
    ByIdNamed = [400, 401, 403, 404, 422, 500];
    /// The listing of jobs.
    JobListing = [401, 403, 422, 500, 503];
    /// Reads of a job, and pictures of a video.
    Busy = [401, 403, 404, 422, 500, 503];
    /// Changes of one thing that take no body.
    Change = [401, 403, 404, 422, 500, 503];
    /// Clips of a video.
    Clip = [400, 401, 403, 404, 412, 413, 416, 422, 500, 503];
    /// Questions and searches.
    Search = [400, 401, 403, 408, 413, 415, 422, 500, 503];
    /// Ingests.
    Ingest = [400, 401, 403, 408, 413, 415, 422, 500, 503];
    /// Ingests of an upload.
    IngestUpload = [400, 401, 403, 404, 408, 413, 415, 422, 500, 503];
    /// The aggregate re-run.
    Rerun = [400, 401, 403, 404, 408, 413, 415, 422, 500, 503];
}

/// A [`Failure`] whose statuses appear in the document.
pub(super) struct ApiError<D>(Failure, PhantomData<fn() -> D>);

impl<D, E: Into<Failure>> From<E> for ApiError<D> {
    fn from(error: E) -> Self {
        Self(error.into(), PhantomData)
    }
}

impl<D: Declares> From<ApiError<D>> for poem::Error {
    fn from(fails: ApiError<D>) -> Self {
        fails.0.into()
    }
}

impl<D: Declares> ApiResponse for ApiError<D> {
    fn meta() -> MetaResponses {
        MetaResponses { responses: D::STATUSES.iter().map(|status| declared(*status)).collect() }
    }

    fn register(registry: &mut Registry) {
        Problem::register(registry);
    }
}

fn declared(status: u16) -> MetaResponse {
    let headers = if status == 503 {
        vec![MetaHeader {
            name: "Retry-After".into(),
            description: Some("Seconds to wait before the next try.".into()),
            required: true,
            deprecated: false,
            schema: u32::schema_ref(),
        }]
    } else {
        vec![]
    };
    MetaResponse {
        description: match status {
            400 => "The request names something this install does not know, or lacks something.",
            401 => "The token is missing or wrong.",
            403 => {
                "The token does not go so far, the request comes from a page of another site, or it was \
                 sent to a name that is not ours."
            }
            404 => "There is no such video, chunk, job, upload, extractor or evaluation.",
            408 => "The body stopped arriving.",
            412 => "The file is not the one that `If-Match` names.",
            413 => "The body is too large.",
            415 => "The body is encoded otherwise than is accepted.",
            416 => "The range lies outside the file.",
            422 => "A value has the wrong type or lies outside its range.",
            500 => "An unhandled failure; the server log has the trace.",
            _ => "The service is full, stopping, or not ready for this: try again later.",
        },
        status: Some(status),
        status_range: None,
        content: vec![MetaMediaType {
            content_type: <Json<Problem> as Payload>::CONTENT_TYPE,
            schema: Problem::schema_ref(),
        }],
        headers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_mismatch_has_its_reason_phrase() {
        let response = Failure::new(mismatch(), "other bytes").into_response();
        let phrase = response.extensions().get::<ReasonPhrase>();
        assert_eq!(phrase.map(ReasonPhrase::as_bytes), Some(&b"Checksum Mismatch"[..]));
        let other = Failure::unprocessable("other bytes").into_response();
        assert!(other.extensions().get::<ReasonPhrase>().is_none());
    }
}
