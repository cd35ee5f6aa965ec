//! `entities`: people linked across chunks by clothing, each with a narrative. People who cannot be
//! distinguished from others are only counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Narrative, Passage, PassageKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aggregation::entity::Entity;
use crate::aggregation::linking::clothing::ClothingSignature;
use crate::aggregation::linking::link;
use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::{
    Aggregator, AggregatorInput, AggregatorSpec, batches, moment, prefix, try_each,
};
use crate::analysis::analyzers::people::{self, ChunkPeople};
use crate::analysis::presentation::{Lane, OutputKind, Presentation, Tab, TrackSpec};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::error::{Error, Result};
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded, timecode};
use crate::kernel::video::{ChunkId, VideoId};
use crate::llm::structured::Prompt;

/// The id in requests and stored records.
pub(crate) const ID: &str = "entities";

/// The `entities` aggregator.
pub(crate) struct EntitiesAggregator;

const PROMPT: &str = include_str!("../prompts/narrative.md");

/// Maximum length of one narrative, in tokens.
const MAX_TOKENS: u32 = 300;

/// Maximum number of people for whom the language model writes the narrative. They are chosen from
/// the people seen in several chunks, the highest number of chunks first. All other narratives use
/// the people analyzer's words.
const MAX_NARRATED: usize = 40;

/// Minimum length of an observation, in seconds. Shorter observations are extended, since an
/// observation from a single frame has no duration.
const MIN_SECONDS: f64 = 1.0;

/// The people in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct LinkedPeople {
    pub(crate) total: usize,
    /// Number of people seen in several chunks.
    pub(crate) linked: usize,
    /// Number of observations of people who cannot be distinguished from others and are therefore
    /// not in `entities`. For the people whom the people analyzer only counts, there are as many
    /// observations per chunk as people at once.
    pub(crate) unlinked: usize,
    /// Number of observations, including `unlinked`. There is one observation per person and chunk.
    pub(crate) observations: usize,
    /// The people in order of first appearance. Their timelines are not set here, since
    /// `entity_timelines` computes them.
    pub(crate) entities: Vec<EntityRecord>,
}

/// A person in one chunk. Stored for the aggregators that depend on `entities`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PersonObservation {
    pub(crate) chunk_id: ChunkId,
    /// The id of the person within the chunk, from the people analyzer.
    pub(crate) person: String,
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
}

/// A linked person with their observations, as stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EntityRecord {
    #[serde(flatten)]
    pub(crate) entity: Entity,
    #[serde(rename = "sightings")]
    pub(crate) observations: Vec<PersonObservation>,
}

/// A person in one chunk, with the details from the people analyzer.
struct ChunkPerson {
    observation: PersonObservation,
    name: Option<String>,
    /// Whether nobody else is seen in the chunk.
    alone: bool,
    signature: ClothingSignature,
    description: String,
    action: String,
    position: String,
}

#[async_trait]
impl Aggregator for EntitiesAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[people::ID],
            uses_llm: true,
            answers: "who is in the video, which people appear, what each person looks like and \
                      what a particular person did",
            label: "Recognised people",
            presentation: const {
                // The page takes the spans from `/videos/{video_id}/entities`.
                let people = TrackSpec {
                    lane: Some(Lane::spans(people::ID, "People", 50)),
                    ..TrackSpec::sightings("/entities", "description")
                };
                Presentation {
                    icon: "person",
                    kind: OutputKind::LinkedPeople,
                    rank: 50,
                    tab: Some(Tab::new(people::ID, "People")),
                    tracks: &[people],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let chunk_people = people_by_chunk(input.video);
        let clothes: Vec<(ChunkId, ClothingSignature)> =
            chunk_people.iter().map(|p| (p.observation.chunk_id, p.signature.clone())).collect();
        // Comparing all pairs takes a while for a long video.
        let linked = tokio::task::spawn_blocking(move || link(&clothes))
            .await
            .map_err(|e| Error::corrupt(format!("linking panicked: {e}")))?;
        let mut persons: Vec<Vec<&ChunkPerson>> = linked
            .into_iter()
            .map(|person| person.into_iter().map(|i| &chunk_people[i]).collect())
            .collect();
        join_by_name(&mut persons);
        let counted: usize = persons.iter().map(Vec::len).sum();
        let seen = clothing_counts(&chunk_people);
        persons.retain(|person| is_distinct(person, &seen));
        let listed: usize = persons.iter().map(Vec::len).sum();
        let unlinked = counted - listed + others_in(input.video);
        persons.sort_by(|a, b| a[0].observation.start.total_cmp(&b[0].observation.start));
        let narrated = select_narrated(&persons);
        let records: Vec<_> = persons
            .iter()
            .enumerate()
            .map(|(n, person)| build_record(input, n + 1, person, narrated.contains(&n)))
            .collect();
        let entities = try_each(records).await?;
        let linked = entities.iter().filter(|p| p.entity.appearances > 1).count();
        Ok(Arc::new(AggregateRecord::new(LinkedPeople {
            total: entities.len(),
            linked,
            unlinked,
            observations: listed + unlinked,
            entities,
        })))
    }

    fn schema(&self) -> Value {
        json_schema::<LinkedPeople>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<LinkedPeople>(stored)
    }
}

