//! `/shared/{share_id}`: the page behind the link of a share, its clips, their posters and captions.
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
use domain::scoped::{OpenShare, SharedClip};
use domain::shares::{Share, ShareId, parse_share_id};

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

/// Returns the page that plays the clips.
#[handler]
async fn shared_page(Path(share_id): Path<String>, Data(service): Data<&Service>) -> Response {
    let share = open(service, &share_id).await;
    public(share.map(|share| html(StatusCode::OK, &share_page(&share))))
}

/// Returns a file of the share.
#[handler]
async fn shared_file(
    request: &Request,
    Path((share_id, name)): Path<(String, String)>,
    Data(service): Data<&Service>,
) -> Response {
    let answer = async {
        let invalid = || HttpFailure::not_found(INVALID_LINK);
        let (kind, number) = file_kind(&name).ok_or_else(invalid)?;
        let share = open(service, &share_id).await?;
        let clip = share.clips().into_iter().find(|clip| clip.number() == number);
        let clip = clip.ok_or_else(invalid)?;
        match kind {
            FileKind::Clip => clip_file(request, &clip).await,
            FileKind::Poster => {
                let jpeg = clip.poster().await?;
                Ok(Response::builder().content_type("image/jpeg").body(jpeg))
            }
            FileKind::Captions => {
                let captions = clip.captions().await?;
                Ok(Response::builder().content_type("text/vtt; charset=utf-8").body(captions))
            }
        }
    };
    public(answer.await)
}

async fn open(service: &Service, share_id: &str) -> Result<OpenShare, HttpFailure> {
    Ok(service.open_share(&parse_share_id(share_id)?).await?)
}

/// A kind of file of a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FileKind {
    Clip,
    Poster,
    Captions,
}

impl FileKind {
    const ALL: [Self; 3] = [Self::Clip, Self::Poster, Self::Captions];

    /// Returns the name of the file of the first clip, and its extension.
    fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Clip => ("clip", "mp4"),
            Self::Poster => ("poster", "jpg"),
            Self::Captions => ("captions", "vtt"),
        }
    }

    /// Returns the name of the file of the clip with this number, such as `clip-2.mp4`.
    fn file(self, number: usize) -> String {
        let (name, extension) = self.name();
        match number {
            1 => format!("{name}.{extension}"),
            number => format!("{name}-{number}.{extension}"),
        }
    }
}

/// Parses the name of a file: its kind and the number of its clip.
fn file_kind(file: &str) -> Option<(FileKind, usize)> {
    let (stem, extension) = file.split_once('.')?;
    let (name, number) = match stem.split_once('-') {
        Some((name, number)) => (name, number.parse().ok()?),
        None => (stem, 1),
    };
    let kind = FileKind::ALL.into_iter().find(|kind| kind.name() == (name, extension))?;
    (kind.file(number) == file).then_some((kind, number))
}

/// Returns the clip, or the byte range of it that the request asks for. A HEAD request cuts nothing.
async fn clip_file(request: &Request, clip: &SharedClip<'_>) -> Result<Response, HttpFailure> {
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

/// Returns the page of a share. Its links are relative, because a proxy may serve the page below a
/// path prefix.
fn share_page(open: &OpenShare) -> String {
    let Share { id, title, expires_at, .. } = open.share();
    let title = escape(title);
    let expiry = format!("This link expires on {}.", date(*expires_at));
    let clips = open.clips();
    let content = match clips.as_slice() {
        [clip] => {
            let player = player(id, clip, &title);
            format!("{player}\n<p>{} {expiry} {}</p>", times(clip), download(id, clip))
        }
        clips => {
            let items: String = clips.iter().map(|clip| list_item(id, clip)).collect();
            format!("<ol>\n{items}</ol>\n<p>{} clips. {expiry}</p>", clips.len())
        }
    };
    document(&title, &format!("<h1>{title}</h1>\n{content}"))
}

/// Returns one of several clips.
fn list_item(id: &ShareId, clip: &SharedClip<'_>) -> String {
    let title = escape(&clip.title());
    let player = player(id, clip, &format!("Clip {}: {title}", clip.number()));
    format!("<li>{title}{player}<p>{} {}</p></li>\n", times(clip), download(id, clip))
}

/// Returns the player of a clip. `label` is HTML.
fn player(id: &ShareId, clip: &SharedClip<'_>, label: &str) -> String {
    let file = |kind: FileKind| format!("{id}/{}", kind.file(clip.number()));
    let source = file(FileKind::Clip);
    // Of several clips, none is cut before it is played.
    let preload = if clip.is_only_one() { "metadata" } else { "none" };
    if !clip.has_picture() {
        return format!(
            "<audio controls preload=\"{preload}\" src=\"{source}\" aria-label=\"{label}\"></audio>"
        );
    }
    let captions = match clip.has_speech() {
        true => format!(
            "<track kind=\"captions\" label=\"Captions\" src=\"{}\">",
            file(FileKind::Captions)
        ),
        false => String::new(),
    };
    format!(
        "<video controls playsinline preload=\"{preload}\" poster=\"{}\" src=\"{source}\" \
         aria-label=\"{label}\">{captions}</video>",
        file(FileKind::Poster)
    )
}

fn download(id: &ShareId, clip: &SharedClip<'_>) -> String {
    format!("<a href=\"{id}/{}\" download>Download</a>", FileKind::Clip.file(clip.number()))
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

/// Says which part of its video a clip shows.
fn times(clip: &SharedClip<'_>) -> String {
    let span = clip.span();
    let (start, end, length) = (instant(span.start), instant(span.end), duration(span.seconds()));
    format!("{start} to {end} of the recording. Duration: {length}.")
}

/// Formats a time as `M:SS.s` or `H:MM:SS.s`, to the tenth of a second.
fn instant(seconds: f64) -> String {
    let tenths = (seconds * 10.0).round() as u64;
    let (hours, minutes) = (tenths / 36_000, tenths / 600 % 60);
    let (seconds, tenths) = (tenths / 10 % 60, tenths % 10);
    match hours {
        0 => format!("{minutes}:{seconds:02}.{tenths}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}.{tenths}"),
    }
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
    fn files_of_clips_have_one_name() {
        assert_eq!(file_kind("clip.mp4"), Some((FileKind::Clip, 1)));
        assert_eq!(file_kind("poster-2.jpg"), Some((FileKind::Poster, 2)));
        assert_eq!(file_kind(&FileKind::Captions.file(30)), Some((FileKind::Captions, 30)));
        for bad in ["", "clip", "clip.jpg", "clip-1.mp4", "clip-02.mp4", "clip-.mp4", "clip-x.mp4"]
        {
            assert_eq!(file_kind(bad), None, "{bad}");
        }
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
    }

    #[test]
    fn durations_and_dates_are_readable() {
        let formatted = [0.2, 9.5, 75.0, 3725.0].map(duration);
        assert_eq!(formatted, ["0:01", "0:10", "1:15", "1:02:05"]);
        assert_eq!([6.14, 75.0, 3725.96].map(instant), ["0:06.1", "1:15.0", "1:02:06.0"]);
        assert_eq!(date(1_772_841_600_000), "7 March 2026");
    }
}
