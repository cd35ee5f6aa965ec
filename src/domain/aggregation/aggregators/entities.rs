//! `entities`: people linked across chunks by what they wear, with what each one did.

use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Narrative, Passage, PassageKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::aggregation::entity::Entity;
use crate::domain::aggregation::linking::clothing::Signature;
use crate::domain::aggregation::linking::link;
use crate::domain::aggregation::result::{Aggregate, Conclusion, Stored, read};
use crate::domain::aggregation::{
    Aggregator, AggregatorSpec, Input, batches, moment, prefix, rounded, try_each,
};
use crate::domain::analysis::analyzers::people::{self, Crowd};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::{Span, timecode};
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::llm::ask::Prompt;

/// What requests and stored records call it.
pub(crate) const ID: &str = "entities";

/// Links people across chunks by what they wear, with what each one did.
pub(crate) struct Entities;

const PROMPT: &str = include_str!("../prompts/narrative.md");

/// Tokens of one narrative.
const MAX_TOKENS: u32 = 300;

/// People whose narrative the language model writes, those seen in most chunks first. The others
/// are told of in the people analyzer's words.
const NARRATED: usize = 40;

/// A person that one look at a chunk saw lasts this long, seconds.
const GLANCE: f64 = 1.0;

/// The people of a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct People {
    pub(crate) total: usize,
    /// Those seen in several chunks.
    pub(crate) linked: usize,
    /// Those seen in one.
    pub(crate) unlinked: usize,
    /// How often anybody was seen in a chunk.
    pub(crate) observations: usize,
    /// In order of their first appearance; without timelines, which another aggregate holds.
    pub(crate) entities: Vec<Person>,
}

/// One person in one chunk, as `entities` stores it for the aggregates that build on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Observation {
    pub(crate) chunk_id: ChunkId,
    /// The people analyzer's name for them within the chunk.
    pub(crate) person: String,
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
}

/// A linked person as stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Person {
    #[serde(flatten)]
    pub(crate) entity: Entity,
    #[serde(rename = "sightings")]
    pub(crate) observations: Vec<Observation>,
}

/// One person in one chunk, with what the chunk tells of them.
struct ChunkPerson {
    observation: Observation,
    name: Option<String>,
    signature: Signature,
    description: String,
    action: String,
    position: String,
}

#[async_trait]
impl Aggregator for Entities {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[people::ID],
            uses_llm: true,
            answers: "who is in the video, which people appear, what each person looks like and \
                      what a particular person did",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate> {
        let seen = people_by_chunk(input.video);
        let clothes: Vec<(ChunkId, Signature)> =
            seen.iter().map(|o| (o.observation.chunk_id, o.signature.clone())).collect();
        // Comparing everybody with everybody takes time in a long video.
        let linked = tokio::task::spawn_blocking(move || link(&clothes))
            .await
            .map_err(|e| Error::corrupt(format!("linking ended abnormally: {e}")))?;
        let mut persons: Vec<Vec<&ChunkPerson>> = linked
            .into_iter()
            .map(|person| person.into_iter().map(|i| &seen[i]).collect())
            .collect();
        join_named(&mut persons);
        persons.sort_by(|a, b| a[0].observation.start.total_cmp(&b[0].observation.start));
        let told = narrated_by_model(&persons);
        let work: Vec<_> = persons
            .iter()
            .enumerate()
            .map(|(n, person)| tell(input, n + 1, person, told.contains(&n)))
            .collect();
        let entities = try_each(work).await?;
        let linked = entities.iter().filter(|p| p.entity.appearances > 1).count();
        Ok(Arc::new(Stored::new(People {
            total: entities.len(),
            linked,
            unlinked: entities.len() - linked,
            observations: seen.len(),
            entities,
        })))
    }

    fn schema(&self) -> Value {
        schema_of::<People>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<People>(stored)
    }
}

impl Conclusion for People {
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
    for (chunk_id, span, crowd) in video.of::<Crowd>(people::ID) {
        for person in &crowd.people {
            let seen = Span { start: person.first_seen, end: person.last_seen };
            let seen = lasting(seen, span);
            people.push(ChunkPerson {
                observation: Observation {
                    chunk_id,
                    person: person.person.clone(),
                    start: rounded(seen.start),
                    end: rounded(seen.end),
                },
                name: person.name.clone(),
                signature: Signature::of(&person.garments),
                description: person.description.trim().to_owned(),
                action: person.action.trim().to_owned(),
                position: person.position.trim().to_owned(),
            });
        }
    }
    people
}

/// Joins those who were given one name.
fn join_named(persons: &mut Vec<Vec<&ChunkPerson>>) {
    let mut joined: Vec<Vec<&ChunkPerson>> = Vec::new();
    for person in persons.drain(..) {
        let name_of =
            |person: &[&ChunkPerson]| person.iter().find_map(|seen| seen.name.as_ref()).cloned();
        let name = name_of(&person);
        let known = joined.iter_mut().find(|other| name.is_some() && name_of(other) == name);
        match known {
            Some(known) => {
                known.extend(person);
                known.sort_by(|a, b| a.observation.start.total_cmp(&b.observation.start));
            }
            None => joined.push(person),
        }
    }
    *persons = joined;
}

