//! The section `[speaker]`, and the adapter that it asks for.

use std::path::PathBuf;
use std::sync::Arc;

use ports::speaker::SpeakerEmbedder;
use serde::{Deserialize, Serialize};

use super::TimbreEmbedder;
use crate::{OpenError, models};

/// What tells voices apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// By timbre and pitch, without weights.
    #[default]
    Spectral,
    /// By a network on ONNX Runtime.
    Onnx,
    /// Speakers are not told apart.
    None,
}

/// What tells voices apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What compares voices.
    pub kind: Kind,
    /// Model file below `models.dir`, as WeSpeaker, 3D-Speaker and pyannote export it (onnx).
    pub file: PathBuf,
    /// Stretches whose vectors have a larger cosine are one voice, −1..1; models differ (onnx).
    pub same_voice: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            file: "speaker/wespeaker-resnet34.onnx".into(),
            same_voice: 0.5,
        }
    }
}

/// Opens what tells voices apart; `None` where nothing is to.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Option<Arc<dyn SpeakerEmbedder>>, OpenError> {
    match section.kind {
        Kind::None => Ok(None),
        Kind::Spectral => Ok(Some(Arc::new(TimbreEmbedder::new()))),
        Kind::Onnx => xvector(section, models).map(Some),
    }
}

#[cfg(feature = "onnx")]
fn xvector(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn SpeakerEmbedder>, OpenError> {
    let options = super::XVectorOptions {
        model: models.path(&section.file),
        same_voice: section.same_voice,
        threading: models.threading(),
    };
    let embedder = super::XVectorEmbedder::open(&models.runtime()?, &options);
    Ok(Arc::new(embedder.map_err(OpenError::at("speaker"))?))
}

#[cfg(not(feature = "onnx"))]
fn xvector(_: &Settings, _: &models::Settings) -> Result<Arc<dyn SpeakerEmbedder>, OpenError> {
    Err(OpenError::compiled_out("speaker.kind = \"onnx\"", "onnx"))
}
