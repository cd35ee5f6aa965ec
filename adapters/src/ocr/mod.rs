//! Adapters for `ports::ocr`.

mod open;
#[cfg(feature = "onnx")]
mod ppocr;
mod scripted;

pub use open::{Settings, open};
#[cfg(feature = "onnx")]
pub use ppocr::{PpOcr, PpOcrOptions};
pub use scripted::ScriptedTextRecognizer;
