//! `/storage/*key`: objects in local storage, for installs that serve their public URLs themselves.
//! The route acts as a public bucket: no token is needed, and pages of any origin may read objects.
//! A request with a token that is limited to collections can read only objects in those
//! collections. Ranges and conditional requests are supported.

use std::ops::Range;

use futures::TryStreamExt;
use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::web::{Data, Path};
use poem::{Body, Request, Response, RouteMethod, handler};
use ports::ErrorKind;
use ports::storage::ObjectInfo;

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::edge::route_table::PlainRoute;
use crate::http::settings::HttpOptions;
use crate::http::wire::conditional::{FileReply, quoted};
use crate::http::wire::failure::HttpFailure;
use domain::Scoped;
use domain::kernel::error::Error;

/// Path prefix of the public bucket.
pub(super) const ROOT: &str = "/storage/";

/// Returns the route for objects, or `None` if their public URLs point elsewhere.
pub(super) fn routes(options: &HttpOptions) -> Option<PlainRoute> {
    let endpoint = RouteMethod::new().get(object).head(object).options(preflight);
    let route = PlainRoute::new(format!("{ROOT}*key"), "GET, HEAD, OPTIONS", endpoint);
    options.serves_storage.then_some(route)
}

/// Handles GET and HEAD.
#[handler]
async fn object(
    request: &Request,
    Path(key): Path<String>,
    Data(service): Data<&Service>,
) -> Response {
    let answer =
        async { answer(request, key, &service.scoped(&CallerToken::extract(request)?)).await };
    for_any_origin(answer.await.unwrap_or_else(HttpFailure::into_response))
}

/// Answers CORS preflight requests.
#[handler]
fn preflight() -> Response {
    let response = Response::builder()
        .status(StatusCode::NO_CONTENT)
        .header(header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD")
        .header(header::ACCESS_CONTROL_ALLOW_HEADERS, "*")
        .header(header::ACCESS_CONTROL_MAX_AGE, 24 * 60 * 60)
        .finish();
    for_any_origin(response)
}

fn for_any_origin(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let shown = "Accept-Ranges, Content-Length, Content-Range, ETag, X-Request-Id";
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(shown));
    headers.insert("Cross-Origin-Resource-Policy", HeaderValue::from_static("cross-origin"));
    response
}

async fn answer(request: &Request, key: String, service: &Scoped) -> Result<Response, HttpFailure> {
    let missing = |error| match error {
        Error::Port(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::Invalid) => {
            HttpFailure::not_found(format!(
                "storage has no object '{}'",
                crate::http::wire::params::excerpt(&key)
            ))
        }
        other => other.into(),
    };
    let info = service.object_info(&key).await.map_err(missing)?;
    let reply = FileReply::for_request(request, info.etag.as_deref(), info.size);
    let content = match &reply {
        FileReply::Whole | FileReply::Part(_) if request.method() == Method::HEAD => None,
        FileReply::Whole => Some(service.object(&key, None).await.map_err(missing)?),
        FileReply::Part(range) => {
            Some(service.object(&key, Some(range.clone())).await.map_err(missing)?)
        }
        FileReply::NotModified | FileReply::OutOfRange | FileReply::Changed => None,
    };
    let body = content.map(|stream| Body::from_bytes_stream(stream.map_err(std::io::Error::other)));
    Ok(response(&reply, &key, &info, body.unwrap_or_default()))
}

fn response(reply: &FileReply, key: &str, info: &ObjectInfo, body: Body) -> Response {
    let mut response = Response::builder()
        .header(header::ACCEPT_RANGES, "bytes")
        .header(header::CACHE_CONTROL, "public, no-cache");
    if let Some(etag) = &info.etag {
        response = response.header(header::ETAG, quoted(etag));
    }
    let total = info.size;
    let typed = |response: poem::ResponseBuilder, length: u64| {
        response.content_type(content_type(key, info)).header(header::CONTENT_LENGTH, length)
    };
    match reply {
        FileReply::Whole => typed(response, total).body(body),
        FileReply::Part(Range { start, end }) => typed(response, end - start)
            .status(StatusCode::PARTIAL_CONTENT)
            .header(header::CONTENT_RANGE, format!("bytes {start}-{}/{total}", end - 1))
            .body(body),
        FileReply::NotModified => response.status(StatusCode::NOT_MODIFIED).finish(),
        FileReply::Changed => HttpFailure::changed().into_response(),
        FileReply::OutOfRange => HttpFailure::out_of_range(total).into_response(),
    }
}
/// Returns an object's media type if browsers display that type without running code. Otherwise
/// returns `application/octet-stream`.
fn content_type(key: &str, info: &ObjectInfo) -> String {
    let harmless = |kind: &str| {
        kind.starts_with("video/")
            || kind.starts_with("audio/")
            || matches!(kind, "image/jpeg" | "image/png" | "image/webp" | "image/gif")
    };
    if let Some(kind) = info.content_type.as_deref().filter(|kind| harmless(kind)) {
        return kind.to_owned();
    }
    let extension = key.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("mp4" | "m4v") => "video/mp4",
        Some("mov") => "video/quicktime",
        Some("webm") => "video/webm",
        Some("mkv") => "video/x-matroska",
        Some("avi") => "video/x-msvideo",
        Some("mpg" | "mpeg") => "video/mpeg",
        Some("ts") => "video/mp2t",
        Some("ogv") => "video/ogg",
        Some("mp3") => "audio/mpeg",
        Some("m4a") => "audio/mp4",
        Some("wav") => "audio/wav",
        Some("ogg") => "audio/ogg",
        Some("flac") => "audio/flac",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_content_never_runs_in_a_browser() {
        let info = |kind: Option<&str>| ObjectInfo {
            size: 1,
            etag: None,
            content_type: kind.map(str::to_owned),
        };
        for (key, kind, expected) in [
            ("a/v.mp4", Some("video/mp4"), "video/mp4"),
            ("a/v.html", Some("text/html"), "application/octet-stream"),
            ("a/v.svg", Some("image/svg+xml"), "application/octet-stream"),
            ("a/poster.jpg", None, "image/jpeg"),
            ("a/noext", None, "application/octet-stream"),
        ] {
            assert_eq!(content_type(key, &info(kind)), expected);
        }
    }
}
