//! `entity_timelines`: when each person is there, and for how long.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::domain::aggregation::aggregators::entities::{self, Sighting, stored};
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, rounded};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;

/// Its id.
pub(crate) const ID: &str = "entity_timelines";

/// The aggregator.
pub(crate) struct EntityTimelines;

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

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        let entities: Vec<Value> = stored(input)?
            .iter()
            .map(|person| {
                let spans = spans(&person.sightings);
                let observed: f64 = spans.iter().map(|[start, end]| end - start).sum();
                json!({
                    "entity_id": person.entity.entity_id,
                    "observed_seconds": rounded(observed),
                    "spans": spans,
                })
            })
            .collect();
        Ok(json!({"total": entities.len(), "entities": entities}))
    }

    fn evidence(&self, result: &Value, _whole: Span) -> Vec<(Span, String)> {
        let mut evidence = Vec::new();
        for entity in result["entities"].as_array().into_iter().flatten() {
            let id = entity["entity_id"].as_str().unwrap_or_default();
            for span in entity["spans"].as_array().into_iter().flatten() {
                if let (Some(start), Some(end)) = (span[0].as_f64(), span[1].as_f64()) {
                    let text = format!(
                        "Person {id} is present here; {} seconds in all.",
                        entity["observed_seconds"]
                    );
                    evidence.push((Span { start, end }, text));
                }
            }
        }
        evidence
    }
}

/// Sightings in neighbouring chunks are one presence: no look in between missed the person.
fn spans(sightings: &[Sighting]) -> Vec<[f64; 2]> {
    let mut spans: Vec<[f64; 2]> = Vec::new();
    let mut last_chunk = None;
    for sighting in sightings {
        let neighbour = last_chunk.is_some_and(|last| sighting.chunk_id <= last + 1);
        match spans.last_mut().filter(|_| neighbour) {
            Some(span) => span[1] = span[1].max(sighting.end),
            None => spans.push([sighting.start, sighting.end]),
        }
        last_chunk = Some(sighting.chunk_id);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_chunks_are_one_presence() {
        let seen = |chunk_id, start, end| Sighting { chunk_id, person: "p1".into(), start, end };
        for (what, sightings, expected) in [
            ("one", vec![seen(0, 1.0, 9.0)], vec![[1.0, 9.0]]),
            ("two in a row", vec![seen(0, 1.0, 9.0), seen(1, 11.0, 20.0)], vec![[1.0, 20.0]]),
            (
                "a chunk without",
                vec![seen(0, 1.0, 9.0), seen(2, 21.0, 22.0)],
                vec![[1.0, 9.0], [21.0, 22.0]],
            ),
            ("none", vec![], vec![]),
        ] {
            assert_eq!(spans(&sightings), expected, "{what}");
        }
    }
}
