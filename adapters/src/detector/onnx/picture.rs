//! Converts an image to the network's input, and input coordinates back to image coordinates.

use ports::Result;

use super::Layout;
use crate::onnx::scaled;
use crate::picture::View;

/// How to convert an image to the network's input: placement, channel order and normalization.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preprocessing {
    placement: Placement,
    /// Whether the channel order is BGR, as in OpenCV.
    bgr: bool,
    /// In each input channel, `mean` is subtracted from the values (0..255), and the result is
    /// divided by `scale`.
    mean: [f32; 3],
    scale: [f32; 3],
    /// Grey value of the padding around the image, 0..255.
    padding: f32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Placement {
    /// Keeps the aspect ratio and aligns the image to the top left.
    Corner,
    /// Keeps the aspect ratio and centres the image.
    Middle,
    /// Stretches the image to the input size.
    Stretch,
}

/// Grey value of the padding that the YOLO family uses.
const GREY: f32 = 114.0;

impl Preprocessing {
    /// Returns the preprocessing for a layout. `no_object` states whether the model has a class for
    /// "no object", as the first DETR models do.
    pub(super) fn for_layout(layout: Layout, no_object: bool) -> Self {
        let plain = ([0.0; 3], [1.0; 3]);
        let unit = ([0.0; 3], [255.0; 3]);
        // Mean and standard deviation of ImageNet, in the order of the channels.
        let imagenet = ([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]);
        let imagenet_bgr = ([103.53, 116.28, 123.675], [57.375, 57.12, 58.395]);
        let (placement, bgr, (mean, scale)) = match layout {
            Layout::Yolox => (Placement::Corner, true, plain),
            Layout::PicoDet => (Placement::Stretch, true, imagenet_bgr),
            Layout::NanoDet => (Placement::Middle, true, imagenet_bgr),
            Layout::Yolov8 => (Placement::Middle, false, unit),
            Layout::Detr if no_object => (Placement::Stretch, false, imagenet),
            Layout::Detr => (Placement::Stretch, false, unit),
        };
        let padding = if layout == Layout::NanoDet { 0.0 } else { GREY };
        Self { placement, bgr, mean, scale, padding }
    }

    /// Returns the network's input as planes of `size` (width, height), and the mapping back to the
    /// image.
    pub(super) fn prepare(&self, picture: &View<'_>, size: (u32, u32)) -> Result<(Vec<f32>, Fit)> {
        let (width, height) = size;
        let fit = Fit::new(self.placement, picture.dimensions(), size);
        let scaled = scaled(picture, (fit.width, fit.height))?;
        let plane = width as usize * height as usize;
        let mut pixels = vec![0.0; plane * 3];
        for (channel, values) in pixels.chunks_exact_mut(plane).enumerate() {
            let (mean, scale) = (self.mean[channel], self.scale[channel]);
            let source = if self.bgr { 2 - channel } else { channel };
            values.fill((self.padding - mean) / scale);
            for (y, row) in scaled.rows().enumerate() {
                let begin = (y + fit.top as usize) * width as usize + fit.left as usize;
                for (value, pixel) in values[begin..].iter_mut().zip(row) {
                    *value = (f32::from(pixel[source]) - mean) / scale;
                }
            }
        }
        Ok((pixels, fit))
    }
}

/// Where the image is placed in the input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fit {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

impl Fit {
    fn new(placement: Placement, picture: (u32, u32), (width, height): (u32, u32)) -> Self {
        if placement == Placement::Stretch {
            return Self { left: 0, top: 0, width, height };
        }
        let ratio = (width as f32 / picture.0 as f32).min(height as f32 / picture.1 as f32);
        let scaled = |side: u32, most: u32| ((side as f32 * ratio).round() as u32).clamp(1, most);
        let (w, h) = (scaled(picture.0, width), scaled(picture.1, height));
        let (left, top) = match placement {
            Placement::Middle => ((width - w) / 2, (height - h) / 2),
            _ => (0, 0),
        };
        Self { left, top, width: w, height: h }
    }

    /// Converts a point in the input to fractions of the image, clamped to 0..1.
    pub(super) fn to_picture(&self, x: f32, y: f32) -> [f32; 2] {
        [
            ((x - self.left as f32) / self.width as f32).clamp(0.0, 1.0),
            ((y - self.top as f32) / self.height as f32).clamp(0.0, 1.0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_image_keeps_its_aspect_ratio() {
        let fit = Fit::new(Placement::Middle, (200, 100), (64, 64));
        assert_eq!(fit, Fit { left: 0, top: 16, width: 64, height: 32 });
        assert_eq!(fit.to_picture(32.0, 32.0), [0.5, 0.5]);
        assert_eq!(fit.to_picture(-9.0, 60.0), [0.0, 1.0]);
        let fit = Fit::new(Placement::Corner, (200, 100), (64, 64));
        assert_eq!(fit.to_picture(64.0, 32.0), [1.0, 1.0]);
    }

    #[test]
    fn channel_order_follows_the_layout() {
        let rgb = [10, 20, 30, 10, 20, 30];
        let Some(picture) = View::from_raw(2, 1, rgb.as_slice()) else { panic!("2 × 1 pixels") };
        let (pixels, _) =
            Preprocessing::for_layout(Layout::Yolox, false).prepare(&picture, (2, 2)).unwrap();
        assert_eq!(pixels, [30., 30., 114., 114., 20., 20., 114., 114., 10., 10., 114., 114.]);
        let (pixels, _) =
            Preprocessing::for_layout(Layout::Yolov8, false).prepare(&picture, (2, 2)).unwrap();
        assert!((pixels[0] - 10.0 / 255.0).abs() < 1e-6);
        let (pixels, _) =
            Preprocessing::for_layout(Layout::NanoDet, false).prepare(&picture, (2, 2)).unwrap();
        let blue = |value: f32| (value - 103.53) / 57.375;
        assert_eq!(pixels[..4], [blue(30.0), blue(30.0), blue(0.0), blue(0.0)], "black padding");
    }
}
