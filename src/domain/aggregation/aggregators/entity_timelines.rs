//! `entity_timelines`: when each person is there, and for how long.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::aggregation::aggregators::entities::{self, Observation, People};
use crate::domain::aggregation::entity::EntityTimeline;
use crate::domain::aggregation::result::{Aggregate, Conclusion, Stored, read};
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, rounded};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::ChunkId;

/// What requests and stored records call it.
pub(crate) const ID: &str = "entity_timelines";

/// Finds out when each person is there, and for how long.
pub(crate) struct EntityTimelines;

/// When the people of a video are there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Timelines {
    pub(crate) total: usize,
    /// One for each person.
    pub(crate) entities: Vec<PersonTimeline>,
}

/// When one person is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PersonTimeline {
    pub(crate) entity_id: String,
    #[serde(flatten)]
    pub(crate) timeline: EntityTimeline,
}

#[async_trait]
impl Aggregator for EntityTimelines {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[entities::ID],
            uses_llm: false,
            answers: "when and for how long each person is present, first and last appearance, \
                      time on screen",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate> {
        let people: &People = input.result(entities::ID)?;
        let timelines = people.entities.iter().map(|person| {
            let spans = spans(&person.observations);
            let observed: f64 = spans.iter().map(|[start, end]| end - start).sum();
            PersonTimeline {
                entity_id: person.entity.entity_id.clone(),
                timeline: EntityTimeline { observed_seconds: rounded(observed), spans },
            }
        });
        let entities: Vec<PersonTimeline> = timelines.collect();
        Ok(Arc::new(Stored::new(Timelines { total: entities.len(), entities })))
    }

    fn schema(&self) -> Value {
        schema_of::<Timelines>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Timelines>(stored)
    }
}

impl Conclusion for Timelines {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        let told = self.entities.iter().flat_map(|PersonTimeline { entity_id, timeline }| {
            let text = format!(
                "Person {entity_id} is present here; {:?} seconds in all.",
                timeline.observed_seconds
            );
            timeline.spans.iter().map(move |&[start, end]| (Span { start, end }, text.clone()))
        });
        told.collect()
    }
}

/// Sightings in neighbouring chunks are one presence: no look in between missed the person.
fn spans(observations: &[Observation]) -> Vec<[f64; 2]> {
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
    fn neighbouring_chunks_are_one_presence() {
        let seen = |chunk_id, start, end| Observation {
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
