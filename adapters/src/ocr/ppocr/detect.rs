//! Detects lines of text by converting the probability map of the DB network (Liao et al. 2020)
//! into rotated boxes.

use image::{GrayImage, Rgb, RgbImage, imageops};
use imageproc::contours::{BorderType, find_contours};
use ort::value::TensorRef;
use ports::{ErrorKind, PortError, Result};

use super::{PpOcrOptions, planes, rotated::RotatedBox};
use crate::onnx::{Pool, failed, scaled};

/// Aspect ratio above which images get a margin, because the network does not detect a line that
/// fills the whole image.
const SLENDER: u32 = 8;

/// Finds the lines of text in an image. Returns boxes in pixels of the image, most confident first.
pub(super) fn lines(
    pool: &Pool,
    picture: &RgbImage,
    options: &PpOcrOptions,
) -> Result<Vec<RotatedBox>> {
    let (framed, shift) = framed(picture)?;
    let (width, height) = input_size(framed.dimensions(), options);
    let scaled = scaled(framed.as_ref(), (width, height))?;
    let map = probabilities(pool, &planes(&scaled, width), (width, height))?;
    let back = (framed.width() as f32 / width as f32, framed.height() as f32 / height as f32);
    let found = boxes(&map, width as usize, options);
    Ok(found.into_iter().map(|b| b.scaled(back, (shift.0 / back.0, shift.1 / back.1))).collect())
}

fn probabilities(pool: &Pool, pixels: &[f32], (width, height): (u32, u32)) -> Result<Vec<f32>> {
    let (width, height) = (width as usize, height as usize);
    pool.with_sized(pixels.len(), |session, options| {
        let input = TensorRef::from_array_view(([1, 3, height, width], pixels)).map_err(failed)?;
        let outputs = session.run_with_options(ort::inputs![input], options).map_err(failed)?;
        let (shape, map) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
        if map.len() != width * height {
            let message =
                format!("a text map needs the shape [1, 1, {height}, {width}], not {shape:?}");
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        Ok(map.to_vec())
    })
}

/// Adds a margin in the mean colour to a slender image, and returns the width of the margin on each
/// axis.
fn framed(picture: &RgbImage) -> Result<(std::borrow::Cow<'_, RgbImage>, (f32, f32))> {
    let (width, height) = picture.dimensions();
    let margin =
        |side: u32, other: u32| if other / SLENDER > side { (other / SLENDER).min(512) } else { 0 };
    let (x, y) = (margin(width, height), margin(height, width));
    if x == 0 && y == 0 {
        return Ok((std::borrow::Cow::Borrowed(picture), (0.0, 0.0)));
    }
    let mean = scaled(picture, (1, 1))?;
    let mean: Rgb<u8> = *mean.get_pixel(0, 0);
    let mut framed = RgbImage::from_pixel(width + 2 * x, height + 2 * y, mean);
    imageops::replace(&mut framed, picture, i64::from(x), i64::from(y));
    Ok((std::borrow::Cow::Owned(framed), (x as f32, y as f32)))
}

/// Returns the size of the network's input. Width and height are multiples of 32 near the image
/// size, scaled to satisfy the options.
fn input_size((width, height): (u32, u32), options: &PpOcrOptions) -> (u32, u32) {
    let (shorter, longer) = (width.min(height) as f32, width.max(height) as f32);
    let enlarged = (options.min_side as f32 / shorter).max(1.0);
    let ratio = enlarged.min(options.max_side as f32 / longer);
    let side = |side: u32| (((side as f32 * ratio / 32.0).round() as u32) * 32).max(32);
    (side(width), side(height))
}

fn boxes(map: &[f32], width: usize, options: &PpOcrOptions) -> Vec<RotatedBox> {
    let height = map.len() / width;
    let text = |x: usize, y: usize| map[y * width + x] > options.pixel_threshold;
    // Dilates the bitmap with a 2×2 kernel, as in the authors' code.
    let bitmap = GrayImage::from_fn(width as u32, height as u32, |x, y| {
        let (x, y) = (x as usize, y as usize);
        let (left, up) = (x.saturating_sub(1), y.saturating_sub(1));
        let set = text(x, y) || text(left, y) || text(x, up) || text(left, up);
        image::Luma([if set { 255 } else { 0 }])
    });
    let mut found: Vec<(f32, RotatedBox)> = Vec::new();
    for contour in find_contours::<i32>(&bitmap) {
        if contour.border_type != BorderType::Outer {
            continue;
        }
        let points: Vec<(i32, i32)> = contour.points.iter().map(|p| (p.x, p.y)).collect();
        let Some(rotated) = RotatedBox::around(&points) else { continue };
        // The minimum side is that of the authors. It applies before and after expansion.
        if rotated.shorter() < 3.0 {
            continue;
        }
        let score = rotated.mean(map, width);
        let grown = rotated.expanded(options.unclip);
        if score >= options.box_threshold && grown.shorter() >= 5.0 {
            found.push((score, grown));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(options.max_lines);
    found.into_iter().map(|(_, rotated)| rotated).collect()
}
