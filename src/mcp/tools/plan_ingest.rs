//! `plan_ingest`: what an ingest would take.

use poem_openapi::types::ToJSON;
use serde_json::Value;

use super::{Answer, Call, Tool};
use crate::http::views::{Failure, Plan, PlanRequest};
use crate::mcp::prose::outline;

/// Tells what an ingest would take, and starts nothing.
pub(super) struct PlanIngest;

impl Tool for PlanIngest {
    const NAME: &'static str = "plan_ingest";
    const TITLE: &'static str = "What an ingest would take";
    const DESCRIPTION: &'static str = "What an ingest with these fields would take, without \
        starting it: chunks, model calls, tokens and seconds, by analyzer and in all, as this \
        install has needed them so far; null is what it cannot know yet. Give either `url` or the \
        `video_id` of a video that is there. Use it before ingest_url where cost matters.";
    type Input = PlanRequest;
    type Output = Plan;

    async fn call(call: Call<'_>, input: PlanRequest) -> Result<Answer<Plan>, Failure> {
        let plan = input.plan(call.service).await?;
        let text = match plan.to_json() {
            Some(Value::Object(plan)) => outline(&plan),
            _ => String::new(),
        };
        Ok(Answer::new(text, plan))
    }
}
