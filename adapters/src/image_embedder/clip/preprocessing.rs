//! How an image becomes the input of a CLIP network.

use std::ops::Deref;

use fast_image_resize::FilterType;
use image::{ImageBuffer, Rgb, RgbImage, imageops};
use ports::Result;
use ports::decoder::Image;
use serde::Deserialize;

use crate::onnx::resized;

/// The preprocessing of a network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClipPreprocessing {
    /// Width and height of the input.
    size: (u32, u32),
    fit: Fit,
    filter: FilterType,
    /// The value of each channel, 0..1, that becomes 0.
    mean: [f32; 3],
    /// The difference from the mean, 0..1, that becomes 1.
    deviation: [f32; 3],
}

/// How an image gets the proportions of the input.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fit {
    /// Its sides are scaled separately.
    Squash,
    /// It is scaled until its shorter side has this length, and its middle is cut out.
    Crop(u32),
}

/// `preprocessor_config.json` of transformers.js.
#[derive(Deserialize)]
pub(super) struct CenterCrop {
    size: Size,
    crop_size: Option<Size>,
    #[serde(default)]
    do_center_crop: bool,
    image_mean: [f32; 3],
    image_std: [f32; 3],
    /// The filter, in Pillow's numbering.
    #[serde(default = "bicubic")]
    resample: u8,
}

/// `visual/preprocess_cfg.json` of Immich, as OpenCLIP writes it.
#[derive(Deserialize)]
pub(super) struct OpenClipPreprocessing {
    size: Size,
    mean: [f32; 3],
    std: [f32; 3],
    #[serde(default)]
    interpolation: Interpolation,
    #[serde(default)]
    resize_mode: ResizeMode,
}

/// A size in pixels.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Size {
    Side(u32),
    /// Height and width.
    Sides([u32; 2]),
    Exact {
        height: u32,
        width: u32,
    },
    Shortest {
        shortest_edge: u32,
    },
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Interpolation {
    #[default]
    Bicubic,
    Bilinear,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ResizeMode {
    #[default]
    Shortest,
    Squash,
}

/// Pillow's numbers of its filters.
const BILINEAR: u8 = 2;
const BICUBIC: u8 = 3;

fn bicubic() -> u8 {
    BICUBIC
}

/// Maximum width and height of the input.
const MAX_SIDE: u32 = 1024;

/// Maximum ratio of the sides of a picture before its middle is cut out. Of a longer one, the ends
/// are cut off first, which bounds the memory that it takes.
const MAX_RATIO: u32 = 16;

impl Size {
    /// Returns width and height.
    fn sides(self) -> (u32, u32) {
        match self {
            Self::Side(side) | Self::Shortest { shortest_edge: side } => (side, side),
            Self::Sides([height, width]) | Self::Exact { height, width } => (width, height),
        }
    }
}

impl TryFrom<CenterCrop> for ClipPreprocessing {
    type Error = String;

    fn try_from(config: CenterCrop) -> std::result::Result<Self, String> {
        let filter = match config.resample {
            BILINEAR => FilterType::Bilinear,
            BICUBIC => FilterType::CatmullRom,
            other => return Err(format!("resample is {other}; accepted: {BILINEAR}, {BICUBIC}")),
        };
        let (width, height) = config.size.sides();
        let crop = config.crop_size.filter(|_| config.do_center_crop).map(Size::sides);
        let squash = matches!(config.size, Size::Exact { .. } | Size::Sides(_)) && crop.is_none();
        let fit = if squash { Fit::Squash } else { Fit::Crop(width.min(height)) };
        let size = crop.unwrap_or((width, height));
        Self::new(size, fit, filter, config.image_mean, config.image_std)
    }
}

impl TryFrom<OpenClipPreprocessing> for ClipPreprocessing {
    type Error = String;

    fn try_from(config: OpenClipPreprocessing) -> std::result::Result<Self, String> {
        let filter = match config.interpolation {
            Interpolation::Bicubic => FilterType::CatmullRom,
            Interpolation::Bilinear => FilterType::Bilinear,
        };
        let (width, height) = config.size.sides();
        let fit = match config.resize_mode {
            ResizeMode::Shortest => Fit::Crop(width.min(height)),
            ResizeMode::Squash => Fit::Squash,
        };
        Self::new((width, height), fit, filter, config.mean, config.std)
    }
}

impl ClipPreprocessing {
    fn new(
        size: (u32, u32),
        fit: Fit,
        filter: FilterType,
        mean: [f32; 3],
        deviation: [f32; 3],
    ) -> std::result::Result<Self, String> {
        let (width, height) = size;
        let sides = 1..=MAX_SIDE;
        if !sides.contains(&width) || !sides.contains(&height) {
            return Err(format!(
                "its input has {width} × {height} pixels; each side must have 1 to {MAX_SIDE}"
            ));
        }
        if let Fit::Crop(shortest) = fit
            && !(width.max(height)..=MAX_SIDE).contains(&shortest)
        {
            return Err(format!(
                "it scales the shorter side of a picture to {shortest} pixels; accepted are {} (its \
                 input) to {MAX_SIDE}",
                width.max(height)
            ));
        }
        if mean.iter().any(|x| !x.is_finite()) {
            return Err("the mean of each channel must be a finite number".into());
        }
        if deviation.iter().any(|x| !x.is_finite() || *x <= 0.0) {
            return Err("the standard deviation of each channel must be greater than 0".into());
        }
        Ok(Self { size, fit, filter, mean, deviation })
    }

    /// The width and height of the input.
    pub(super) fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Returns the input: all values of the red channel, then green and blue.
    pub(super) fn pixels(&self, image: &Image) -> Result<Vec<f32>> {
        let view = crate::picture::view(image)?;
        let scaled = match self.fit {
            Fit::Squash => resized(&view, self.size, self.filter)?,
            Fit::Crop(shortest) => {
                let (width, height) = view.dimensions();
                let longest = width.min(height).saturating_mul(MAX_RATIO);
                if width.max(height) > longest {
                    let whole = RgbImage::from_fn(width, height, |x, y| *view.get_pixel(x, y));
                    let part = middle(&whole, (width.min(longest), height.min(longest)));
                    self.middle(&part, shortest)?
                } else {
                    self.middle(&view, shortest)?
                }
            }
        };
        let mut pixels = Vec::with_capacity(scaled.as_raw().len());
        for channel in 0..3 {
            let (mean, deviation) = (self.mean[channel], self.deviation[channel]);
            let values = scaled.pixels().map(|pixel| f32::from(pixel[channel]) / 255.0);
            pixels.extend(values.map(|value| (value - mean) / deviation));
        }
        Ok(pixels)
    }

    /// Scales a picture until its shorter side has the length `shortest`, and cuts out the middle.
    fn middle<Pixels>(
        &self,
        picture: &ImageBuffer<Rgb<u8>, Pixels>,
        shortest: u32,
    ) -> Result<RgbImage>
    where
        Pixels: Deref<Target = [u8]>,
    {
        let short = u64::from(picture.width().min(picture.height()));
        let side = |side: u32| (u64::from(side) * u64::from(shortest) / short) as u32;
        let whole = (side(picture.width()), side(picture.height()));
        Ok(middle(&resized(picture, whole, self.filter)?, self.size))
    }
}

/// Cuts out the middle of a picture.
fn middle(picture: &RgbImage, (width, height): (u32, u32)) -> RgbImage {
    let (left, top) = ((picture.width() - width) / 2, (picture.height() - height) / 2);
    imageops::crop_imm(picture, left, top, width, height).to_image()
}
