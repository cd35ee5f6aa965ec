//! The technologies behind the ports: one folder per port, one file per technology. The only
//! workspace crates that this crate depends on are `ports`, `text` and `kernels`; an adapter knows
//! neither the domain nor HTTP.
//!
//! In each folder, `open.rs` defines the folder's configuration section with all defaults, and
//! `open`, which opens the technology that the section selects. A selection that needs a disabled
//! feature is an error.

mod blocking;
pub mod decoder;
pub mod detector;
pub mod embedder;
pub mod fetcher;
pub mod index;
pub mod jobs;
mod keys;
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
