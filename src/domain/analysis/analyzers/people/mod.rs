//! `people`: each distinct person of a chunk by clothing and appearance: described by the vision
//! model when one is configured, else from measured colours, place, size and movement. Faces are
//! never identified.

mod appearance;
mod garments;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{PassageKind, Person as SeenPerson, Persons};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::analysis::correction::Overlay;
use crate::domain::analysis::evidence::{ChunkEvidence, PersonTrack};
use crate::domain::analysis::finding::{Finding, Statement, Stored, read_migrated};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{Analyzer, AnalyzerSpec, Column, Indexed, TextStyle, no_detector};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::{Span, rounded};
use crate::domain::llm::ask::{Ask, Prompt};
use crate::domain::media::clothing::Garment;
use crate::domain::media::picture::jpeg;
use crate::domain::media::tracking::Location;

#[cfg(test)]
pub(crate) use appearance::worn;
pub(crate) use appearance::{Appearance, person};
pub(crate) use garments::garments;

/// Finds each distinct person of a chunk by clothing and appearance.
pub(crate) struct People;

/// What requests and stored records call it.
pub(crate) const ID: &str = "people";

const VERSION: u32 = 2;

/// The people of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Crowd {
    /// Distinct ones.
    pub(crate) people_count: u32,
    /// One record for each.
    pub(crate) people: Vec<Person>,
    /// Everything the detector saw, people or not.
    #[serde(rename = "_detector_labels")]
    #[schemars(skip)]
    pub(crate) detector_labels: Vec<String>,
}

/// A person within a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Person {
    /// `p1`, `p2` … within the chunk.
    pub person: String,
    /// Who it is, where somebody has said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In a sentence.
    pub description: String,
    /// Garments with their colours.
    pub clothing: String,
    /// Where in the picture.
    pub position: String,
    /// How they move, or what they do.
    pub action: String,
    /// When it is first seen, seconds of the video.
    pub first_seen: f64,
    /// When it was last seen, seconds of the video.
    pub last_seen: f64,
    /// Every sight, in order of time; left out of hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// What `clothing` tells of, as it was measured or read; left out of hits.
    #[serde(rename = "_garments", skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub garments: Vec<Garment>,
}

const PROMPT: &str = include_str!("prompt.md");

/// Longest answer of the vision model per person.
const TOKENS_PER_PERSON: u32 = 150;

/// People described by the vision model in one chunk; a crowd's others are measured only.
const DESCRIBED: usize = 8;

#[async_trait]
impl Analyzer for People {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: None,
            description: "people: how many distinct ones, clothing, appearance, place, movement",
            evidence_rank: 1,
            telling_rank: 2,
            style: TextStyle::People,
            filtered_by: &["people", "people_count"],
            columns: const { &[Column::new("people_count", 3), Column::new("named_people", 4)] },
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        let knows =
            |d: &dyn ports::detector::ObjectDetector| d.labels().iter().any(|l| l == "person");
        let without = "the object detector has no label 'person' (detector.labels)";
        no_detector(models).or_else(|| {
            (!models.detector.as_deref().is_some_and(knows)).then(|| without.to_owned())
        })
    }

    fn fingerprint(&self, models: &Models) -> String {
        let detector = models.detector.as_ref().map_or("none", |d| d.model());
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
        let seen = chunk.tracks(models).await?;
        if seen.people.is_empty() {
            return Ok(None);
        }
        let mut appearances = seen.people.iter().map(person).collect::<Vec<_>>();
        if models.llm.supports_images() {
            let told = describe(models, &seen.people).await?;
            for (known, told) in appearances.iter_mut().zip(told) {
                appearance::refine(known, told);
            }
        }
        let people: Vec<Person> = (1..)
            .zip(seen.people.iter().zip(appearances))
            .map(|(number, (seen, appearance))| Person {
                person: format!("p{number}"),
                name: None,
                description: appearance.description,
                clothing: appearance.clothing,
                position: appearance.position,
                action: appearance.action,
                first_seen: rounded(seen.track.first_seen()),
                last_seen: rounded(seen.track.last_seen()),
                locations: seen.track.points.iter().map(Location::from).collect(),
                garments: appearance.garments,
            })
            .collect();
        let mut labels: Vec<String> = seen.tracks.iter().map(|t| t.label.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        let found = Crowd { people_count: people.len() as u32, people, detector_labels: labels };
        Ok(Some(Arc::new(Stored::seen(found, seen.times.clone()))))
    }

    fn schema(&self) -> Value {
        schema_of::<Crowd>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read_migrated(stored, |crowd: &mut Crowd| {
            crowd.people.iter_mut().for_each(Person::dress);
        })
    }

    fn embedded(&self, field: &str, hit: &HitDocument) -> String {
        match field {
            "combined" => hit.text.clone(),
            "actions" => hit.actions.join(". "),
            _ => hit.description.clone(),
        }
    }

    fn tells(&self, hit: &HitDocument) -> Vec<Statement> {
        vec![Statement::new(PassageKind::People, hit.description.clone())]
    }
}

