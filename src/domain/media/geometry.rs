//! Geometry of bounding boxes in a picture.

use ports::detector::BoundingBox;

/// A third of the picture. The middle third is slightly narrower than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Middle,
    Right,
}

impl Side {
    /// Returns the third that contains the centre of a box.
    pub(crate) fn containing(bounds: &BoundingBox) -> Self {
        match centre(bounds).0 {
            x if x < 0.36 => Self::Left,
            x if x > 0.64 => Self::Right,
            _ => Self::Middle,
        }
    }
}

/// Returns the centre of a box, as fractions of the picture.
pub(crate) fn centre(bounds: &BoundingBox) -> (f32, f32) {
    (bounds[0] + bounds[2] / 2.0, bounds[1] + bounds[3] / 2.0)
}

/// Returns the side length of a square with the same area as a box; never 0.
pub(crate) fn size(bounds: &BoundingBox) -> f32 {
    (bounds[2] * bounds[3]).max(f32::MIN_POSITIVE).sqrt()
}

/// Returns the ratio of the larger box's size to the smaller box's size, which is at least 1.
pub(crate) fn growth(a: &BoundingBox, b: &BoundingBox) -> f32 {
    let (a, b) = (size(a), size(b));
    a.max(b) / a.min(b)
}

/// Returns the distance between the centres of two boxes.
pub(crate) fn distance(a: &BoundingBox, b: &BoundingBox) -> f32 {
    let ((x, y), (u, v)) = (centre(a), centre(b));
    (x - u).hypot(y - v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_and_growth_of_boxes() {
        let (small, large) = ([0.0, 0.0, 0.1, 0.1], [0.3, 0.4, 0.2, 0.2]);
        assert!((growth(&small, &large) - 2.0).abs() < 1e-6);
        assert_eq!(growth(&small, &large), growth(&large, &small));
        assert!((distance(&small, &large) - 0.35_f32.hypot(0.45)).abs() < 1e-6);
        assert_eq!(
            (Side::containing(&small), Side::containing(&large)),
            (Side::Left, Side::Middle)
        );
        assert!(growth(&[0.0; 4], &small).is_finite(), "a box of no size");
    }
}
