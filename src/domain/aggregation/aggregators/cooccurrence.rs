//! `cooccurrence`: which people appear together, and which objects appear with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plural::with_count;

use crate::aggregation::aggregators::entities::{self, EntityRecord, LinkedPeople};
use crate::aggregation::aggregators::stats::objects_in;
use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::{Aggregator, AggregatorInput, AggregatorSpec};
use crate::analysis::analyzers::people::{self, ChunkPeople};
use crate::analysis::presentation::{OutputKind, Presentation};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::ChunkId;

/// The id in requests and stored records.
pub(crate) const ID: &str = "cooccurrence";

/// The `cooccurrence` aggregator.
pub(crate) struct CooccurrenceAggregator;

/// The co-occurrences of people and objects in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Cooccurrences {
    /// Pairs of people, in descending order of shared chunks.
    pub(crate) pairs: Vec<PersonPair>,
    /// The objects seen with each person.
    pub(crate) objects: Vec<PersonObjects>,
    /// The people in each chunk.
    pub(crate) people_per_chunk: Vec<PeopleInChunk>,
}

/// Two people who appear together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PersonPair {
    pub(crate) a: String,
    pub(crate) b: String,
    /// Number of shared chunks.
    pub(crate) chunks: u32,
    pub(crate) seconds: f64,
}

/// The objects in the chunks in which one person appears.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PersonObjects {
    pub(crate) entity_id: String,
    /// Each object with the number of this person's chunks that contain it, in descending order.
    pub(crate) objects: Vec<(String, u32)>,
}

/// The people in one chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PeopleInChunk {
    pub(crate) chunk_id: ChunkId,
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    /// Number of people, including those who are not in `entity_ids`.
    pub(crate) count: usize,
    pub(crate) entity_ids: Vec<String>,
}

/// Maximum number of objects per person.
const MAX_OBJECTS: usize = 20;

/// Detector labels that name people.
const PERSON_LABELS: &[&str] = &["person", "people", "man", "woman", "child", "boy", "girl"];

#[async_trait]
impl Aggregator for CooccurrenceAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[entities::ID],
            uses_llm: false,
            answers: "which people appear together, who is with whom, which objects a person is \
                      seen with, how many people at once",
            label: "Seen together",
            presentation: const {
                Presentation {
                    icon: "person",
                    kind: OutputKind::Companions,
                    rank: 52,
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let people: &LinkedPeople = input.result(entities::ID)?;
        Ok(Arc::new(AggregateRecord::new(cooccurrences(input.video, &people.entities))))
    }

    fn schema(&self) -> Value {
        json_schema::<Cooccurrences>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Cooccurrences>(stored)
    }
}

impl AggregatorOutput for Cooccurrences {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let pairs = self.pairs.iter().take(20).map(|PersonPair { a, b, chunks, .. }| {
            let chunks = with_count("chunk", u64::from(*chunks));
            (whole, format!("Persons {a} and {b} appear together in {chunks}."))
        });
        let together = self.people_per_chunk.iter().filter(|chunk| chunk.entity_ids.len() > 1);
        let together = together.map(|chunk| {
            let text = format!("Seen together: {}.", chunk.entity_ids.join(", "));
            (Span { start: chunk.start, end: chunk.end }, text)
        });
        pairs.chain(together).collect()
    }
}

