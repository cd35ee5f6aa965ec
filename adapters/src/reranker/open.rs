//! The settings `[reranker]`, and opening the configured re-ranker.

use std::path::PathBuf;
use std::sync::Arc;

use ports::reranker::Reranker;
use serde::{Deserialize, Serialize};

use crate::open::optional;
use crate::{OpenError, models};

/// The kind of re-ranker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The cross-encoder if its files are present, otherwise none.
    #[default]
    Auto,
    /// A cross-encoder on ONNX Runtime.
    Onnx,
    /// No re-ranking: answers are chosen by words and by vector similarity.
    None,
}

/// The settings of the re-ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of re-ranker.
    pub kind: Kind,
    /// Model file below `models.dir` (onnx).
    pub file: PathBuf,
    /// Tokenizer file below `models.dir` (onnx).
    pub tokenizer: PathBuf,
    /// Maximum tokens of a question and a sentence together; more are truncated (onnx).
    pub max_tokens: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            file: "embed/all-MiniLM-L6-v2-answers.onnx".into(),
            tokenizer: "embed/tokenizer.json".into(),
            max_tokens: 128,
        }
    }
}

/// Opens the re-ranker; `None` if none is configured or available.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Option<Arc<dyn Reranker>>, OpenError> {
    let auto = section.kind == Kind::Auto;
    let without = "answers are chosen by words and by how near their meaning is";
    match section.kind {
        Kind::None => Ok(None),
        Kind::Auto | Kind::Onnx => optional(auto, without, onnx(section, models)),
    }
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
