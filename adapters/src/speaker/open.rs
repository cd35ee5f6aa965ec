//! Defines the configuration section `[speaker]` and opens the adapters that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::speaker::{SpeakerEmbedder, SpeakerSegmentation};
use serde::{Deserialize, Serialize};

use crate::models;
use crate::open::{NetworkKind, OpenError};

/// Settings of speaker diarization.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of diarization.
    pub kind: NetworkKind,
    /// Path of the segmentation network, relative to `models.dir`. Like pyannote segmentation 3.0,
    /// it must map windows of 10 s to the powerset of three speakers.
    pub segmentation: PathBuf,
    /// Path of the speaker embedding network, relative to `models.dir`, as exported by 3D-Speaker
    /// or WeSpeaker.
    pub file: PathBuf,
    /// Minimum cosine similarity (−1..1) of clean 1.5 s segments of the same voice. It depends on
    /// the model. In noisy audio, the threshold is lowered to as little as half this value.
    pub same_voice_threshold: f32,
}

impl Default for Settings {
    /// Returns the defaults. `same_voice_threshold` is the value that 3D-Speaker publishes for
    /// agglomerative clustering of CAM++ vectors.
    fn default() -> Self {
        Self {
            kind: NetworkKind::default(),
            segmentation: "speaker/pyannote-segmentation-3.0.onnx".into(),
            file: "speaker/campplus-zh-en.onnx".into(),
            same_voice_threshold: 0.4,
        }
    }
}

/// The two networks that diarization needs.
pub struct Networks {
    /// The network that finds the active speakers.
    pub segmentation: Arc<dyn SpeakerSegmentation>,
    /// The network that embeds a voice.
    pub embedder: Arc<dyn SpeakerEmbedder>,
}

/// Opens the networks. Returns `None` if diarization is disabled.
pub fn open(section: &Settings, models: &models::Settings) -> Result<Option<Networks>, OpenError> {
    section.kind.open("speaker diarization is off", || networks(section, models))
}

#[cfg(feature = "onnx")]
fn networks(section: &Settings, models: &models::Settings) -> Result<Networks, OpenError> {
    let runtime = models.runtime()?;
    let segmentation = super::PyannoteSegmentation::open(
        &runtime,
        &super::PyannoteOptions {
            model: models.path(&section.segmentation),
            threading: models.media_threading(),
        },
    );
    let embedder = super::XVectorEmbedder::open(
        &runtime,
        &super::XVectorOptions {
            model: models.path(&section.file),
            same_voice: section.same_voice_threshold,
            threading: models.media_threading(),
        },
    );
    Ok(Networks {
        segmentation: Arc::new(segmentation.map_err(OpenError::in_section("speaker"))?),
        embedder: Arc::new(embedder.map_err(OpenError::in_section("speaker"))?),
    })
}

#[cfg(not(feature = "onnx"))]
fn networks(_: &Settings, _: &models::Settings) -> Result<Networks, OpenError> {
    Err(OpenError::compiled_out("speaker.kind = \"onnx\"", "onnx"))
}
