//! Defines the configuration section `[vad]` and opens the adapter that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::units::seconds;
use ports::vad::VoiceActivityDetector;
use serde::{Deserialize, Serialize};

use super::{SpectralVoiceActivity, SpeechOptions};
use crate::open::optional;
use crate::{OpenError, models};

/// The kind of voice activity detection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Silero if its file exists, otherwise spectral.
    #[default]
    Auto,
    /// Silero on ONNX Runtime.
    Silero,
    /// Rules on the spectrum, without a model. They mistake some music for speech.
    Spectral,
    /// No speech detection.
    None,
}

/// Settings of voice activity detection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of detector.
    pub kind: Kind,
    /// Path of the model file, relative to `models.dir` (silero).
    pub file: PathBuf,
    /// Minimum probability (0..1) at which speech begins.
    pub threshold: f32,
    /// Minimum duration of speech, in seconds.
    #[serde(with = "seconds")]
    pub min_speech: f64,
    /// Minimum duration of a pause that ends speech, in seconds.
    #[serde(with = "seconds")]
    pub min_silence: f64,
}

impl Default for Settings {
    /// Returns the defaults of Silero's `get_speech_timestamps`.
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            file: "vad/silero_vad_16k_op15.onnx".into(),
            threshold: 0.5,
            min_speech: 0.25,
            min_silence: 0.1,
        }
    }
}

impl From<&Settings> for SpeechOptions {
    fn from(section: &Settings) -> Self {
        Self {
            threshold: section.threshold,
            release_threshold: (section.threshold - 0.15).max(section.threshold / 2.0),
            min_speech: section.min_speech,
            min_silence: section.min_silence,
            padding: 0.03,
        }
    }
}

/// Opens the detector. Returns `None` if it is disabled.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Option<Arc<dyn VoiceActivityDetector>>, OpenError> {
    let spectral = || Arc::new(SpectralVoiceActivity::new(section.into()));
    Ok(match section.kind {
        Kind::None => None,
        Kind::Spectral => Some(spectral()),
        Kind::Silero => Some(silero(section, models)?),
        Kind::Auto => {
            let without = "speech detection uses the spectral rules";
            let silero = optional(without, silero(section, models));
            Some(silero.unwrap_or_else(|| spectral()))
        }
    })
}

#[cfg(feature = "onnx")]
fn silero(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn VoiceActivityDetector>, OpenError> {
    let options = super::SileroOptions {
        model: models.path(&section.file),
        speech: section.into(),
        threading: crate::OnnxThreading { threads: 1, ..crate::OnnxThreading::default() },
    };
    let silero = super::Silero::open(&models.runtime()?, &options);
    Ok(Arc::new(silero.map_err(OpenError::in_section("vad"))?))
}

#[cfg(not(feature = "onnx"))]
fn silero(_: &Settings, _: &models::Settings) -> Result<Arc<dyn VoiceActivityDetector>, OpenError> {
    Err(OpenError::compiled_out("vad.kind = \"silero\"", "onnx"))
}
