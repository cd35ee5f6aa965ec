//! Adapters of `ports::fetcher` and `ports::webhook`, which both send requests to URLs from
//! clients.

mod address;
mod body;
mod download;
mod head;
mod http;
mod memory;
mod open;

pub use http::{HttpFetcher, HttpFetcherOptions};
pub use memory::{MemoryFetcher, MemoryWebhooks, Response, WebhookRequest};
pub use open::{Settings, open};
