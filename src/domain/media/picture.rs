//! Encoding and cropping of pictures.

use bytes::Bytes;
use ports::decoder::Image;
use ports::detector::BoundingBox;

use crate::kernel::error::{Error, Result};

/// Maximum width and height of a crop, in pixels.
const MAX_CROP_SIDE: u32 = 384;

/// Encodes a picture as JPEG.
pub(crate) async fn jpeg(image: Image) -> Result<Bytes> {
    const QUALITY: u8 = 85;
    tokio::task::spawn_blocking(move || {
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
    const MARGIN: f32 = 0.1;
    let edge = |share: f32, length: u32| (share.clamp(0.0, 1.0) * length as f32).round() as u32;
    let [x, y, w, h] = *bounds;
    let left = edge(x - MARGIN * w, image.width).min(image.width - 1);
    let right = edge(x + (1.0 + MARGIN) * w, image.width).max(left + 1);
    let top = edge(y - MARGIN * h, image.height).min(image.height - 1);
    let bottom = edge(y + (1.0 + MARGIN) * h, image.height).max(top + 1);
    let (width, height) = (right - left, bottom - top);
    let step = width.max(height).div_ceil(MAX_CROP_SIDE).max(1);
    let (columns, rows) = (width.div_ceil(step), height.div_ceil(step));
    let mut rgb = Vec::with_capacity((columns * rows * 3) as usize);
    for row in 0..rows {
        for column in 0..columns {
            let at = ((top + row * step) * image.width + left + column * step) as usize * 3;
            rgb.extend_from_slice(&image.rgb[at..at + 3]);
        }
    }
    Image { width: columns, height: rows, rgb }
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
}
