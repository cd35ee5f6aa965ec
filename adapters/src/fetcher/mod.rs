//! Adapters for `ports::fetcher` and `ports::webhook`, both of which send requests to URLs that
//! clients supply.

mod address;
mod body;
mod client;
mod download;
mod head;
mod http;
mod memory;
mod open;

pub use http::{HttpFetcher, HttpFetcherOptions};
pub use memory::{MemoryFetcher, MemoryWebhooks, Response, WebhookRequest};
pub use open::{Settings, open};
