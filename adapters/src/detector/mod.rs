//! Adapters for `ports::detector`.

#[cfg(feature = "onnx")]
mod onnx;
mod open;
mod scripted;

#[cfg(feature = "onnx")]
pub use onnx::{OnnxDetector, OnnxDetectorOptions};
pub use open::{Layout, Settings, open};
pub use scripted::ScriptedDetector;
