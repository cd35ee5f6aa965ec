//! Text in pictures.

use async_trait::async_trait;

use crate::{Result, decoder::Image, detector::BoundingBox};

/// One line of text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextLine {
    /// Words separated by spaces where the script has them.
    pub text: String,
    /// 0..1.
    pub confidence: f32,
    /// Upright box around the line.
    pub bounds: BoundingBox,
}

/// Reads text in pictures.
#[async_trait]
pub trait TextReader: Send + Sync {
    /// Identifies the model and its settings.
    fn model(&self) -> &str;

    /// The lines of a picture in reading order.
    async fn read(&self, image: &Image) -> Result<Vec<TextLine>>;
}
