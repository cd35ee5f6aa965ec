//! Signed webhook calls to URLs that clients register.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use ports::units::seconds;
use ports::webhook::WebhookSender;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::error::{Error, Result};
use super::urls::check_url;

/// The header that authenticates a webhook call: `t=<seconds since 1970>,v1=<hexadecimal
/// HMAC-SHA256 of "<t>.<body>", keyed with the secret>`.
const SIGNATURE: &str = "Shotlog-Signature";

/// How webhook calls are signed and retried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallbackSettings {
    /// Signing key; if empty, clients cannot register callbacks.
    pub secret: String,
    /// Maximum number of delivery attempts.
    pub attempts: u32,
    /// Delay before the second attempt. Given in seconds in the configuration file. Each further
    /// delay is twice as long as the one before.
    #[serde(with = "seconds")]
    pub retry_delay: Duration,
}

impl Default for CallbackSettings {
    fn default() -> Self {
        Self { secret: String::new(), attempts: 5, retry_delay: Duration::from_secs(2) }
    }
}

impl CallbackSettings {
    /// Whether webhooks can be sent, that is, whether a signing key is configured.
    pub(crate) fn is_enabled(&self) -> bool {
        !self.secret.is_empty()
    }
}

/// A webhook's URL, with the client and the settings for calling it.
#[derive(Clone)]
pub(crate) struct Webhook {
    url: String,
    webhooks: Arc<dyn WebhookSender>,
    settings: CallbackSettings,
}

/// The outcome of a delivery.
pub(crate) struct WebhookOutcome {
    /// Number of attempts.
    pub(crate) attempts: u32,
    /// The error of the last attempt, if no attempt succeeded.
    pub(crate) result: ports::Result<()>,
}

impl Webhook {
    /// Creates a webhook. Returns `Invalid` if the URL is malformed or no signing key is
    /// configured. `field` is the name of the request field that contains the URL, for error
    /// messages.
    pub(crate) fn new(
        field: &str,
        url: &str,
        webhooks: Arc<dyn WebhookSender>,
        settings: &CallbackSettings,
    ) -> Result<Self> {
        check_url(url).map_err(|e| Error::Invalid(format!("{field}: {e}")))?;
        if !settings.is_enabled() {
            return Err(Error::Invalid(format!(
                "{field}: this install sends no callbacks, for lack of a key to sign them with; set \
                 callbacks.secret"
            )));
        }
        Ok(Self { url: url.to_owned(), webhooks, settings: settings.clone() })
    }

    /// Delivers `body`, and retries until it is accepted or no attempts are left. `id` identifies the
    /// call in the log.
    pub(crate) async fn send(&self, id: &str, body: Bytes) -> WebhookOutcome {
        let mut attempt = 1;
        let mut pause = self.settings.retry_delay;
        loop {
            let headers = [(SIGNATURE, signature(&self.settings.secret, now(), &body))];
            let Err(error) = self.webhooks.send(&self.url, &headers, body.clone()).await else {
                return WebhookOutcome { attempts: attempt, result: Ok(()) };
            };
            tracing::warn!(id, attempt, %error, "webhook delivery failed");
            // Do not retry a denied address, since it stays denied.
            if error.kind() == ports::ErrorKind::Denied || attempt >= self.settings.attempts {
                tracing::error!(id, "webhook delivery given up");
                return WebhookOutcome { attempts: attempt, result: Err(error) };
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
            attempt += 1;
        }
    }
}

fn signature(secret: &str, at: u64, body: &[u8]) -> String {
    // HMAC accepts keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return String::new();
    };
    mac.update(format!("{at}.").as_bytes());
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    let hexadecimal: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={at},v1={hexadecimal}")
}

/// Returns the seconds since 1970.
fn now() -> u64 {
    jiff::Timestamp::now().as_second().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_hmac_sha256() {
        // Computed with `printf '1700000000.{}' | openssl dgst -sha256 -hmac key`.
        assert_eq!(
            signature("key", 1_700_000_000, b"{}"),
            "t=1700000000,v1=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae"
        );
    }
}
