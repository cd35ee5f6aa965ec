//! `/videos/{video_id}/aggregates`: video-level results and their re-run.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Object, OpenApi, Union};

use super::auth::{Service, Token};
use super::body::{Accepted, Json, OptionalForm};
use super::errors::{ApiError, ByIdNamed, Rerun};
use super::jobs::JobStatus;
use super::params::Flag;
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
    ) -> Result<Json<AggregatesResponse>, ApiError<ByIdNamed>> {
        let video_id = video_named(&video_id)?;
        let Some(aggregator) = aggregator.0 else {
            let all = self.0.of(&token).aggregates(video_id).await?;
            return Ok(Json(AggregatesResponse::All(all.into())));
        };
        let result =
            AnyObject::from_value(self.0.of(&token).aggregate(video_id, &aggregator).await?);
        let one = OneAggregate { video_id: video_id.to_string(), aggregator, result };
        Ok(Json(AggregatesResponse::One(one)))
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
        Some(list.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect())
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
}

#[derive(Object)]
pub(crate) struct OneAggregate {
    pub(crate) video_id: String,
    pub(crate) aggregator: String,
    pub(crate) result: AnyObject,
}

impl From<aggregates::Aggregates> for AllAggregates {
    fn from(mut all: aggregates::Aggregates) -> Self {
        let results = all.available.iter().filter_map(|id| all.aggregates.remove_entry(id));
        let results = results.map(|(id, result)| (id, AnyObject::from_value(result))).collect();
        Self {
            video_id: all.video_id.to_string(),
            available: all.available,
            aggregates: Ordered(results),
        }
    }
}
