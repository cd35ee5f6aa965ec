//! Finds lines that an earlier image has at the same place, so that they are not recognised again.

use image::RgbImage;
use ports::{
    decoder::Image,
    detector::{BoundingBox, overlap},
    ocr::{ReadImage, TextLine},
};

/// Minimum overlap (intersection over union) of two boxes around the same line. The edges of a box
/// depend slightly on what surrounds the line.
const MIN_OVERLAP: f32 = 0.8;

/// Returns the line of an earlier image within `bounds`, if both images look the same there.
pub(super) fn line<'a>(
    before: &'a ReadImage,
    picture: &RgbImage,
    bounds: BoundingBox,
) -> Option<&'a TextLine> {
    let line = before.lines.iter().find(|line| overlap(&line.bounds, &bounds) >= MIN_OVERLAP)?;
    let both = around(line.bounds, bounds);
    is_same_area(&before.image, picture, both).then_some(line)
}

/// Returns the box around two boxes.
fn around(a: BoundingBox, b: BoundingBox) -> BoundingBox {
    let start = |axis: usize| a[axis].min(b[axis]);
    let length = |axis: usize| (a[axis] + a[axis + 2]).max(b[axis] + b[axis + 2]) - start(axis);
    [start(0), start(1), length(0), length(1)]
}

/// Whether two images differ only by coding noise within a box. They are compared in short pieces
/// of rows, so that not even a digit may change.
fn is_same_area(image: &Image, picture: &RgbImage, bounds: BoundingBox) -> bool {
    /// Number of pixels per piece.
    const PIECE: usize = 16;
    /// The largest mean change per byte of a piece that counts as noise.
    const NOISE: u32 = 6;
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let size = (image.width as usize, image.height as usize);
    if size != (width, height) || image.rgb.len() != picture.as_raw().len() {
        return false;
    }
    let range = |axis: usize, side: usize| {
        let first = (bounds[axis] * side as f32).floor().max(0.0) as usize;
        let last = ((bounds[axis] + bounds[axis + 2]) * side as f32).ceil().max(0.0) as usize;
        first.min(side)..last.min(side)
    };
    let columns = range(0, width);
    range(1, height).all(|y| {
        let row = (y * width + columns.start) * 3..(y * width + columns.end) * 3;
        let pieces = image.rgb[row.clone()].chunks(PIECE * 3);
        pieces.zip(picture.as_raw()[row].chunks(PIECE * 3)).all(|(a, b)| {
            let change: u32 = a.iter().zip(b).map(|(x, y)| u32::from(x.abs_diff(*y))).sum();
            change <= NOISE * a.len() as u32
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: BoundingBox = [0.25, 0.25, 0.5, 0.25];

    /// A picture of 64 × 32 pixels with a light word on dark ground.
    fn picture() -> RgbImage {
        RgbImage::from_fn(64, 32, |x, y| {
            let letter = (18..46).contains(&x) && (10..14).contains(&y) && x % 4 < 2;
            image::Rgb([if letter { 220 } else { 30 }; 3])
        })
    }

    fn before() -> ReadImage {
        let lines = vec![TextLine { text: "EXIT".into(), confidence: 0.9, bounds: BOUNDS }];
        ReadImage { image: Image { width: 64, height: 32, rgb: picture().into_raw() }, lines }
    }

    #[test]
    fn line_is_known_where_nothing_changes() {
        let mut moved = picture();
        moved.put_pixel(2, 2, image::Rgb([200; 3]));
        let noisy = RgbImage::from_fn(64, 32, |x, y| {
            image::Rgb(moved.get_pixel(x, y).0.map(|value| value + (x % 4) as u8))
        });
        let before = before();
        for bounds in [BOUNDS, [0.26, 0.25, 0.5, 0.26]] {
            let known = line(&before, &noisy, bounds).expect("a known line");
            assert_eq!(known.text, "EXIT");
        }
        assert_eq!(line(&before, &noisy, [0.25, 0.5, 0.5, 0.25]), None, "another place");
    }

    #[test]
    fn changed_letter_makes_the_line_unknown() {
        let before = before();
        let mut changed = picture();
        for y in 10..14 {
            changed.put_pixel(22, y, image::Rgb([220; 3]));
        }
        assert_eq!(line(&before, &changed, BOUNDS), None);
        let larger = RgbImage::new(128, 64);
        assert_eq!(line(&before, &larger, BOUNDS), None, "another size");
        let mut short = before;
        short.image.rgb.truncate(9);
        assert_eq!(line(&short, &picture(), BOUNDS), None, "malformed");
    }
}
