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
/// assert_eq!(classifier.classify(&[image]).await?, [[0.75, 0.25]]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ImageClassifier: Send + Sync {
    /// Identifies the model and its settings.
    fn model(&self) -> &str;

    /// Returns the labels of all classes. Each occurs once.
    fn labels(&self) -> &[String];

    /// Returns for each image the probability of each class, in the order of
    /// [`labels`](Self::labels). The probabilities of an image add up to 1.
    async fn classify(&self, images: &[Image]) -> Result<Vec<Vec<f32>>>;
}
