//! Adapters of `ports::fetcher`.

mod address;
mod body;
mod head;
mod http;
mod memory;

pub use http::{HttpFetcher, HttpFetcherOptions};
pub use memory::{MemoryFetcher, Response};
