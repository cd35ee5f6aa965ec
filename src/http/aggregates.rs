//! `/videos/{video_id}/aggregates`: video-level results and their re-run.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Object, OpenApi, Union};

use super::auth::{Service, Token};
use super::body::{Accepted, Json, OptionalForm};
use super::budget::Wanted;
use super::errors::{ApiError, ByIdNamed, Rerun};
use super::jobs::JobStatus;
use super::params::{Bounded, Flag};
use super::values::{AnyObject, Ordered};
use crate::domain::catalog::aggregates;
use crate::domain::kernel::video::video_named;

/// The routes of this section.
pub(super) struct AggregatesApi(pub(super) Service);

#[OpenApi]
impl AggregatesApi {
    /// Video-level results: all of them, or one.
    #[oai(path = "/videos/:video_id/aggregates", method = "get", operation_id = "aggregates")]
    async fn aggregates(
        &self,
        token: Token,
        video_id: Path<String>,
        /// Only this aggregate.
        aggregator: Query<Option<String>>,
        /// Most tokens of the results together: whole parts in their order, and lists and objects hold
        /// those that fit alone.
        max_tokens: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// `next` of the answer before, which was cut by `max_tokens`.
        cursor: Query<Option<String>>,
    ) -> Result<Json<AggregatesResponse>, ApiError<ByIdNamed>> {
        let named = format!("aggregates {} {:?}", video_id.0, aggregator.0);
        let video_id = video_named(&video_id)?;
        let wanted = Wanted { max_tokens: max_tokens.0.map(|most| most.0), cursor: cursor.0 };
        let service = self.0.of(&token);
        let Some(aggregator) = aggregator.0 else {
            let mut all = AllAggregates::from(service.aggregates(video_id).await?);
            let results = all.aggregates.0.drain(..).map(|(id, result)| (id, result.0.into()));
            let (results, spent) =
                wanted.of_document(service.tokens(), results.collect(), &named).await?;
            let results = results.into_iter().map(|(id, part)| (id, AnyObject::from_value(part)));
            all.aggregates = Ordered(results.collect());
            (all.tokens, all.tokenizer, all.next) = (spent.tokens, spent.tokenizer, spent.next);
            return Ok(Json(AggregatesResponse::All(all)));
        };
        let result = AnyObject::from_value(service.aggregate(video_id, &aggregator).await?);
        let (result, spent) = wanted.of_document(service.tokens(), result.0, &named).await?;
        Ok(Json(AggregatesResponse::One(OneAggregate {
            video_id: video_id.to_string(),
            aggregator,
            result: AnyObject(result),
            tokens: spent.tokens,
            tokenizer: spent.tokenizer,
            next: spent.next,
        })))
    }

    /// Re-run aggregators over stored analyzer output.
    #[oai(
        path = "/videos/:video_id/aggregates",
        method = "post",
        operation_id = "rerun_aggregates"
    )]
    async fn rerun(
        &self,
        token: Token,
        video_id: Path<String>,
        /// Recompute even when stored.
        #[oai(default = "on")]
        force: Query<Flag>,
        form: OptionalForm<RerunForm>,
    ) -> Result<Accepted<RerunAccepted>, ApiError<Rerun>> {
        let job = self
            .0
            .of(&token)
            .rerun_aggregates(video_named(&video_id)?, form.0.ids(), force.0.0)
            .await?;
        let (job_id, status) = (job.job_id, job.status.into());
        Ok(Accepted(RerunAccepted { job_id, status, video_id: video_id.0 }))
    }
}

fn on() -> Flag {
    Flag(true)
}

#[derive(Object)]
struct RerunForm {
    /// Comma-separated aggregator ids; all of them when left out.
    aggregators: Option<String>,
}

impl RerunForm {
    fn ids(self) -> Option<Vec<String>> {
        let list = self.aggregators?;
        let ids = list.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        let ids: Vec<String> = ids.collect();
        // A comma alone names none.
        let misspelt = ids.is_empty() && !list.trim().is_empty();
        Some(if misspelt { vec![list] } else { ids })
    }
}

#[derive(Object)]
struct RerunAccepted {
    job_id: String,
    status: JobStatus,
    video_id: String,
}

#[derive(Union)]
#[oai(one_of)]
enum AggregatesResponse {
    All(AllAggregates),
    One(OneAggregate),
}

#[derive(Object)]
struct AllAggregates {
    video_id: String,
    available: Vec<String>,
    /// Result by aggregator id.
    aggregates: Ordered<AnyObject>,
    /// Tokens of `aggregates`; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// The embedder whose tokenizer has counted; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// The `cursor` of the rest, where there is one.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
pub(crate) struct OneAggregate {
    pub(crate) video_id: String,
    pub(crate) aggregator: String,
    pub(crate) result: AnyObject,
    /// Tokens of `result`; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) tokens: Option<u32>,
    /// The embedder whose tokenizer has counted; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) tokenizer: Option<String>,
    /// The `cursor` of the rest, where there is one: lists and objects of `result` hold what is in this
    /// answer alone.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) next: Option<String>,
}

impl From<aggregates::Aggregates> for AllAggregates {
    fn from(mut all: aggregates::Aggregates) -> Self {
        let results = all.available.iter().filter_map(|id| all.aggregates.remove_entry(id));
        let results = results.map(|(id, result)| (id, AnyObject::from_value(result))).collect();
        Self {
            video_id: all.video_id.to_string(),
            available: all.available,
            aggregates: Ordered(results),
            tokens: None,
            tokenizer: None,
            next: None,
        }
    }
}
