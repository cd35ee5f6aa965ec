//! The technologies behind the ports: one folder per port, one file per technology. Of our packages
//! it knows `ports` and `text` alone: an adapter sees neither the domain nor HTTP.

mod blocking;
pub mod decoder;
pub mod detector;
pub mod embedder;
pub mod entities;
pub mod fetcher;
pub mod index;
pub mod jobs;
mod keys;
pub mod llm;
#[cfg(feature = "onnx")]
mod onnx;
pub mod openai;
mod picture;
pub mod reader;
pub mod records;
pub mod sentiment;
pub mod storage;
pub mod transcriber;
pub mod voice;

#[cfg(feature = "onnx")]
pub use onnx::{Runtime as OnnxRuntime, Threading as OnnxThreading};
