//! `people`: counts the people in a chunk, and describes those who can be distinguished by clothing
//! and appearance. The vision model writes the descriptions if one is configured. Otherwise, they
//! are composed from measured colours, position, size and movement. Faces are never identified.

mod appearance;
mod crowd;
mod garments;
mod summary;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{PassageKind, Person, Persons};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::analyzers::people::appearance::Appearance;
use crate::analysis::analyzers::people::crowd::Individual;
use crate::analysis::correction::CorrectionSet;
use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::{AnalyzerOutput, OutputRecord, Statement, read_migrated};
use crate::analysis::presentation::{OutputKind, Presentation, TrackSpec};
use crate::analysis::video::Output;
use crate::analysis::{
    Analyzer, AnalyzerSpec, Column, IndexEntry, TextStyle, missing_detector, object_models,
};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::schema::json_schema;
use crate::kernel::time::Span;
use crate::llm::structured::{Prompt, StructuredOutput};
use crate::media::clothing::Garment;
use crate::media::picture::jpeg;
use crate::media::tracking::Location;

#[cfg(test)]
pub(crate) use appearance::garment_phrase;
pub(crate) use appearance::measure;
pub(crate) use crowd::{OtherPeople, PeopleInView};
pub(crate) use garments::parse_garments;

/// The `people` analyzer.
pub(crate) struct PeopleAnalyzer;

/// The id used in requests and stored records.
pub(crate) const ID: &str = "people";

const VERSION: u32 = 4;

/// The people of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ChunkPeople {
    /// The largest number of people in any one frame.
    pub(crate) people_count: u32,
    /// One record per person who can be distinguished from others. People at different times
    /// are listed too, so there can be more records than `people_count`.
    pub(crate) people: Vec<PersonRecord>,
    /// The people without a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) others: Option<OtherPeople>,
    /// All labels that the detector found, not only `person`.
    #[serde(rename = "_detector_labels")]
    #[schemars(skip)]
    pub(crate) detector_labels: Vec<String>,
}

/// A person within a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PersonRecord {
    /// Id within the chunk: `p1`, `p2` …
    pub person: String,
    /// The name, if a correction gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Description, in one sentence.
    pub description: String,
    /// Garments with their colours.
    pub clothing: String,
    /// Position in the picture; empty if nobody else is visible.
    pub position: String,
    /// Movement or action; empty if the person does not move.
    pub action: String,
    /// Time at which the person is first seen, in seconds from the start of the video.
    pub first_seen: f64,
    /// Time at which the person is last seen, in seconds from the start of the video.
    pub last_seen: f64,
    /// Every detection, in chronological order; omitted from hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// The garments that `clothing` describes, either measured or parsed from that text; omitted
    /// from hits.
    #[serde(rename = "_garments", skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub garments: Vec<Garment>,
}

const PROMPT: &str = include_str!("prompt.md");

/// Maximum length of the vision model's answer per person, in tokens.
const TOKENS_PER_PERSON: u32 = 150;

/// Maximum number of people per chunk that the vision model describes. Any others are only
/// measured.
const MAX_DESCRIBED: usize = 8;

