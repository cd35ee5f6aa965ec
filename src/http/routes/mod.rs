//! The routes of the service: one file per section of the contract, and the list of all routes.
//!
//! To add a section, write its file, declare it as a module here, and add it to [`sections`], or to
//! [`plain`] if it is not in the OpenAPI document.

pub(super) mod aggregates;
mod alerts;
pub(super) mod ask;
pub(super) mod bins;
mod chunking;
mod chunks;
mod clips;
mod collections;
mod comments;
mod corrections;
mod entities;
mod evaluations;
mod export;
mod extractors;
mod facets;
mod frames;
mod inbox;
pub(super) mod intervals;
pub(super) mod jobs;
mod media;
pub(super) mod meta;
pub(super) mod moments;
pub(super) mod people;
pub(super) mod plan;
mod probes;
mod query;
mod sample;
mod session;
mod shared;
mod shares;
mod storage;
mod string_out;
pub(super) mod transcript;
mod uploads;
pub(super) mod videos;

use poem_openapi::OpenApi;

use super::edge::auth::{OpenPaths, Service};
use super::edge::route_table::PlainRoute;
use super::edge::ui;
use super::settings::HttpOptions;
use super::wire::share_paths::SHARED_ROOT;

/// Returns the sections of the OpenAPI document, in the document's order. The tuples are nested
/// because a tuple may have at most sixteen elements.
pub(super) fn sections(service: &Service, options: &HttpOptions) -> impl OpenApi + use<> {
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
        comments::CommentsApi(shared()),
        shares::SharesApi::new(shared(), options),
        aggregates::AggregatesApi(shared()),
        entities::EntitiesApi(shared()),
        people::PeopleApi(shared()),
        export::ExportApi(shared()),
        string_out::StringOutApi(shared()),
    );
    let searching = (
        query::QueryApi(shared()),
        intervals::IntervalsApi(shared()),
        facets::ValuesApi(shared()),
        ask::AskApi(shared()),
        moments::MomentsApi(shared()),
        bins::BinsApi(shared()),
        bins::BinTagsApi(shared()),
        extractors::ExtractorsApi(shared()),
        evaluations::EvaluationsApi(shared()),
        alerts::AlertsApi(shared()),
        inbox::InboxApi(shared()),
    );
    let serving = (
        media::MediaApi(shared()),
        frames::FramesApi(shared()),
        clips::ClipsApi(shared()),
        ui::UiApi::new(options),
    );
    ((library, reading), (searching, serving))
}

/// Returns the routes that are not in the OpenAPI document.
pub(super) fn plain(options: &HttpOptions) -> Vec<PlainRoute> {
    let mut routes = vec![session::route(), sample::route(options)];
    routes.extend(probes::routes());
    routes.extend(uploads::routes());
    routes.extend(storage::routes(options));
    routes.extend(shared::routes());
    routes.extend(ui::assets(options));
    routes
}

/// Returns the paths of the sections that need no token, and the prefixes of shared clips and of the
/// public bucket.
pub(super) fn open_paths(options: &HttpOptions) -> OpenPaths {
    let page = (!options.server.api_only).then(|| ui::PAGE.to_owned());
    OpenPaths {
        exact: ["/health".to_owned()].into_iter().chain(page).collect(),
        readable_prefixes: [SHARED_ROOT]
            .into_iter()
            .chain(options.serves_storage.then_some(storage::ROOT))
            .collect(),
    }
}
