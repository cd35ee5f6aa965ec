//! The section `[ocr]`, and the adapter that it asks for.

use std::path::PathBuf;
use std::sync::Arc;

use ports::ocr::TextReader;
use serde::{Deserialize, Serialize};

use crate::open::optional;
use crate::{OpenError, models};

/// What reads text in pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The ONNX models where their files are there, else none.
    #[default]
    Auto,
    /// PP-OCR on ONNX Runtime.
    Onnx,
    /// No text is read.
    None,
}

/// What reads text in pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What reads.
    pub kind: Kind,
    /// Detection model below `models.dir`.
    pub detection: PathBuf,
    /// Recognition model below `models.dir`.
    pub recognition: PathBuf,
    /// Orientation model below `models.dir`.
    pub orientation: PathBuf,
    /// Pictures are scaled to at most this side for reading, pixels.
    pub max_side: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            detection: "ocr/ch_PP-OCRv4_det_infer.onnx".into(),
            recognition: "ocr/ch_PP-OCRv4_rec_infer.onnx".into(),
            orientation: "ocr/ch_ppocr_mobile_v2.0_cls_infer.onnx".into(),
            max_side: 1024,
        }
    }
}

/// Opens the reader; `None` where there is to be none.
pub fn open(
    section: &Settings,
    models: &models::Settings,
) -> Result<Option<Arc<dyn TextReader>>, OpenError> {
    match section.kind {
        Kind::None => Ok(None),
        kind => {
            let auto = kind == Kind::Auto;
            optional(auto, "no text is read in pictures", onnx(section, models))
        }
    }
}

#[cfg(feature = "onnx")]
fn onnx(section: &Settings, models: &models::Settings) -> Result<Arc<dyn TextReader>, OpenError> {
    use super::{PpOcr, PpOcrOptions};

    let orientation = Some(models.path(&section.orientation)).filter(|file| file.is_file());
    let options = PpOcrOptions {
        max_side: section.max_side,
        threading: models.threading(),
        ..PpOcrOptions::new(
            models.path(&section.detection),
            models.path(&section.recognition),
            orientation,
        )
    };
    let reader = PpOcr::open(&models.runtime()?, options);
    Ok(Arc::new(reader.map_err(OpenError::at("ocr"))?))
}

#[cfg(not(feature = "onnx"))]
fn onnx(_: &Settings, _: &models::Settings) -> Result<Arc<dyn TextReader>, OpenError> {
    Err(OpenError::compiled_out("ocr.kind = \"onnx\"", "onnx"))
}
