//! Object detection networks on ONNX Runtime. The configuration selects one of four families of
//! layouts. The domain calls the detector for each frame and tracks the objects.

mod boxes;
mod coco;
mod layouts;
mod picture;

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use ort::{
    session::Session,
    value::{DynValue, Tensor, TensorRef, ValueType},
};
use ports::{
    Result,
    decoder::Image,
    detector::{Detection, ObjectDetector},
};

use super::{Layout, Settings};
use crate::labels::read_labels;
use crate::onnx::{Inputs, Pool, Runtime, Threading, failed, unfit};
use boxes::ScoredBox;
use layouts::OutputTensor;
use picture::{Fit, Preprocessing};

/// Options of [`OnnxDetector::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct OnnxDetectorOptions {
    /// The `.onnx` file.
    pub model: PathBuf,
    /// A text file with one label per line, in the order of the model's classes. If `None`, the 80
    /// COCO classes are used.
    pub labels: Option<PathBuf>,
    /// Input and output layout.
    pub layout: Layout,
    /// Input width and height in pixels for a model with a dynamic input size. Ignored if the
    /// model's input size is fixed.
    pub input: Option<(u32, u32)>,
    /// Minimum confidence of a box, 0..1.
    pub threshold: f32,
    /// Maximum overlap (intersection over union) of two boxes with the same label. If they overlap
    /// more, the less confident box is dropped.
    pub max_overlap: f32,
    /// Maximum overlap of two boxes with different labels. It ensures that an object that fits two
    /// labels keeps only the more confident one.
    pub max_overlap_across: f32,
    /// Maximum number of boxes per image.
    pub max_objects: usize,
    /// Numbers of threads and sessions.
    pub threading: Threading,
}

impl OnnxDetectorOptions {
    /// Returns the defaults of `[detector]`.
    pub fn new(model: PathBuf, layout: Layout) -> Self {
        let Settings { threshold, max_overlap, max_objects, .. } = Settings::default();
        Self {
            model,
            labels: None,
            layout,
            input: None,
            threshold,
            max_overlap,
            max_overlap_across: 0.8,
            max_objects,
            threading: Threading::default(),
        }
    }
}

/// The detector. Clones are cheap.
#[derive(Clone)]
pub struct OnnxDetector {
    name: String,
    shared: Arc<Shared>,
}

struct Shared {
    pool: Pool,
    labels: Vec<String>,
    options: OnnxDetectorOptions,
    size: (u32, u32),
    input: Preprocessing,
    mask: Option<Vec<usize>>,
}

impl OnnxDetector {
    /// Opens the model and runs it on an empty image, so that a model with a different layout or
    /// different classes fails here. *Blocks*.
    pub fn open(runtime: &Runtime, options: OnnxDetectorOptions) -> Result<Self> {
        let labels = match &options.labels {
            Some(file) => read_labels(file)?,
            None => coco::LABELS.iter().map(|l| l.to_string()).collect(),
        };
        let pool = Pool::open(runtime, &options.model, options.threading, Inputs::FixedSize)?;
        let (size, mask) = pool.with(|session| model_input(session, &options))?;
        let stem = options.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{stem}@{:.2}", options.threshold);
        let input = Preprocessing::for_layout(options.layout, false);
        let mut shared = Shared { pool, labels, options, size, input, mask };
        let blank = vec![0.0; size.0 as usize * size.1 as usize * 3];
        let closed_set = shared
            .run(&blank, |outputs| {
                layouts::read(shared.options.layout, outputs, shared.labels.len(), size, 1.0)?;
                Ok(layouts::has_no_object_class(outputs, shared.labels.len()))
            })
            .map_err(|e| unfit(&shared.options.model, e))?;
        shared.input = Preprocessing::for_layout(shared.options.layout, closed_set);
        Ok(Self { name, shared: Arc::new(shared) })
    }
}

#[async_trait]
impl ObjectDetector for OnnxDetector {
    fn model(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &[String] {
        &self.shared.labels
    }

    async fn detect(&self, image: &Image) -> Result<Vec<Detection>> {
        crate::picture::view(image)?;
        let shared = Arc::clone(&self.shared);
        let image = image.clone();
        crate::blocking::run(move || shared.detect(&image)).await
    }
}

impl Shared {
    fn detect(&self, image: &Image) -> Result<Vec<Detection>> {
        let view = crate::picture::view(image)?;
        let (pixels, fit) = self.input.prepare(&view, self.size)?;
        let options = &self.options;
        let found = self.run(&pixels, |outputs| {
            layouts::read(options.layout, outputs, self.labels.len(), self.size, options.threshold)
        })?;
        let overlaps = [options.max_overlap, options.max_overlap_across];
        let kept = boxes::suppress(found, overlaps, options.max_objects);
        Ok(kept.into_iter().filter_map(|found| self.detection(&found, &fit)).collect())
    }

