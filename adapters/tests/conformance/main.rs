//! Tests that every adapter passes the suite of its port.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod decoder;
mod embedder;
mod fetcher;
#[cfg(feature = "cloud")]
mod gcs;
mod index;
mod jobs;
mod listing;
mod llm;
mod models;
mod records;
mod reranker;
mod server;
mod small_disk;
mod storage;
mod transcriber;