#[async_trait]
impl Analyzer for PeopleAnalyzer {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: None,
            description: "people: how many at once, clothing, appearance, place, movement",
            evidence_rank: 1,
            statement_rank: 2,
            style: TextStyle::People,
            filter_fields: &["people", "people_count"],
            label: "People",
            presentation: const {
                Presentation {
                    icon: "person",
                    kind: OutputKind::People,
                    rank: 40,
                    tracks: &[TrackSpec::sightings("/people", "description")],
                    ..Presentation::ROWS
                }
            },
            columns: const { &[Column::new("people_count", 3), Column::new("named_people", 4)] },
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        let has_person =
            |d: &dyn ports::detector::ObjectDetector| d.labels().iter().any(|l| l == "person");
        let reason = "the object detector has no label 'person' (detector.labels)";
        missing_detector(models).or_else(|| {
            (!models.detector.as_deref().is_some_and(has_person)).then(|| reason.to_owned())
        })
    }

    fn fingerprint(&self, models: &Models) -> String {
        let detector = object_models(models).unwrap_or_else(|| "none".into());
        let described_by =
            if models.llm.supports_images() { models.llm.model() } else { "measured" };
        format!("{detector}/{described_by}/v{VERSION}")
    }

    fn cacheable(&self, _models: &Models) -> bool {
        true
    }

    fn bills_model(&self, models: &Models) -> bool {
        models.llm.supports_images() && models.llm.is_billed()
    }

    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let tracks = chunk.tracks(models).await?;
        let in_view = PeopleInView::from_tracks(tracks);
        if in_view.count == 0 {
            return Ok(None);
        }
        let mut appearances = measure(&in_view);
        if models.llm.supports_images() && !in_view.individuals.is_empty() {
            let described = describe(models, &in_view.individuals).await?;
            for (appearance, person) in appearances.iter_mut().zip(described) {
                appearance.refine(person);
            }
        }
        let people = (1..).zip(in_view.individuals.iter().zip(appearances));
        let people = people.map(|(number, (person, appearance))| {
            PersonRecord::new(number, person.locations(), appearance)
        });
        let mut labels: Vec<String> = tracks.tracks.iter().map(|t| t.label.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        let output = ChunkPeople {
            people_count: in_view.count,
            people: people.collect(),
            others: in_view.others,
            detector_labels: labels,
        };
        Ok(Some(Arc::new(OutputRecord::from_frames(output, tracks.times.clone()))))
    }

    fn schema(&self) -> Value {
        json_schema::<ChunkPeople>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read_migrated(stored, |crowd: &mut ChunkPeople| {
            crowd.people.iter_mut().for_each(PersonRecord::restore_garments);
        })
    }
}

impl PersonRecord {
    /// Creates the record of the person with this number in the chunk.
    fn new(number: usize, locations: Vec<Location>, appearance: Appearance) -> Self {
        let Appearance { description, clothing, garments, position, action } = appearance;
        Self {
            person: format!("p{number}"),
            name: None,
            description,
            clothing,
            position,
            action,
            first_seen: locations.first().map_or(0.0, |location| location.t),
            last_seen: locations.last().map_or(0.0, |location| location.t),
            locations,
            garments,
        }
    }

    /// Parses the garments from `clothing` if the record was stored without them.
    fn restore_garments(&mut self) {
        if self.garments.is_empty() {
            self.garments = parse_garments(&self.clothing);
        }
    }

    /// The whole record in one line: the description, followed by the details that it lacks.
    fn to_line(&self) -> String {
        let mut line = self.description.clone();
        for (label, text) in
            [("Clothing", &self.clothing), ("Position", &self.position), ("Action", &self.action)]
        {
            if !text.is_empty() && !self.description.contains(text.as_str()) {
                line.push_str(&format!(" {label}: {text}."));
            }
        }
        line.trim_start().to_owned()
    }
}

impl ChunkPeople {
    /// Summarizes the people in one sentence.
    fn summary(&self) -> String {
        let descriptions = self.people.iter().map(|person| person.description.as_str());
        let descriptions: Vec<&str> = descriptions.filter(|text| !text.is_empty()).collect();
        summary::summarize(self.people_count, &descriptions, self.others)
    }
}

impl AnalyzerOutput for ChunkPeople {
    fn index_entry(&self) -> IndexEntry {
        let collect = |field: fn(&PersonRecord) -> &String| -> Vec<String> {
            self.people.iter().map(field).filter(|text| !text.is_empty()).cloned().collect()
        };
        let (people, actions) = (collect(|p| &p.description), collect(|p| &p.action));
        let text = self.summary();
        let combined: Vec<String> = match self.people.as_slice() {
            [only] if self.others.is_none() => vec![only.to_line()],
            _ => {
                // The text already contains the descriptions.
                let detailed = self.people.iter().filter(|p| p.to_line() != p.description);
                let lines = detailed.map(PersonRecord::to_line);
                std::iter::once(text.clone()).chain(lines).collect()
            }
        };
        let fields = BTreeMap::from([
            ("combined", combined.join("\n")),
            ("description", text.clone()),
            ("people", text.clone()),
            ("actions", actions.join(". ")),
        ]);
        let persons: Vec<PersonRecord> = self
            .people
            .iter()
            .map(|person| PersonRecord {
                locations: Vec::new(),
                garments: Vec::new(),
                ..person.clone()
            })
            .collect();
        let people_count = Some(self.people_count);
        let facets = Facets { people, actions, people_count, ..Facets::default() };
        let display = Display::new(text).with_records("persons", &persons);
        IndexEntry { fields, facets, display }
    }

