//! The analyzers: one file each and the list.
//!
//! To add one, write its file, name it here as a module and in [`ANALYZERS`]; `/schema`, request
//! checks and start-up read the list.

mod analyzers;
pub mod chunk_text;
pub mod evidence;
pub mod hit;
pub(crate) mod prose;
pub mod video;

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::ports::Models;
use analyzers::{default_video, diarization, object_detection, ocr, people, transcript};
use evidence::ChunkEvidence;

/// What is fixed about an analyzer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalyzerSpec {
    /// Its id.
    pub id: &'static str,
    /// At most one analyzer of a group may be selected.
    pub group: Option<&'static str>,
    /// What it does, in a sentence.
    pub description: &'static str,
}

/// Turns a chunk into stored output and that output into what is searched.
#[async_trait]
pub trait Analyzer: Send + Sync {
    /// What is fixed about it.
    fn spec(&self) -> &'static AnalyzerSpec;

    /// Why it cannot work with these ports and what would help; `None` when it can.
    fn missing(&self, models: &Models) -> Option<String>;

    /// Model and prompt version: output with another fingerprint is out of date.
    fn fingerprint(&self, models: &Models) -> String;

    /// Whether a chunk's output is worth keeping against a crash, that is, whether it costs money
    /// or more than about a second.
    fn costly(&self, models: &Models) -> bool;

    /// Whether a chunk takes billed calls of the language model.
    fn asks(&self, _models: &Models) -> bool {
        false
    }

    /// Whether it needs the words of the video.
    fn hears(&self) -> bool {
        false
    }

    /// Whether a chunk that looks like the one before takes over its output.
    fn spares(&self, _models: &Models) -> bool {
        false
    }

    /// Output for one chunk, or `None` where there is nothing to say.
    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>>;

    /// What of an output is searched and returned with hits.
    fn index(&self, output: &Output) -> Indexed;
}

/// The searchable side of an output.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Indexed {
    /// Text to embed by vector field; a field without evidence is absent.
    pub fields: BTreeMap<&'static str, String>,
    /// What a hit returns. Times and `text` are filled in by the caller.
    pub document: HitDocument,
}

/// Every analyzer this service has, whether its models are there or not.
pub const ANALYZERS: &[&dyn Analyzer] = &[
    &default_video::DefaultVideo,
    &diarization::Diarization,
    &object_detection::ObjectDetection,
    &ocr::Ocr,
    &people::People,
    &transcript::Transcript,
];

/// The group of analyzers that present the same speech.
const SPEECH: &str = "speech";

/// Lines of text read with less confidence are noise more often than text.
const READABLE: f32 = 0.7;

/// The order in which an analyzer's chunks are preferred as evidence.
pub const EVIDENCE_ORDER: &[&str] =
    &["default_video", "people", "diarization", "transcript", "object_detection", "ocr"];

/// The vector fields in contract order with what each embeds.
pub const VECTOR_FIELDS: &[(&str, &str)] = &[
    ("combined", "whole flattened record (default)"),
    ("description", "prose summary only"),
    ("people", "person descriptions only"),
    ("actions", "actions and what objects are used for"),
    ("objects", "object names only"),
];

/// The analyzers whose ports are configured, in alphabetical order of their ids.
pub fn registered(models: &Models) -> Vec<&'static dyn Analyzer> {
    let mut present: Vec<_> =
        ANALYZERS.iter().copied().filter(|a| a.missing(models).is_none()).collect();
    present.sort_by_key(|a| a.spec().id);
    present
}

/// Ids of [`registered`].
pub fn ids(models: &Models) -> Vec<String> {
    registered(models).iter().map(|a| a.spec().id.to_owned()).collect()
}

/// The groups of registered analyzers of which at most one may be selected.
pub fn exclusive_groups(models: &Models) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for spec in registered(models).iter().map(|a| a.spec()) {
        if let Some(group) = spec.group {
            groups.entry(group).or_default().push(spec.id.to_owned());
        }
    }
    groups.into_values().filter(|members| members.len() > 1).collect()
}

/// The registered analyzer of that id; `Invalid` lists what there is.
pub fn find(models: &Models, id: &str) -> Result<&'static dyn Analyzer> {
    registered(models).into_iter().find(|a| a.spec().id == id).ok_or_else(|| {
        Error::Invalid(format!("unknown analyzer '{id}'; available: {}", listed(&ids(models))))
    })
}

/// The analyzers of a comma-separated selection, in the order given, without repetitions.
pub fn select(models: &Models, selection: &str) -> Result<Vec<&'static dyn Analyzer>> {
    let mut selected: Vec<&'static dyn Analyzer> = Vec::new();
    for id in selection.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        let analyzer = find(models, id)?;
        if !selected.iter().any(|a| a.spec().id == id) {
            selected.push(analyzer);
        }
    }
    if selected.is_empty() {
        return Err(Error::Invalid(format!(
            "no analyzer selected; available: {}",
            listed(&ids(models))
        )));
    }
    for group in exclusive_groups(models) {
        let chosen: Vec<_> =
            group.iter().filter(|id| selected.iter().any(|a| a.spec().id == **id)).collect();
        if chosen.len() > 1 {
            return Err(Error::Invalid(format!(
                "the analyzers {} are mutually exclusive; select one of them",
                listed(&chosen)
            )));
        }
    }
    Ok(selected)
}

/// Why speech is not found, and what would help.
fn no_voices(models: &Models) -> Option<String> {
    let without = "nothing finds speech; set voice.kind to \"auto\"";
    models.voice_activity.is_none().then(|| without.into())
}

/// Why there are no words, and what would help.
fn no_words(models: &Models) -> Option<String> {
    let without =
        "no speech recogniser; `shotlog models --fetch` gets one or says how (transcriber.kind)";
    no_voices(models).or_else(|| models.transcriber.is_none().then(|| without.into()))
}

/// Why no objects are found, and what would help.
fn no_detector(models: &Models) -> Option<String> {
    let without =
        "no object detector; `shotlog models --fetch` gets one or says how (detector.kind)";
    models.detector.is_none().then(|| without.into())
}

/// The models that words and their times are from.
fn heard_by(models: &Models) -> String {
    let activity = models.voice_activity.as_ref().map_or("none", |v| v.model());
    let transcriber = models.transcriber.as_ref().map_or("none", |t| t.model());
    format!("{activity}/{transcriber}")
}

/// The records of an output's list without where on each frame they are.
fn without_locations(output: &Output, key: &str) -> Vec<Value> {
    let mut records: Vec<Value> =
        output.get(key).and_then(|list| list.as_array()).cloned().unwrap_or_default();
    for record in records.iter_mut().filter_map(Value::as_object_mut) {
        record.remove("locations");
    }
    records
}

/// Seconds and shares as stored: thousandths are enough.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The strings of an output's list.
fn strings(output: &Output, key: &str) -> Vec<String> {
    output
        .get(key)
        .and_then(|value| value.as_array())
        .map(|items| items.iter().filter_map(|i| i.as_str()).map(str::to_owned).collect())
        .unwrap_or_default()
}

/// The string of an output's key, empty when there is none.
fn string(output: &Output, key: &str) -> String {
    output.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}
