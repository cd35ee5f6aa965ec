//! Defines the configuration section `[image_embedder]` and opens the adapter that it selects.

use std::sync::Arc;

use ports::classifier::ImageClassifier;
use ports::embedder::Embedder;
use ports::image_embedder::ImageEmbedder;
use serde::{Deserialize, Serialize};

use super::LabelBridge;
use crate::OpenError;

/// The kind of image embedder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The label bridge if there is an image classifier, otherwise none.
    #[default]
    Auto,
    /// The label bridge: the classes that the image classifier finds, as vectors of the text
    /// embedder.
    Labels,
    /// No vectors of images.
    None,
}

/// Settings of image embedding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of image embedder.
    pub kind: Kind,
}

/// Opens the image embedder. Returns `None` if it is disabled. Fails if the label bridge is
/// requested but there is no image classifier.
pub fn open(
    section: &Settings,
    classifier: Option<&Arc<dyn ImageClassifier>>,
    embedder: &Arc<dyn Embedder>,
) -> Result<Option<Arc<dyn ImageEmbedder>>, OpenError> {
    match (section.kind, classifier) {
        (Kind::None, _) | (Kind::Auto, None) => Ok(None),
        (Kind::Labels, None) => Err(OpenError::new(
            "image_embedder.kind = \"labels\" needs an image classifier (classifier.kind)",
        )),
        (Kind::Auto | Kind::Labels, Some(classifier)) => {
            let bridge = LabelBridge::new(Arc::clone(classifier), Arc::clone(embedder));
            Ok(Some(Arc::new(bridge)))
        }
    }
}
