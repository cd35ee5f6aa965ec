//! The parts of an analyzer's output that search filters compare and that hits show.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::analysis::certainty::Certainty;

/// The labels of a chunk, by kind. Filters compare only the kinds that the analyzer lists in
/// [`filter_fields`](crate::analysis::AnalyzerSpec::filter_fields).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facets {
    /// Descriptions of people.
    pub people: Vec<String>,
    /// Names of objects.
    pub objects: Vec<String>,
    /// Actions.
    pub actions: Vec<String>,
    /// Topics.
    pub tags: Vec<String>,
    /// Speaker labels.
    pub speakers: Vec<String>,
    /// Number of people, if they were counted.
    pub people_count: Option<u32>,
    /// The certainty of the detections for each label.
    #[serde(rename = "_certainty", skip_serializing_if = "Certainty::is_empty")]
    pub certainty: Certainty,
}

impl Facets {
    /// Returns the labels of a filterable kind, or none for an unknown kind.
    pub(crate) fn labels(&self, kind: &str) -> &[String] {
        match kind {
            "people" => &self.people,
            "objects" => &self.objects,
            "actions" => &self.actions,
            "tags" => &self.tags,
            "speakers" => &self.speakers,
            _ => &[],
        }
    }

    /// For each kind that has no labels, takes the labels of another output for the same chunk.
    pub(crate) fn fill_missing(&mut self, other: Self) {
        fn fill(own: &mut Vec<String>, others: Vec<String>) {
            if own.is_empty() {
                *own = others;
            }
        }
        fill(&mut self.people, other.people);
        fill(&mut self.objects, other.objects);
        fill(&mut self.actions, other.actions);
        fill(&mut self.tags, other.tags);
        fill(&mut self.speakers, other.speakers);
        self.people_count = self.people_count.or(other.people_count);
    }
}

/// The part of an output that a hit shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Display {
    /// Description in prose.
    pub description: String,
    /// Lists of records, by name. Hits show `turns`, `persons`, `detections` and `texts` in fields
    /// of these names, and other lists in the field `records`.
    #[serde(rename = "_records", skip_serializing_if = "Map::is_empty")]
    pub records: Map<String, Value>,
}

impl Display {
    /// Creates a display with a description and no records.
    pub fn new(description: impl Into<String>) -> Self {
        Self { description: description.into(), records: Map::new() }
    }

    /// Adds a list of records. An empty list is omitted.
    #[must_use]
    pub fn with_records(mut self, name: &str, records: &[impl Serialize]) -> Self {
        if !records.is_empty() {
            self.records.insert(name.to_owned(), json!(records));
        }
        self
    }

    /// Removes the list of records with this name and returns it. Returns an empty list if there is
    /// none.
    pub fn take_records(&mut self, name: &str) -> Vec<Value> {
        match self.records.remove(name) {
            Some(Value::Array(records)) => records,
            _ => Vec::new(),
        }
    }

    /// Adds the description and the lists of records that are missing, taking them from another
    /// output for the same chunk.
    pub(crate) fn fill_missing(&mut self, other: Self) {
        if self.description.is_empty() {
            self.description = other.description;
        }
        for (name, records) in other.records {
            self.records.entry(name).or_insert(records);
        }
    }
}
