//! `get_aggregate`: what was concluded of a whole video.

use poem_openapi::Object;
use serde_json::Value;

use super::{Answer, Call, Tool};
use crate::domain::kernel::video::video_named;
use crate::http::views::{AnyObject, Failure, OneAggregate};
use crate::mcp::budget::{tokens_of, tokens_of_line};
use crate::mcp::pages::{page, position};
use crate::mcp::prose::{inline, outline};

/// Reads an aggregate, page by page where it is long.
pub(super) struct GetAggregate;

#[derive(Object)]
pub(super) struct AggregateRequest {
    #[oai(validator(min_length = 1))]
    video_id: String,
    /// Id of the aggregator, as `summary`, `chapters`, `events`, `entities` or `stats`.
    #[oai(validator(min_length = 1))]
    aggregator: String,
    /// `next` of the page before.
    #[oai(nullable)]
    cursor: Option<String>,
}

#[derive(Object)]
pub(super) struct AggregatePage {
    #[oai(flatten)]
    aggregate: OneAggregate,
    /// What is left out of all pages, and why.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for GetAggregate {
    const NAME: &'static str = "get_aggregate";
    const TITLE: &'static str = "What was concluded of a video";
    const DESCRIPTION: &'static str = "A stored conclusion about a whole video, by aggregator: the \
        summary, its chapters, events, people (entities), names (ner), who spoke how long \
        (speaker_stats) and more; describe_library lists the aggregators, an error those that the \
        video has. The shape of each is in the resource shotlog://schema under `results`. Long \
        results come in pages: call again with `cursor` = `next`. This costs nothing and asks no \
        model: prefer it to ask for an overview of one video.";
    type Input = AggregateRequest;
    type Output = AggregatePage;

    async fn call(
        call: Call<'_>,
        input: AggregateRequest,
    ) -> Result<Answer<AggregatePage>, Failure> {
        let AggregateRequest { video_id, aggregator, cursor } = input;
        let from = position(cursor.as_deref())?;
        let result = call.service.aggregate(video_named(&video_id)?, &aggregator).await?;
        let page = page(AnyObject::from_value(result).0, from, call.budget, cost);
        let next = page.next.map(|next| next.to_string());
        let rest = (page.passed_over > 0).then(|| {
            format!("{} texts are longer than an answer may be (mcp.max_tokens)", page.passed_over)
        });
        let mut text = format!("{aggregator} of video {video_id}\n{}", outline(&page.document));
        if let Some(next) = &next {
            text.push_str(&format!("There is more: call again with cursor {next}.\n"));
        }
        text.extend(rest.clone());
        let result = AnyObject(page.document);
        let aggregate =
            OneAggregate { video_id, aggregator, result, tokens: None, tokenizer: None, next };
        Ok(Answer::new(text, AggregatePage { aggregate, rest }))
    }
}

/// A part of a result stands in the structure and in the prose.
fn cost(value: &Value) -> usize {
    tokens_of(value) + tokens_of_line(&inline(value)) + 2
}
