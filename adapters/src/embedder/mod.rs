//! Adapters for `ports::embedder`.

mod hashing;
#[cfg(feature = "onnx")]
mod onnx;
mod open;
mod openai;

pub use hashing::HashingEmbedder;
#[cfg(feature = "onnx")]
pub use onnx::{OnnxEmbedder, OnnxEmbedderOptions};
pub use open::{Kind, Settings, open};
pub use openai::{OpenAiEmbedder, OpenAiEmbedderOptions};
