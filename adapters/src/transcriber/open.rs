//! The section `[transcriber]`, and the adapter that it asks for.

use std::path::PathBuf;
use std::sync::Arc;

use ports::transcriber::Transcriber;
use serde::{Deserialize, Serialize};

use super::{OpenAiTranscriber, OpenAiTranscriberOptions, PocketSphinx, PocketSphinxOptions};
use crate::open::set;
use crate::{OpenError, llm, models};

/// What recognises speech.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whisper where its files are there, else PocketSphinx where its packages are, else none.
    #[default]
    Auto,
    /// A Whisper network on ONNX Runtime.
    Onnx,
    /// An OpenAI-compatible server.
    Openai,
    /// PocketSphinx out of system packages: the weakest recogniser, English only.
    Pocketsphinx,
    /// No speech is recognised.
    None,
}

/// What recognises speech.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What recognises it.
    pub kind: Kind,
    /// Folder of the model below `models.dir`, as optimum exports it (onnx).
    pub folder: PathBuf,
    /// The language that is spoken, as `en`; empty: it is told from the sound (onnx, openai).
    pub language: String,
    /// Server address, up to `/v1` (openai).
    pub url: String,
    /// The server's name for the model (openai).
    pub model: String,
    /// The server's key (openai).
    pub api_key: String,
    /// Pieces of speech recognised at once; each holds a copy of the model (pocketsphinx).
    pub concurrency: usize,
    /// The shared library, a path or a name that the system's loader knows (pocketsphinx).
    pub library: PathBuf,
    /// Folder of the model (pocketsphinx).
    pub pocketsphinx: PathBuf,
}

impl Default for Settings {
    /// PocketSphinx as Debian's packages `libpocketsphinx3` and `pocketsphinx-en-us` install it.
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            folder: "speech/whisper-base".into(),
            language: String::new(),
            url: String::new(),
            model: "whisper-1".into(),
            api_key: String::new(),
            concurrency: 1,
            library: "libpocketsphinx.so.3".into(),
            pocketsphinx: "/usr/share/pocketsphinx/model/en-us".into(),
        }
    }
}

impl From<&Settings> for PocketSphinxOptions {
    fn from(section: &Settings) -> Self {
        Self {
            library: section.library.clone(),
            model: section.pocketsphinx.clone(),
            decoders: section.concurrency,
        }
    }
}

impl OpenAiTranscriberOptions {
    /// As the sections say.
    pub(super) fn of(section: &Settings, llm: &llm::Settings) -> Self {
        Self {
            connection: llm.connection(&section.url, &section.api_key),
            model: section.model.clone(),
            language: set(&section.language),
            max_seconds: 120.0,
        }
    }
}

/// Opens the recogniser; `None` where there is to be none. A server is asked as patiently as `llm`
/// says.
pub fn open(
    section: &Settings,
    models: &models::Settings,
    llm: &llm::Settings,
) -> Result<Option<Arc<dyn Transcriber>>, OpenError> {
    match section.kind {
        Kind::None => Ok(None),
        Kind::Onnx => whisper(section, models).map(Some),
        Kind::Pocketsphinx => pocketsphinx(section).map(Some),
        Kind::Openai => remote(section, llm).map(Some),
        Kind::Auto => Ok(best_of_those_there(section, models)),
    }
}

fn best_of_those_there(
    section: &Settings,
    models: &models::Settings,
) -> Option<Arc<dyn Transcriber>> {
    let missing = match whisper(section, models) {
        Ok(transcriber) => return Some(transcriber),
        Err(error) => error,
    };
    match pocketsphinx(section) {
        Ok(transcriber) => {
            tracing::warn!(
                "speech is recognised by PocketSphinx, the weakest recogniser: {missing}; `shotlog \
                 models` says how to get a better one"
            );
            Some(transcriber)
        }
        Err(error) => {
            tracing::warn!("no speech is recognised: {missing}; {error}");
            None
        }
    }
}

fn remote(section: &Settings, llm: &llm::Settings) -> Result<Arc<dyn Transcriber>, OpenError> {
    let transcriber = OpenAiTranscriber::new(OpenAiTranscriberOptions::of(section, llm));
    Ok(Arc::new(transcriber.map_err(OpenError::at("transcriber"))?))
}

fn pocketsphinx(section: &Settings) -> Result<Arc<dyn Transcriber>, OpenError> {
    let transcriber = PocketSphinx::open(&section.into());
    Ok(Arc::new(transcriber.map_err(OpenError::at("transcriber"))?))
}

#[cfg(feature = "onnx")]
fn whisper(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn Transcriber>, OpenError> {
    let options = super::WhisperOptions {
        folder: models.path(&section.folder),
        language: set(&section.language),
        threads: models.threads,
    };
    let transcriber = super::Whisper::open(&models.runtime()?, &options);
    Ok(Arc::new(transcriber.map_err(OpenError::at("transcriber"))?))
}

#[cfg(not(feature = "onnx"))]
fn whisper(_: &Settings, _: &models::Settings) -> Result<Arc<dyn Transcriber>, OpenError> {
    Err(OpenError::compiled_out("transcriber.kind = \"onnx\"", "onnx"))
}
