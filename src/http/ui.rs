//! The built-in web UI: static files in the binary that use nothing but the public API.

use poem::http::header;
use poem::{Endpoint, Response, Route, endpoint::make_sync, get};
use poem_openapi::{ApiResponse, OpenApi, payload::Html};
use rust_embed::{EmbeddedFile, RustEmbed};

use super::HttpOptions;
use super::errors::Failure;

const INDEX: &str = "index.html";

#[derive(RustEmbed)]
#[folder = "ui/"]
struct Files;

/// Absolute paths of the UI: its page and the files the page loads.
pub(super) fn paths(options: &HttpOptions) -> Vec<String> {
    if options.api_only {
        return vec![];
    }
    let files = Files::iter().filter(|name| name != INDEX).map(|name| format!("/{name}"));
    std::iter::once("/".to_owned()).chain(files).collect()
}

/// Adds the files the page loads; the page itself is [`UiApi`]'s.
pub(super) fn with_files(mut route: Route, options: &HttpOptions) -> Route {
    for path in paths(options).into_iter().filter(|path| path != "/") {
        route = route.at(&path, get(file(path.trim_start_matches('/').to_owned())));
    }
    route
}

fn file(name: String) -> impl Endpoint {
    make_sync(move |request| match Files::get(&name) {
        Some(file) => serve(&name, &file, request.header("if-none-match")),
        None => Failure::not_found(format!("there is no file '{name}'")).into_response(),
    })
}

fn serve(name: &str, file: &EmbeddedFile, known: Option<&str>) -> Response {
    let digest = file.metadata.sha256_hash();
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let etag = format!("\"{hex}\"");
    let response =
        Response::builder().header(header::CACHE_CONTROL, "no-cache").header(header::ETAG, &etag);
    if known.is_some_and(|known| known.split(',').any(|known| known.trim() == etag)) {
        return response.status(poem::http::StatusCode::NOT_MODIFIED).finish();
    }
    response.content_type(content_type(name)).body(file.data.to_vec())
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// What the page may load and talk to: this service and the storage that plays its videos.
fn policy(options: &HttpOptions) -> String {
    let storage = match &options.storage_origin {
        Some(origin) => format!(" {origin}"),
        None => String::new(),
    };
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{storage}; \
         media-src 'self'{storage}; connect-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'"
    )
}

/// `GET /`.
pub(super) struct UiApi {
    pub(super) api_only: bool,
    policy: String,
}

impl UiApi {
    pub(super) fn new(options: &HttpOptions) -> Self {
        Self { api_only: options.api_only, policy: policy(options) }
    }
}

#[derive(ApiResponse)]
enum Page {
    /// The web UI.
    #[oai(status = 200)]
    Found(
        Html<String>,
        #[oai(header = "Content-Security-Policy")] String,
        #[oai(header = "Cache-Control")] String,
    ),
}

#[OpenApi]
impl UiApi {
    /// The built-in web UI.
    #[oai(path = "/", method = "get", operation_id = "ui", hidden)]
    async fn page(&self) -> poem::Result<Page> {
        let file = (!self.api_only).then(|| Files::get(INDEX)).flatten();
        let Some(file) = file else {
            return Err(Failure::not_found("the web UI is off in API-only mode; see /docs").into());
        };
        let html = String::from_utf8_lossy(&file.data).into_owned();
        Ok(Page::Found(Html(html), self.policy.clone(), "no-cache".into()))
    }
}
