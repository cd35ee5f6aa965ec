//! Defines the configuration section `[ocr]` and opens the adapter that it selects.

#[cfg(feature = "onnx")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use ports::ocr::TextRecognizer;
use serde::{Deserialize, Serialize};

use crate::models;
use crate::open::{NetworkKind, OpenError};

/// Settings of OCR.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of OCR.
    pub kind: NetworkKind,
    /// Path of the detection model, relative to `models.dir`.
    pub detection: PathBuf,
    /// Path of the recognition model, relative to `models.dir`. If empty, the PP-OCRv5 model is
    /// used, or the PP-OCRv4 model if only that one exists.
    pub recognition: PathBuf,
    /// Path, relative to `models.dir`, of a file with one character per line. It is needed if the
    /// metadata of the recognition model lacks a character list.
    pub characters: PathBuf,
    /// Path of the orientation model, relative to `models.dir`.
    pub orientation: PathBuf,
    /// Maximum width and height of the image to which OCR is applied, in pixels. Larger images are
    /// scaled down.
    pub max_side: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: NetworkKind::default(),
            detection: "ocr/ch_PP-OCRv4_det_infer.onnx".into(),
            recognition: PathBuf::new(),
            characters: "ocr/ppocr_keys_v5.txt".into(),
            orientation: "ocr/ch_ppocr_mobile_v2.0_cls_infer.onnx".into(),
            max_side: 1024,
        }
    }
}

/// Opens the text recognizer. Returns `None` if OCR is disabled.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Option<Arc<dyn TextRecognizer>>, OpenError> {
    section.kind.open("OCR is off", || onnx(section, models))
}

#[cfg(feature = "onnx")]
fn onnx(
    section: &Settings,
    models: &models::Settings,
) -> Result<Arc<dyn TextRecognizer>, OpenError> {
    use super::{PpOcr, PpOcrOptions};

    let there = |file: &Path| Some(models.path(file)).filter(|file| file.is_file());
    let recognition = recognition(section, models);
    let options = PpOcrOptions {
        characters: there(&section.characters),
        recover_spaces: loses_spaces(&recognition),
        orientation: there(&section.orientation),
        max_side: section.max_side,
        threading: models.media_threading(),
        ..PpOcrOptions::new(models.path(&section.detection), recognition)
    };
    let reader = PpOcr::open(&models.runtime()?, options);
    Ok(Arc::new(reader.map_err(OpenError::in_section("ocr"))?))
}

/// Returns the configured recognition model, or the newest published one that exists.
#[cfg(feature = "onnx")]
fn recognition(section: &Settings, models: &models::Settings) -> PathBuf {
    const V5: &str = "ocr/ppocrv5_rec.onnx";
    const V4: &str = "ocr/ch_PP-OCRv4_rec_infer.onnx";
    if !section.recognition.as_os_str().is_empty() {
        return models.path(&section.recognition);
    }
    let [v5, v4] = [V5, V4].map(|file| models.path(Path::new(file)));
    if v5.is_file() || !v4.is_file() { v5 } else { v4 }
}

/// Returns whether the model loses the spaces between words in Latin script, as PP-OCR does up to
/// version 4.
#[cfg(feature = "onnx")]
fn loses_spaces(recognition: &Path) -> bool {
    let name = recognition.file_name().unwrap_or_default().to_string_lossy();
    ["OCRv2", "OCRv3", "OCRv4"].iter().any(|version| name.contains(version))
}

#[cfg(not(feature = "onnx"))]
fn onnx(_: &Settings, _: &models::Settings) -> Result<Arc<dyn TextRecognizer>, OpenError> {
    Err(OpenError::compiled_out("ocr.kind = \"onnx\"", "onnx"))
}
