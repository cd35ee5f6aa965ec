//! Defines the configuration section `[ner]` and opens the adapter that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::ner::EntityRecognizer;
use serde::{Deserialize, Serialize};

use super::RuleEntities;
use crate::{OpenError, models};

/// The kind of named entity recognition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Rules and word lists for English, which need no model weights.
    #[default]
    Rules,
    /// A GLiNER network on ONNX Runtime with custom labels.
    Gliner,
}

/// Settings of named entity recognition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of recogniser.
    pub kind: Kind,
    /// Folder of the model, relative to `models.dir`. The model must be the span-level export
    /// (gliner).
    pub folder: PathBuf,
    /// The labels to find (gliner).
    pub labels: Vec<String>,
    /// Minimum confidence of an entity, 0..1 (gliner).
    pub threshold: f32,
}

/// The default labels. The rules support all of them.
const LABELS: [&str; 8] =
    ["person", "place", "organisation", "date", "time", "money", "percentage", "quantity"];

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            folder: "entities/gliner-small".into(),
            labels: LABELS.map(str::to_owned).to_vec(),
            threshold: 0.5,
        }
    }
}

/// Opens the recogniser.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn EntityRecognizer>, OpenError> {
    match section.kind {
        Kind::Rules => Ok(Arc::new(RuleEntities::new())),
        Kind::Gliner => gliner(section, models),
    }
}

#[cfg(feature = "onnx")]
fn gliner(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn EntityRecognizer>, OpenError> {
    let options = super::GlinerOptions {
        folder: models.path(&section.folder),
        labels: section.labels.clone(),
        threshold: section.threshold,
        threading: models.threading(),
    };
    let recognizer = super::Gliner::open(&models.runtime()?, &options);
    Ok(Arc::new(recognizer.map_err(OpenError::in_section("ner"))?))
}

#[cfg(not(feature = "onnx"))]
fn gliner(_: &Settings, _: &models::Settings) -> Result<Arc<dyn EntityRecognizer>, OpenError> {
    Err(OpenError::compiled_out("ner.kind = \"gliner\"", "onnx"))
}