impl AggregatorOutput for LinkedPeople {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        let people = self.entities.iter().map(|person| &person.entity);
        people
            .map(|e| {
                let text = format!(
                    "Person {}, seen in {} chunks: {} {}",
                    e.entity_id, e.appearances, e.description, e.narrative
                );
                (Span { start: e.first_seen, end: e.last_seen }, text)
            })
            .collect()
    }
}

fn people_by_chunk(video: &AnalyzedVideo) -> Vec<ChunkPerson> {
    let mut people = Vec::new();
    for (chunk_id, span, output) in video.typed_outputs::<ChunkPeople>(people::ID) {
        let alone = output.people.len() == 1 && output.others.is_none();
        for person in &output.people {
            let seen = Span { start: person.first_seen, end: person.last_seen };
            let seen = extend_to_minimum(seen, span);
            people.push(ChunkPerson {
                observation: PersonObservation {
                    chunk_id,
                    person: person.person.clone(),
                    start: rounded(seen.start),
                    end: rounded(seen.end),
                },
                name: person.name.clone(),
                alone,
                signature: ClothingSignature::from_garments(&person.garments),
                description: person.description.trim().to_owned(),
                action: person.action.trim().to_owned(),
                position: person.position.trim().to_owned(),
            });
        }
    }
    people
}

/// Counts the people who are only counted in their chunks.
fn others_in(video: &AnalyzedVideo) -> usize {
    let outputs = video.typed_outputs::<ChunkPeople>(people::ID);
    outputs.filter_map(|(_, _, output)| output.others).map(|others| others.count as usize).sum()
}

/// Counts the observations of each clothing signature.
fn clothing_counts(people: &[ChunkPerson]) -> BTreeMap<&ClothingSignature, usize> {
    let mut counts = BTreeMap::new();
    for person in people {
        *counts.entry(&person.signature).or_default() += 1;
    }
    counts
}

/// Whether a person can be distinguished from the other people in the video: by several linked
/// observations, by a name, by clothes that are seen only once, or by being alone in the chunk.
fn is_distinct(person: &[&ChunkPerson], seen: &BTreeMap<&ClothingSignature, usize>) -> bool {
    let [only] = person else { return true };
    let clothes_differ = seen.get(&only.signature) == Some(&1) && only.signature.weight() > 0.0;
    only.name.is_some() || only.alone || clothes_differ
}

/// Joins people to whom corrections give the same name.
fn join_by_name(persons: &mut Vec<Vec<&ChunkPerson>>) {
    let mut joined: Vec<Vec<&ChunkPerson>> = Vec::new();
    for person in persons.drain(..) {
        let corrected_name =
            |person: &[&ChunkPerson]| person.iter().find_map(|seen| seen.name.as_ref()).cloned();
        let name = corrected_name(&person);
        let namesake =
            joined.iter_mut().find(|other| name.is_some() && corrected_name(other) == name);
        match namesake {
            Some(namesake) => {
                namesake.extend(person);
                namesake.sort_by(|a, b| a.observation.start.total_cmp(&b.observation.start));
            }
            None => joined.push(person),
        }
    }
    *persons = joined;
}

