//! `get_aggregate`: a stored result about a whole video.

use poem_openapi::Object;
use serde_json::Value;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{AnyObject, HttpFailure, OneAggregate};
use crate::mcp::budget::{line_tokens, value_tokens};
use crate::mcp::pages::{page, position};
use crate::mcp::prose::{inline, outline};
use domain::kernel::video::parse_video_id;

/// Reads an aggregate, in pages if it is long.
pub(super) struct GetAggregate;

#[derive(Object)]
pub(super) struct AggregateRequest {
    #[oai(validator(min_length = 1))]
    video_id: String,
    /// Id of the aggregator, such as `summary`, `chapters`, `events`, `entities` or `stats`.
    #[oai(validator(min_length = 1))]
    aggregator: String,
    /// The `next` value of the previous page.
    #[oai(nullable)]
    cursor: Option<String>,
}

#[derive(Object)]
pub(super) struct AggregatePage {
    #[oai(flatten)]
    aggregate: OneAggregate,
    /// What was omitted from all pages, and why.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for GetAggregate {
    const NAME: &'static str = "get_aggregate";
    const TITLE: &'static str = "Read a video-level result";
    const DESCRIPTION: &'static str = "Returns a stored result about a whole video, by aggregator: \
        summary, chapters, events, people (entities), names (ner), speaking time (speaker_stats) \
        and more. describe_library lists the aggregators; the error for an unknown one lists those \
        that the video has. Their schemas are in the resource shotlog://schema under `results`. Long \
        results are paged: call again with `cursor` = `next`. It is free and calls no model: prefer \
        it to ask for an overview of a video.";
    type Input = AggregateRequest;
    type Output = AggregatePage;

    async fn call(
        call: Call<'_>,
        input: AggregateRequest,
    ) -> Result<ToolAnswer<AggregatePage>, HttpFailure> {
        let AggregateRequest { video_id, aggregator, cursor } = input;
        let from = position(cursor.as_deref())?;
        let video = call.service.video(parse_video_id(&video_id)?).await?;
        let result = video.aggregate(&aggregator).await?;
        let page = page(AnyObject::from_value(result).0, from, call.budget, cost);
        let next = page.next.map(|next| next.to_string());
        let rest = (page.skipped > 0).then(|| {
            format!("{} texts are longer than an answer may be (mcp.max_tokens)", page.skipped)
        });
        let mut text = format!("{aggregator} of video {video_id}\n{}", outline(&page.document));
        if let Some(next) = &next {
            text.push_str(&format!("There is more: call again with cursor {next}.\n"));
        }
        text.extend(rest.clone());
        let result = AnyObject(page.document);
        let aggregate =
            OneAggregate { video_id, aggregator, result, tokens: None, tokenizer: None, next };
        Ok(ToolAnswer::new(text, AggregatePage { aggregate, rest }))
    }
}

/// Number of tokens for a part of the result, which is sent both as structured content and as text.
fn cost(value: &Value) -> usize {
    value_tokens(value) + line_tokens(&inline(value)) + 2
}
