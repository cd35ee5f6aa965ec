//! `entity_timelines`: when and for how long each person is present.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aggregation::aggregators::entities::{self, LinkedPeople, PersonObservation};
use crate::aggregation::entity::EntityTimeline;
use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::{Aggregator, AggregatorInput, AggregatorSpec};
use crate::analysis::presentation::{OutputKind, Presentation};
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::ChunkId;

/// The id in requests and stored records.
pub(crate) const ID: &str = "entity_timelines";

/// The `entity_timelines` aggregator.
pub(crate) struct EntityTimelinesAggregator;

/// The timelines of the people in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Timelines {
    pub(crate) total: usize,
    /// One timeline per person.
    pub(crate) entities: Vec<PersonTimeline>,
}

/// The timeline of one person.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PersonTimeline {
    pub(crate) entity_id: String,
    #[serde(flatten)]
    pub(crate) timeline: EntityTimeline,
}

#[async_trait]
impl Aggregator for EntityTimelinesAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[entities::ID],
            uses_llm: false,
            answers: "when and for how long each person is present, first and last appearance, \
                      time on screen",
            label: "Appearances of people",
            presentation: const {
                Presentation {
                    icon: "person",
                    kind: OutputKind::Presence,
                    rank: 51,
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let people: &LinkedPeople = input.result(entities::ID)?;
        let timelines = people.entities.iter().map(|person| {
            let spans = spans(&person.observations);
            let observed: f64 = spans.iter().map(|[start, end]| end - start).sum();
            PersonTimeline {
                entity_id: person.entity.entity_id.clone(),
                timeline: EntityTimeline { observed_seconds: rounded(observed), spans },
            }
        });
        let entities: Vec<PersonTimeline> = timelines.collect();
        Ok(Arc::new(AggregateRecord::new(Timelines { total: entities.len(), entities })))
    }

    fn schema(&self) -> Value {
        json_schema::<Timelines>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Timelines>(stored)
    }
}

impl AggregatorOutput for Timelines {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        let spans = self.entities.iter().flat_map(|PersonTimeline { entity_id, timeline }| {
            let text = format!(
                "Person {entity_id} is present here; {:?} seconds in all.",
                timeline.observed_seconds
            );
            timeline.spans.iter().map(move |&[start, end]| (Span { start, end }, text.clone()))
        });
        spans.collect()
    }
}

/// Merges a person's observations in the same chunk or in consecutive chunks into spans.
fn spans(observations: &[PersonObservation]) -> Vec<[f64; 2]> {
    let mut spans: Vec<[f64; 2]> = Vec::new();
    let mut last_chunk: Option<ChunkId> = None;
    for observation in observations {
        let neighbour = last_chunk.is_some_and(|last| observation.chunk_id <= last.next());
        match spans.last_mut().filter(|_| neighbour) {
            Some(span) => span[1] = span[1].max(observation.end),
            None => spans.push([observation.start, observation.end]),
        }
        last_chunk = Some(observation.chunk_id);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_in_consecutive_chunks_are_merged() {
        let seen = |chunk_id, start, end| PersonObservation {
            chunk_id: ChunkId(chunk_id),
            person: "p1".into(),
            start,
            end,
        };
        for (what, observations, expected) in [
            ("one", vec![seen(0, 1.0, 9.0)], vec![[1.0, 9.0]]),
            ("two in a row", vec![seen(0, 1.0, 9.0), seen(1, 11.0, 20.0)], vec![[1.0, 20.0]]),
            (
                "a chunk without",
                vec![seen(0, 1.0, 9.0), seen(2, 21.0, 22.0)],
                vec![[1.0, 9.0], [21.0, 22.0]],
            ),
            ("none", vec![], vec![]),
        ] {
            assert_eq!(spans(&observations), expected, "{what}");
        }
    }
}
