//! What agents may read by address: the library, its videos, and the schema of the install.

use poem_openapi::types::ToJSON;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};
use url::Url;

use super::Caller;
use super::budget::{Budget, tokens_of, tokens_of_text};
use super::pages;
use crate::domain::catalog::videos;
use crate::domain::kernel::video::video_named;
use crate::http::views::{Failure, Schema, VideoDetail, VideoList};

const JSON: &str = "application/json";
const SCHEMA: &str = "shotlog://schema";
const VIDEOS: &str = "shotlog://videos";
/// Longest address that is looked at, bytes: an answer repeats it.
const LONGEST_URI: usize = 1000;

/// The patterns of addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, description: &str| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(JSON)
    };
    vec![
        template(
            "shotlog://videos{?cursor}",
            "videos",
            "The videos of the library, newest first. Where `next` is there, it is the `cursor` of the \
             next page.",
        ),
        template(
            "shotlog://videos/{video_id}",
            "video",
            "One video: its length, chunks, analyzers and aggregates.",
        ),
        template(
            "shotlog://schema{?cursor}",
            "schema",
            "Everything searchable and filterable, and the JSON schemas of what analyzers and \
             aggregators give. Where `next` is there, it is the `cursor` of the next page.",
        ),
    ]
}

/// A page of what there is to read: the library and the schema, then the videos, newest first.
pub(super) async fn list(
    caller: &Caller<'_>,
    cursor: Option<String>,
) -> Result<ListResourcesResult, Failure> {
    let fixed = if cursor.is_none() { fixed() } else { Vec::new() };
    let listed = |page: videos::VideoList| {
        let resources = fixed.iter().cloned().chain(page.videos.iter().map(resource));
        let mut list = ListResourcesResult::with_all_items(resources.collect());
        list.next_cursor = page.next;
        list
    };
    videos(caller, cursor, listed, |list| tokens_of(&json!(list))).await
}

fn fixed() -> Vec<Resource> {
    let fixed = |uri: &str, name: &str, description: &str| {
        Resource::new(uri, name).with_description(description).with_mime_type(JSON)
    };
    vec![
        fixed(VIDEOS, "videos", "The videos of the library, newest first"),
        fixed(SCHEMA, "schema", "Everything searchable and filterable"),
    ]
}

fn resource(video: &videos::Video) -> Resource {
    let description = format!("{:.0} seconds in {} chunks", video.duration, video.chunks);
    Resource::new(format!("{VIDEOS}/{}", video.video_id), &*video.filename)
        .with_description(description)
        .with_mime_type(JSON)
}

/// What is at an address.
pub(super) async fn read(caller: &Caller<'_>, uri: &str) -> Result<ReadResourceResult, Failure> {
    let document = document(caller, uri).await?;
    let text = Value::Object(document).to_string();
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn document(caller: &Caller<'_>, uri: &str) -> Result<Map<String, Value>, Failure> {
    let unknown = || {
        Failure::not_found(format!(
            "there is no resource '{}'; there are {VIDEOS}, {VIDEOS}/<video_id> and {SCHEMA}",
            uri.chars().take(100).filter(|c| !c.is_control()).collect::<String>()
        ))
    };
    let address = Some(uri).filter(|uri| uri.len() <= LONGEST_URI);
    let address = address.and_then(|uri| Url::parse(uri).ok());
    let address = address.filter(|address| address.scheme() == "shotlog");
    let address = address.ok_or_else(unknown)?;
    let cursor = address.query_pairs().find(|(name, _)| name == "cursor");
    let cursor = cursor.map(|(_, cursor)| cursor.into_owned());
    match (address.host_str(), address.path().trim_matches('/')) {
        (Some("videos"), "") => {
            let shown = |list| object(&VideoList::from(list));
            videos(caller, cursor, shown, |list| tokens_of_text(&list.clone().into())).await
        }
        (Some("videos"), video_id) => {
            let video = VideoDetail::from(caller.service.video(video_named(video_id)?).await?);
            Ok(page(caller, object(&video), pages::position(cursor.as_deref())?))
        }
        (Some("schema"), "") => {
            let schema = Schema::of(&caller.service).await;
            Ok(page(caller, object(&schema), pages::position(cursor.as_deref())?))
        }
        _ => Err(unknown()),
    }
}

/// What is shown of as many videos as a page has and the budget allows.
async fn videos<T>(
    caller: &Caller<'_>,
    cursor: Option<String>,
    show: impl Fn(videos::VideoList) -> T,
    tokens: fn(&T) -> usize,
) -> Result<T, Failure> {
    let most = Budget::new(caller.settings.max_tokens).left();
    let mut limit = caller.settings.page_videos;
    loop {
        let page = videos::VideoPage {
            limit: Some(limit),
            cursor: cursor.clone(),
            ..videos::VideoPage::default()
        };
        let shown = show(caller.service.videos(&page).await?);
        if limit == 1 || tokens(&shown) <= most {
            return Ok(shown);
        }
        limit = (limit / 2).max(1);
    }
}

/// A page of a document, with `next` where another follows.
fn page(caller: &Caller<'_>, document: Map<String, Value>, from: usize) -> Map<String, Value> {
    let budget = Budget::new(caller.settings.max_tokens);
    let page = pages::page(document, from, budget, tokens_of_text);
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
