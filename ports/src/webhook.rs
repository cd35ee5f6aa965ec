//! Telling another service what happened.

use async_trait::async_trait;
use bytes::Bytes;

use crate::Result;

/// Posts JSON to http(s) URLs. Unless switched off for trusted networks, MUST refuse (`Denied`)
/// every address that is not public, whatever name or DNS answer leads there; redirects are not
/// followed. Statuses other than 2xx are errors as those of
/// [`SourceFetcher`](crate::fetcher::SourceFetcher).
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Sends one request with these headers beside those of its JSON body.
    async fn send(&self, url: &str, headers: &[(&str, String)], body: Bytes) -> Result<()>;
}
