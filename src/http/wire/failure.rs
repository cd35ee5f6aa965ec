//! Failed requests. A single exhaustive match maps domain errors to status codes.

use hyper::ext::ReasonPhrase;
use poem::error::ResponseError;
use poem::http::{StatusCode, header};
use poem::{Body, Response};
use ports::ErrorKind;

/// Value of `Retry-After` for a full disk, in seconds. It is long because somebody has to free
/// space first.
const DISK_FULL_RETRY_AFTER: u32 = 60;

/// Error message for every request that fails because the disk is full.
const DISK_FULL: &str = "no space is left on the disk; delete videos or free some, then try again";

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct HttpFailure {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
    /// Value of `Retry-After`, in seconds.
    pub(crate) retry_after: Option<u32>,
    pub(crate) allow: Option<String>,
    /// Accepted content encodings, for 415.
    pub(crate) accept_encoding: Option<&'static str>,
    /// Value of `Content-Range`, for 416.
    pub(crate) content_range: Option<String>,
}

impl HttpFailure {
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

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }

    /// An internal error. The details are only in the log.
    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal error; the server log has the details under this response's X-Request-Id",
        )
    }

    /// The file does not match `If-Match`.
    pub(crate) fn changed() -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "the file is not the one that If-Match names")
    }

    /// The requested range is outside a file of `size` bytes.
    pub(crate) fn out_of_range(size: u64) -> Self {
        let detail = format!("the file has {size} bytes; the range lies outside them");
        Self {
            content_range: Some(format!("bytes */{size}")),
            ..Self::new(StatusCode::RANGE_NOT_SATISFIABLE, detail)
        }
    }

    pub(crate) fn busy(detail: impl Into<String>, retry_after: u32) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
        }
    }

    pub(crate) fn into_response(self) -> Response {
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

impl ResponseError for HttpFailure {
    fn status(&self) -> StatusCode {
        self.status
    }

    fn as_response(&self) -> Response {
        self.clone().into_response()
    }
}

impl From<domain::Error> for HttpFailure {
    fn from(error: domain::Error) -> Self {
        use domain::Error;
        match error {
            Error::Invalid(detail) => Self::new(StatusCode::BAD_REQUEST, detail),
            Error::Unprocessable(detail) => Self::unprocessable(detail),
            Error::Forbidden(detail) => Self::new(StatusCode::FORBIDDEN, detail),
            Error::NotFound(detail) => Self::not_found(detail),
            Error::Conflict(detail) => Self::new(StatusCode::CONFLICT, detail),
            Error::Outdated(detail) => Self::new(StatusCode::PRECONDITION_FAILED, detail),
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

/// Returns 460, which tus 1.0 defines as "Checksum Mismatch".
fn checksum_mismatch() -> StatusCode {
    StatusCode::from_u16(460).unwrap_or(StatusCode::BAD_REQUEST)
}

/// Formats an error and its causes, outermost first.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_mismatch_has_its_reason_phrase() {
        let response = HttpFailure::new(checksum_mismatch(), "other bytes").into_response();
        let phrase = response.extensions().get::<ReasonPhrase>();
        assert_eq!(phrase.map(ReasonPhrase::as_bytes), Some(&b"Checksum Mismatch"[..]));
        let other = HttpFailure::unprocessable("other bytes").into_response();
        assert!(other.extensions().get::<ReasonPhrase>().is_none());
    }
}
