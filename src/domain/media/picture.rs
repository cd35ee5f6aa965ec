//! Encoding and cropping of pictures.

use bytes::Bytes;
use ports::decoder::Image;
use ports::detector::BoundingBox;

use crate::kernel::error::{Error, Result};

/// Maximum width and height of a crop, in pixels.
const MAX_CROP_SIDE: u32 = 384;

/// Encodes a picture as JPEG.
pub(crate) async fn jpeg(image: Image) -> Result<Bytes> {
    encode(move || Ok(image)).await
}

/// Crops an object from a picture, with a margin, and encodes the crop as JPEG. A crop higher than
/// `height` pixels is scaled down to that height.
pub(crate) async fn cropped_jpeg(image: Image, bounds: BoundingBox, height: u32) -> Result<Bytes> {
    encode(move || scale_to_height(pixels_in(&image, area(&image, &bounds), 1), height)).await
}

/// Makes a picture and encodes it as JPEG, on a blocking thread.
async fn encode(picture: impl FnOnce() -> Result<Image> + Send + 'static) -> Result<Bytes> {
    const QUALITY: u8 = 85;
    tokio::task::spawn_blocking(move || {
        let image = picture()?;
        let mut bytes = Vec::new();
        image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, QUALITY)
            .encode(&image.rgb, image.width, image.height, image::ExtendedColorType::Rgb8)
            .map_err(|e| Error::corrupt(format!("cannot encode a picture: {e}")))?;
        Ok(bytes.into())
    })
    .await
    .map_err(|e| Error::corrupt(format!("encoding a picture panicked: {e}")))?
}

/// Crops an object from a picture, with a margin, and scales the crop down to [`MAX_CROP_SIDE`]
/// if it is larger.
pub(crate) fn crop(image: &Image, bounds: &BoundingBox) -> Image {
    let area = area(image, bounds);
    let step = area.width.max(area.height).div_ceil(MAX_CROP_SIDE).max(1);
    pixels_in(image, area, step)
}

/// A rectangle within a picture, in pixels; neither side is 0.
struct Area {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

/// Returns the area of a box with a margin on each side.
fn area(image: &Image, bounds: &BoundingBox) -> Area {
    const MARGIN: f32 = 0.1;
    let edge = |share: f32, length: u32| (share.clamp(0.0, 1.0) * length as f32).round() as u32;
    let [x, y, w, h] = *bounds;
    let left = edge(x - MARGIN * w, image.width).min(image.width - 1);
    let right = edge(x + (1.0 + MARGIN) * w, image.width).max(left + 1);
    let top = edge(y - MARGIN * h, image.height).min(image.height - 1);
    let bottom = edge(y + (1.0 + MARGIN) * h, image.height).max(top + 1);
    Area { left, top, width: right - left, height: bottom - top }
}

/// Copies every `step`-th pixel of every `step`-th row in an area.
fn pixels_in(image: &Image, area: Area, step: u32) -> Image {
    let (columns, rows) = (area.width.div_ceil(step), area.height.div_ceil(step));
    let mut rgb = Vec::with_capacity((columns * rows * 3) as usize);
    for row in 0..rows {
        for column in 0..columns {
            let (x, y) = (area.left + column * step, area.top + row * step);
            let at = (y * image.width + x) as usize * 3;
            rgb.extend_from_slice(&image.rgb[at..at + 3]);
        }
    }
    Image { width: columns, height: rows, rgb }
}

/// Scales a picture down to a height, in pixels. A picture that is not higher is unchanged.
fn scale_to_height(picture: Image, height: u32) -> Result<Image> {
    if picture.height <= height {
        return Ok(picture);
    }
    let Image { width, height: full_height, rgb } = picture;
    let scaled_width = (u64::from(width) * u64::from(height)).div_ceil(full_height.into()) as u32;
    let full = image::RgbImage::from_raw(width, full_height, rgb)
        .ok_or_else(|| Error::corrupt("a picture has too few pixels for its size"))?;
    let filter = image::imageops::FilterType::Triangle;
    let scaled = image::imageops::resize(&full, scaled_width, height, filter);
    Ok(Image { width: scaled_width, height, rgb: scaled.into_raw() })
}

/// Whether every part of two frames is the same apart from coding noise, so that not even a small
/// caption has changed.
pub(crate) fn same_picture(a: &Image, b: &Image) -> bool {
    /// Number of pixels per block.
    const BLOCK: usize = 64;
    /// The largest mean change per byte of a block that counts as noise.
    const NOISE: u32 = 6;
    a.width == b.width
        && a.height == b.height
        && a.rgb.chunks(3 * BLOCK).zip(b.rgb.chunks(3 * BLOCK)).all(|(a, b)| {
            let change: u32 = a.iter().zip(b).map(|(x, y)| u32::from(x.abs_diff(*y))).sum();
            change <= NOISE * a.len() as u32
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crops_are_small() {
        let image = Image { width: 1600, height: 900, rgb: vec![7; 1600 * 900 * 3] };
        let cut = crop(&image, &[0.25, 0.0, 0.25, 1.0]);
        assert!(cut.width.max(cut.height) <= MAX_CROP_SIDE, "{cut:?}");
        assert_eq!(cut.rgb.len(), (cut.width * cut.height * 3) as usize);
        let edge = crop(&image, &[0.99, 0.99, 0.5, 0.5]);
        assert!(edge.width >= 1 && edge.height >= 1);
        let empty = crop(&image, &[1.0, 1.0, 0.0, 0.0]);
        assert_eq!((empty.width, empty.height), (1, 1));
    }

    #[tokio::test]
    async fn cropped_pictures_have_a_margin_and_a_maximum_height() {
        let image = Image { width: 1600, height: 900, rgb: vec![7; 1600 * 900 * 3] };
        for (height, expected) in [(2000, (480, 600)), (300, (240, 300))] {
            let bytes = cropped_jpeg(image.clone(), [0.25, 0.2, 0.25, 5.0 / 9.0], height).await;
            let cropped = image::load_from_memory(&bytes.expect("a picture")).expect("a JPEG");
            assert_eq!((cropped.width(), cropped.height()), expected);
        }
    }

    #[test]
    fn same_picture_detects_a_new_caption() {
        let still = Image { width: 640, height: 360, rgb: vec![90; 640 * 360 * 3] };
        let mut noisy = still.clone();
        noisy.rgb.iter_mut().step_by(3).for_each(|x| *x += 5);
        assert!(same_picture(&still, &noisy));
        let mut captioned = still.clone();
        for row in 300..312 {
            captioned.rgb[(row * 640 + 200) * 3..(row * 640 + 300) * 3].fill(250);
        }
        assert!(!same_picture(&still, &captioned));
        assert!(!same_picture(&still, &Image { width: 1, height: 1, rgb: vec![90; 3] }));
    }
}
