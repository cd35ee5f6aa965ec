//! The section `[speaker]`, and the adapters that it asks for.

use std::path::PathBuf;
use std::sync::Arc;

use ports::speaker::{SpeakerEmbedder, SpeakerSegmentation};
use serde::{Deserialize, Serialize};

use crate::open::optional;
use crate::{OpenError, models};

/// What tells speakers apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// By networks where their files are there, else not at all.
    #[default]
    Auto,
    /// By networks on ONNX Runtime.
    Onnx,
    /// Speakers are not told apart.
    None,
}

/// What tells speakers apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What tells them apart.
    pub kind: Kind,
    /// The network that hears how many speak at once and when they change, below `models.dir`: as
    /// pyannote segmentation 3.0, from windows of 10 s to a powerset of three speakers.
    pub segmentation: PathBuf,
    /// The network that turns a voice into a vector, below `models.dir`, as 3D-Speaker and
    /// WeSpeaker export theirs.
    pub file: PathBuf,
    /// Clean stretches of 1.5 s whose vectors have a larger cosine are one voice, −1..1; models
    /// differ. Where sound is noisy less is asked, down to half of it.
    pub same_voice: f32,
}

impl Default for Settings {
    /// `same_voice` is what 3D-Speaker publishes for agglomerative clustering of CAM++ vectors.
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            segmentation: "speaker/pyannote-segmentation-3.0.onnx".into(),
            file: "speaker/campplus-zh-en.onnx".into(),
            same_voice: 0.4,
        }
    }
}

/// The two that tell speakers apart; one alone cannot.
pub struct Networks {
    /// Hears how many speak at once and when they change.
    pub segmentation: Arc<dyn SpeakerSegmentation>,
    /// Turns a voice into a vector.
    pub embedder: Arc<dyn SpeakerEmbedder>,
}

/// Opens what tells speakers apart; `None` where nothing is to.
pub fn open(section: &Settings, models: &models::Settings) -> Result<Option<Networks>, OpenError> {
    match section.kind {
        Kind::None => Ok(None),
        Kind::Onnx => networks(section, models).map(Some),
        Kind::Auto => optional(true, "speakers are not told apart", networks(section, models)),
    }
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
            same_voice: section.same_voice,
            threading: models.media_threading(),
        },
    );
    Ok(Networks {
        segmentation: Arc::new(segmentation.map_err(OpenError::at("speaker"))?),
        embedder: Arc::new(embedder.map_err(OpenError::at("speaker"))?),
    })
}

#[cfg(not(feature = "onnx"))]
fn networks(_: &Settings, _: &models::Settings) -> Result<Networks, OpenError> {
    Err(OpenError::compiled_out("speaker.kind = \"onnx\"", "onnx"))
}
