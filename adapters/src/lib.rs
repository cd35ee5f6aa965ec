//! The technologies behind the ports: one folder per port, one file per technology. Of our packages
//! it knows `ports`, `text` and `kernels` alone: an adapter sees neither the domain nor HTTP.
//!
//! In each folder `open.rs` has the section of the configuration that the folder reads, with every
//! default, and `open`, which picks the technology that the section asks for. A choice that needs a
//! feature is an error without it.

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
pub use open::OpenError;
