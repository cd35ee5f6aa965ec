//! The inbound HTTP adapter. Handlers parse the wire type, call one use-case and return a wire type. Must
//! not name an adapter.
//!
//! A request passes the server, which enforces connection limits, then the edge (request id, log line,
//! guard, errors), then the routes.
//!
//! # Rooms
//!
//! In order of dependency: no room names one that is listed below it, and no two files name each other in a
//! circle.
//!
//! | room | contents |
//! |---|---|
//! | `settings` | the sections `[http]` and `[auth]`, and options that follow from the deployment |
//! | `wire` | shapes and parsing that several routes share: bodies, parameters, errors, token budgets |
//! | `edge` | the server, authentication, sessions, limits, the document, metrics, the UI's files |
//! | `routes` | one file per section of the contract, and the list of all routes |
//! | `views` | what other inbound adapters may use of `wire` and `routes` |

mod edge;
mod routes;
mod settings;
pub(crate) mod views;
mod wire;

use std::sync::Arc;

use poem::endpoint::BoxEndpoint;
use poem::{EndpointExt, Response, Route};
use poem_openapi::{OpenApi, OpenApiService};
use tokio::sync::Semaphore;

use domain::Shotlog;
use edge::auth::{Guard, Service};
use edge::document::OpenApiDocument;
use edge::endpoint::EdgeEndpoint;
pub use edge::mount::Mount;
pub use edge::server::{listen, serve};
use edge::upload_slots::UploadSlots;
use edge::{metrics, ui};
pub use settings::{AuthSettings, AuthToken, ExposureError, HttpOptions, HttpSettings, origin};

/// Every route of the service, and the mounted endpoints.
pub fn app(
    service: Arc<Shotlog>,
    options: HttpOptions,
    mounts: Vec<Mount>,
) -> BoxEndpoint<'static, Response> {
    let api = api(&service, &options);
    let document = OpenApiDocument::new(&api, &service.status.schema());
    let mut plain = document.pages();
    plain.extend(routes::plain(&options));
    plain.extend(mounts.into_iter().map(Mount::into_route));

    let mut open = routes::open_paths(&options);
    let mut route_table = document.routes;
    if !options.server.api_only {
        // The page is served by the API, which hides it from the document.
        route_table.add(ui::PAGE, "GET, HEAD");
    }
    let mut route = Route::new();
    for plain in plain {
        route_table.add(&plain.path, plain.methods);
        route = route.at(&plain.path, plain.endpoint);
        if plain.is_open {
            open.exact.push(plain.path);
        }
    }

    metrics::recorder();
    if !options.server.api_only && !ui::is_built() {
        tracing::warn!("the web UI is not built into this program; {}", ui::HOW_TO_BUILD);
    }
    let guard = Arc::new(Guard::new(&options, open));
    let uploads = Arc::new(UploadSlots(Semaphore::new(options.server.max_uploads)));
    let inner = route
        .nest("/", api)
        .data(guard.clone())
        .data(Service::new(service))
        .data(Arc::new(options))
        .data(uploads)
        .map_to_response();
    EdgeEndpoint { inner, guard, routes: route_table }.boxed()
}

/// The OpenAPI document as JSON, for the command line.
pub fn openapi(service: &Arc<Shotlog>, options: &HttpOptions) -> String {
    OpenApiDocument::new(&api(service, options), &service.status.schema()).json
}

fn api(service: &Arc<Shotlog>, options: &HttpOptions) -> OpenApiService<impl OpenApi + use<>, ()> {
    let sections = routes::sections(&Service::new(service.clone()), options);
    OpenApiService::new(sections, "shotlog", &options.version)
        .description(
            "Ingests videos, splits them into chunks, analyzes and indexes them, and answers \
             searches and questions. `GET /schema` lists the capabilities of this install.",
        )
        .license("Apache-2.0")
}
