//! The inbound HTTP adapter: one file per section of the contract. Handlers parse the wire type,
//! call one use-case and return a wire type. Must not name an adapter.
//!
//! A request comes through the front, which holds connections to their limits, passes the edge (id, log line, guard, errors), then the routes below.

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
mod conform;
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
mod uploads;
mod values;
mod videos;
pub(crate) mod views;

use std::sync::Arc;

use poem::endpoint::BoxEndpoint;
use poem::{EndpointExt, Response, Route, RouteMethod, get};
use poem_openapi::OpenApiService;
use tokio::sync::Semaphore;

use crate::domain::Shotlog;
pub use mount::Mount;
pub use server::{listen, serve};
pub use settings::{AuthSettings, AuthToken, Exposed, HttpOptions, HttpSettings, origin};

/// Every route of the service, and what is mounted beside them.
pub fn app(
    service: Arc<Shotlog>,
    options: HttpOptions,
    mounts: Vec<Mount>,
) -> BoxEndpoint<'static, Response> {
    let api = api(&service, &options);
    let document = document::Document::new(&api, &service.status.schema());
    let service = auth::Service::new(service);
    let mut methods = document.methods;
    let mut open: Vec<String> =
        ["/health", "/live", "/ready", "/docs", "/redoc", "/openapi.json", "/session"]
            .map(Into::into)
            .into();
    for path in ui::paths(&options) {
        methods.add(&path, "GET, HEAD");
        open.push(path);
    }
    for path in ["/docs", "/redoc", "/openapi.json", "/metrics", "/live", "/ready"] {
        methods.add(path, "GET, HEAD");
    }
    methods.add("/session", "GET, HEAD, POST, DELETE");

    let guard = Arc::new(auth::Guard::new(&options, open));
    let session = RouteMethod::new()
        .get(session::session_state)
        .post(session::open_session)
        .delete(session::close_session);
    let mut routes = Route::new()
        .at("/openapi.json", get(document::fixed("application/json", document.json)))
        .at("/docs", get(document::fixed("text/html; charset=utf-8", document.swagger)))
        .at("/redoc", get(document::fixed("text/html; charset=utf-8", document.redoc)))
        .at("/metrics", get(metrics::page))
        .at("/live", get(metrics::live))
        .at("/ready", get(metrics::ready))
        .at("/session", session);
    routes = uploads::with_uploads(routes, &mut methods);
    metrics::recorder();
    if options.serves_storage {
        methods.add("/storage/*", "GET, HEAD, OPTIONS");
        let objects = RouteMethod::new()
            .get(storage::object)
            .head(storage::object)
            .options(storage::preflight);
        routes = routes.at("/storage/*key", objects);
    }
    for Mount { path, endpoint } in mounts {
        methods.add(path, "POST");
        routes = routes.at(path, RouteMethod::new().post(mount::Mounted(endpoint)));
    }
    if !options.server.api_only && !ui::is_built() {
        tracing::warn!("the web UI is not built into this program; {}", ui::HOW_TO_BUILD);
    }
    let uploads = Arc::new(multipart::Uploads(Semaphore::new(options.server.max_uploads)));
    let inner = ui::with_files(routes, &options)
        .nest("/", api)
        .data(guard.clone())
        .data(service)
        .data(Arc::new(options))
        .data(uploads)
        .map_to_response();
    edge::Edge { inner, guard, methods }.boxed()
}

/// The document alone, for the command line.
pub fn openapi(service: &Arc<Shotlog>, options: &HttpOptions) -> String {
    document::Document::new(&api(service, options), &service.status.schema()).json
}

/// The sections of the document, in their order; a tuple has at most sixteen.
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
    let of = || service.clone();
    let library = (
        meta::MetaApi(of()),
        videos::VideosApi(of()),
        collections::CollectionsApi(of()),
        jobs::JobsApi(of()),
        chunking::ChunkingApi(of()),
        plan::PlanApi(of()),
    );
    let reading = (
        chunks::ChunksApi(of()),
        transcript::TranscriptApi(of()),
        corrections::CorrectionsApi(of()),
        aggregates::AggregatesApi(of()),
        entities::EntitiesApi(of()),
        export::ExportApi(of()),
    );
    let searching = (
        query::QueryApi(of()),
        facets::ValuesApi(of()),
        ask::AskApi(of()),
        moments::MomentsApi(of()),
        extractors::ExtractorsApi(of()),
        evaluations::EvaluationsApi(of()),
        alerts::AlertsApi(of()),
    );
    let serving = (
        media::MediaApi(of()),
        frames::FramesApi(of()),
        clips::ClipsApi(of()),
        ui::UiApi::new(options),
    );
    let sections = ((library, reading), (searching, serving));
    OpenApiService::new(sections, "shotlog", &options.version)
        .description(
            "Ingests videos, splits them into chunks, analyzes and indexes them, and answers \
             searches and questions. `GET /schema` lists what this install has.",
        )
        .license("Apache-2.0")
}
