//! What whole frames of a chunk show: the labels of an image classifier, and the vectors of an image
//! embedder.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ports::decoder::{Frame, Image};
use serde::{Deserialize, Serialize};

use crate::kernel::time::rounded;
use crate::kernel::vector::normalized;
use crate::media::picture::same_picture;

/// Maximum number of frames per chunk that are classified and embedded.
pub(crate) const MAX_VIEWS: usize = 3;

/// One frame of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameView {
    /// When it is shown, in seconds from the start of the video.
    pub time: f64,
    /// The probability of each class of the image classifier; empty if there is none.
    pub probabilities: Vec<f32>,
    /// The vector of the image embedder; empty if there is none.
    pub vector: Vec<f32>,
}

/// The vectors of the frames of a chunk, as they are stored with an output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImageVectors {
    /// The model that computed them. Vectors of different models are not comparable.
    pub model: String,
    /// One vector per frame, in chronological order.
    pub frames: Vec<FrameVector>,
}

/// The vector of one frame.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrameVector {
    /// When the frame is shown, in seconds from the start of the video.
    pub t: f64,
    /// The vector's components as signed bytes, in base64. Their largest magnitude is 127.
    vector: String,
}

impl FrameView {
    pub(crate) fn at(time: f64) -> Self {
        Self { time, probabilities: Vec::new(), vector: Vec::new() }
    }
}

impl ImageVectors {
    /// Stores the vectors of these frames.
    pub(crate) fn new(model: &str, views: &[FrameView]) -> Self {
        let embedded = views.iter().filter(|view| !view.vector.is_empty());
        let frames = embedded.map(|view| FrameVector::new(view.time, &view.vector)).collect();
        Self { model: model.to_owned(), frames }
    }

    /// Whether there are no vectors.
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

impl FrameVector {
    fn new(time: f64, vector: &[f32]) -> Self {
        let largest = vector.iter().fold(f32::MIN_POSITIVE, |max, x| max.max(x.abs()));
        let codes = vector.iter().map(|x| (x / largest * 127.0).round() as i8 as u8);
        Self { t: rounded(time), vector: STANDARD.encode(codes.collect::<Vec<u8>>()) }
    }

    /// Returns the unit vector; empty if the stored bytes are not base64.
    pub(crate) fn unit_vector(&self) -> Vec<f32> {
        let codes = STANDARD.decode(&self.vector).unwrap_or_default();
        normalized(codes.into_iter().map(|code| f32::from(code as i8)).collect())
    }
}

/// Returns the images that differ by more than coding noise, and for each frame the index of its
/// image.
pub(crate) fn distinct_images(frames: &[&Frame]) -> (Vec<Image>, Vec<usize>) {
    let mut images: Vec<Image> = Vec::new();
    let mut indexes = Vec::with_capacity(frames.len());
    for frame in frames {
        let known = images.iter().position(|image| same_picture(image, &frame.image));
        indexes.push(known.unwrap_or(images.len()));
        if known.is_none() {
            images.push(frame.image.clone());
        }
    }
    (images, indexes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::vector::dot;

    #[test]
    fn stored_vectors_are_nearly_the_original() {
        let vector: Vec<f32> = (0..640).map(|i| ((i * i) as f32 * 0.37).sin()).collect();
        let vector = normalized(vector);
        let view = FrameView { time: 1.25, probabilities: Vec::new(), vector: vector.clone() };
        let stored = ImageVectors::new("model", &[view]);
        let read = stored.frames[0].unit_vector();
        assert!(dot(&vector, &read) > 0.9995);
        assert!((dot(&read, &read) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn frames_that_look_the_same_have_one_image() {
        let frame = |time: f64, value: u8| {
            let image = Image { width: 4, height: 2, rgb: vec![value; 24] };
            Frame { time, image }
        };
        let frames = [frame(0.0, 10), frame(1.0, 90), frame(2.0, 12)];
        let (images, indexes) = distinct_images(&frames.each_ref());
        assert_eq!(indexes, [0, 1, 0]);
        assert_eq!(images, [frames[0].image.clone(), frames[1].image.clone()]);
    }
}
