//! `/videos/plan`: what an ingest would take.

use std::collections::BTreeMap;

use poem_openapi::{Object, OpenApi};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, ByIdNamed, Failure};
use super::videos::IngestOptions;
use crate::domain::Scoped;
use crate::domain::ingest::plan;
use crate::domain::ingest::plan::Subject;
use crate::domain::kernel::video::video_named;

/// The routes of this section.
pub(super) struct PlanApi(pub(super) Service);

#[OpenApi]
impl PlanApi {
    /// What an ingest would take.
    ///
    /// Chunks, model calls, tokens and seconds, and what would be used again, as this install has
    /// needed them so far; `null` is what it cannot know yet. Decodes nothing, asks no model,
    /// changes nothing.
    #[oai(path = "/videos/plan", method = "post", operation_id = "plan_ingest")]
    async fn plan_ingest(
        &self,
        token: Token,
        Json(request): Json<PlanRequest>,
    ) -> Result<Json<Plan>, ApiError<ByIdNamed>> {
        Ok(Json(request.plan(&self.0.of(&token)).await?))
    }
}

#[derive(Object)]
pub(crate) struct PlanRequest {
    /// Scheme http or https; or else `video_id`, or for a file its `duration` alone.
    #[oai(nullable)]
    url: Option<String>,
    /// A video that is there; or else `url`.
    #[oai(nullable)]
    video_id: Option<String>,
    /// The video's length in seconds, where it is known and the video is not there.
    #[oai(nullable)]
    duration: Option<f64>,
    #[oai(flatten)]
    options: IngestOptions,
}

impl PlanRequest {
    /// What the ingest would take.
    pub(crate) async fn plan(self, service: &Scoped) -> Result<Plan, Failure> {
        let subject = match (self.video_id, self.url) {
            (Some(video_id), None) => Subject::Video(video_named(&video_id)?),
            (None, Some(url)) => Subject::Url(url),
            (None, None) if self.duration.is_some() => Subject::File,
            _ => {
                return Err(Failure::unprocessable(
                    "give either url or video_id, or for a file that is to be sent its duration alone",
                ));
            }
        };
        let fields = self.options.into();
        Ok(service.plan(&subject, self.duration, &fields).await?.into())
    }
}

#[derive(Object)]
pub(crate) struct Plan {
    /// The video, if it is there.
    #[oai(nullable)]
    video_id: Option<String>,
    chunk_config: String,
    #[oai(nullable)]
    chunks: Option<u32>,
    /// Analyzers whose output on the video would be gone: the video would be split otherwise, and they
    /// are not asked for.
    drops: Vec<String>,
    /// By analyzer id.
    analyzers: BTreeMap<String, Expected>,
    /// By aggregator id, those that have what they depend on; their time is in `total`.
    aggregators: BTreeMap<String, Expected>,
    /// All of them, and time for decoding beside.
    total: Expected,
    /// Videos that the estimates are drawn from.
    history: u32,
}

#[derive(Object)]
struct Expected {
    /// Chunks, or for an aggregator 1, whose stored result is used again.
    reused: u32,
    /// Calls of the language model, if they are billed.
    #[oai(nullable)]
    model_calls: Option<u32>,
    #[oai(nullable)]
    input_tokens: Option<u64>,
    #[oai(nullable)]
    output_tokens: Option<u64>,
    #[oai(nullable)]
    seconds: Option<f64>,
}

impl From<plan::IngestPlan> for Plan {
    fn from(plan: plan::IngestPlan) -> Self {
        let steps = |steps: BTreeMap<String, plan::Expected>| {
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

impl From<plan::Expected> for Expected {
    fn from(expected: plan::Expected) -> Self {
        Self {
            reused: expected.reused,
            model_calls: expected.model_calls,
            input_tokens: expected.input_tokens,
            output_tokens: expected.output_tokens,
            seconds: expected.seconds.map(|seconds| (seconds * 10.0).round() / 10.0),
        }
    }
}
