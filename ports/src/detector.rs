//! Object detection.

use async_trait::async_trait;

use crate::{Result, decoder::Image};

/// `[x, y, width, height]` of a box as fractions of the picture, from its top left corner.
pub type BoundingBox = [f32; 4];

/// One labelled box.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// As the model's label list has it, as `person`.
    pub label: String,
    /// 0..1.
    pub confidence: f32,
    /// Within the picture.
    pub bounds: BoundingBox,
}

/// Finds objects in pictures.
#[async_trait]
pub trait ObjectDetector: Send + Sync {
    /// Identifies the model and its settings.
    fn model(&self) -> &str;

    /// The labels it can give.
    fn labels(&self) -> &[String];

    /// The objects of a picture, most confident first; overlapping boxes of one object are merged.
    async fn detect(&self, image: &Image) -> Result<Vec<Detection>>;
}