/// Extends a span to the minimum length, within its chunk.
fn extend_to_minimum(seen: Span, chunk: Span) -> Span {
    let length = seen.seconds().max(MIN_SECONDS).min(chunk.seconds());
    let middle = (seen.start + seen.end) / 2.0;
    let start = (middle - length / 2.0).min(chunk.end - length).max(chunk.start);
    Span { start, end: start + length }
}

/// Returns the indexes of the people whose narrative the model writes.
fn select_narrated(persons: &[Vec<&ChunkPerson>]) -> Vec<usize> {
    let mut linked: Vec<usize> = (0..persons.len()).filter(|n| persons[*n].len() > 1).collect();
    linked.sort_by_key(|n| std::cmp::Reverse(persons[*n].len()));
    linked.truncate(MAX_NARRATED);
    linked
}

fn record(video_id: VideoId, number: usize, person: &[&ChunkPerson]) -> EntityRecord {
    // Use the description with the most identifying clothing, or the first such description.
    let best =
        person.iter().rev().max_by(|a, b| a.signature.weight().total_cmp(&b.signature.weight()));
    let observations: Vec<PersonObservation> =
        person.iter().map(|p| p.observation.clone()).collect();
    let chunk_ids: Vec<ChunkId> = observations.iter().map(|s| s.chunk_id).collect();
    let first_seen = observations.iter().map(|s| s.start).fold(f64::INFINITY, f64::min);
    let last_seen = observations.iter().map(|s| s.end).fold(0.0, f64::max);
    EntityRecord {
        entity: Entity {
            entity_id: format!("{}-p{number}", prefix(&video_id)),
            name: person.iter().find_map(|seen| seen.name.clone()),
            appearances: chunk_ids.len() as u32,
            chunk_ids,
            first_seen,
            last_seen,
            description: best.map_or_else(String::new, |o| o.description.clone()),
            narrative: composed_narrative(person),
            timeline: None,
        },
        observations,
    }
}

/// Composes a narrative of the person's actions, using the people analyzer's words.
fn composed_narrative(person: &[&ChunkPerson]) -> String {
    let mut sentences: Vec<String> = Vec::new();
    for seen in person {
        let text = sentence(seen);
        if !sentences.contains(&text) {
            sentences.push(text);
        }
    }
    sentences.join(" ")
}

fn sentence(seen: &ChunkPerson) -> String {
    let at = timecode(seen.observation.start);
    let (action, position) = (&seen.action, &seen.position);
    match (action.trim_end_matches('.'), position.trim_end_matches('.')) {
        ("", "") => format!("Seen at {at}."),
        (action, "") => format!("At {at}: {action}."),
        ("", position) => format!("Seen at {at}, {position}."),
        (action, position) => format!("At {at}: {action}, {position}."),
    }
}

/// Builds the record of a linked person. The narrative is written by the model or composed from the
/// people analyzer's words.
async fn build_record(
    input: &AggregatorInput<'_>,
    number: usize,
    person: &[&ChunkPerson],
    by_model: bool,
) -> Result<EntityRecord> {
    let mut record = record(input.video.video_id, number, person);
    if by_model {
        let narrative = narrate(input, &record.entity, person).await?;
        if !narrative.trim().is_empty() {
            record.entity.narrative = narrative;
        }
    }
    Ok(record)
}

