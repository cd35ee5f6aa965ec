//! Resources: the library, its videos, and the schema of the installation.

use poem_openapi::types::ToJSON;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};
use url::Url;

use super::Caller;
use super::budget::{TokenBudget, embedded_json_tokens, value_tokens};
use super::pages;
use crate::http::views::{HttpFailure, SchemaBody, VideoDetailBody, VideoListBody};
use domain::kernel::video::parse_video_id;
use domain::library::videos;

const JSON: &str = "application/json";
const SCHEMA: &str = "shotlog://schema";
const VIDEOS: &str = "shotlog://videos";
/// Maximum length of a resource URI, in bytes; responses repeat the URI.
const MAX_URI_BYTES: usize = 1000;

/// The URI templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, description: &str| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(JSON)
    };
    vec![
        template(
            "shotlog://videos{?cursor}",
            "videos",
            "The videos of the library, newest first. `next`, if present, is the `cursor` of the next \
             page.",
        ),
        template(
            "shotlog://videos/{video_id}",
            "video",
            "One video: its length, chunks, analyzers and aggregates.",
        ),
        template(
            "shotlog://schema{?cursor}",
            "schema",
            "Searchable fields and filters, and the JSON schemas of analyzer outputs and aggregator \
             results. `next`, if present, is the `cursor` of the next page.",
        ),
    ]
}

/// A page of resources: the library and the schema first, then the videos, newest first.
pub(super) async fn list(
    caller: &Caller<'_>,
    cursor: Option<String>,
) -> Result<ListResourcesResult, HttpFailure> {
    let fixed = if cursor.is_none() { fixed() } else { Vec::new() };
    let listed = |page: videos::VideoList| {
        let resources = fixed.iter().cloned().chain(page.videos.iter().map(resource));
        let mut list = ListResourcesResult::with_all_items(resources.collect());
        list.next_cursor = page.next;
        list
    };
    videos(caller, cursor, listed, |list| value_tokens(&json!(list))).await
}

fn fixed() -> Vec<Resource> {
    let fixed = |uri: &str, name: &str, description: &str| {
        Resource::new(uri, name).with_description(description).with_mime_type(JSON)
    };
    vec![
        fixed(VIDEOS, "videos", "The videos of the library, newest first"),
        fixed(SCHEMA, "schema", "Searchable fields and filters, and the schemas of results"),
    ]
}

fn resource(video: &videos::Video) -> Resource {
    let description = format!("{:.0} seconds in {} chunks", video.duration, video.chunks);
    Resource::new(format!("{VIDEOS}/{}", video.video_id), &*video.filename)
        .with_description(description)
        .with_mime_type(JSON)
}

/// Reads the resource at a URI.
pub(super) async fn read(
    caller: &Caller<'_>,
    uri: &str,
) -> Result<ReadResourceResult, HttpFailure> {
    let document = document(caller, uri).await?;
    let text = Value::Object(document).to_string();
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn document(caller: &Caller<'_>, uri: &str) -> Result<Map<String, Value>, HttpFailure> {
    let unknown = || {
        HttpFailure::not_found(format!(
            "there is no resource '{}'; there are {VIDEOS}, {VIDEOS}/<video_id> and {SCHEMA}",
            uri.chars().take(100).filter(|c| !c.is_control()).collect::<String>()
        ))
    };
    let address = Some(uri).filter(|uri| uri.len() <= MAX_URI_BYTES);
    let address = address.and_then(|uri| Url::parse(uri).ok());
    let address = address.filter(|address| address.scheme() == "shotlog");
    let address = address.ok_or_else(unknown)?;
    let cursor = address.query_pairs().find(|(name, _)| name == "cursor");
    let cursor = cursor.map(|(_, cursor)| cursor.into_owned());
    match (address.host_str(), address.path().trim_matches('/')) {
        (Some("videos"), "") => {
            let shown = |list| object(&VideoListBody::from(list));
            videos(caller, cursor, shown, |list| embedded_json_tokens(&list.clone().into())).await
        }
        (Some("videos"), video_id) => {
            let video = caller.service.video(parse_video_id(video_id)?).await?;
            let detail = VideoDetailBody::from(video.detail().await?);
            Ok(page(caller, object(&detail), pages::position(cursor.as_deref())?))
        }
        (Some("schema"), "") => {
            let schema = SchemaBody::for_service(&caller.service).await;
            Ok(page(caller, object(&schema), pages::position(cursor.as_deref())?))
        }
        _ => Err(unknown()),
    }
}

/// Renders as many videos as the page size and the token budget allow.
async fn videos<T>(
    caller: &Caller<'_>,
    cursor: Option<String>,
    show: impl Fn(videos::VideoList) -> T,
    tokens: fn(&T) -> usize,
) -> Result<T, HttpFailure> {
    let max_tokens = TokenBudget::new(caller.settings.max_tokens).remaining();
    let mut limit = caller.settings.page_videos;
    loop {
        let page = videos::VideoQuery {
            limit: Some(limit),
            cursor: cursor.clone(),
            ..videos::VideoQuery::default()
        };
        let shown = show(caller.service.videos(&page).await?);
        if limit == 1 || tokens(&shown) <= max_tokens {
            return Ok(shown);
        }
        limit = (limit / 2).max(1);
    }
}

/// A page of a document, with `next` if another page follows.
fn page(caller: &Caller<'_>, document: Map<String, Value>, from: usize) -> Map<String, Value> {
    let budget = TokenBudget::new(caller.settings.max_tokens);
    let page = pages::page(document, from, budget, embedded_json_tokens);
    let mut document = page.document;
    if let Some(next) = page.next {
        document.insert("next".into(), next.to_string().into());
    }
    document
}

fn object(shape: &impl ToJSON) -> Map<String, Value> {
    match shape.to_json() {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}
