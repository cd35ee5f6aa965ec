//! `describe_library`: what there is to ask about.

use poem_openapi::Object;

use super::{Answer, Call, Tool};
use crate::domain::catalog::videos;
use crate::http::views::{Aggregator, Failure, Filter, Ordered, Schema, Video};

/// Tells what is there.
pub(super) struct DescribeLibrary;

#[derive(Object)]
pub(super) struct LibraryRequest {
    /// Newest videos to list.
    #[oai(default = "newest", validator(minimum(value = "0"), maximum(value = "50")))]
    newest: u32,
}

fn newest() -> u32 {
    10
}

#[derive(Object)]
pub(super) struct Library {
    /// Videos in the library.
    total: u32,
    /// The newest of them, the newest first.
    newest: Vec<Video>,
    /// What looks at moments: ids for `analyzer` and `analyzers`.
    analyzers: Vec<String>,
    /// Analyzers that may not be selected together for an ingest.
    exclusive_groups: Vec<Vec<String>>,
    /// What concludes from whole videos: ids for get_aggregate.
    aggregators: Ordered<Aggregator>,
    /// What the vectors of moments are made from.
    vector_fields: Ordered<String>,
    /// Conditions for `filters` of search_moments.
    filters: Ordered<Filter>,
    /// Filter to the analyzers whose output it is about; filters about every chunk are absent.
    filter_analyzers: Ordered<Vec<String>>,
    /// Keys of the filter `metadata`, which owners have given their videos, with their types.
    metadata_keys: Ordered<String>,
    /// What is left out, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for DescribeLibrary {
    const NAME: &'static str = "describe_library";
    const TITLE: &'static str = "What is in the library";
    const DESCRIPTION: &'static str = "What there is: how many videos and which are the newest, with \
        their ids and lengths; which analyzers look at moments and which aggregators conclude from \
        whole videos; which filters a search may have. Call it first, once. All videos are in the \
        resource shotlog://videos, shapes of results in shotlog://schema.";
    type Input = LibraryRequest;
    type Output = Library;

    async fn call(mut call: Call<'_>, input: LibraryRequest) -> Result<Answer<Library>, Failure> {
        let page =
            videos::VideoPage { limit: Some(input.newest.max(1)), ..videos::VideoPage::default() };
        let list = call.service.videos(&page).await?;
        let schema = Schema::of(call.service).await;
        let mut library = Library {
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
        let filled = call.budget.fill(newest.map(told).collect());
        let further = library.total as usize - filled.units.len().min(library.total as usize);
        library.rest = (further > 0).then(|| {
            format!("{further} further videos: the resource shotlog://videos has all, in pages")
        });
        library.newest = filled.units;
        lines.extend(filled.lines);
        lines.extend(library.rest.clone());
        Ok(Answer::new(lines.join("\n"), library))
    }
}

fn summary(library: &Library) -> Vec<String> {
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

fn told(video: videos::Video) -> (Video, String) {
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