async fn narrate(
    input: &AggregatorInput<'_>,
    entity: &Entity,
    person: &[&ChunkPerson],
) -> Result<String> {
    let passages: Vec<Passage> = person
        .iter()
        .enumerate()
        .map(|(n, o)| {
            let action = sentence(o);
            let billed = input.model.is_billed();
            let text = if billed { format!("{} {action}", o.description) } else { action };
            Passage {
                moment: moment(Span { start: o.observation.start, end: o.observation.end }),
                topic: Some("person".into()),
                ..Passage::new(format!("{}.{n}", o.observation.chunk_id), PassageKind::Prose, text)
            }
        })
        .collect();
    let Some(passages) = batches(input, passages).into_iter().next() else {
        return Ok(String::new());
    };
    let prompt = Prompt {
        instructions: PROMPT.into(),
        passages,
        question: Some(entity.description.clone()),
        max_tokens: MAX_TOKENS,
        ..Prompt::default()
    };
    let answer: Narrative = input.ask(prompt).await?;
    Ok(answer.narrative)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aggregation::testing::{aggregate, output, video};

    fn chunk_people(chunk: u32, people: &[(&str, &str)]) -> Option<Value> {
        let people: Vec<Value> = people
            .iter()
            .enumerate()
            .map(|(n, (clothing, action))| {
                json!({
                    "person": format!("p{}", n + 1), "clothing": clothing, "action": action,
                    "description": format!("A person in {clothing}."), "position": "on the left",
                    "first_seen": chunk * 10, "last_seen": chunk * 10 + 10,
                })
            })
            .collect();
        output(json!({"people_count": people.len(), "people": people}))
    }

    #[tokio::test]
    async fn people_are_linked_and_narrated() {
        let video = video(10.0, 4).with(
            people::ID,
            vec![
                chunk_people(0, &[("red coat", "opening a door"), ("green hoodie", "reading")]),
                chunk_people(1, &[("a red jacket and blue jeans", "sitting down")]),
                None,
                chunk_people(3, &[("dark clothing", "walking"), ("red coat", "leaving")]),
            ],
        );
        let result = aggregate(&EntitiesAggregator, &video).await;
        for (key, expected) in [("total", 2), ("linked", 1), ("unlinked", 1), ("observations", 5)] {
            assert_eq!(result[key], expected, "{key}");
        }
        let first = &result["entities"][0];
        assert_eq!(first["entity_id"], "01234567-p1");
        assert_eq!(first["chunk_ids"], json!([0, 1, 3]));
        assert_eq!(first["appearances"], 3);
        assert_eq!((&first["first_seen"], &first["last_seen"]), (&json!(0.0), &json!(40.0)));
        assert_eq!(first["description"], "A person in a red jacket and blue jeans.");
        assert_eq!(first["narrative"], "narrated", "the model's words");
        assert_eq!(first.get("timeline"), None);
        assert_eq!(result["entities"][1]["narrative"], "At 0:00.00: reading, on the left.");
        assert_eq!(aggregate(&EntitiesAggregator, &video).await, result, "ids are stable");
    }

    #[tokio::test]
    async fn people_who_look_alike_are_counted() {
        let crowd = output(json!({
            "people_count": 12, "others": {"count": 11, "far_away": true},
            "people": [{"person": "p1", "clothing": "red coat", "description": "A person."}],
        }));
        let twins = |chunk| chunk_people(chunk, &[("black top", ""), ("black top", "")]);
        let video = video(10.0, 5).with(
            people::ID,
            vec![
                crowd,
                twins(1),
                twins(2),
                chunk_people(3, &[("", "")]),
                chunk_people(4, &[("", ""), ("grey top", "")]),
            ],
        );
        let result = aggregate(&EntitiesAggregator, &video).await;
        let chunk_ids: Vec<&Value> =
            result["entities"].as_array().unwrap().iter().map(|e| &e["chunk_ids"]).collect();
        assert_eq!(chunk_ids, [&json!([0]), &json!([3]), &json!([4])], "{result}");
        for (key, expected) in [("total", 3), ("linked", 0), ("unlinked", 16), ("observations", 19)]
        {
            assert_eq!(result[key], expected, "{key}");
        }
    }

    #[test]
    fn extend_to_minimum_stays_within_the_chunk() {
        let chunk = Span { start: 10.0, end: 20.0 };
        for (start, end, expected) in [
            (12.0, 15.0, (12.0, 15.0)),
            (12.0, 12.0, (11.5, 12.5)),
            (10.0, 10.0, (10.0, 11.0)),
            (20.0, 20.0, (19.0, 20.0)),
        ] {
            let seen = extend_to_minimum(Span { start, end }, chunk);
            assert_eq!((seen.start, seen.end), expected);
        }
    }
}
