//! Adapters for `ports::classifier`.

#[cfg(feature = "onnx")]
mod onnx;
mod open;
mod scripted;

#[cfg(feature = "onnx")]
pub use onnx::{OnnxClassifier, OnnxClassifierOptions};
pub use open::{Settings, open};
pub use scripted::ScriptedClassifier;
