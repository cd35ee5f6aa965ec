//! Adapters of `ports::reader`.

#[cfg(feature = "onnx")]
mod ppocr;
mod scripted;

#[cfg(feature = "onnx")]
pub use ppocr::{PpOcr, PpOcrOptions};
pub use scripted::ScriptedReader;
