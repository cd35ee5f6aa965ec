//! Defines the configuration section `[classifier]` and opens the adapter that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::classifier::ImageClassifier;
use serde::{Deserialize, Serialize};

use crate::models;
use crate::open::{NetworkKind, OpenError};

/// Settings of image classification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of classifier.
    pub kind: NetworkKind,
    /// Path of the model file, relative to `models.dir`.
    pub file: PathBuf,
    /// Path, relative to `models.dir`, of a file with one label per line, in the order of the
    /// model's classes. If empty, the 1,000 ImageNet classes are used.
    pub labels: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: NetworkKind::default(),
            file: "classify/efficientnet-lite0.onnx".into(),
            labels: PathBuf::new(),
        }
    }
}

/// Opens the classifier. Returns `None` if it is disabled.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Option<Arc<dyn ImageClassifier>>, OpenError> {
    section.kind.open("detected objects are not verified", || onnx(section, models))
}

#[cfg(feature = "onnx")]
fn onnx(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn ImageClassifier>, OpenError> {
    let named = !section.labels.as_os_str().is_empty();
    let options = super::OnnxClassifierOptions {
        model: models.path(&section.file),
        labels: named.then(|| models.path(&section.labels)),
        threading: models.media_threading(),
    };
    let classifier = super::OnnxClassifier::open(&models.runtime()?, options);
    Ok(Arc::new(classifier.map_err(OpenError::in_section("classifier"))?))
}

#[cfg(not(feature = "onnx"))]
fn onnx(_: &Settings, _: &models::Settings) -> Result<Arc<dyn ImageClassifier>, OpenError> {
    Err(OpenError::compiled_out("classifier.kind = \"onnx\"", "onnx"))
}
