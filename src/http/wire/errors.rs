//! Errors as clients see them. All errors, including those from the framework, have the same body.
//! Each route declares its error status codes.

use std::marker::PhantomData;

use poem::error::{MethodNotAllowedError, NotFoundError, ReadBodyError};
use poem::http::StatusCode;
use poem_openapi::error::{ContentTypeError, ParseParamError, ParsePathError};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaHeader, MetaMediaType, MetaResponse, MetaResponses, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiResponse, Object};

use super::body::Json;
use super::failure::HttpFailure;
use super::params;

/// The body of every error response.
#[derive(Object)]
#[oai(rename = "Error")]
pub(crate) struct Problem {
    /// What is wrong with the request, and what would be valid.
    pub(crate) detail: String,
}

/// Converts an error from the framework or a handler into a [`HttpFailure`].
pub(crate) fn into_failure(error: poem::Error, path: &str, allow: Option<String>) -> HttpFailure {
    if let Some(failure) = error.downcast_ref::<HttpFailure>() {
        return failure.clone();
    }
    if let Some(e) = error.downcast_ref::<ParseParamError>() {
        return HttpFailure::unprocessable(format!(
            "{} {}",
            e.name,
            params::unwrap_message(&e.reason)
        ));
    }
    if let Some(e) = error.downcast_ref::<ParsePathError>() {
        return HttpFailure::unprocessable(params::unwrap_message(&e.reason));
    }
    if let Some(e) = error.downcast_ref::<ContentTypeError>() {
        return HttpFailure::unprocessable(e.to_string());
    }
    // A path segment that is not valid text cannot match any route.
    if error.is::<NotFoundError>() || error.is::<poem::error::ParsePathError>() {
        return HttpFailure::not_found(format!(
            "there is nothing at '{path}'; /docs lists the routes"
        ));
    }
    if error.is::<MethodNotAllowedError>() {
        let accepted = allow.as_deref().unwrap_or("nothing");
        let detail = format!("'{path}' does not take this method; it takes {accepted}");
        return HttpFailure { allow, ..HttpFailure::new(StatusCode::METHOD_NOT_ALLOWED, detail) };
    }
    match error.downcast_ref::<ReadBodyError>() {
        Some(ReadBodyError::PayloadTooLarge) => {
            return HttpFailure::too_large("the body is larger than this route takes");
        }
        Some(ReadBodyError::Io(_) | ReadBodyError::Utf8(_)) => {
            return HttpFailure::unprocessable("the body ended before it was complete");
        }
        _ => {}
    }
    let status = error.status();
    if status.is_server_error() {
        tracing::error!(error = %error, "request failed");
        return HttpFailure::internal();
    }
    HttpFailure::new(status, error.to_string())
}

/// The error status codes that a group of routes declares.
pub(crate) trait DeclaredStatuses: Send + Sync + 'static {
    const STATUSES: &'static [u16];
}

macro_rules! route_errors {
    ($($(#[$doc:meta])* $name:ident = $statuses:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) enum $name {}
        impl DeclaredStatuses for $name {
            const STATUSES: &'static [u16] = &$statuses;
        }
    )*};
}

route_errors! {
    /// Routes that need neither a token nor input.
    Open = [403, 422, 500];
    /// Reads that take no input.
    Plain = [401, 403, 422, 500];
    /// Listings with validated parameters.
    Listing = [400, 401, 403, 422, 500];
    /// Reads of one resource by id.
    ById = [401, 403, 404, 422, 500];
    /// Reads of one resource by id, with parameters that the domain validates.
    ByIdChecked = [400, 401, 403, 404, 422, 500];
    /// The job listing.
    JobListing = [401, 403, 422, 500, 503];
    /// Reads of a job, and frames of a video.
    Busy = [401, 403, 404, 422, 500, 503];
    /// Images of the people in a video.
    Portrait = [400, 401, 403, 404, 422, 500, 503];
    /// Changes to one resource, without a body.
    Change = [401, 403, 404, 422, 500, 503];
    /// Clips of a video.
    ClipDownload = [400, 401, 403, 404, 412, 413, 416, 422, 500, 503];
    /// Questions and searches.
    Search = [400, 401, 403, 408, 413, 415, 422, 500, 503];
    /// Ingests from a URL.
    UrlIngest = [400, 401, 403, 408, 413, 415, 422, 500, 503];
    /// Ingests of a file or a resumable upload.
    FileIngest = [400, 401, 403, 404, 408, 413, 415, 422, 500, 503];
    /// Aggregate re-runs and other changes with a body.
    Rerun = [400, 401, 403, 404, 408, 413, 415, 422, 500, 503];
    /// Changes with a body that take `If-Match`.
    Edit = [400, 401, 403, 404, 408, 412, 413, 415, 422, 500, 503];
    /// Changes without a body that take `If-Match`.
    Removal = [401, 403, 404, 412, 422, 500, 503];
    /// The undo of a change, which takes `If-Match`.
    Undo = [401, 403, 404, 409, 412, 422, 500, 503];
}

/// An [`HttpFailure`] with one of the status codes that `D` declares in the OpenAPI document.
pub(crate) struct ApiError<D>(HttpFailure, PhantomData<fn() -> D>);

impl<D, E: Into<HttpFailure>> From<E> for ApiError<D> {
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
                "The token lacks the permission, a page on another site sent the request, or the \
                 host name in the request is not configured."
            }
            404 => {
                "The video, chunk, job, upload, bin, select, comment, share, person, extractor, alert \
                 or evaluation does not exist."
            }
            408 => "The request body did not arrive in time.",
            409 => "The state of the resource does not allow the request.",
            412 => "The file or the resource has changed since the version in `If-Match`.",
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
