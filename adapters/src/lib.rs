//! The technologies behind the ports. There is one folder per port, with one file or folder per
//! technology. The only workspace crates that this crate depends on are `ports`, `text` and
//! `kernels`. An adapter knows neither the domain nor the HTTP API.
//!
//! In each folder, `open.rs` defines the configuration section with all defaults. It also defines
//! `open`, which opens the technology that the section selects. If the selected technology needs a
//! feature that is disabled, `open` returns an error.

mod blocking;
pub mod classifier;
pub mod decoder;
pub mod detector;
pub mod embedder;
pub mod fetcher;
pub mod image_embedder;
pub mod index;
pub mod jobs;
mod keys;
#[cfg(feature = "onnx")]
mod labels;
#[cfg(feature = "cloud")]
mod lazy;
pub mod listing;
pub mod llm;
pub mod models;
pub mod ner;
pub mod ocr;
#[cfg(feature = "onnx")]
mod onnx;
mod open;
pub mod openai;
mod picture;
#[cfg(feature = "cloud")]
mod qdrant;
pub mod records;
pub mod reranker;
pub mod sentiment;
pub mod speaker;
pub mod storage;
pub mod transcriber;
pub mod vad;

#[cfg(feature = "onnx")]
pub use onnx::{Runtime as OnnxRuntime, Threading as OnnxThreading};
pub use open::{NetworkKind, OpenError};
