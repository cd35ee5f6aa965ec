//! Object detection.

use async_trait::async_trait;

use crate::{Result, decoder::Image};

/// A box as `[x, y, width, height]`, in fractions of the image's size; the origin is the top left
/// corner.
pub type BoundingBox = [f32; 4];

/// A detected object.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// One of [`ObjectDetector::labels`], such as `person`.
    pub label: String,
    /// Between 0 and 1.
    pub confidence: f32,
    /// The box around the object, within the image.
    pub bounds: BoundingBox,
}

/// Detects objects in images.
///
/// ```
/// use adapters::detector::ScriptedDetector;
/// use shotlog_ports::{decoder::Image, detector::{Detection, ObjectDetector}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let car = Detection { label: "car".into(), confidence: 0.9, bounds: [0.1, 0.2, 0.5, 0.4] };
/// let detector = ScriptedDetector::with_objects(vec![car.clone()]);
/// let image = Image { width: 2, height: 1, rgb: vec![200; 6] };
/// assert_eq!(detector.detect(&image).await?, [car]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ObjectDetector: Send + Sync {
    /// Identifies the model and its settings.
    fn model(&self) -> &str;

    /// Returns every label that the model can assign.
    fn labels(&self) -> &[String];

    /// Finds the objects in an image, most confident first, and merges overlapping boxes around the
    /// same object.
    async fn detect(&self, image: &Image) -> Result<Vec<Detection>>;
}