/// At least a glance long, within the chunk.
fn lasting(seen: Span, chunk: Span) -> Span {
    let length = seen.seconds().max(GLANCE).min(chunk.seconds());
    let middle = (seen.start + seen.end) / 2.0;
    let start = (middle - length / 2.0).min(chunk.end - length).max(chunk.start);
    Span { start, end: start + length }
}

/// Indexes of the people whose narrative is worth a call of the model.
fn narrated_by_model(persons: &[Vec<&ChunkPerson>]) -> Vec<usize> {
    let mut linked: Vec<usize> = (0..persons.len()).filter(|n| persons[*n].len() > 1).collect();
    linked.sort_by_key(|n| std::cmp::Reverse(persons[*n].len()));
    linked.truncate(NARRATED);
    linked
}

fn entity(video_id: VideoId, number: usize, person: &[&ChunkPerson]) -> Person {
    // The description that says most of the clothes; of equals the first.
    let best =
        person.iter().rev().max_by(|a, b| a.signature.weight().total_cmp(&b.signature.weight()));
    let observations: Vec<Observation> = person.iter().map(|p| p.observation.clone()).collect();
    let chunk_ids: Vec<ChunkId> = observations.iter().map(|s| s.chunk_id).collect();
    let first_seen = observations.iter().map(|s| s.start).fold(f64::INFINITY, f64::min);
    let last_seen = observations.iter().map(|s| s.end).fold(0.0, f64::max);
    Person {
        entity: Entity {
            entity_id: format!("{}-p{number}", prefix(&video_id)),
            name: person.iter().find_map(|seen| seen.name.clone()),
            appearances: chunk_ids.len() as u32,
            chunk_ids,
            first_seen,
            last_seen,
            description: best.map_or_else(String::new, |o| o.description.clone()),
            narrative: plain_narrative(person),
            timeline: None,
        },
        observations,
    }
}

/// What a person does where the model is not asked: the actions in the analyzer's words.
fn plain_narrative(person: &[&ChunkPerson]) -> String {
    let mut told: Vec<String> = Vec::new();
    for seen in person {
        let text = sentence(seen);
        if !told.contains(&text) {
            told.push(text);
        }
    }
    told.join(" ")
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

/// A linked person with a narrative, from the model or in the analyzer's words.
async fn tell(
    input: &Input<'_>,
    number: usize,
    person: &[&ChunkPerson],
    by_model: bool,
) -> Result<Person> {
    let mut entity = entity(input.video.video_id, number, person);
    if by_model {
        let narrative = narrate(input, &entity.entity, person).await?;
        if !narrative.trim().is_empty() {
            entity.entity.narrative = narrative;
        }
    }
    Ok(entity)
}

async fn narrate(input: &Input<'_>, entity: &Entity, person: &[&ChunkPerson]) -> Result<String> {
    let passages: Vec<Passage> = person
        .iter()
        .enumerate()
        .map(|(n, o)| {
            let told = sentence(o);
            let billed = input.model.is_billed();
            let text = if billed { format!("{} {told}", o.description) } else { told };
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
    let told: Narrative = input.ask(prompt).await?;
    Ok(told.narrative)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::aggregation::testing::{aggregate, output, video};

    fn crowd(chunk: u32, people: &[(&str, &str)]) -> Option<Value> {
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
    async fn people_are_linked_and_told_of() {
        let video = video(10.0, 4).with(
            people::ID,
            vec![
                crowd(0, &[("red coat", "opening a door"), ("green hoodie", "reading")]),
                crowd(1, &[("a red jacket and blue jeans", "sitting down")]),
                None,
                crowd(3, &[("dark clothing", "walking"), ("red coat", "leaving")]),
            ],
        );
        let result = aggregate(&Entities, &video).await;
        for (key, expected) in [("total", 3), ("linked", 1), ("unlinked", 2), ("observations", 5)] {
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
        assert_eq!(result["entities"][2]["chunk_ids"], json!([3]));
        assert_eq!(aggregate(&Entities, &video).await, result, "ids are stable");
    }

    #[test]
    fn a_glance_lasts_a_second_within_its_chunk() {
        let chunk = Span { start: 10.0, end: 20.0 };
        for (start, end, expected) in [
            (12.0, 15.0, (12.0, 15.0)),
            (12.0, 12.0, (11.5, 12.5)),
            (10.0, 10.0, (10.0, 11.0)),
            (20.0, 20.0, (19.0, 20.0)),
        ] {
            let seen = lasting(Span { start, end }, chunk);
            assert_eq!((seen.start, seen.end), expected);
        }
    }
}
