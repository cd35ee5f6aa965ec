//! `object_entities`: objects tracked across chunks. Fixtures, which never move, are listed
//! separately.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Narrative, Passage, PassageKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aggregation::linking::object_tracks::{TrackedObject, count_people_sightings, track};
use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::{
    Aggregator, AggregatorInput, AggregatorSpec, batches, moment, prefix, try_each,
};
use crate::analysis::analyzers::object_detection;
use crate::analysis::chunk_text::ChunkText;
use crate::analysis::presentation::{OutputKind, Presentation, Tab, TrackSpec};
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::ChunkId;
use crate::llm::structured::Prompt;

/// The id in requests and stored records.
pub(crate) const ID: &str = "object_entities";

/// The `object_entities` aggregator.
pub(crate) struct ObjectEntitiesAggregator;

/// The objects in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ObjectEntityList {
    /// The objects except fixtures, in order of first appearance.
    pub(crate) objects: Vec<ObjectEntity>,
    pub(crate) total: usize,
    /// Number of objects seen in several chunks.
    pub(crate) linked: usize,
    /// Number of objects seen in one chunk.
    pub(crate) unlinked: usize,
    /// Number of observations, including those of fixtures. There is one observation per object and
    /// chunk.
    pub(crate) observations: usize,
    /// Number of objects with a narrative from the model.
    pub(crate) narrated: usize,
    /// Number of distinct people in each chunk, summed over the chunks.
    pub(crate) people_sightings: u64,
    /// Labels of objects that never move, each with its number of observations, in descending
    /// order.
    pub(crate) fixtures: Vec<(String, usize)>,
}

/// An object across all the chunks in which it is seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ObjectEntity {
    /// Id of the object: `{video_id_prefix}-o{n}`.
    pub(crate) entity_id: String,
    pub(crate) label: String,
    /// Number of chunks in which the object is seen.
    pub(crate) appearances: usize,
    #[schemars(with = "Vec<usize>")]
    pub(crate) chunk_ids: Vec<ChunkId>,
    /// Time at which the object is first seen, in seconds from the start of the video.
    pub(crate) first_seen: f64,
    /// Time at which the object is last seen, in seconds from the start of the video.
    pub(crate) last_seen: f64,
    pub(crate) description: String,
    /// What happens to the object.
    pub(crate) narrative: String,
}

const PROMPT: &str = include_str!("../prompts/narrative.md");

/// Maximum length of one narrative, in tokens.
const MAX_TOKENS: u32 = 200;

/// Maximum number of objects for which the language model writes the narrative. They are chosen
/// from the objects seen in several chunks, the highest number of chunks first.
const MAX_NARRATED: usize = 20;

#[async_trait]
impl Aggregator for ObjectEntitiesAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[object_detection::ID],
            uses_llm: true,
            answers: "which objects, vehicles, animals and things are seen, where a particular \
                      object goes and what happens to it, what stands around",
            label: "Recognised objects",
            presentation: const {
                let objects = TrackSpec {
                    text: Some("narrative"),
                    ..TrackSpec::sightings("/objects", "label")
                };
                Presentation {
                    icon: "object",
                    kind: OutputKind::TrackedObjects,
                    rank: 60,
                    tab: Some(Tab::new("objects", "Objects")),
                    tracks: &[objects],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let (still, moving): (Vec<TrackedObject>, Vec<TrackedObject>) =
            track(input.video).into_iter().partition(TrackedObject::is_fixture);
        let mut fixtures: BTreeMap<String, usize> = BTreeMap::new();
        for fixture in &still {
            *fixtures.entry(fixture.label.clone()).or_default() += fixture.observations.len();
        }
        let mut fixtures: Vec<(String, usize)> = fixtures.into_iter().collect();
        fixtures.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let narrated = select_narrated(&moving);
        let entities: Vec<_> = moving
            .iter()
            .enumerate()
            .map(|(n, object)| build_entity(input, n + 1, object, narrated.contains(&n)))
            .collect();
        let objects = try_each(entities).await?;
        let observations: usize =
            still.iter().chain(&moving).map(|object| object.observations.len()).sum();
        let linked = moving.iter().filter(|object| object.observations.len() > 1).count();
        Ok(Arc::new(AggregateRecord::new(ObjectEntityList {
            objects,
            total: moving.len(),
            linked,
            unlinked: moving.len() - linked,
            observations,
            narrated: narrated.len(),
            people_sightings: count_people_sightings(input.video),
            fixtures,
        })))
    }

    fn schema(&self) -> Value {
        json_schema::<ObjectEntityList>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<ObjectEntityList>(stored)
    }
}

impl AggregatorOutput for ObjectEntityList {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let labels: BTreeSet<&str> = self.objects.iter().map(|o| o.label.as_str()).collect();
        let mut evidence: Vec<(Span, String)> = Vec::new();
        if !labels.is_empty() {
            let labels: Vec<&str> = labels.into_iter().collect();
            evidence.push((whole, format!("Objects that are seen: {}.", labels.join(", "))));
        }
        evidence.extend(
            self.objects
                .iter()
                .map(|o| (Span { start: o.first_seen, end: o.last_seen }, o.narrative.clone())),
        );
        let fixtures: Vec<&str> = self.fixtures.iter().map(|(label, _)| label.as_str()).collect();
        if !fixtures.is_empty() {
            evidence.push((whole, format!("Standing still are: {}.", fixtures.join(", "))));
        }
        evidence
    }
}

