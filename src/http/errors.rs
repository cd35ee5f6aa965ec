//! Errors as clients see them: one body shape, one exhaustive match from domain errors to status codes, and
//! the status codes that each route declares.

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
use domain;

/// `Retry-After` in seconds when the disk is full: somebody has to free space.
const DISK_FULL_RETRY_AFTER: u32 = 60;

/// Error message of every request that fails on a full disk.
const DISK_FULL: &str = "no space is left on the disk; delete videos or free some, then try again";

/// The body of every error response.
#[derive(Object)]
#[oai(rename = "Error")]
pub(super) struct Problem {
    /// What is wrong with the request, and what would be valid.
    pub(super) detail: String,
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
    /// Value of `Retry-After`, seconds.
    pub(super) retry_after: Option<u32>,
    pub(super) allow: Option<String>,
    /// Accepted content encodings, for 415.
    pub(super) accept_encoding: Option<&'static str>,
    /// Value of `Content-Range`, for 416.
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

    /// An unhandled failure; only the log has the details.
    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal error; the server log has the details under this response's X-Request-Id",
        )
    }

    /// The file does not match `If-Match`.
    pub(super) fn changed() -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "the file is not the one that If-Match names")
    }

    /// The requested range is outside a file of `size` bytes.
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
        if self.status == checksum_mismatch() {
            // hyper has no phrase for this non-standard status and would write "<none>".
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
            Error::Mismatch(detail) => Self::new(checksum_mismatch(), detail),
            Error::TooLarge(detail) => Self::too_large(detail),
            Error::Busy { message, retry_after } => Self::busy(message, retry_after),
            Error::Cancelled(detail) => Self::busy(detail, 30),
            Error::BudgetExhausted(detail) => Self::new(StatusCode::BAD_REQUEST, detail),
            Error::Port(error) if error.kind() == ErrorKind::Full => {
                tracing::error!(trace = %error_chain(&error), "no room");
                Self::busy(DISK_FULL, DISK_FULL_RETRY_AFTER)
            }
            Error::Port(error) => {
                tracing::error!(kind = ?error.kind(), trace = %error_chain(&error), "request failed");
                Self::internal()
            }
        }
    }
}

/// tus 1.0 defines 460 as "Checksum Mismatch".
fn checksum_mismatch() -> StatusCode {
    StatusCode::from_u16(460).unwrap_or(StatusCode::BAD_REQUEST)
}

/// An error and its causes, outermost first.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str("; caused by: ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

/// Converts an error of the framework or a handler into a [`Failure`].
pub(super) fn into_failure(error: poem::Error, path: &str, allow: Option<String>) -> Failure {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.clone();
    }
    if let Some(e) = error.downcast_ref::<ParseParamError>() {
        return Failure::unprocessable(format!("{} {}", e.name, params::unwrap_message(&e.reason)));
    }
    if let Some(e) = error.downcast_ref::<ParsePathError>() {
        return Failure::unprocessable(params::unwrap_message(&e.reason));
    }
    if let Some(e) = error.downcast_ref::<ContentTypeError>() {
        return Failure::unprocessable(e.to_string());
    }
    // A path segment that is not valid text matches nothing.
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

/// The error status codes that a group of routes declares.
pub(super) trait DeclaredStatuses: Send + Sync + 'static {
    const STATUSES: &'static [u16];
}

macro_rules! route_errors {
    ($($(#[$doc:meta])* $name:ident = $statuses:expr;)*) => {$(
        $(#[$doc])*
        pub(super) enum $name {}
        impl DeclaredStatuses for $name {
            const STATUSES: &'static [u16] = &$statuses;
        }
    )*};
}

route_errors! {
    /// Routes without a token and without input.
    Open = [403, 422, 500];
    /// Reads without input.
    Plain = [401, 403, 422, 500];
    /// Listings with validated parameters.
    Listing = [400, 401, 403, 422, 500];
    /// Reads of one resource by its id.
    ById = [401, 403, 404, 422, 500];
    /// Reads of one resource whose parameters are validated by the domain.
    ByIdChecked = [400, 401, 403, 404, 422, 500];
    /// The job listing.
    JobListing = [401, 403, 422, 500, 503];
    /// Reads of a job, and frames of a video.
    Busy = [401, 403, 404, 422, 500, 503];
    /// Changes of one resource without a body.
    Change = [401, 403, 404, 422, 500, 503];
    /// Clips of a video.
    Clip = [400, 401, 403, 404, 412, 413, 416, 422, 500, 503];
    /// Questions and searches.
    Search = [400, 401, 403, 408, 413, 415, 422, 500, 503];
    /// Ingests.
    Ingest = [400, 401, 403, 408, 413, 415, 422, 500, 503];
    /// Ingests of an upload.
    IngestUpload = [400, 401, 403, 404, 408, 413, 415, 422, 500, 503];
    /// Aggregate re-runs and other changes with a body.
    Rerun = [400, 401, 403, 404, 408, 413, 415, 422, 500, 503];
}

/// A [`Failure`] whose status codes appear in the document.
pub(super) struct ApiError<D>(Failure, PhantomData<fn() -> D>);

impl<D, E: Into<Failure>> From<E> for ApiError<D> {
    fn from(error: E) -> Self {
        Self(error.into(), PhantomData)
    }
}

impl<D: DeclaredStatuses> From<ApiError<D>> for poem::Error {
    fn from(error: ApiError<D>) -> Self {
        error.0.into()
    }
}

impl<D: DeclaredStatuses> ApiResponse for ApiError<D> {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: D::STATUSES.iter().map(|status| error_response(*status)).collect(),
        }
    }

    fn register(registry: &mut Registry) {
        Problem::register(registry);
    }
}

fn error_response(status: u16) -> MetaResponse {
    let headers = if status == 503 {
        vec![MetaHeader {
            name: "Retry-After".into(),
            description: Some("Seconds to wait before retrying.".into()),
            required: true,
            deprecated: false,
            schema: u32::schema_ref(),
        }]
    } else {
        vec![]
    };
    MetaResponse {
        description: match status {
            400 => "The request is incomplete, or names something that this install does not have.",
            401 => "The token is missing or wrong.",
            403 => {
                "The token lacks the permission, the request was sent by a page of another site, or to a \
                 host name that is not configured."
            }
            404 => "The video, chunk, job, upload, extractor, alert or evaluation does not exist.",
            408 => "The request body did not arrive in time.",
            412 => "The file does not match `If-Match`.",
            413 => "The request body is too large.",
            415 => "The content encoding is not supported.",
            416 => "The range is outside the file.",
            422 => "A value has the wrong type or is out of range.",
            500 => {
                "Internal error. The server log has the details under the response's `X-Request-Id`."
            }
            _ => {
                "The service is overloaded, stopping or not ready. Retry after `Retry-After` seconds."
            }
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
        let response = Failure::new(checksum_mismatch(), "other bytes").into_response();
        let phrase = response.extensions().get::<ReasonPhrase>();
        assert_eq!(phrase.map(ReasonPhrase::as_bytes), Some(&b"Checksum Mismatch"[..]));
        let other = Failure::unprocessable("other bytes").into_response();
        assert!(other.extensions().get::<ReasonPhrase>().is_none());
    }
}
