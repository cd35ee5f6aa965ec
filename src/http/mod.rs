//! The inbound HTTP adapter: one file per section of the API. Handlers parse the wire type, call one
//! use-case and return a wire type. Must not name an adapter.
//!
//! A request passes the server, which enforces connection limits, then the edge (request id, log line,
//! guard, errors), then the routes below.

mod aggregates;
mod alerts;
mod ask;
mod auth;
mod body;
mod budget;
mod chunking;
mod chunks;
mod clips;
mod collections;
mod conditional;

mod corrections;
mod disposition;
mod document;
mod edge;
mod entities;
mod errors;
mod evaluations;
mod events;
mod export;
mod extractors;
mod facets;
mod frames;
mod hosts;
mod jobs;
mod media;
mod meta;
mod metrics;
mod moments;
mod mount;
mod multipart;
mod params;
mod plan;
mod query;
mod server;
mod session;
mod settings;
mod storage;
mod transcript;
mod ui;
mod units;
mod uploads;
mod validation;
mod values;
mod videos;
pub(crate) mod views;

use std::sync::Arc;

use poem::endpoint::BoxEndpoint;
use poem::{EndpointExt, Response, Route, RouteMethod, get};
use poem_openapi::OpenApiService;
use tokio::sync::Semaphore;

use domain::Shotlog;
pub use mount::Mount;
pub use server::{listen, serve};
pub use settings::{AuthSettings, AuthToken, ExposureError, HttpOptions, HttpSettings, origin};

/// Every route of the service, and the mounted endpoints.
pub fn app(
    service: Arc<Shotlog>,
    options: HttpOptions,
    mounts: Vec<Mount>,
) -> BoxEndpoint<'static, Response> {
    let api = api(&service, &options);
    let document = document::Document::new(&api, &service.status.schema());
    let service = auth::Service::new(service);
    let mut route_table = document.routes;
    let mut open: Vec<String> =
        ["/health", "/live", "/ready", "/docs", "/redoc", "/openapi.json", "/session"]
            .map(Into::into)
            .into();
    for path in ui::paths(&options) {
        route_table.add(&path, "GET, HEAD");
        open.push(path);
    }
    for path in ["/docs", "/redoc", "/openapi.json", "/metrics", "/live", "/ready"] {
        route_table.add(path, "GET, HEAD");
    }
    route_table.add("/session", "GET, HEAD, POST, DELETE");

    let guard = Arc::new(auth::Guard::new(&options, open));
    let session = RouteMethod::new()
        .get(session::session_state)
        .post(session::open_session)
        .delete(session::close_session);
    let mut routes = Route::new()
        .at("/openapi.json", get(document::static_page("application/json", document.json)))
        .at("/docs", get(document::static_page("text/html; charset=utf-8", document.swagger)))
        .at("/redoc", get(document::static_page("text/html; charset=utf-8", document.redoc)))
        .at("/metrics", get(metrics::metrics_page))
        .at("/live", get(metrics::live))
        .at("/ready", get(metrics::ready))
        .at("/session", session);
    routes = uploads::with_uploads(routes, &mut route_table);
    metrics::recorder();
    if options.serves_storage {
        route_table.add("/storage/*", "GET, HEAD, OPTIONS");
        let objects = RouteMethod::new()
            .get(storage::object)
            .head(storage::object)
            .options(storage::preflight);
        routes = routes.at("/storage/*key", objects);
    }
    for Mount { path, endpoint } in mounts {
        route_table.add(path, "POST");
        routes = routes.at(path, RouteMethod::new().post(mount::MountedEndpoint(endpoint)));
    }
    if !options.server.api_only && !ui::is_built() {
        tracing::warn!("the web UI is not built into this program; {}", ui::HOW_TO_BUILD);
    }
    let uploads = Arc::new(multipart::UploadSlots(Semaphore::new(options.server.max_uploads)));
    let inner = ui::with_files(routes, &options)
        .nest("/", api)
        .data(guard.clone())
        .data(service)
        .data(Arc::new(options))
        .data(uploads)
        .map_to_response();
    edge::Edge { inner, guard, routes: route_table }.boxed()
}

/// The OpenAPI document as JSON, for the command line.
pub fn openapi(service: &Arc<Shotlog>, options: &HttpOptions) -> String {
    document::Document::new(&api(service, options), &service.status.schema()).json
}

/// The sections of the document, in order; a tuple has at most sixteen elements.
type Api = ((Library, Reading), (Searching, Serving));
type Library = (
    meta::MetaApi,
    videos::VideosApi,
    collections::CollectionsApi,
    jobs::JobsApi,
    chunking::ChunkingApi,
    plan::PlanApi,
);
type Reading = (
    chunks::ChunksApi,
    transcript::TranscriptApi,
    corrections::CorrectionsApi,
    aggregates::AggregatesApi,
    entities::EntitiesApi,
    export::ExportApi,
);
type Searching = (
    query::QueryApi,
    facets::ValuesApi,
    ask::AskApi,
    moments::MomentsApi,
    extractors::ExtractorsApi,
    evaluations::EvaluationsApi,
    alerts::AlertsApi,
);
type Serving = (media::MediaApi, frames::FramesApi, clips::ClipsApi, ui::UiApi);

fn api(service: &Arc<Shotlog>, options: &HttpOptions) -> OpenApiService<Api, ()> {
    let service = auth::Service::new(service.clone());
    let shared = || service.clone();
    let library = (
        meta::MetaApi(shared()),
        videos::VideosApi(shared()),
        collections::CollectionsApi(shared()),
        jobs::JobsApi(shared()),
        chunking::ChunkingApi(shared()),
        plan::PlanApi(shared()),
    );
    let reading = (
        chunks::ChunksApi(shared()),
        transcript::TranscriptApi(shared()),
        corrections::CorrectionsApi(shared()),
        aggregates::AggregatesApi(shared()),
        entities::EntitiesApi(shared()),
        export::ExportApi(shared()),
    );
    let searching = (
        query::QueryApi(shared()),
        facets::ValuesApi(shared()),
        ask::AskApi(shared()),
        moments::MomentsApi(shared()),
        extractors::ExtractorsApi(shared()),
        evaluations::EvaluationsApi(shared()),
        alerts::AlertsApi(shared()),
    );
    let serving = (
        media::MediaApi(shared()),
        frames::FramesApi(shared()),
        clips::ClipsApi(shared()),
        ui::UiApi::new(options),
    );
    let sections = ((library, reading), (searching, serving));
    OpenApiService::new(sections, "shotlog", &options.version)
        .description(
            "Ingests videos, splits them into chunks, analyzes and indexes them, and answers \
             searches and questions. `GET /schema` lists the capabilities of this install.",
        )
        .license("Apache-2.0")
}
