//! Adapters of `ports::fetcher` and `ports::notifier`: both go where a client says.

mod address;
mod body;
mod head;
mod http;
mod memory;
mod open;

pub use http::{HttpFetcher, HttpFetcherOptions};
pub use memory::{MemoryFetcher, MemoryNotifier, Notice, Response};
pub use open::{Settings, open};
