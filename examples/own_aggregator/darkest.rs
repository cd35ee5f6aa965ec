//! `darkest`: the darkest moment of a video, from the output of `brightness`.

use std::sync::Arc;

use async_trait::async_trait;
use domain::Result;
use domain::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use domain::aggregation::{Aggregator, AggregatorInput, AggregatorSpec};
use domain::analysis::presentation::Presentation;
use domain::kernel::schema::json_schema;
use domain::kernel::time::{Span, rounded};
use domain::kernel::video::ChunkId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::brightness::{self, Light};

/// Finds the chunk with the lowest brightness.
pub(crate) struct Darkest;

/// Id of the aggregator.
pub(crate) const ID: &str = "darkest";

/// The stored result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Extreme {
    /// The darkest chunk, or the first of several equally dark chunks. `None` for a video without
    /// pictures.
    pub(crate) moment: Option<Moment>,
}

/// A chunk and its brightness.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Moment {
    pub(crate) chunk_id: ChunkId,
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    /// Brightness, 0 (black) to 100 (white).
    pub(crate) percent: u32,
}

#[async_trait]
impl Aggregator for Darkest {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[brightness::ID],
            uses_llm: false,
            answers: "which moment is the darkest",
            label: "Darkest moment",
            presentation: Presentation::ROWS,
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let chunks = input.video.typed_outputs::<Light>(brightness::ID);
        let darkest = chunks.min_by_key(|(_, _, light)| light.percent);
        let moment = darkest.map(|(chunk_id, span, light)| Moment {
            chunk_id,
            start: rounded(span.start),
            end: rounded(span.end),
            percent: light.percent,
        });
        Ok(Arc::new(AggregateRecord::new(Extreme { moment })))
    }

    fn schema(&self) -> Value {
        json_schema::<Extreme>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Extreme>(stored)
    }
}

impl AggregatorOutput for Extreme {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        let Some(moment) = &self.moment else { return Vec::new() };
        let text = format!(
            "This moment is the darkest of the video, at {} percent of full brightness.",
            moment.percent
        );
        vec![(Span { start: moment.start, end: moment.end }, text)]
    }
}
