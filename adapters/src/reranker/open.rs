//! Defines the configuration section `[reranker]` and opens the reranker that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::reranker::Reranker;
use serde::{Deserialize, Serialize};

use crate::models;
use crate::open::{NetworkKind, OpenError};

/// Settings of the reranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of reranker.
    pub kind: NetworkKind,
    /// Path of the model file, relative to `models.dir` (onnx).
    pub file: PathBuf,
    /// Path of the tokenizer file, relative to `models.dir` (onnx).
    pub tokenizer: PathBuf,
    /// Maximum number of tokens in a question and a sentence together. Longer sentences are
    /// truncated (onnx).
    pub max_tokens: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: NetworkKind::default(),
            file: "embed/all-MiniLM-L6-v2-answers.onnx".into(),
            tokenizer: "embed/tokenizer.json".into(),
            max_tokens: 128,
        }
    }
}

/// Opens the reranker. Returns `None` if none is configured or available.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Option<Arc<dyn Reranker>>, OpenError> {
    section.kind.open("answers are chosen by words and by how near their meaning is", || {
        onnx(section, models)
    })
}

#[cfg(feature = "onnx")]
fn onnx(section: &Settings, models: &models::Settings) -> Result<Arc<dyn Reranker>, OpenError> {
    let options = super::OnnxRerankerOptions {
        model: models.path(&section.file),
        tokenizer: models.path(&section.tokenizer),
        max_tokens: section.max_tokens,
        threading: models.threading(),
    };
    let reranker = super::OnnxReranker::open(&models.runtime()?, &options);
    Ok(Arc::new(reranker.map_err(OpenError::in_section("reranker"))?))
}

#[cfg(not(feature = "onnx"))]
fn onnx(_: &Settings, _: &models::Settings) -> Result<Arc<dyn Reranker>, OpenError> {
    Err(OpenError::compiled_out("reranker.kind = \"onnx\"", "onnx"))
}
