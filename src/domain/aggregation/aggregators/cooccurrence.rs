//! `cooccurrence`: which people are seen together, and what is seen with them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::domain::aggregation::aggregators::entities::{self, Person, stored};
use crate::domain::aggregation::aggregators::stats::objects_in;
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, rounded};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;

/// Its id.
pub(crate) const ID: &str = "cooccurrence";

/// The aggregator.
pub(crate) struct Cooccurrence;

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

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        Ok(result(input.video, &stored(input)?))
    }

    fn evidence(&self, result: &Value, whole: Span) -> Vec<(Span, String)> {
        let mut evidence = Vec::new();
        for pair in result["pairs"].as_array().into_iter().flatten().take(20) {
            if let (Some(a), Some(b)) = (pair["a"].as_str(), pair["b"].as_str()) {
                let text =
                    format!("Persons {a} and {b} appear together in {} chunks.", pair["chunks"]);
                evidence.push((whole, text));
            }
        }
        for chunk in result["people_per_chunk"].as_array().into_iter().flatten() {
            let ids: Vec<&str> = chunk["entity_ids"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            if let (Some(start), Some(end), true) =
                (chunk["start"].as_f64(), chunk["end"].as_f64(), ids.len() > 1)
            {
                evidence.push((Span { start, end }, format!("Seen together: {}.", ids.join(", "))));
            }
        }
        evidence
    }
}

fn result(video: &AnalyzedVideo, people: &[Person]) -> Value {
    let mut in_chunk: BTreeMap<u32, Vec<(usize, Span)>> = BTreeMap::new();
    for (n, person) in people.iter().enumerate() {
        for s in &person.sightings {
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
    let id = |n: usize| &people[n].entity.entity_id;
    let per_chunk = (0..).zip(&video.spans).map(|(chunk_id, span)| {
        let ids: Vec<&String> =
            in_chunk.get(&chunk_id).into_iter().flatten().map(|(n, _)| id(*n)).collect();
        json!({
            "chunk_id": chunk_id, "start": rounded(span.start), "end": rounded(span.end),
            "count": ids.len(), "entity_ids": ids,
        })
    });
    json!({
        "pairs": pairs.iter().map(|((a, b), (chunks, seconds))| json!({
            "a": id(*a), "b": id(*b), "chunks": chunks, "seconds": rounded(*seconds),
        })).collect::<Vec<_>>(),
        "objects": people.iter().map(|person| json!({
            "entity_id": person.entity.entity_id,
            "objects": objects(video, person),
        })).collect::<Vec<_>>(),
        "people_per_chunk": per_chunk.collect::<Vec<_>>(),
    })
}

/// What is seen in a person's chunks, with the number of those chunks.
fn objects(video: &AnalyzedVideo, person: &Person) -> Vec<(String, u32)> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for chunk in &person.entity.chunk_ids {
        for name in objects_in(video, *chunk as usize) {
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
    use super::*;
    use crate::domain::aggregation::aggregators::entities::Sighting;
    use crate::domain::aggregation::entity::Entity;
    use crate::domain::aggregation::testing::{output, video};

    fn person(n: usize, sightings: &[(u32, f64, f64)]) -> Person {
        let sightings: Vec<Sighting> = sightings
            .iter()
            .map(|&(chunk_id, start, end)| Sighting { chunk_id, person: "p".into(), start, end })
            .collect();
        Person {
            entity: Entity {
                entity_id: format!("v-p{n}"),
                appearances: sightings.len() as u32,
                chunk_ids: sightings.iter().map(|s| s.chunk_id).collect(),
                first_seen: 0.0,
                last_seen: 0.0,
                description: String::new(),
                narrative: String::new(),
                timeline: None,
            },
            sightings,
        }
    }

    #[test]
    fn people_are_together_in_chunks_and_seconds() {
        let video = video(10.0, 3).with(
            "object_detection",
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
        let result = result(&video, &people);
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
