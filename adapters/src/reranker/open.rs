//! The section `[reranker]`, and the adapter that it asks for.

use std::path::PathBuf;
use std::sync::Arc;

use ports::reranker::Reranker;
use serde::{Deserialize, Serialize};

use crate::open::optional;
use crate::{OpenError, models};

/// What tells whether a sentence answers a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The network where its files are there, else none.
    #[default]
    Auto,
    /// A cross-encoder on ONNX Runtime.
    Onnx,
    /// Sentences are chosen by their words, and by how near their meaning is.
    None,
}

/// What tells whether a sentence answers a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What tells it.
    pub kind: Kind,
    /// Model file below `models.dir` (onnx).
    pub file: PathBuf,
    /// Tokenizer file below `models.dir` (onnx).
    pub tokenizer: PathBuf,
    /// Tokens of a question and a sentence together that are read (onnx).
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

/// Opens the reranker; `None` where there is to be none.
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
