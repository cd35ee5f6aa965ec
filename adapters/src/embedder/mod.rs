//! Adapters of `ports::embedder`.

mod hashing;
#[cfg(feature = "onnx")]
mod onnx;
mod openai;

pub use hashing::HashingEmbedder;
#[cfg(feature = "onnx")]
pub use onnx::{OnnxEmbedder, OnnxEmbedderOptions};
pub use openai::{OpenAiEmbedder, OpenAiEmbedderOptions};
