//! Adapters for `ports::sentiment`.

#[cfg(feature = "onnx")]
mod onnx;
mod open;
mod scripted;
mod vader;

#[cfg(feature = "onnx")]
pub use onnx::{OnnxSentiment, OnnxSentimentOptions};
pub use open::{Kind, Settings, open};
pub use scripted::ScriptedSentiment;
pub use vader::Vader;
