//! OCR with the PP-OCR networks (detection, orientation, recognition) on ONNX Runtime. The domain
//! calls the recognizer for each frame and merges lines over time.

mod detect;
mod known;
mod order;
mod recognise;
mod rotated;

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use image::{RgbImage, imageops};
use ports::{
    ErrorKind, PortError, Result,
    decoder::Image,
    detector::BoundingBox,
    ocr::{ReadImage, TextLine, TextRecognizer},
};

use crate::onnx::{Inputs, Pool, Runtime, Threading};
use recognise::Recogniser;
use rotated::RotatedBox;

/// Options of [`PpOcr::open`]. The default numbers come from the models' authors.
#[derive(Debug, Clone, PartialEq)]
pub struct PpOcrOptions {
    /// The network that detects lines, for example `ch_PP-OCRv4_det_infer.onnx`.
    pub detection: PathBuf,
    /// The network that recognises lines, for example `ppocrv5_rec.onnx`.
    pub recognition: PathBuf,
    /// A file with one character per line, in the order of the network's classes. It is needed if
    /// the network's metadata lacks the key `character`.
    pub characters: Option<PathBuf>,
    /// Whether to restore spaces whose probability was nearly sufficient. Use this for a
    /// recognition network that loses spaces in Latin script, such as PP-OCRv4.
    pub recover_spaces: bool,
    /// The network that detects upside-down lines, for example
    /// `ch_ppocr_mobile_v2.0_cls_infer.onnx`. If `None`, every line counts as upright.
    pub orientation: Option<PathBuf>,
    /// Minimum length of the image's shorter side in pixels. Smaller images are enlarged, but not
    /// beyond `max_side`.
    pub min_side: u32,
    /// Maximum length of the image's longer side in pixels.
    pub max_side: u32,
    /// Minimum probability of a text pixel, 0..1.
    pub pixel_threshold: f32,
    /// Minimum mean probability of a line's pixels, 0..1.
    pub box_threshold: f32,
    /// How far to expand a line's box on every side, as a multiple of the box's area divided by its
    /// perimeter.
    pub unclip: f32,
    /// Minimum confidence of a recognised line, 0..1.
    pub threshold: f32,
    /// Maximum number of lines per image. The most confident lines are kept.
    pub max_lines: usize,
    /// Numbers of threads and sessions of each model.
    pub threading: Threading,
}

impl PpOcrOptions {
    /// Returns the authors' defaults.
    pub fn new(detection: PathBuf, recognition: PathBuf) -> Self {
        Self {
            detection,
            recognition,
            characters: None,
            recover_spaces: false,
            orientation: None,
            min_side: 736,
            max_side: 2000,
            pixel_threshold: 0.3,
            box_threshold: 0.5,
            unclip: 1.6,
            threshold: 0.5,
            max_lines: 200,
            threading: Threading::default(),
        }
    }
}

/// The text recognizer. Clones are cheap.
#[derive(Clone)]
pub struct PpOcr {
    name: String,
    shared: Arc<Shared>,
}

struct Shared {
    options: PpOcrOptions,
    detection: Pool,
    orientation: Option<Pool>,
    recogniser: Recogniser,
}

impl PpOcr {
    /// Opens the models and runs each of them on an empty image, so that an unsuitable model fails
    /// here. *Blocks*.
    pub fn open(runtime: &Runtime, options: PpOcrOptions) -> Result<Self> {
        if options.min_side < 32 || options.max_side < options.min_side || options.max_side > 4096 {
            let message = "a reader needs 32 ≤ min_side ≤ max_side ≤ 4096";
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        let threading = options.threading;
        let detection = Pool::open(runtime, &options.detection, threading, Inputs::Sized)?;
        let orientation = options.orientation.as_deref();
        let orientation = orientation
            .map(|o| Pool::open(runtime, o, threading, Inputs::FixedSize))
            .transpose()?;
        let characters = options.characters.as_deref();
        let recogniser = Recogniser::open(runtime, &options.recognition, characters, threading)?
            .recovering_spaces(options.recover_spaces);
        let stem = options.recognition.file_stem().unwrap_or_default().to_string_lossy();
        let name = stem.trim_end_matches("_infer").trim_end_matches("_rec").to_owned();
        let shared = Shared { options, detection, orientation, recogniser };
        let blank = RgbImage::from_pixel(64, 48, image::Rgb([200; 3]));
        detect::lines(&shared.detection, &blank, &shared.options)
            .map_err(|e| crate::onnx::unfit(&shared.options.detection, e))?;
        if let (Some(pool), Some(path)) = (&shared.orientation, &shared.options.orientation) {
            recognise::upside_down(pool, &blank).map_err(|e| crate::onnx::unfit(path, e))?;
        }
        shared
            .recogniser
            .read(&blank)
            .map_err(|e| crate::onnx::unfit(&shared.options.recognition, e))?;
        Ok(Self { name, shared: Arc::new(shared) })
    }
}

#[async_trait]
impl TextRecognizer for PpOcr {
    fn model(&self) -> &str {
        &self.name
    }

