//! The inbound HTTP adapter. Each handler parses a wire type, calls one use-case and returns a wire
//! type. This module must not name any other adapter.
//!
//! A request passes through the server, which enforces connection limits, then the edge (request
//! id, log line, authentication, error conversion), then the routes.
//!
//! # Modules
//!
//! In order of dependency: no module uses one listed below it, and files do not depend on each
//! other in cycles.
//!
//! | module | contents |
//! |---|---|
//! | `settings` | the sections `[http]` and `[auth]`, and options derived from the deployment |
//! | `wire` | shared shapes and parsing: bodies, parameters, errors, token budgets |
//! | `edge` | the server, authentication, sessions, limits, OpenAPI document, metrics, UI files |
//! | `routes` | one file per section of the contract, and the list of all routes |
//! | `views` | the items of `wire` and `routes` that other inbound adapters may use |

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

/// Builds the HTTP app: all routes of the service and the mounted endpoints.
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
        // `UiApi` hides the page from the document, so the table does not contain it yet.
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

/// Returns the OpenAPI document as JSON, for the command line.
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
