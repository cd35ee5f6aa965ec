//! The built-in web UI: static files embedded in the binary. The UI uses only the public API.

use poem::http::header;
use poem::{Endpoint, Response, endpoint::make_sync, get};
use poem_openapi::{ApiResponse, OpenApi, payload::Html};
use rust_embed::{EmbeddedFile, RustEmbed};

use super::route_table::PlainRoute;
use crate::http::settings::HttpOptions;
use crate::http::wire::conditional::{matches_weakly, quoted};
use crate::http::wire::failure::HttpFailure;

const INDEX: &str = "index.html";

/// How to build the UI into the program.
pub(crate) const HOW_TO_BUILD: &str =
    "run scripts/setup.sh, or `npm ci && npm run build` in ui/, and build the program again";

// `scripts/setup.sh` creates the folder. The program also builds without it; the page then explains
// how to build the UI.
#[derive(RustEmbed)]
#[folder = "ui/dist"]
#[allow_missing = true]
struct Files;

/// Whether the program contains the UI.
pub(crate) fn is_built() -> bool {
    Files::get(INDEX).is_some()
}

/// Path of the page, which [`UiApi`] serves.
pub(crate) const PAGE: &str = "/";

/// Returns the routes of the UI's assets.
pub(crate) fn assets(options: &HttpOptions) -> Vec<PlainRoute> {
    if options.server.api_only {
        return vec![];
    }
    let names = Files::iter().filter(|name| name != INDEX).map(String::from);
    let route = |name: String| {
        PlainRoute::new(format!("/{name}"), "GET, HEAD", get(file(name))).without_token()
    };
    names.map(route).collect()
}

fn file(name: String) -> impl Endpoint {
    make_sync(move |request| match Files::get(&name) {
        Some(file) => serve(&name, &file, request.header("if-none-match")),
        None => HttpFailure::not_found(format!("there is no file '{name}'")).into_response(),
    })
}

fn serve(name: &str, file: &EmbeddedFile, if_none_match: Option<&str>) -> Response {
    let digest = file.metadata.sha256_hash();
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let response = Response::builder()
        .header(header::CACHE_CONTROL, "no-cache")
        .header(header::ETAG, quoted(&hex));
    if if_none_match.is_some_and(|if_none_match| matches_weakly(if_none_match, Some(&hex))) {
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

/// Returns the page's content security policy. It allows the page to load from this service and
/// from the storage that serves the videos.
fn policy(options: &HttpOptions) -> String {
    let storage = match &options.storage_origin {
        Some(origin) => format!(" {origin}"),
        None => String::new(),
    };
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
         img-src 'self' data:{storage}; media-src 'self'{storage}; connect-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'"
    )
}

/// The route `GET /`, which serves the UI's page.
pub(crate) struct UiApi {
    pub(crate) api_only: bool,
    policy: String,
}

impl UiApi {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        Self { api_only: options.server.api_only, policy: policy(options) }
    }
}

#[derive(ApiResponse)]
enum UiPage {
    /// The web UI.
    #[oai(status = 200)]
    Html(
        Html<String>,
        #[oai(header = "Content-Security-Policy")] String,
        #[oai(header = "Cache-Control")] String,
    ),
}

#[OpenApi]
impl UiApi {
    /// The built-in web UI.
    #[oai(path = "/", method = "get", operation_id = "ui", hidden)]
    async fn page(&self) -> poem::Result<UiPage> {
        if self.api_only {
            return Err(
                HttpFailure::not_found("the web UI is off in API-only mode; see /docs").into()
            );
        }
        let html = match Files::get(INDEX) {
            Some(file) => String::from_utf8_lossy(&file.data).into_owned(),
            None => not_built(),
        };
        Ok(UiPage::Html(Html(html), self.policy.clone(), "no-cache".into()))
    }
}

/// Returns the page to show if the program was built without the UI.
fn not_built() -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Shotlog</title>\
         <h1>The web UI is not built</h1><p>To have it, {HOW_TO_BUILD}.</p>\
         <p>The API works without it: <a href=\"docs\">its documentation</a>.</p></html>"
    )
}
