//! `/shared/{share_id}`: the page behind the link of a share, its clip, its poster and its captions.
//! These routes need no token. They are not in the OpenAPI document, because people open them in a
//! browser. What they return depends on nothing but the share, which is read again for each request.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use poem::http::{HeaderName, HeaderValue, StatusCode, header};
use poem::web::{Data, Path};
use poem::{Request, Response, RouteMethod, handler};
use sha2::{Digest, Sha256};

use super::clips::FilePart;
use crate::http::edge::auth::Service;
use crate::http::edge::route_table::PlainRoute;
use crate::http::wire::conditional::is_head;
use crate::http::wire::disposition::attachment;
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::share_paths::SHARED_ROOT;
use domain::frames::ClipOutline;
use domain::scoped::SharedClip;
use domain::shares::{Share, parse_share_id};

/// The style of the page.
const STYLE: &str = include_str!("shared.css");

/// What the page says instead of a clip, for every reason.
const INVALID_LINK: &str = "This link does not exist, has expired or was withdrawn.";

/// The page's content security policy, which allows its style and its own media, and no script.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src 'self'; media-src 'self'; \
         form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    );
    // This cannot fail, because the policy is ASCII.
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

/// Returns the routes of shared clips.
pub(super) fn routes() -> Vec<PlainRoute> {
    let route = |path: &str, endpoint| {
        PlainRoute::new(format!("{SHARED_ROOT}{path}"), "GET, HEAD", endpoint)
    };
    vec![
        route(":share_id", RouteMethod::new().get(shared_page)),
        route(":share_id/:name", RouteMethod::new().get(shared_file)),
    ]
}

/// Returns the page that plays the clip.
#[handler]
async fn shared_page(Path(share_id): Path<String>, Data(service): Data<&Service>) -> Response {
    let clip = open(service, &share_id).await;
    public(clip.map(|clip| html(StatusCode::OK, &clip_page(&clip))))
}

/// Returns a file of the share.
#[handler]
async fn shared_file(
    request: &Request,
    Path((share_id, name)): Path<(String, String)>,
    Data(service): Data<&Service>,
) -> Response {
    let answer = async {
        let clip = open(service, &share_id).await?;
        match name.as_str() {
            "clip.mp4" => clip_file(request, &clip).await,
            "poster.jpg" => {
                let jpeg = clip.poster().await?;
                Ok(Response::builder().content_type("image/jpeg").body(jpeg))
            }
            "captions.vtt" => {
                let captions = clip.captions().await?;
                Ok(Response::builder().content_type("text/vtt; charset=utf-8").body(captions))
            }
            _ => Err(HttpFailure::not_found(INVALID_LINK)),
        }
    };
    public(answer.await)
}

async fn open(service: &Service, share_id: &str) -> Result<SharedClip, HttpFailure> {
    Ok(service.shared_clip(&parse_share_id(share_id)?).await?)
}

/// Returns the clip, or the byte range of it that the request asks for. A HEAD request cuts nothing.
async fn clip_file(request: &Request, clip: &SharedClip) -> Result<Response, HttpFailure> {
    let file = if is_head(request) {
        match clip.outline().await? {
            ClipOutline { cached: Some(file), .. } => file,
            ClipOutline { video, filename, .. } => {
                let uncut = Response::builder()
                    .content_type(media_type(video))
                    .header(header::ACCEPT_RANGES, "bytes")
                    .header(header::CONTENT_DISPOSITION, attachment(&filename));
                return Ok(uncut.finish());
            }
        }
    } else {
        clip.clip().await?
    };
    let FilePart { body, video, disposition, length, etag, range } =
        FilePart::new(request, file).await?;
    let mut response = Response::builder().header(header::ACCEPT_RANGES, "bytes");
    if let Some(etag) = etag {
        response = response.header(header::ETAG, etag);
    }
    let Some(body) = body else {
        return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
    };
    response = response
        .content_type(media_type(video))
        .header(header::CONTENT_LENGTH, length)
        .header(header::CONTENT_DISPOSITION, disposition);
    if let Some(range) = range {
        response =
            response.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, range);
    }
    Ok(response.body(body))
}

fn media_type(video: bool) -> &'static str {
    if video { "video/mp4" } else { "audio/mp4" }
}

/// Adds the headers of every response. Replaces the text of failures, which may name the video.
fn public(result: Result<Response, HttpFailure>) -> Response {
    let mut response = result.unwrap_or_else(|failure| {
        let sentence = match failure.status {
            StatusCode::NOT_FOUND => INVALID_LINK,
            StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PRECONDITION_FAILED => {
                return failure.into_response();
            }
            StatusCode::SERVICE_UNAVAILABLE => "The service is busy. Please try again shortly.",
            _ => "This clip cannot be shown.",
        };
        let mut response = html(failure.status, &sentence_page(sentence));
        if let Some(seconds) = failure.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    });
    let headers = response.headers_mut();
    let fixed = [
        // A browser asks again each time, so that a withdrawn link stops working at once.
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY.clone());
    response
}

fn html(status: StatusCode, page: &str) -> Response {
    Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .body(page.to_owned())
}

/// Returns the page of a clip. Its links are relative, because a proxy may serve the page below a path
/// prefix.
fn clip_page(clip: &SharedClip) -> String {
    let Share { id, title, span, expires_at, .. } = clip.share();
    let title = escape(title);
    let player = if clip.has_picture() {
        let captions = match clip.has_speech() {
            true => format!(
                "<track kind=\"captions\" label=\"Captions\" src=\"{id}/captions.vtt\" default>"
            ),
            false => String::new(),
        };
        format!(
            "<video controls playsinline preload=\"metadata\" poster=\"{id}/poster.jpg\" \
             src=\"{id}/clip.mp4\" aria-label=\"{title}\">{captions}</video>"
        )
    } else {
        format!(
            "<audio controls preload=\"metadata\" src=\"{id}/clip.mp4\" aria-label=\"{title}\"></audio>"
        )
    };
    let content = format!(
        "<h1>{title}</h1>\n{player}\n<p>Duration: {}. This link expires on {}. \
         <a href=\"{id}/clip.mp4\" download>Download</a></p>",
        duration(span.seconds()),
        date(*expires_at)
    );
    document(&title, &content)
}

/// Returns a page with one sentence.
fn sentence_page(sentence: &str) -> String {
    document("Shared clip", &format!("<h1>{sentence}</h1>"))
}

/// Returns a complete page. `title` and `content` are HTML.
fn document(title: &str, content: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex, nofollow\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{content}\n</main>\n</body>\n</html>\n"
    )
}

/// Formats a duration as `M:SS` or `H:MM:SS`.
fn duration(seconds: f64) -> String {
    let seconds = (seconds.round() as u64).max(1);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Formats an instant, given in milliseconds since 1970, as a date in UTC, such as `7 March 2026`.
fn date(instant: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(instant).unwrap_or_default();
    at.strftime("%-d %B %Y").to_string()
}

/// Escapes text for HTML, also within an attribute.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
    }

    #[test]
    fn durations_and_dates_are_readable() {
        let formatted = [0.2, 9.5, 75.0, 3725.0].map(duration);
        assert_eq!(formatted, ["0:01", "0:10", "1:15", "1:02:05"]);
        assert_eq!(date(1_772_841_600_000), "7 March 2026");
    }
}
