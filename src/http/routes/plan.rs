//! `/videos/plan`: cost estimate for an ingest.

use std::collections::BTreeMap;

use poem_openapi::{Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, ByIdChecked};
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::ingest::IngestOptions;
use domain::Scoped;
use domain::ingest::plan;
use domain::ingest::plan::PlanSource;
use domain::kernel::video::parse_video_id;

/// The routes of this section.
pub(super) struct PlanApi(pub(super) Service);

#[OpenApi]
impl PlanApi {
    /// Estimate the cost of an ingest.
    ///
    /// Estimates how many chunks, model calls and tokens an ingest would require, how long it would
    /// take, and what it would reuse. The estimates are based on previous ingests on this install;
    /// unknown values are null. This decodes nothing, calls no model and changes nothing.
    #[oai(path = "/videos/plan", method = "post", operation_id = "plan_ingest")]
    async fn plan_ingest(
        &self,
        token: CallerToken,
        Json(request): Json<PlanRequest>,
    ) -> Result<Json<PlanBody>, ApiError<ByIdChecked>> {
        Ok(Json(request.plan(&self.0.scoped(&token)).await?))
    }
}

#[derive(Object)]
pub(crate) struct PlanRequest {
    /// http(s) URL of the video. Set either `url` or `video_id`; for a file that you will upload,
    /// set only `duration`.
    #[oai(nullable)]
    url: Option<String>,
    /// Id of a stored video, instead of `url`.
    #[oai(nullable)]
    video_id: Option<String>,
    /// Duration of the video in seconds, if known and the video is not stored.
    #[oai(nullable)]
    duration: Option<f64>,
    #[oai(flatten)]
    options: IngestOptions,
}

impl PlanRequest {
    /// Estimates the cost of the ingest.
    pub(crate) async fn plan(self, service: &Scoped) -> Result<PlanBody, HttpFailure> {
        let subject = match (self.video_id, self.url) {
            (Some(video_id), None) => PlanSource::Video(parse_video_id(&video_id)?),
            (None, Some(url)) => PlanSource::Url(url),
            (None, None) if self.duration.is_some() => PlanSource::File,
            _ => {
                return Err(HttpFailure::unprocessable(
                    "set either url or video_id, or for a file to upload only its duration",
                ));
            }
        };
        let fields = self.options.into();
        Ok(service.plan(&subject, self.duration, &fields).await?.into())
    }
}

#[derive(Object)]
#[oai(rename = "Plan")]
pub(crate) struct PlanBody {
    /// Id of the video, if it is stored; null otherwise.
    #[oai(nullable)]
    video_id: Option<String>,
    /// Id of the chunking configuration.
    chunk_config: String,
    /// Number of chunks; null if unknown.
    #[oai(nullable)]
    chunks: Option<u32>,
    /// Ids of analyzers whose output would be deleted because the video would be chunked
    /// differently and these analyzers are not part of this ingest.
    drops: Vec<String>,
    /// Estimate for each analyzer, by analyzer id.
    analyzers: BTreeMap<String, StepEstimate>,
    /// Estimate for each aggregator whose dependencies are met, by aggregator id. In these
    /// estimates, `seconds` is 0; only `total` includes the time for aggregators.
    aggregators: BTreeMap<String, StepEstimate>,
    /// Estimate for the whole ingest, including decoding.
    total: StepEstimate,
    /// Number of videos that the estimates are based on.
    history: u32,
}

#[derive(Object)]
#[oai(rename = "Expected")]
struct StepEstimate {
    /// Number of chunks whose stored output would be reused; for an aggregator, 1 if its stored
    /// result would be reused.
    reused: u32,
    /// Number of billed language model calls; null if unknown.
    #[oai(nullable)]
    model_calls: Option<u32>,
    /// Number of input tokens; null if unknown.
    #[oai(nullable)]
    input_tokens: Option<u64>,
    /// Number of output tokens; null if unknown.
    #[oai(nullable)]
    output_tokens: Option<u64>,
    /// Duration in seconds; null if unknown.
    #[oai(nullable)]
    seconds: Option<f64>,
}

impl From<plan::IngestPlan> for PlanBody {
    fn from(plan: plan::IngestPlan) -> Self {
        let steps = |steps: BTreeMap<String, plan::CostEstimate>| {
            steps.into_iter().map(|(id, expected)| (id, expected.into())).collect()
        };
        Self {
            video_id: plan.video_id.map(String::from),
            chunk_config: plan.chunk_config,
            chunks: plan.chunks,
            drops: plan.drops,
            analyzers: steps(plan.analyzers),
            aggregators: steps(plan.aggregators),
            total: plan.total.into(),
            history: plan.history,
        }
    }
}

impl From<plan::CostEstimate> for StepEstimate {
    fn from(expected: plan::CostEstimate) -> Self {
        Self {
            reused: expected.reused,
            model_calls: expected.model_calls,
            input_tokens: expected.input_tokens,
            output_tokens: expected.output_tokens,
            seconds: expected.seconds.map(|seconds| (seconds * 10.0).round() / 10.0),
        }
    }
}
