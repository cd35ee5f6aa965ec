//! Defines the configuration section `[transcriber]` and opens the adapter that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::transcriber::Transcriber;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{OpenAiTranscriber, OpenAiTranscriberOptions};
use crate::open::set;
use crate::{OpenError, llm, models};

/// The kind of speech recognition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whisper if its files exist, otherwise no speech recognition.
    #[default]
    Auto,
    /// A Whisper network on ONNX Runtime.
    Onnx,
    /// An OpenAI-compatible server.
    Openai,
    /// No speech recognition.
    None,
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "auto" => Ok(Self::Auto),
            "onnx" => Ok(Self::Onnx),
            "openai" => Ok(Self::Openai),
            "none" => Ok(Self::None),
            "pocketsphinx" => Err(de::Error::custom(
                "PocketSphinx is not supported any more; use \"auto\", for the Whisper network that \
                 `make setup` fetches",
            )),
            other => Err(de::Error::unknown_variant(other, &["auto", "onnx", "openai", "none"])),
        }
    }
}

/// Settings of speech recognition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of recogniser.
    pub kind: Kind,
    /// Folder of the model, relative to `models.dir`, as exported by
    /// `scripts/models/convert_whisper.py` or optimum (onnx).
    pub folder: PathBuf,
    /// The spoken language, such as `en`. If empty, the language is detected (onnx, openai).
    pub language: String,
    /// Server URL up to and including `/v1` (openai).
    pub url: String,
    /// The server's name for the model (openai).
    pub model: String,
    /// The server's API key (openai).
    pub api_key: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            folder: "speech/whisper-base".into(),
            language: String::new(),
            url: String::new(),
            model: "whisper-1".into(),
            api_key: String::new(),
        }
    }
}

impl OpenAiTranscriberOptions {
    /// Creates the options from these configuration sections.
    pub(super) fn from_settings(section: &Settings, llm: &llm::Settings) -> Self {
        Self {
            connection: llm.connection(&section.url, &section.api_key),
            model: section.model.clone(),
            language: set(&section.language),
            max_seconds: 120.0,
        }
    }
}

/// Opens the recogniser. Returns `None` if it is disabled. If it is a server, timeouts and retries
/// come from `llm`.
pub fn open(
    section: &Settings,
    models: &models::Settings,
    llm: &llm::Settings,
) -> Result<Option<Arc<dyn Transcriber>>, OpenError> {
    match section.kind {
        Kind::None => Ok(None),
        Kind::Onnx => whisper(section, models).map(Some),
        Kind::Openai => remote(section, llm).map(Some),
        Kind::Auto => Ok(optional_whisper(section, models)),
    }
}

fn optional_whisper(section: &Settings, models: &models::Settings) -> Option<Arc<dyn Transcriber>> {
    whisper(section, models)
        .inspect_err(|missing| {
            tracing::warn!(
                "no speech is recognised: {missing}; `make setup` fetches a model, `shotlog models` \
                 says where there are others"
            );
        })
        .ok()
}

fn remote(section: &Settings, llm: &llm::Settings) -> Result<Arc<dyn Transcriber>, OpenError> {
    let transcriber = OpenAiTranscriber::new(OpenAiTranscriberOptions::from_settings(section, llm));
    Ok(Arc::new(transcriber.map_err(OpenError::in_section("transcriber"))?))
}

#[cfg(feature = "onnx")]
fn whisper(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn Transcriber>, OpenError> {
    let options = super::WhisperOptions {
        folder: models.path(&section.folder),
        language: set(&section.language),
        threads: models.media_threads,
    };
    let transcriber = super::Whisper::open(&models.runtime()?, &options);
    Ok(Arc::new(transcriber.map_err(OpenError::in_section("transcriber"))?))
}

#[cfg(not(feature = "onnx"))]
fn whisper(_: &Settings, _: &models::Settings) -> Result<Arc<dyn Transcriber>, OpenError> {
    Err(OpenError::compiled_out("transcriber.kind = \"onnx\"", "onnx"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_recogniser_names_its_replacement() {
        let kind = |name: &str| serde_json::from_value::<Kind>(name.into());
        for known in [Kind::Auto, Kind::Onnx, Kind::Openai, Kind::None] {
            let name = serde_json::to_value(known).expect("a name");
            assert_eq!(serde_json::from_value::<Kind>(name).expect("the kind"), known);
        }
        let error = kind("pocketsphinx").expect_err("gone").to_string();
        assert!(error.contains("use \"auto\""), "{error}");
        let error = kind("whisper").expect_err("unknown").to_string();
        assert!(error.contains("`auto`"), "{error}");
    }
}
