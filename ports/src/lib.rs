//! The interfaces between the Shotlog domain and the technologies behind it: one module per port,
//! with the trait, its types and, under the feature `conformance`, the test suite that every
//! adapter passes.
//!
//! Ports are object-safe and used as `Arc<dyn Port>`. Methods documented as *blocking* use CPU time
//! or wait for a file: call them on a blocking thread. Every other method is async and never blocks
//! its thread for more than about 500 µs.

mod chunk;
pub mod decoder;
pub mod detector;
mod document;
pub mod embedder;
mod error;
pub mod fetcher;
pub mod index;
pub mod jobs;
pub mod listing;
pub mod llm;
pub mod ner;
pub mod ocr;
pub mod records;
pub mod reranker;
pub mod sentiment;
pub mod speaker;
pub mod storage;
pub mod transcriber;
pub mod units;
pub mod vad;
pub mod vector;
pub mod video;
pub mod webhook;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use chunk::ChunkId;
pub use document::Document;
pub use error::{ErrorKind, PortError, Result};
pub use video::VideoId;

/// A stream of byte blocks: what storage and fetchers return and what uploads deliver.
pub type ByteStream = futures::stream::BoxStream<'static, Result<bytes::Bytes>>;
