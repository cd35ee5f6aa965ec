//! One test suite per port. An adapter's test calls it with the adapter; a violated requirement
//! panics with a message that names it.
//!
//! Suites panic by design, so `unwrap` and `expect` are allowed.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a suite reports by panicking")]
pub mod decoder;
pub mod detector;
pub mod embedder;
pub mod faults;
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
pub mod vad;

use crate::VideoId;

/// The id that begins with these hexadecimal digits, padded with zeros.
pub fn video(digits: &str) -> VideoId {
    format!("{digits:0<16}").parse().unwrap()
}
