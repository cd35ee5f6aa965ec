//! `plan_ingest`: estimates the cost of an ingest.

use poem_openapi::types::ToJSON;
use serde_json::Value;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{HttpFailure, PlanBody, PlanRequest};
use crate::mcp::prose::outline;

/// Estimates the cost of an ingest without starting it.
pub(super) struct PlanIngest;

impl Tool for PlanIngest {
    const NAME: &'static str = "plan_ingest";
    const TITLE: &'static str = "Estimate an ingest";
    const DESCRIPTION: &'static str = "Estimates the cost of an ingest without starting it: chunks, \
        model calls, tokens and seconds, by analyzer and in total, based on previous ingests of this \
        install; unknown values are null. Set either `url` or the `video_id` of a stored video. Use \
        it before ingest_url if cost matters.";
    type Input = PlanRequest;
    type Output = PlanBody;

    async fn call(call: Call<'_>, input: PlanRequest) -> Result<ToolAnswer<PlanBody>, HttpFailure> {
        let plan = input.plan(call.service).await?;
        let text = match plan.to_json() {
            Some(Value::Object(plan)) => outline(&plan),
            _ => String::new(),
        };
        Ok(ToolAnswer::new(text, plan))
    }
}
