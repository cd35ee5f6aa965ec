//! The schemas of analyzer outputs. Only the OpenAPI document uses them; the values are sent as
//! stored.
//!
//! If an analyzer has no schema in this file, the document describes its output as an object with
//! arbitrary fields.

use poem_openapi::Object;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::Type;

use crate::http::wire::hits::SpeakerTurnBody;
use crate::http::wire::values::AnyObject;
use domain::analysis::AnalyzerSpec;

/// Registers the schemas of the outputs in this file. Each schema is named after its analyzer.
pub(super) fn register(registry: &mut Registry) {
    DefaultVideoOutput::register(registry);
    TranscriptOutput::register(registry);
    DiarizationOutput::register(registry);
    ObjectDetectionOutput::register(registry);
    OcrOutput::register(registry);
    PeopleOutput::register(registry);
}

/// Returns the schema of an analyzer's output.
pub(super) fn schema_ref(registry: &Registry, analyzer: &AnalyzerSpec<'static>) -> MetaSchemaRef {
    let name = schema_name(analyzer.id);
    if registry.schemas.contains_key(&name) {
        return MetaSchemaRef::Reference(name);
    }
    MetaSchemaRef::Inline(Box::new(MetaSchema {
        description: Some(analyzer.description),
        ..MetaSchema::new("object")
    }))
}

/// Returns the schema name for an analyzer, such as `DefaultVideoOutput` for `default_video`.
fn schema_name(analyzer_id: &str) -> String {
    let capitalized = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    analyzer_id.split('_').map(capitalized).chain(["Output".to_owned()]).collect()
}

#[derive(Object)]
struct DefaultVideoOutput {
    /// What happens in the chunk.
    description: String,
    /// Where the action takes place.
    setting: String,
    /// Descriptions of visible people.
    people: Vec<String>,
    /// Visible objects.
    objects: Vec<String>,
    /// What people and objects do.
    actions: Vec<String>,
    /// Keywords.
    tags: Vec<String>,
}

#[derive(Object)]
struct TranscriptOutput {
    /// The words spoken in the chunk.
    text: String,
    /// ISO 639-1 code of the spoken language; null if unknown.
    #[oai(nullable)]
    language: Option<String>,
    /// Objects `{start, end, text, confidence}`. Times are in seconds from the start of the video;
    /// confidence ranges from 0 to 1.
    segments: Vec<AnyObject>,
}

#[derive(Object)]
struct DiarizationOutput {
    /// Speaker turns in chronological order.
    turns: Vec<SpeakerTurnBody>,
    /// Labels or names of the speakers in the chunk.
    speakers: Vec<String>,
}

#[derive(Object)]
struct ObjectDetectionOutput {
    /// Labels of the detected objects.
    objects: Vec<String>,
    /// Objects `{label, count, confidence, first_seen, last_seen}`, with `locations` if `verbose`
    /// is set. Times are in seconds from the start of the video.
    detections: Vec<AnyObject>,
}

#[derive(Object)]
struct OcrOutput {
    /// The on-screen text in the chunk.
    text: String,
    /// Objects `{text, confidence, first_seen, last_seen}`, with `locations` if `verbose` is set.
    /// Times are in seconds from the start of the video.
    texts: Vec<AnyObject>,
}

#[derive(Object)]
struct PeopleOutput {
    /// The people who can be distinguished, as objects `{person, description, clothing, position,
    /// action, first_seen, last_seen}`, with `locations` if `verbose` is set. Times are in seconds from the start of the video.
    people: Vec<AnyObject>,
    /// Largest number of people in any one frame of the chunk.
    people_count: u32,
    /// The people who are not in `people`, because they cannot be distinguished from each other;
    /// absent if there are none.
    #[oai(skip_serializing_if_is_none)]
    others: Option<OtherPeople>,
}

#[derive(Object)]
struct OtherPeople {
    /// Largest number of these people in any one frame.
    count: u32,
    /// Whether all of them are far away.
    far_away: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::analysis::ANALYZERS;

    #[test]
    fn every_described_output_belongs_to_an_analyzer() {
        let mut registry = Registry::new();
        register(&mut registry);
        let ids = ANALYZERS.iter().map(|analyzer| analyzer.spec().id);
        let names: Vec<String> = ids.map(schema_name).collect();
        for schema in registry.schemas.keys().filter(|name| name.ends_with("Output")) {
            assert!(names.contains(schema), "{schema}");
        }
    }
}
