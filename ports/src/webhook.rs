//! Webhooks, which notify other services.

use async_trait::async_trait;
use bytes::Bytes;

use crate::Result;

/// Posts JSON to http(s) URLs.
///
/// MUST refuse (`Denied`) every address that is not public, no matter which host name or DNS answer
/// leads there, unless the check is disabled for trusted networks. Does not follow redirects. A
/// status other than 2xx is an error, with the same kinds as in
/// [`SourceFetcher`](crate::fetcher::SourceFetcher).
///
/// ```
/// use adapters::fetcher::MemoryWebhooks;
/// use shotlog_ports::webhook::WebhookSender;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let webhooks = MemoryWebhooks::default();
/// let headers = [("webhook-id", "evt-1".to_owned())];
/// webhooks.send("https://example.com/hook", &headers, r#"{"event":"alert"}"#.into()).await?;
/// assert_eq!(webhooks.requests()[0].url, "https://example.com/hook");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Posts the JSON body to `url` with these additional headers.
    async fn send(&self, url: &str, headers: &[(&str, String)], body: Bytes) -> Result<()>;
}
