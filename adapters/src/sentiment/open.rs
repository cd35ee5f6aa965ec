//! Defines the configuration section `[sentiment]` and opens the adapter that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::sentiment::SentimentClassifier;
use serde::{Deserialize, Serialize};

use super::Vader;
use crate::{OpenError, models};

/// The kind of sentiment analysis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// VADER's lexicon and rules for English, which need no model weights.
    #[default]
    Vader,
    /// A text classifier on ONNX Runtime.
    Onnx,
}

/// Settings of sentiment analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of classifier.
    pub kind: Kind,
    /// Folder of the model, relative to `models.dir`, as exported by optimum (onnx).
    pub folder: PathBuf,
    /// Maximum number of tokens per text. Longer texts are truncated (onnx).
    pub max_tokens: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { kind: Kind::default(), folder: "sentiment/twitter-roberta".into(), max_tokens: 256 }
    }
}

/// Opens the classifier.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn SentimentClassifier>, OpenError> {
    match section.kind {
        Kind::Vader => Ok(Arc::new(Vader::new())),
        Kind::Onnx => onnx(section, models),
    }
}

#[cfg(feature = "onnx")]
fn onnx(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn SentimentClassifier>, OpenError> {
    let options = super::OnnxSentimentOptions {
        folder: models.path(&section.folder),
        max_tokens: section.max_tokens,
        threading: models.threading(),
    };
    let classifier = super::OnnxSentiment::open(&models.runtime()?, &options);
    Ok(Arc::new(classifier.map_err(OpenError::in_section("sentiment"))?))
}

#[cfg(not(feature = "onnx"))]
fn onnx(_: &Settings, _: &models::Settings) -> Result<Arc<dyn SentimentClassifier>, OpenError> {
    Err(OpenError::compiled_out("sentiment.kind = \"onnx\"", "onnx"))
}
