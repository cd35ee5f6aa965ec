//! Defines the configuration section `[image_embedder]` and opens the adapter that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::classifier::ImageClassifier;
use ports::embedder::Embedder;
use ports::image_embedder::{ImageEmbedder, MatchModel};
use serde::{Deserialize, Serialize};

use super::LabelBridge;
use crate::OpenError;
use crate::models;

/// The kind of image embedder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The CLIP model if its folder exists, otherwise the label bridge if there is an image
    /// classifier, otherwise none.
    #[default]
    Auto,
    /// A model of the CLIP or SigLIP class.
    Clip,
    /// The label bridge: the classes that the image classifier finds, as vectors of the text
    /// embedder.
    Labels,
    /// No vectors of images.
    None,
}

/// Settings of image embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of image embedder.
    pub kind: Kind,
    /// The folder of the CLIP model, relative to `models.dir`, in the layout of transformers.js or of
    /// Immich.
    pub folder: PathBuf,
    /// The cosine of a text and an image at which the CLIP model is as likely right as wrong about
    /// the image showing what the text names, −1..1.
    pub match_cosine: f32,
    /// How fast the probability of a match grows with the cosine: the logit gained per unit.
    pub match_slope: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { kind: Kind::Auto, folder: "clip".into(), match_cosine: 0.25, match_slope: 60.0 }
    }
}

/// Opens the image embedder. Returns `None` if it is disabled. Fails if the label bridge is
/// requested but there is no image classifier, or if the CLIP model is requested but cannot be
/// opened.
pub fn open(
    section: &Settings,
    models: &models::Settings,
    classifier: Option<&Arc<dyn ImageClassifier>>,
    embedder: &Arc<dyn Embedder>,
) -> Result<Option<Arc<dyn ImageEmbedder>>, OpenError> {
    let bridge = |classifier: &Arc<dyn ImageClassifier>| -> Arc<dyn ImageEmbedder> {
        Arc::new(LabelBridge::new(Arc::clone(classifier), Arc::clone(embedder)))
    };
    let match_model = section.match_model()?;
    match section.kind {
        Kind::None => Ok(None),
        Kind::Clip => clip(section, models, match_model).map(Some),
        Kind::Auto => {
            let exists = models.path(&section.folder).is_dir();
            let clip = exists.then(|| clip(section, models, match_model));
            let unused = |error: &OpenError| tracing::warn!("the CLIP model is not used: {error}");
            let clip = clip.and_then(|opened| opened.inspect_err(unused).ok());
            Ok(clip.or_else(|| classifier.map(bridge)))
        }
        Kind::Labels => classifier.map(bridge).map(Some).ok_or_else(|| {
            OpenError::new(
                "image_embedder.kind = \"labels\" needs an image classifier (classifier.kind)",
            )
        }),
    }
}

impl Settings {
    /// Checks the keys of the match model.
    fn match_model(&self) -> Result<MatchModel, OpenError> {
        let Self { match_cosine: cosine, match_slope: slope, .. } = *self;
        if !(-1.0..=1.0).contains(&cosine) {
            let why = format!("image_embedder.match_cosine is {cosine}; it must be from -1 to 1");
            return Err(OpenError::new(why));
        }
        if !slope.is_finite() || slope <= 0.0 {
            let why = format!("image_embedder.match_slope is {slope}; it must be greater than 0");
            return Err(OpenError::new(why));
        }
        Ok(MatchModel { intercept: -slope * cosine, slope })
    }
}

#[cfg(feature = "onnx")]
fn clip(
    section: &Settings,
    models: &models::Settings,
    match_model: MatchModel,
) -> Result<Arc<dyn ImageEmbedder>, OpenError> {
    let options = super::ClipOptions {
        folder: models.path(&section.folder),
        match_model,
        threading: models.media_threading(),
    };
    let opened = super::ClipEmbedder::open(&models.runtime()?, &options);
    Ok(Arc::new(opened.map_err(OpenError::in_section("image_embedder"))?))
}

#[cfg(not(feature = "onnx"))]
fn clip(
    _: &Settings,
    _: &models::Settings,
    _: MatchModel,
) -> Result<Arc<dyn ImageEmbedder>, OpenError> {
    Err(OpenError::compiled_out("image_embedder.kind = \"clip\"", "onnx"))
}