impl Person {
    /// Reads the garments of a record that was stored without them from its words.
    fn dress(&mut self) {
        if self.garments.is_empty() {
            self.garments = garments(&self.clothing);
        }
    }

    /// The whole record in one line: the description, and what it does not say already.
    fn flattened(&self) -> String {
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

impl Finding for Crowd {
    fn index(&self) -> Indexed {
        let each = |of: fn(&Person) -> &String| -> Vec<String> {
            self.people.iter().map(of).filter(|text| !text.is_empty()).cloned().collect()
        };
        let (people, actions) = (each(|p| &p.description), each(|p| &p.action));
        let text = people.join(" ");
        let combined: Vec<String> = self.people.iter().map(Person::flattened).collect();
        let fields = BTreeMap::from([
            ("combined", combined.join("\n")),
            ("description", text.clone()),
            ("people", text.clone()),
            ("actions", actions.join(". ")),
        ]);
        let persons = self
            .people
            .iter()
            .map(|person| Person { locations: Vec::new(), garments: Vec::new(), ..person.clone() })
            .collect();
        let document = HitDocument {
            description: text,
            people,
            actions,
            people_count: Some(self.people_count),
            persons,
            ..HitDocument::default()
        };
        Indexed { fields, document }
    }

    fn statements(&self) -> Vec<Statement> {
        let told = self.people.iter().map(|person| person.description.as_str());
        vec![Statement::new(PassageKind::People, told.collect::<Vec<_>>().join(" "))]
    }

    fn cells(&self) -> Vec<String> {
        let names: Vec<&str> = self.people.iter().filter_map(|p| p.name.as_deref()).collect();
        vec![self.people_count.to_string(), names.join("; ")]
    }

    fn correct(&mut self, overlay: &Overlay, _span: Span) {
        for person in &mut self.people {
            if let Some(name) = overlay.name_of(&person.locations) {
                person.description = named(name, &person.description);
                person.name = Some(name.to_owned());
            }
        }
    }
}

/// A description of somebody whose name is known.
fn named(name: &str, description: &str) -> String {
    match description.split_once(' ') {
        Some((article @ ("A" | "An" | "The"), looks)) => {
            format!("{name}, {} {looks}", article.to_lowercase())
        }
        _ if description.is_empty() => format!("{name}."),
        _ => format!("{name}: {description}"),
    }
}

/// One call over a picture of each person.
async fn describe(models: &Models, people: &[PersonTrack]) -> Result<Vec<SeenPerson>> {
    let mut images = Vec::new();
    for person in people.iter().take(DESCRIBED) {
        images.push(jpeg(person.portrait.clone()).await?);
    }
    let prompt = Prompt {
        instructions: PROMPT.into(),
        max_tokens: TOKENS_PER_PERSON * images.len() as u32,
        images,
        ..Prompt::default()
    };
    let persons: Persons = models.llm.ask(prompt).await?;
    Ok(persons.persons)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::analysis::finding::output_of;
    use crate::domain::media::clothing::{BodyPart, TOP};

    fn reread(stored: Value) -> Crowd {
        let read = People.read(stored).expect("an output");
        output_of::<Crowd>(&*read).expect("people").clone()
    }

    #[test]
    fn garments_are_stored_and_left_out_of_hits() {
        let garment = Garment {
            part: BodyPart::Upper,
            kind: TOP.into(),
            colours: vec!["violet".into(), "grey".into()],
            details: Vec::new(),
        };
        let person = Person {
            clothing: "violet and grey top".into(),
            garments: vec![garment],
            ..Person::default()
        };
        let crowd = Crowd { people_count: 1, people: vec![person], ..Crowd::default() };
        let stored = json!(crowd);
        assert_eq!(
            stored["people"][0]["_garments"],
            json!([{"part": "upper", "kind": "top", "colours": ["violet", "grey"]}])
        );
        assert_eq!(reread(stored), crowd, "what was measured stays");
        assert_eq!(json!(crowd.index().document.persons)[0].get("_garments"), None);
    }

    #[test]
    fn garments_of_a_record_without_them_are_read_from_its_words() {
        let told = |clothing: &str| json!({"person": "p1", "clothing": clothing});
        let clothes = ["red top, blue below the waist", "a striped scarf", "unknown"];
        let crowd = reread(json!({"people_count": 3, "people": clothes.map(told)}));
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
