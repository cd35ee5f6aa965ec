//! Image classification.

use async_trait::async_trait;

use crate::{Result, decoder::Image};

/// Says what an image shows as a whole, such as a crop around one object.
///
/// ```
/// use adapters::classifier::ScriptedClassifier;
/// use shotlog_ports::{classifier::ImageClassifier, decoder::Image};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let classifier = ScriptedClassifier::new(&["dog", "cat"], |_| vec![0.75, 0.25]);
/// let image = Image { width: 2, height: 1, rgb: vec![200; 6] };
/// assert_eq!(classifier.classify(&[image]).await?[0].probabilities, [0.75, 0.25]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ImageClassifier: Send + Sync {
    /// Identifies the model and its settings.
    fn model(&self) -> &str;

    /// Returns the labels of all classes. Each occurs once.
    fn labels(&self) -> &[String];

    /// Identifies the text embedder whose vectors the model estimates, if it estimates any.
    fn text_embedder(&self) -> Option<&str>;

    /// Returns what each image shows, in order.
    async fn classify(&self, images: &[Image]) -> Result<Vec<Classification>>;
}

/// What an image shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    /// The probability of each class, in the order of [`ImageClassifier::labels`]. They add up to 1.
    pub probabilities: Vec<f32>,
    /// An estimate of the unit vector that [`ImageClassifier::text_embedder`] gives a text that
    /// names what the image shows, less the mean of these vectors over many images. Empty if there
    /// is no such embedder.
    pub text_vector: Vec<f32>,
}
