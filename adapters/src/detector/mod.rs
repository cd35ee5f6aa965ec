//! Adapters of `ports::detector`.

#[cfg(feature = "onnx")]
mod onnx;
mod scripted;

#[cfg(feature = "onnx")]
pub use onnx::{Layout, OnnxDetector, OnnxDetectorOptions};
pub use scripted::ScriptedDetector;
