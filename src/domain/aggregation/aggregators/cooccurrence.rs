//! `cooccurrence`: which people are seen together, and what is seen with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plural::many;

use crate::domain::aggregation::aggregators::entities::{self, People, Person};
use crate::domain::aggregation::aggregators::stats::objects_in;
use crate::domain::aggregation::result::{Aggregate, Conclusion, Stored, read};
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, rounded};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::ChunkId;

/// What requests and stored records call it.
pub(crate) const ID: &str = "cooccurrence";

/// Finds out which people are seen together, and what is seen with them.
pub(crate) struct Cooccurrence;

/// Who is seen with whom and with what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Company {
    /// Those seen together most often first.
    pub(crate) pairs: Vec<Pair>,
    /// One for each person.
    pub(crate) objects: Vec<Belongings>,
    /// One for each chunk.
    pub(crate) people_per_chunk: Vec<Gathering>,
}

/// Two people who are seen together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Pair {
    pub(crate) a: String,
    pub(crate) b: String,
    /// In how many chunks.
    pub(crate) chunks: u32,
    pub(crate) seconds: f64,
}

/// What one person is seen with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Belongings {
    pub(crate) entity_id: String,
    /// In how many of the person's chunks each object is seen, most first.
    pub(crate) objects: Vec<(String, u32)>,
}

/// Who is in one chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Gathering {
    pub(crate) chunk_id: ChunkId,
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
    pub(crate) count: usize,
    pub(crate) entity_ids: Vec<String>,
}

/// Objects listed per person.
const OBJECTS: usize = 20;

/// Names of people among the objects of a detector.
const PEOPLE: &[&str] = &["person", "people", "man", "woman", "child", "boy", "girl"];

#[async_trait]
impl Aggregator for Cooccurrence {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[entities::ID],
            uses_llm: false,
            answers: "which people appear together, who is with whom, which objects a person is \
                      seen with, how many people at once",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate> {
        let people: &People = input.result(entities::ID)?;
        Ok(Arc::new(Stored::new(company(input.video, &people.entities))))
    }

    fn schema(&self) -> Value {
        schema_of::<Company>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Company>(stored)
    }
}

impl Conclusion for Company {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let pairs = self.pairs.iter().take(20).map(|Pair { a, b, chunks, .. }| {
            let chunks = many("chunk", u64::from(*chunks));
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

fn company(video: &AnalyzedVideo, people: &[Person]) -> Company {
    let mut in_chunk: BTreeMap<ChunkId, Vec<(usize, Span)>> = BTreeMap::new();
    for (n, person) in people.iter().enumerate() {
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
    let id = |n: usize| people[n].entity.entity_id.clone();
    let pairs = pairs.into_iter().map(|((a, b), (chunks, seconds))| Pair {
        a: id(a),
        b: id(b),
        chunks,
        seconds: rounded(seconds),
    });
    let belongings = people.iter().map(|person| Belongings {
        entity_id: person.entity.entity_id.clone(),
        objects: objects(video, person),
    });
    let gatherings = video.chunks().map(|(chunk_id, span)| {
        let present = in_chunk.get(&chunk_id).into_iter().flatten();
        let entity_ids: Vec<String> = present.map(|(n, _)| id(*n)).collect();
        Gathering {
            chunk_id,
            start: rounded(span.start),
            end: rounded(span.end),
            count: entity_ids.len(),
            entity_ids,
        }
    });
    Company {
        pairs: pairs.collect(),
        objects: belongings.collect(),
        people_per_chunk: gatherings.collect(),
    }
}

/// What is seen in a person's chunks, with the number of those chunks.
fn objects(video: &AnalyzedVideo, person: &Person) -> Vec<(String, u32)> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for chunk in &person.entity.chunk_ids {
        for name in objects_in(video, *chunk) {
            if !PEOPLE.contains(&name.as_str()) {
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.truncate(OBJECTS);
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::aggregation::aggregators::entities::Observation;
    use crate::domain::aggregation::entity::Entity;
    use crate::domain::aggregation::testing::{output, video};
    use crate::domain::analysis::analyzers::object_detection;

    fn person(n: usize, observations: &[(u32, f64, f64)]) -> Person {
        let observations: Vec<Observation> = observations
            .iter()
            .map(|&(chunk_id, start, end)| Observation {
                chunk_id: ChunkId(chunk_id),
                person: "p".into(),
                start,
                end,
            })
            .collect();
        Person {
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
    fn people_are_together_in_chunks_and_seconds() {
        let video = video(10.0, 3).with(
            object_detection::ID,
            vec![
                output(json!({"objects": ["person", "car"]})),
                output(json!({"objects": ["car", "dog"]})),
                None,
            ],
        );
        let people = [
            person(1, &[(0, 0.0, 8.0), (1, 10.0, 12.0)]),
            person(2, &[(0, 5.0, 10.0), (1, 13.0, 20.0)]),
            person(3, &[(1, 10.0, 20.0)]),
        ];
        let result = json!(company(&video, &people));
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
        assert_eq!(counts, [2, 3, 0]);
        assert_eq!(result["people_per_chunk"][0]["entity_ids"], json!(["v-p1", "v-p2"]));
    }
}
