//! Embedding of images, and of texts in the same space.

use async_trait::async_trait;

use crate::{Result, decoder::Image};

/// Turns images and texts into vectors that can be compared: the cosine of two vectors shows how
/// similar what two images show is, or how well a text names what an image shows.
///
/// ```
/// use std::sync::Arc;
///
/// use adapters::classifier::ScriptedClassifier;
/// use adapters::embedder::HashingEmbedder;
/// use adapters::image_embedder::LabelBridge;
/// use shotlog_ports::{decoder::Image, image_embedder::ImageEmbedder, vector::dot};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let reddish = |image: &Image| if image.rgb[0] > image.rgb[2] { [0.9, 0.1] } else { [0.1, 0.9] };
/// let classifier = ScriptedClassifier::new(&["strawberry", "sea"], move |i| reddish(i).to_vec());
/// let embedder = HashingEmbedder::new(384)?;
/// let bridge = LabelBridge::new(Arc::new(classifier), Arc::new(embedder));
///
/// let images = [[200, 20, 30], [20, 30, 200]].map(|rgb| Image { width: 1, height: 1, rgb: rgb.into() });
/// let images = bridge.embed_images(&images).await?;
/// let texts = bridge.embed_texts(&["strawberry".to_owned()]).await?;
/// assert!(dot(&texts[0], &images[0]) > dot(&texts[0], &images[1]));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ImageEmbedder: Send + Sync {
    /// Identifies the model and everything else that affects its vectors.
    fn model(&self) -> &str;

    /// Returns the length of every vector.
    fn dimension(&self) -> usize;

    /// Returns how the cosine of a text and an image becomes the probability that the image shows
    /// what the text names.
    fn match_model(&self) -> MatchModel;

    /// Computes one unit vector per image, in order.
    async fn embed_images(&self, images: &[Image]) -> Result<Vec<Vec<f32>>>;

    /// Computes one unit vector per text, in order. The adapter truncates texts that exceed the
    /// model's limit.
    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<Vec<f32>>>;
}

/// A logistic model: the probability is `1 / (1 + exp(−(intercept + slope × cosine)))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatchModel {
    /// The logit at a cosine of 0.
    pub intercept: f32,
    /// The logit gained per unit of the cosine.
    pub slope: f32,
}

impl MatchModel {
    /// Returns the probability, 0..1, that belongs to a cosine.
    pub fn probability(self, cosine: f32) -> f32 {
        1.0 / (1.0 + (-(self.intercept + self.slope * cosine)).exp())
    }

    /// Returns the cosine that belongs to a probability.
    pub fn cosine(self, probability: f32) -> f32 {
        ((probability / (1.0 - probability)).ln() - self.intercept) / self.slope
    }
}