fn cooccurrences(video: &AnalyzedVideo, entities: &[EntityRecord]) -> Cooccurrences {
    let mut in_chunk: BTreeMap<ChunkId, Vec<(usize, Span)>> = BTreeMap::new();
    for (n, person) in entities.iter().enumerate() {
        for s in &person.observations {
            let seen = Span { start: s.start, end: s.end };
            in_chunk.entry(s.chunk_id).or_default().push((n, seen));
        }
    }
    let mut pairs: BTreeMap<(usize, usize), (u32, f64)> = BTreeMap::new();
    for present in in_chunk.values() {
        for (i, (a, seen_a)) in present.iter().enumerate() {
            for (b, seen_b) in &present[i + 1..] {
                let together = seen_a.end.min(seen_b.end) - seen_a.start.max(seen_b.start);
                let pair = pairs.entry((*a, *b)).or_default();
                pair.0 += 1;
                pair.1 += together.max(0.0);
            }
        }
    }
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_by(|x, y| y.1.0.cmp(&x.1.0).then(y.1.1.total_cmp(&x.1.1)).then(x.0.cmp(&y.0)));
    let id = |n: usize| entities[n].entity.entity_id.clone();
    let pairs = pairs.into_iter().map(|((a, b), (chunks, seconds))| PersonPair {
        a: id(a),
        b: id(b),
        chunks,
        seconds: rounded(seconds),
    });
    let objects_per_person = entities.iter().map(|person| PersonObjects {
        entity_id: person.entity.entity_id.clone(),
        objects: objects(video, person),
    });
    let counted: BTreeMap<ChunkId, usize> = video
        .typed_outputs::<ChunkPeople>(people::ID)
        .map(|(chunk_id, _, output)| (chunk_id, output.people_count as usize))
        .collect();
    let people_per_chunk = video.chunks().map(|(chunk_id, span)| {
        let present = in_chunk.get(&chunk_id).into_iter().flatten();
        let entity_ids: Vec<String> = present.map(|(n, _)| id(*n)).collect();
        PeopleInChunk {
            chunk_id,
            start: rounded(span.start),
            end: rounded(span.end),
            count: counted.get(&chunk_id).copied().unwrap_or(0).max(entity_ids.len()),
            entity_ids,
        }
    });
    Cooccurrences {
        pairs: pairs.collect(),
        objects: objects_per_person.collect(),
        people_per_chunk: people_per_chunk.collect(),
    }
}

/// Returns the objects in a person's chunks, each with the number of these chunks that contain it.
fn objects(video: &AnalyzedVideo, person: &EntityRecord) -> Vec<(String, u32)> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for chunk in &person.entity.chunk_ids {
        for name in objects_in(video, *chunk) {
            if !PERSON_LABELS.contains(&name.as_str()) {
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.truncate(MAX_OBJECTS);
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aggregation::aggregators::entities::PersonObservation;
    use crate::aggregation::entity::Entity;
    use crate::aggregation::testing::{output, video};
    use crate::analysis::analyzers::object_detection;

    fn person(n: usize, observations: &[(u32, f64, f64)]) -> EntityRecord {
        let observations: Vec<PersonObservation> = observations
            .iter()
            .map(|&(chunk_id, start, end)| PersonObservation {
                chunk_id: ChunkId(chunk_id),
                person: "p".into(),
                start,
                end,
            })
            .collect();
        EntityRecord {
            entity: Entity {
                entity_id: format!("v-p{n}"),
                appearances: observations.len() as u32,
                chunk_ids: observations.iter().map(|s| s.chunk_id).collect(),
                ..Entity::default()
            },
            observations,
        }
    }

    #[test]
    fn cooccurrences_counts_shared_chunks_and_seconds() {
        let video = video(10.0, 3)
            .with(
                object_detection::ID,
                vec![
                    output(json!({"objects": ["person", "car"]})),
                    output(json!({"objects": ["car", "dog"]})),
                    None,
                ],
            )
            .with(people::ID, vec![output(json!({"people_count": 12})), None, None]);
        let people = [
            person(1, &[(0, 0.0, 8.0), (1, 10.0, 12.0)]),
            person(2, &[(0, 5.0, 10.0), (1, 13.0, 20.0)]),
            person(3, &[(1, 10.0, 20.0)]),
        ];
        let result = json!(cooccurrences(&video, &people));
        assert_eq!(
            result["pairs"],
            json!([
                {"a": "v-p1", "b": "v-p2", "chunks": 2, "seconds": 3.0},
                {"a": "v-p2", "b": "v-p3", "chunks": 1, "seconds": 7.0},
                {"a": "v-p1", "b": "v-p3", "chunks": 1, "seconds": 2.0},
            ])
        );
        assert_eq!(
            result["objects"][0],
            json!({"entity_id": "v-p1", "objects": [["car", 2], ["dog", 1]]})
        );
        let counts: Vec<&Value> = result["people_per_chunk"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|chunk| &chunk["count"])
            .collect();
        assert_eq!(counts, [12, 3, 0], "people without an id count too");
        assert_eq!(result["people_per_chunk"][0]["entity_ids"], json!(["v-p1", "v-p2"]));
    }
}