    /// Converts a box from input pixels to fractions of the image. Returns `None` if the box is
    /// outside the image.
    fn detection(&self, found: &ScoredBox, fit: &Fit) -> Option<Detection> {
        let [left, top] = fit.to_picture(found.corners[0], found.corners[1]);
        let [right, bottom] = fit.to_picture(found.corners[2], found.corners[3]);
        let bounds = [left, top, right - left, bottom - top];
        (bounds[2] > 0.0 && bounds[3] > 0.0).then(|| Detection {
            label: self.labels[found.class].clone(),
            confidence: found.score.min(1.0),
            bounds,
        })
    }

    fn run<T>(
        &self,
        pixels: &[f32],
        read: impl FnOnce(&[OutputTensor<'_>]) -> Result<T>,
    ) -> Result<T> {
        let (width, height) = (self.size.0 as usize, self.size.1 as usize);
        self.pool.with(|session| {
            let picture = TensorRef::from_array_view(([1, 3, height, width], pixels));
            let mut inputs =
                vec![(session.inputs()[0].name().to_owned(), picture.map_err(failed)?.into())];
            if let Some(shape) = &self.mask {
                let ones = vec![1_i64; shape.iter().product()];
                let mask: DynValue =
                    Tensor::from_array((shape.clone(), ones)).map_err(failed)?.into_dyn();
                inputs.push((session.inputs()[1].name().to_owned(), mask.into()));
            }
            let inputs: Vec<(String, ort::session::SessionInputValue<'_>)> = inputs;
            let values = session.run(inputs).map_err(failed)?;
            let mut outputs = Vec::with_capacity(values.len());
            for index in 0..values.len() {
                // No supported layout has outputs of other types, such as label ids.
                if let Ok((shape, data)) = values[index].try_extract_tensor::<f32>() {
                    let shape = shape.iter().map(|d| *d as usize).collect();
                    outputs.push(OutputTensor { shape, data });
                }
            }
            read(&outputs)
        })
    }
}

/// Width and height of the image input, and the shape of the mask if there is one.
type InputShape = ((u32, u32), Option<Vec<usize>>);

/// Returns the size of the image input and, if the model requires one, the shape of the mask that
/// marks valid pixels.
fn model_input(session: &mut Session, options: &OnnxDetectorOptions) -> Result<InputShape> {
    let shape = |index: usize| match session.inputs().get(index).map(|i| i.dtype()) {
        Some(ValueType::Tensor { shape, .. }) => Some(shape.to_vec()),
        _ => None,
    };
    let Some([_, 3, height, width]) =
        shape(0).as_deref().map(|s| <[i64; 4]>::try_from(s).unwrap_or([0; 4]))
    else {
        let why = "its first input needs the shape [1, 3, height, width]";
        return Err(unfit(&options.model, why));
    };
    let fixed = |dimension: i64| u32::try_from(dimension).ok().filter(|d| *d > 0);
    let size = match (fixed(width), fixed(height), options.input) {
        (Some(width), Some(height), _) => (width, height),
        (_, _, Some(size)) if size.0 > 0 && size.1 > 0 => size,
        _ => return Err(unfit(&options.model, "it leaves its input size open; configure one")),
    };
    if size.0 > MAX_SIDE || size.1 > MAX_SIDE {
        let why = format!("its input of {}×{} pixels is above {MAX_SIDE}", size.0, size.1);
        return Err(unfit(&options.model, why));
    }
    let mask = shape(1).map(|shape| {
        let open = [1, size.1 as usize, size.0 as usize];
        let dimension = |(i, d): (usize, &i64)| match fixed(*d) {
            Some(d) => d as usize,
            None => open.get(i).copied().unwrap_or(1),
        };
        shape.iter().enumerate().map(dimension).collect()
    });
    Ok((size, mask))
}

/// Maximum width and height of the input. It prevents a configuration error from allocating
/// gigabytes.
const MAX_SIDE: u32 = 2048;
