//! The schemas of analyzer outputs, for the document: the values are sent as stored.
//!
//! An analyzer whose output is not described here is in the document as an object of any fields.

use poem_openapi::Object;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::Type;

use crate::http::wire::hits::SpeakerTurnBody;
use crate::http::wire::values::AnyObject;
use domain::analysis::AnalyzerSpec;

/// Registers the outputs that are described here. Each is named after its analyzer.
pub(super) fn register(registry: &mut Registry) {
    DefaultVideoOutput::register(registry);
    TranscriptOutput::register(registry);
    DiarizationOutput::register(registry);
    ObjectDetectionOutput::register(registry);
    OcrOutput::register(registry);
    PeopleOutput::register(registry);
}

/// The schema of an analyzer's output.
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

/// `DefaultVideoOutput` for `default_video`.
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
    /// Where it takes place.
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
    /// `{start, end, text, confidence}`; times are seconds of the video, confidence is 0 to 1.
    segments: Vec<AnyObject>,
}

#[derive(Object)]
struct DiarizationOutput {
    /// Speaker turns in order of time.
    turns: Vec<SpeakerTurnBody>,
    /// Labels or names of the speakers in the chunk.
    speakers: Vec<String>,
}

#[derive(Object)]
struct ObjectDetectionOutput {
    /// Labels of the detected objects.
    objects: Vec<String>,
    /// `{label, count, confidence, first_seen, last_seen}`, with `verbose` also `locations`; times are
    /// seconds of the video.
    detections: Vec<AnyObject>,
}

#[derive(Object)]
struct OcrOutput {
    /// The on-screen text of the chunk.
    text: String,
    /// `{text, confidence, first_seen, last_seen}`, with `verbose` also `locations`; times are seconds of
    /// the video.
    texts: Vec<AnyObject>,
}

#[derive(Object)]
struct PeopleOutput {
    /// `{person, description, clothing, position, action, first_seen, last_seen}`, with `verbose` also
    /// `locations`; times are seconds of the video.
    people: Vec<AnyObject>,
    /// Number of people seen in the chunk.
    people_count: u32,
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
