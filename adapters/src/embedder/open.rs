//! Defines the configuration section `[embedder]` and opens the adapter that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::embedder::Embedder;
use serde::{Deserialize, Serialize};

use super::{HashingEmbedder, OpenAiEmbedder, OpenAiEmbedderOptions};
use crate::{OpenError, llm, models};

/// The kind of embedder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The ONNX model if its files exist; otherwise hashing.
    #[default]
    Auto,
    /// A sentence encoder on ONNX Runtime.
    Onnx,
    /// An OpenAI-compatible server.
    Openai,
    /// Hashing of words, which compares wording, not meaning.
    Hashing,
}

/// Settings of the embedder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of embedder.
    pub kind: Kind,
    /// Path of the model file, relative to `models.dir` (onnx).
    pub file: PathBuf,
    /// Path of the tokenizer file, relative to `models.dir` (onnx).
    pub tokenizer: PathBuf,
    /// Maximum number of tokens per text. Longer texts are truncated (onnx).
    pub max_tokens: usize,
    /// Server URL up to and including `/v1` (openai).
    pub url: String,
    /// The server's name for the model (openai).
    pub model: String,
    /// The server's API key (openai).
    pub api_key: String,
    /// Dimension of the vectors (openai, hashing).
    pub dimension: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            file: "embed/all-MiniLM-L6-v2.onnx".into(),
            tokenizer: "embed/tokenizer.json".into(),
            max_tokens: 256,
            url: String::new(),
            model: String::new(),
            api_key: String::new(),
            dimension: 384,
        }
    }
}

impl OpenAiEmbedderOptions {
    /// Creates the options from these configuration sections.
    pub(super) fn from_settings(section: &Settings, llm: &llm::Settings) -> Self {
        Self {
            connection: llm.connection(&section.url, &section.api_key),
            model: section.model.clone(),
            dimension: section.dimension,
            request_dimension: false,
            batch: 64,
            max_chars: 8000,
        }
    }
}

/// Opens the embedder. If it is a server, timeouts and retries come from `llm`.
pub fn open(
    section: &Settings,
    models: &models::Settings,
    llm: &llm::Settings,
) -> Result<Arc<dyn Embedder>, OpenError> {
    let at = OpenError::in_section("embedder");
    let hashing = || HashingEmbedder::new(section.dimension).map_err(&at);
    match section.kind {
        Kind::Hashing => Ok(Arc::new(hashing()?)),
        Kind::Openai => {
            let options = OpenAiEmbedderOptions::from_settings(section, llm);
            Ok(Arc::new(OpenAiEmbedder::new(options).map_err(&at)?))
        }
        Kind::Onnx => onnx(section, models),
        Kind::Auto => match onnx(section, models) {
            Ok(embedder) => Ok(embedder),
            Err(error) => {
                tracing::warn!(
                    "no sentence encoder, search compares wording only: {error}; `shotlog models --fetch` downloads it or explains how"
                );
                Ok(Arc::new(hashing()?))
            }
        },
    }
}

#[cfg(feature = "onnx")]
fn onnx(section: &Settings, models: &models::Settings) -> Result<Arc<dyn Embedder>, OpenError> {
    use super::{OnnxEmbedder, OnnxEmbedderOptions};

    let options = OnnxEmbedderOptions {
        max_tokens: section.max_tokens,
        threads: models.threads,
        ..OnnxEmbedderOptions::new(models.path(&section.file), models.path(&section.tokenizer))
    };
    let embedder = OnnxEmbedder::open(&models.runtime()?, &options);
    Ok(Arc::new(embedder.map_err(OpenError::in_section("embedder"))?))
}

#[cfg(not(feature = "onnx"))]
fn onnx(_: &Settings, _: &models::Settings) -> Result<Arc<dyn Embedder>, OpenError> {
    Err(OpenError::compiled_out("embedder.kind = \"onnx\"", "onnx"))
}
