//! Defines the configuration section `[detector]` and opens the adapter that it selects.

use std::path::PathBuf;
use std::sync::Arc;

use ports::detector::ObjectDetector;
use serde::{Deserialize, Serialize};

use crate::models;
use crate::open::{NetworkKind, OpenError};

/// Input and output layout of a detection network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// YOLOX. Input: image at the top left on grey, BGR 0..255. Output: `[1, n, 5 + classes]`, not
    /// decoded, with one row per cell of the strides 8, 16 and 32.
    Yolox,
    /// PicoDet and NanoDet-Plus. Input: stretched image, BGR with ImageNet normalization. Outputs
    /// for each stride: scores `[1, n, classes]` and distances `[1, n, 4 × bins]` as distributions,
    /// or both in one output (NanoDet-Plus).
    PicoDet,
    /// NanoDet. Input: centred image on black, BGR with ImageNet normalization. Outputs: as
    /// PicoDet.
    #[default]
    NanoDet,
    /// YOLOv8 and later models of that family. Input: centred image on grey, RGB 0..1. Output: `[1,
    /// 4 + classes, n]` or its transpose, with the centre and size of each box in pixels.
    Yolov8,
    /// DETR and RT-DETR. Input: stretched image, RGB. Outputs: logits `[1, n, classes (+ 1)]` and
    /// boxes `[1, n, 4]`, with centre and size in 0..1. If there is one more class than there are
    /// labels (DETR), the extra class means "no object", scores are a softmax, and the image has
    /// ImageNet normalization. Otherwise (RT-DETR) scores are a sigmoid, and the image's values are
    /// in 0..1.
    Detr,
}

/// Settings of object detection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of detector.
    pub kind: NetworkKind,
    /// Path of the model file, relative to `models.dir`.
    pub file: PathBuf,
    /// Input and output layout of the model.
    pub layout: Layout,
    /// Path, relative to `models.dir`, of a file with one label per line. If empty, the 80 COCO
    /// classes are used.
    pub labels: PathBuf,
    /// Minimum confidence of a box, 0..1.
    pub threshold: f32,
    /// Maximum overlap (intersection over union, 0..1) of two boxes with the same label. If they
    /// overlap more, the less confident box is dropped.
    pub max_overlap: f32,
    /// Maximum number of boxes per image.
    pub max_objects: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: NetworkKind::default(),
            file: "detect/nanodet.onnx".into(),
            layout: Layout::default(),
            labels: PathBuf::new(),
            threshold: 0.4,
            max_overlap: 0.5,
            max_objects: 100,
        }
    }
}

/// Opens the detector. Returns `None` if it is disabled.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Option<Arc<dyn ObjectDetector>>, OpenError> {
    section.kind.open("object detection is off", || onnx(section, models))
}

#[cfg(feature = "onnx")]
fn onnx(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn ObjectDetector>, OpenError> {
    use super::{OnnxDetector, OnnxDetectorOptions};

    let named = !section.labels.as_os_str().is_empty();
    let options = OnnxDetectorOptions {
        labels: named.then(|| models.path(&section.labels)),
        threshold: section.threshold,
        max_overlap: section.max_overlap,
        max_objects: section.max_objects,
        threading: models.media_threading(),
        ..OnnxDetectorOptions::new(models.path(&section.file), section.layout)
    };
    let detector = OnnxDetector::open(&models.runtime()?, options);
    Ok(Arc::new(detector.map_err(OpenError::in_section("detector"))?))
}

#[cfg(not(feature = "onnx"))]
fn onnx(_: &Settings, _: &models::Settings) -> Result<Arc<dyn ObjectDetector>, OpenError> {
    Err(OpenError::compiled_out("detector.kind = \"onnx\"", "onnx"))
}
