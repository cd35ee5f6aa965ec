//! One test suite per port. An adapter's tests pass the adapter to the suite. If the adapter
//! violates a requirement, the suite panics with a message that names the requirement.
//!
//! Suites panic by design, so `unwrap` and `expect` are allowed.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a suite reports by panicking")]
pub mod classifier;
pub mod decoder;
pub mod detector;
pub mod embedder;
pub mod faults;
pub mod fetcher;
pub mod image_embedder;
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
pub mod vad;

use crate::VideoId;

/// Returns the video id that consists of these hexadecimal digits, padded with zeros.
pub fn video(digits: &str) -> VideoId {
    format!("{digits:0<16}").parse().unwrap()
}