    fn statements(&self) -> Vec<Statement> {
        vec![Statement::new(PassageKind::People, self.summary())]
    }

    fn cells(&self) -> Vec<String> {
        let names: Vec<&str> = self.people.iter().filter_map(|p| p.name.as_deref()).collect();
        vec![self.people_count.to_string(), names.join("; ")]
    }

    fn apply_corrections(&mut self, corrections: &CorrectionSet, _span: Span) {
        for person in &mut self.people {
            if let Some(name) = corrections.person_name(&person.locations) {
                person.description = named_description(name, &person.description);
                person.name = Some(name.to_owned());
            }
        }
    }
}

/// Adds a name to a description.
fn named_description(name: &str, description: &str) -> String {
    match description.split_once(' ') {
        Some((article @ ("A" | "An" | "The"), looks)) => {
            format!("{name}, {} {looks}", article.to_lowercase())
        }
        _ if description.is_empty() => format!("{name}."),
        _ => format!("{name}: {description}"),
    }
}

/// Describes people from their portraits with one call to the vision model.
async fn describe(models: &Models, people: &[Individual<'_>]) -> Result<Vec<Person>> {
    let mut images = Vec::new();
    for person in people.iter().filter_map(Individual::surest).take(MAX_DESCRIBED) {
        images.push(jpeg(person.portrait.clone()).await?);
    }
    let prompt = Prompt {
        instructions: PROMPT.into(),
        max_tokens: TOKENS_PER_PERSON * images.len() as u32,
        images,
        ..Prompt::default()
    };
    let persons: Persons = models.llm.complete_as(prompt).await?;
    Ok(persons.persons)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::analysis::output::output_of;
    use crate::media::clothing::{BodyPart, TOP};

    fn read_back(stored: Value) -> ChunkPeople {
        let read = PeopleAnalyzer.read(stored).expect("an output");
        output_of::<ChunkPeople>(&*read).expect("people").clone()
    }

    #[test]
    fn garments_are_stored_and_omitted_from_hits() {
        let garment = Garment {
            part: BodyPart::Upper,
            kind: TOP.into(),
            colours: vec!["violet".into(), "grey".into()],
            details: Vec::new(),
        };
        let person = PersonRecord {
            clothing: "violet and grey top".into(),
            garments: vec![garment],
            ..PersonRecord::default()
        };
        let crowd = ChunkPeople { people_count: 1, people: vec![person], ..ChunkPeople::default() };
        let stored = json!(crowd);
        assert_eq!(
            stored["people"][0]["_garments"],
            json!([{"part": "upper", "kind": "top", "colours": ["violet", "grey"]}])
        );
        assert_eq!(read_back(stored), crowd, "measured garments stay");
        assert_eq!(crowd.index_entry().display.records["persons"][0].get("_garments"), None);
    }

    #[test]
    fn read_restores_missing_garments() {
        let person = |clothing: &str| json!({"person": "p1", "clothing": clothing});
        let clothes = ["red top, blue below the waist", "a striped scarf", "unknown"];
        let crowd = read_back(json!({"people_count": 3, "people": clothes.map(person)}));
        let kinds = crowd.people.iter().map(|person| {
            person.garments.iter().map(|g| (g.kind.as_str(), g.colours.join(" "))).collect()
        });
        let kinds: Vec<Vec<(&str, String)>> = kinds.collect();
        let coloured = |kind, colour: &str| (kind, colour.to_owned());
        assert_eq!(
            kinds,
            [
                vec![coloured("top", "red"), coloured("trousers", "blue")],
                vec![coloured("tie", "")],
                vec![],
            ]
        );
    }
}
