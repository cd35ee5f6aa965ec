//! The interfaces between the Shotlog domain and the technologies behind it. Each port has a module
//! with a trait and its types. The feature `conformance` adds the test suites, one per port, that
//! every adapter of the port must pass.
//!
//! Port traits are object-safe and used as `Arc<dyn Port>`. They have at most ten methods, and no
//! default methods: these are in an extension trait such as
//! [`VideoDecoderExt`](decoder::VideoDecoderExt). Methods documented as *blocking* use
//! CPU time or wait for a file, so call them on a blocking thread. Every other method is async and
//! never blocks its thread for more than about 500 µs.

mod chunk;
pub mod classifier;
pub mod decoder;
pub mod detector;
mod document;
pub mod embedder;
mod error;
pub mod fetcher;
pub mod frame_rate;
pub mod image_embedder;
pub mod index;
pub mod jobs;
pub mod listing;
pub mod llm;
pub mod ner;
pub mod ocr;
pub mod ownership;
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
pub use frame_rate::FrameRate;
pub use video::VideoId;

/// A stream of byte blocks, as returned by storage and fetchers and delivered by uploads.
pub type ByteStream = futures::stream::BoxStream<'static, Result<bytes::Bytes>>;
