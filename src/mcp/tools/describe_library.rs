//! `describe_library`: an overview of the library.

use poem_openapi::Object;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{
    AggregatorBody, FilterBody, HttpFailure, OrderedMap, SchemaBody, VideoBody,
};
use domain::library::videos;

/// Describes the library.
pub(super) struct DescribeLibrary;

#[derive(Object)]
pub(super) struct LibraryRequest {
    /// How many of the newest videos to list.
    #[oai(default = "newest", validator(minimum(value = "0"), maximum(value = "50")))]
    newest: u32,
}

fn newest() -> u32 {
    10
}

#[derive(Object)]
#[oai(rename = "Library")]
pub(super) struct LibraryOverview {
    /// Number of videos in the library.
    total: u32,
    /// The newest videos, newest first.
    newest: Vec<VideoBody>,
    /// Ids of the analyzers that describe chunks, as used in the arguments `analyzer` and
    /// `analyzers`.
    analyzers: Vec<String>,
    /// Groups of analyzers from which an ingest may select only one.
    exclusive_groups: Vec<Vec<String>>,
    /// Aggregators that summarize whole videos, by the id that get_aggregate takes.
    aggregators: OrderedMap<AggregatorBody>,
    /// For each vector field, what it is computed from.
    vector_fields: OrderedMap<String>,
    /// Conditions for `filters` in search_moments.
    filters: OrderedMap<FilterBody>,
    /// For each filter, the analyzers whose output it applies to; filters that apply to every chunk
    /// are absent.
    filter_analyzers: OrderedMap<Vec<String>>,
    /// User metadata keys for the filter `metadata`, with their types.
    metadata_keys: OrderedMap<String>,
    /// What was omitted, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for DescribeLibrary {
    const NAME: &'static str = "describe_library";
    const TITLE: &'static str = "Describe the library";
    const DESCRIPTION: &'static str = "Describes the library: the number of videos, the newest ones \
        with ids and durations, the analyzers (results per chunk) and aggregators (results per \
        video), and the available search filters. Call it once, first. The resource \
        shotlog://videos lists all videos, shotlog://schema has the schemas of results.";
    type Input = LibraryRequest;
    type Output = LibraryOverview;

    async fn call(
        mut call: Call<'_>,
        input: LibraryRequest,
    ) -> Result<ToolAnswer<LibraryOverview>, HttpFailure> {
        let page = videos::VideoQuery {
            limit: Some(input.newest.max(1)),
            ..videos::VideoQuery::default()
        };
        let list = call.service.videos(&page).await?;
        let schema = SchemaBody::for_service(call.service).await;
        let mut library = LibraryOverview {
            total: list.total,
            newest: Vec::new(),
            analyzers: schema.analyzers,
            exclusive_groups: schema.exclusive_groups,
            aggregators: schema.aggregators,
            vector_fields: schema.vector_fields,
            filters: schema.filters,
            filter_analyzers: schema.filter_analyzers,
            metadata_keys: schema.metadata_keys,
            rest: None,
        };
        let mut lines = summary(&library);
        call.budget.take_value(&library);
        lines.iter().for_each(|line| call.budget.take_text(line));
        let newest = list.videos.into_iter().take(input.newest as usize);
        let fitting = call.budget.fill(newest.map(describe_video).collect());
        let further = library.total as usize - fitting.units.len().min(library.total as usize);
        library.rest = (further > 0).then(|| {
            format!("{further} more videos; the resource shotlog://videos lists all, in pages")
        });
        library.newest = fitting.units;
        lines.extend(fitting.lines);
        lines.extend(library.rest.clone());
        Ok(ToolAnswer::new(lines.join("\n"), library))
    }
}

fn summary(library: &LibraryOverview) -> Vec<String> {
    let names = |ids: &mut dyn Iterator<Item = &String>| {
        ids.map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    vec![
        format!("{} videos.", library.total),
        format!("Analyzers: {}.", names(&mut library.analyzers.iter())),
        format!("Aggregators: {}.", names(&mut library.aggregators.0.iter().map(|(id, _)| id))),
        format!("Filters: {}.", names(&mut library.filters.0.iter().map(|(name, _)| name))),
    ]
}

fn describe_video(video: videos::Video) -> (VideoBody, String) {
    let line = format!(
        "- {} {}: {:.0} s, {} chunks, analyzers {}",
        video.video_id,
        video.filename,
        video.duration,
        video.chunks,
        video.analyzers.join(", ")
    );
    (video.into(), line)
}
