//! Scales images to the input size of a network.

use std::ops::Deref;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::{ImageBuffer, Rgb, RgbImage};
use ports::{ErrorKind, PortError, Result};

/// Scales an image with a triangle filter, like Pillow's `BILINEAR`. The filter is as wide as a
/// source pixel or a target pixel, whichever is larger.
pub(crate) fn scaled<Pixels>(
    picture: &ImageBuffer<Rgb<u8>, Pixels>,
    (width, height): (u32, u32),
) -> Result<RgbImage>
where
    Pixels: Deref<Target = [u8]>,
{
    resized(picture, (width, height), FilterType::Bilinear)
}

/// Scales an image with a filter that is as wide as a source pixel or a target pixel, whichever is
/// larger.
pub(crate) fn resized<Pixels>(
    picture: &ImageBuffer<Rgb<u8>, Pixels>,
    (width, height): (u32, u32),
    filter: FilterType,
) -> Result<RgbImage>
where
    Pixels: Deref<Target = [u8]>,
{
    let failed = |e: &dyn std::fmt::Display| {
        PortError::new(ErrorKind::Invalid, format!("a picture could not be scaled: {e}"))
    };
    let source = ImageRef::new(picture.width(), picture.height(), picture, PixelType::U8x3);
    let source = source.map_err(|e| failed(&e))?;
    let mut scaled = Image::new(width, height, PixelType::U8x3);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter));
    Resizer::new().resize(&source, &mut scaled, &options).map_err(|e| failed(&e))?;
    RgbImage::from_raw(width, height, scaled.into_vec())
        .ok_or_else(|| failed(&"it has another size than was asked for"))
}

#[cfg(test)]
mod tests {
    use image::imageops;

    use super::*;

    #[test]
    fn scaling_equals_the_reference() {
        let tint =
            |x: u32, y: u32| Rgb([x * 3 + y, x * y / 7, (x * x + 5 * y) / 11].map(|c| c as u8));
        let picture = RgbImage::from_fn(97, 61, tint);
        for size in [(41, 23), (97, 61), (200, 64), (1, 1), (97, 3)] {
            let expected =
                imageops::resize(&picture, size.0, size.1, imageops::FilterType::Triangle);
            let found = scaled(&picture, size).unwrap();
            let apart = |(a, b): (&u8, &u8)| i32::from(*a) - i32::from(*b);
            let apart: Vec<i32> = found.iter().zip(expected.iter()).map(apart).collect();
            assert!(apart.iter().all(|apart| apart.abs() <= 1), "{size:?}");
            // On average, the scaled image is neither brighter nor darker than the reference.
            let mean = apart.iter().sum::<i32>() as f32 / apart.len() as f32;
            assert!(mean.abs() < 0.05 || apart.len() < 10, "{size:?}: {mean}");
        }
    }
}
