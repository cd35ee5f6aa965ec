//! Object detection.

use async_trait::async_trait;

use crate::{Result, decoder::Image};

/// A box `[x, y, width, height]`, as fractions of the image's width and height. The origin is the
/// top left corner of the image.
pub type BoundingBox = [f32; 4];

/// Returns how much two boxes overlap: their intersection over union, 0..1.
pub fn overlap(a: &BoundingBox, b: &BoundingBox) -> f32 {
    let along = |i: usize| (a[i] + a[i + 2]).min(b[i] + b[i + 2]) - a[i].max(b[i]);
    let common = along(0).max(0.0) * along(1).max(0.0);
    let both = a[2] * a[3] + b[2] * b[3] - common;
    if both > 0.0 { common / both } else { 0.0 }
}

/// A detected object.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// One of [`ObjectDetector::labels`], such as `person`.
    pub label: String,
    /// Confidence that the label is right, 0..1.
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

    /// Returns all labels that the model can assign.
    fn labels(&self) -> &[String];

    /// Finds the objects in an image and returns them by descending confidence. Overlapping boxes
    /// around the same object are merged.
    async fn detect(&self, image: &Image) -> Result<Vec<Detection>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_intersection_over_union() {
        assert_eq!(overlap(&[0.0, 0.0, 0.5, 0.5], &[0.0, 0.0, 0.5, 0.5]), 1.0);
        assert_eq!(overlap(&[0.0, 0.0, 0.4, 0.4], &[0.5, 0.5, 0.4, 0.4]), 0.0);
        let half = overlap(&[0.0, 0.0, 0.2, 0.1], &[0.1, 0.0, 0.2, 0.1]);
        assert!((half - 1.0 / 3.0).abs() < 1e-6);
    }
}
