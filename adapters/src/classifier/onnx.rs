//! An image classifier of the EfficientNet-Lite family on ONNX Runtime, as written by
//! `scripts/models/convert_efficientnet.py`.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use ort::session::Session;
use ort::value::{TensorRef, ValueType};
use ports::{ErrorKind, PortError, Result, classifier::ImageClassifier, decoder::Image};
use quick_cache::sync::Cache;

use crate::labels::read_labels;
use crate::onnx::{Inputs, Pool, Runtime, Threading, failed, scaled, unfit};

/// The value of a colour channel (0..255) that becomes 0 in the input.
const MEAN: f32 = 127.0;

/// The difference from [`MEAN`] that becomes 1 in the input.
const SCALE: f32 = 128.0;

/// Number of remembered results. With 1,000 classes, they take 256 KB. Several chunks are analyzed
/// concurrently, so other images are classified between the two uses of a frame.
const REMEMBERED: usize = 64;

/// Options of [`OnnxClassifier::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct OnnxClassifierOptions {
    /// The `.onnx` file. Its input has the shape `[batch, 3, height, width]`, RGB, and its first
    /// output the shape `[batch, classes]`, with probabilities.
    pub model: PathBuf,
    /// A text file with one label per line, in the order of the model's classes. If `None`, the
    /// 1,000 ImageNet classes are used.
    pub labels: Option<PathBuf>,
    /// Numbers of threads and sessions.
    pub threading: Threading,
}

/// The classifier. Clones are cheap.
#[derive(Clone)]
pub struct OnnxClassifier {
    name: String,
    labels: Arc<[String]>,
    network: Arc<Network>,
}

struct Network {
    pool: Pool,
    /// Width and height of the input.
    size: (u32, u32),
    classes: usize,
    /// The results for recent images by their hash, because the analyzers classify a frame and the
    /// label bridge then embeds the same frame.
    recent: Cache<u64, Vec<f32>>,
    hasher: RandomState,
}

impl OnnxClassifier {
    /// Opens the model and runs it on an empty image, so that an unsuitable model fails here.
    /// *Blocks*.
    pub fn open(runtime: &Runtime, options: OnnxClassifierOptions) -> Result<Self> {
        let OnnxClassifierOptions { model, labels, threading } = options;
        let labels: Arc<[String]> = match &labels {
            Some(file) => read_labels(file)?.into(),
            None => include_str!("imagenet.txt").lines().map(str::to_owned).collect(),
        };
        let pool = Pool::open(runtime, &model, threading, Inputs::FixedSize)?;
        let size = pool.with(|session| Ok(input_size(session)))?;
        let Some(size) = size else {
            let why = "its input needs the shape [batch, 3, height, width], with a fixed size";
            return Err(unfit(&model, why));
        };
        let network = Network {
            pool,
            size,
            classes: labels.len(),
            recent: Cache::new(REMEMBERED),
            hasher: RandomState::new(),
        };
        let blank = vec![0.0; size.0 as usize * size.1 as usize * 3];
        network.run(&blank).map_err(|e| unfit(&model, e))?;
        let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, labels, network: Arc::new(network) })
    }
}

#[async_trait]
impl ImageClassifier for OnnxClassifier {
    fn model(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    async fn classify(&self, images: &[Image]) -> Result<Vec<Vec<f32>>> {
        let (network, images) = (Arc::clone(&self.network), images.to_vec());
        crate::blocking::run(move || images.iter().map(|image| network.classify(image)).collect())
            .await
    }
}

impl Network {
    fn classify(&self, image: &Image) -> Result<Vec<f32>> {
        let hash = self.hasher.hash_one((image.width, image.height, &image.rgb));
        self.recent.get_or_insert_with(&hash, || self.classify_new(image))
    }

    fn classify_new(&self, image: &Image) -> Result<Vec<f32>> {
        let picture = scaled(&crate::picture::view(image)?, self.size)?;
        let mut pixels = Vec::with_capacity(picture.as_raw().len());
        for channel in 0..3 {
            let values = picture.pixels().map(|pixel| f32::from(pixel[channel]));
            pixels.extend(values.map(|value| (value - MEAN) / SCALE));
        }
        self.run(&pixels)
    }

    fn run(&self, pixels: &[f32]) -> Result<Vec<f32>> {
        let (width, height) = (self.size.0 as usize, self.size.1 as usize);
        self.pool.with(|session| {
            let input = TensorRef::from_array_view(([1, 3, height, width], pixels));
            let outputs = session.run(ort::inputs![input.map_err(failed)?]).map_err(failed)?;
            let (shape, probabilities) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
            if shape[..] != [1, self.classes as i64] {
                let why = format!(
                    "its first output has the shape {shape:?} instead of [1, {}]",
                    self.classes
                );
                return Err(PortError::new(ErrorKind::Invalid, why));
            }
            Ok(probabilities.to_vec())
        })
    }
}

/// Returns the width and height of the image input, if they are fixed.
fn input_size(session: &Session) -> Option<(u32, u32)> {
    let ValueType::Tensor { shape, .. } = session.inputs().first()?.dtype() else { return None };
    let [_, 3, height, width] = <[i64; 4]>::try_from(&shape[..]).ok()? else { return None };
    let fixed = |side: i64| u32::try_from(side).ok().filter(|side| (1..=MAX_SIDE).contains(side));
    Some((fixed(width)?, fixed(height)?))
}

/// Maximum width and height of the input.
const MAX_SIDE: u32 = 1024;