    async fn read_after(&self, image: &Image, before: Option<&ReadImage>) -> Result<Vec<TextLine>> {
        crate::picture::view(image)?;
        let shared = Arc::clone(&self.shared);
        let before = before.filter(|before| !before.lines.is_empty()).cloned();
        let image = image.clone();
        crate::blocking::run(move || shared.read(image, before.as_ref())).await
    }
}

impl Shared {
    fn read(&self, image: Image, before: Option<&ReadImage>) -> Result<Vec<TextLine>> {
        let (width, height) = (image.width, image.height);
        let picture = RgbImage::from_raw(width, height, image.rgb).ok_or_else(|| {
            PortError::new(ErrorKind::Invalid, "an image exceeds the address space")
        })?;
        let mut lines = Vec::new();
        for place in detect::lines(&self.detection, &picture, &self.options)? {
            let Some(line) = self.line(&picture, &place, before)? else { continue };
            lines.push(line);
        }
        order::reading(&mut lines);
        Ok(lines)
    }

    fn line(
        &self,
        picture: &RgbImage,
        place: &RotatedBox,
        before: Option<&ReadImage>,
    ) -> Result<Option<TextLine>> {
        let Some(bounds) = bounds(place, picture.dimensions()) else { return Ok(None) };
        if let Some(known) = before.and_then(|before| known::line(before, picture, bounds)) {
            return Ok(Some(known.clone()));
        }
        let mut crop = place.crop(picture);
        // In a tall and narrow box, the line runs downwards.
        if crop.height() as f32 >= crop.width() as f32 * 1.5 {
            crop = imageops::rotate270(&crop);
        }
        if let Some(orientation) = &self.orientation
            && recognise::upside_down(orientation, &crop)?
        {
            imageops::rotate180_in_place(&mut crop);
        }
        let (text, confidence) = self.recogniser.read(&crop)?;
        let kept = !text.is_empty() && confidence >= self.options.threshold;
        Ok(kept.then_some(TextLine { text, confidence: confidence.min(1.0), bounds }))
    }
}

/// Returns the axis-aligned box around a line as fractions of the image's size. Returns `None` if
/// the line is outside the image.
fn bounds(place: &RotatedBox, (width, height): (u32, u32)) -> Option<BoundingBox> {
    let [left, top, right, bottom] = place.upright();
    let share = |at: f32, side: u32| (at / side as f32).clamp(0.0, 1.0);
    let (x, y) = (share(left, width), share(top, height));
    let bounds = [x, y, share(right, width) - x, share(bottom, height) - y];
    (bounds[2] > 0.0 && bounds[3] > 0.0).then_some(bounds)
}

/// Converts an image to planar BGR input with values in −1..1. Rows are zero-padded to `width`.
fn planes(picture: &RgbImage, width: u32) -> Vec<f32> {
    let (width, height) = (width as usize, picture.height() as usize);
    let mut values = vec![0.0; width * height * 3];
    for (channel, plane) in values.chunks_exact_mut(width * height).enumerate() {
        for (row, pixels) in plane.chunks_exact_mut(width).zip(picture.rows()) {
            for (value, pixel) in row.iter_mut().zip(pixels) {
                *value = f32::from(pixel[2 - channel]) / 127.5 - 1.0;
            }
        }
    }
    values
}
