//! Adapters for `ports::reranker`.

#[cfg(feature = "onnx")]
mod onnx;
mod open;
mod scripted;

#[cfg(feature = "onnx")]
pub use onnx::{OnnxReranker, OnnxRerankerOptions};
pub use open::{Settings, open};
pub use scripted::ScriptedReranker;