/// Returns the indexes of the objects whose narrative the model writes.
fn select_narrated(objects: &[TrackedObject]) -> Vec<usize> {
    let mut linked: Vec<usize> =
        (0..objects.len()).filter(|n| objects[*n].observations.len() > 1).collect();
    linked.sort_by_key(|n| std::cmp::Reverse(objects[*n].observations.len()));
    linked.truncate(MAX_NARRATED);
    linked
}

/// Builds the entity for an object. The narrative is written by the model or composed from the
/// observations.
async fn build_entity(
    input: &AggregatorInput<'_>,
    number: usize,
    object: &TrackedObject,
    by_model: bool,
) -> Result<ObjectEntity> {
    let mut narrative = if by_model { narrate(input, object).await? } else { String::new() };
    if narrative.trim().is_empty() {
        narrative = object.composed_narrative();
    }
    Ok(ObjectEntity {
        entity_id: format!("{}-o{number}", prefix(&input.video.video_id)),
        label: object.label.clone(),
        appearances: object.observations.len(),
        chunk_ids: object.chunk_ids(),
        first_seen: rounded(object.first_seen()),
        last_seen: rounded(object.last_seen()),
        description: object.description(),
        narrative,
    })
}

/// Asks the model to write the narrative of an object, based on its observations and on the
/// statements that mention it.
async fn narrate(input: &AggregatorInput<'_>, object: &TrackedObject) -> Result<String> {
    let mut passages: Vec<Passage> = Vec::new();
    for observation in &object.observations {
        let mut add = |kind, text: String| {
            let passage =
                Passage::new(format!("{}.{}", observation.chunk_id, passages.len()), kind, text);
            let topic = Some(object.label.clone());
            passages.push(Passage { moment: moment(observation.span()), topic, ..passage });
        };
        add(PassageKind::Prose, observation.sentence(&object.label));
        let chunk = input.texts.iter().find(|t| t.chunk_id == observation.chunk_id);
        let mentions = chunk.into_iter().flat_map(ChunkText::statements).filter(|statement| {
            matches!(statement.kind, PassageKind::Prose | PassageKind::Objects)
                && statement.text.to_lowercase().contains(&object.label)
        });
        mentions.for_each(|statement| add(statement.kind, statement.text.clone()));
    }
    let Some(passages) = batches(input, passages).into_iter().next() else {
        return Ok(String::new());
    };
    let prompt = Prompt {
        instructions: PROMPT.into(),
        passages,
        question: Some(object.label.clone()),
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

    type LabelLocations<'a> = (&'a str, &'a [(f64, [f64; 4])]);

    fn detected(detections: &[LabelLocations<'_>]) -> Option<Value> {
        let detections: Vec<Value> = detections
            .iter()
            .map(|(label, seen)| {
                let locations: Vec<Value> = seen
                    .iter()
                    .map(|(t, bounds)| json!({"t": t, "box": bounds, "confidence": 0.9}))
                    .collect();
                json!({"label": label, "count": 1, "locations": locations})
            })
            .collect();
        output(json!({"detections": detections}))
    }

    #[tokio::test]
    async fn fixtures_are_separated_from_moving_objects() {
        let plant = [0.8, 0.5, 0.1, 0.3];
        let video = video(10.0, 3).with(
            object_detection::ID,
            vec![
                detected(&[
                    ("car", &[(2.0, [0.0, 0.4, 0.2, 0.2]), (6.0, [0.3, 0.4, 0.2, 0.2])]),
                    ("plant", &[(2.0, plant), (6.0, plant)]),
                    ("person", &[(2.0, [0.4, 0.2, 0.2, 0.7])]),
                ]),
                detected(&[
                    ("car", &[(12.0, [0.5, 0.4, 0.2, 0.2])]),
                    ("plant", &[(12.0, [0.805, 0.5, 0.1, 0.3]), (16.0, plant)]),
                ]),
                detected(&[("plant", &[(22.0, plant)]), ("dog", &[(25.0, [0.1, 0.7, 0.1, 0.1])])]),
            ],
        );
        let result = aggregate(&ObjectEntitiesAggregator, &video).await;
        for (key, expected) in [
            ("total", json!(2)),
            ("linked", json!(1)),
            ("unlinked", json!(1)),
            ("observations", json!(6)),
            ("narrated", json!(1)),
            ("people_sightings", json!(1)),
            ("fixtures", json!([["plant", 3]])),
        ] {
            assert_eq!(result[key], expected, "{key}");
        }
        let car = &result["objects"][0];
        assert_eq!(car["entity_id"], "01234567-o1");
        assert_eq!(car["label"], "car");
        assert_eq!(car["chunk_ids"], json!([0, 1]));
        assert_eq!((&car["first_seen"], &car["last_seen"]), (&json!(2.0), &json!(12.0)));
        assert_eq!(car["description"], "A car, moving to the right.");
        assert_eq!(car["narrative"], "narrated");
        let dog = &result["objects"][1];
        assert_eq!(dog["appearances"], 1);
        assert_eq!(dog["narrative"], "The dog is seen at 0:25.00, on the left.");
    }
}
