//! `/videos/{video_id}/aggregates`: gets and recomputes video-level results.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Object, OpenApi, Union};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::{Accepted, Json, OptionalForm};
use crate::http::wire::budget::ResponseBudget;
use crate::http::wire::errors::{ApiError, ByIdChecked, Rerun};
use crate::http::wire::job_status::JobStatusBody;
use crate::http::wire::params::{Bounded, Flag};
use crate::http::wire::values::{AnyObject, OrderedMap};
use domain::kernel::video::parse_video_id;
use domain::library::aggregates;

/// The routes of this section.
pub(super) struct AggregatesApi(pub(super) Service);

#[OpenApi]
impl AggregatesApi {
    /// Get video-level results.
    ///
    /// Returns the results of all aggregators, or of the one in `aggregator`.
    #[oai(path = "/videos/:video_id/aggregates", method = "get", operation_id = "aggregates")]
    async fn aggregates(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Id of the aggregator whose result is returned. Default: all aggregators.
        aggregator: Query<Option<String>>,
        /// Maximum number of tokens in all results together. Lists and objects contain only the
        /// elements that fit, and `next` leads to the others. Single values are never cut. Default:
        /// no limit.
        max_tokens: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// `next` from the previous response, if `max_tokens` truncated it.
        cursor: Query<Option<String>>,
    ) -> Result<Json<AggregatesResponse>, ApiError<ByIdChecked>> {
        let request_key = format!("aggregates {} {:?}", video_id.0, aggregator.0);
        let video_id = parse_video_id(&video_id)?;
        let budget =
            ResponseBudget { max_tokens: max_tokens.0.map(|tokens| tokens.0), cursor: cursor.0 };
        let service = self.0.scoped(&token);
        let video = service.video(video_id).await?;
        let Some(aggregator) = aggregator.0 else {
            let mut all = AllAggregates::from(video.aggregates().await?);
            let results = all.aggregates.0.drain(..).map(|(id, result)| (id, result.0.into()));
            let (results, usage) =
                budget.fit_document(service.tokens(), results.collect(), &request_key).await?;
            let results = results.into_iter().map(|(id, part)| (id, AnyObject::from_value(part)));
            all.aggregates = OrderedMap(results.collect());
            (all.tokens, all.tokenizer, all.next) = (usage.tokens, usage.tokenizer, usage.next);
            return Ok(Json(AggregatesResponse::All(all)));
        };
        let result = AnyObject::from_value(video.aggregate(&aggregator).await?);
        let (result, usage) = budget.fit_document(service.tokens(), result.0, &request_key).await?;
        Ok(Json(AggregatesResponse::One(OneAggregate {
            video_id: video_id.to_string(),
            aggregator,
            result: AnyObject(result),
            tokens: usage.tokens,
            tokenizer: usage.tokenizer,
            next: usage.next,
        })))
    }

    /// Re-run aggregators.
    ///
    /// Starts a job that computes aggregates from the stored analyzer output.
    #[oai(
        path = "/videos/:video_id/aggregates",
        method = "post",
        operation_id = "rerun_aggregates"
    )]
    async fn rerun(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Whether to recompute aggregates that are already stored. Default: true.
        #[oai(default = "on")]
        force: Query<Flag>,
        form: OptionalForm<RerunForm>,
    ) -> Result<Accepted<RerunAccepted>, ApiError<Rerun>> {
        let (service, id) = (self.0.scoped(&token), parse_video_id(&video_id)?);
        let video = service.for_write()?.video(id).await?;
        let job = video.rerun_aggregates(form.0.ids(), force.0.0).await?;
        let (job_id, status) = (job.job_id, job.status.into());
        Ok(Accepted(RerunAccepted { job_id, status, video_id: video_id.0 }))
    }
}

fn on() -> Flag {
    Flag(true)
}

#[derive(Object)]
struct RerunForm {
    /// Comma-separated aggregator ids. Default: all.
    aggregators: Option<String>,
}

impl RerunForm {
    fn ids(self) -> Option<Vec<String>> {
        let list = self.aggregators?;
        let ids = list.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        let ids: Vec<String> = ids.collect();
        // A list that consists only of commas names no aggregator. It is kept, so that it is
        // rejected later.
        let misspelt = ids.is_empty() && !list.trim().is_empty();
        Some(if misspelt { vec![list] } else { ids })
    }
}

#[derive(Object)]
struct RerunAccepted {
    /// Id of the job, for `GET /jobs/{job_id}`.
    job_id: String,
    status: JobStatusBody,
    /// Id of the video.
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
    /// Id of the video.
    video_id: String,
    /// Ids of the aggregators that have a stored result.
    available: Vec<String>,
    /// The results, by aggregator id. `GET /schema` returns their schemas under `results`.
    aggregates: OrderedMap<AnyObject>,
    /// Number of tokens in `aggregates`; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// Cursor for the remaining parts; absent if nothing is left.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
pub(crate) struct OneAggregate {
    /// Id of the video.
    pub(crate) video_id: String,
    /// Id of the aggregator.
    pub(crate) aggregator: String,
    /// Result of the aggregator; `GET /schema` returns its schema under `results`.
    pub(crate) result: AnyObject,
    /// Number of tokens in `result`; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) tokens: Option<u32>,
    /// Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) tokenizer: Option<String>,
    /// Cursor for the remaining parts; absent if nothing is left. Lists and objects in `result`
    /// contain only the elements of this response.
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
            aggregates: OrderedMap(results),
            tokens: None,
            tokenizer: None,
            next: None,
        }
    }
}
