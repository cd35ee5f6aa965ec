//! Signed notices to addresses that clients name.

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

/// The header that proves who sent a notice: `t=<seconds since 1970>,v1=<hexadecimal HMAC-SHA256 of
/// "<t>.<body>" with the secret>`.
const SIGNATURE: &str = "Shotlog-Signature";

/// How notices are signed and sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallbackSettings {
    /// Key of their signatures; empty: nobody may name an address.
    pub secret: String,
    /// Times a notice is sent until it is taken.
    pub attempts: u32,
    /// Time before the second attempt, in the file seconds; each further pause is twice as long.
    #[serde(with = "seconds")]
    pub retry_delay: Duration,
}

impl Default for CallbackSettings {
    fn default() -> Self {
        Self { secret: String::new(), attempts: 5, retry_delay: Duration::from_secs(2) }
    }
}

impl CallbackSettings {
    /// Whether notices are sent at all: there is a key to sign them with.
    pub(crate) fn are_sent(&self) -> bool {
        !self.secret.is_empty()
    }
}

/// Where to send a notice.
#[derive(Clone)]
pub(crate) struct Webhook {
    url: String,
    webhooks: Arc<dyn WebhookSender>,
    settings: CallbackSettings,
}

impl Webhook {
    /// Checks what can be checked now: the URL's form, and that notices can be signed. `field` is what
    /// the client names it in.
    pub(crate) fn to(
        field: &str,
        url: &str,
        webhooks: Arc<dyn WebhookSender>,
        settings: &CallbackSettings,
    ) -> Result<Self> {
        check_url(url).map_err(|e| Error::Invalid(format!("{field}: {e}")))?;
        if !settings.are_sent() {
            return Err(Error::Invalid(format!(
                "{field}: this install sends no callbacks, for lack of a key to sign them with; set \
                 callbacks.secret"
            )));
        }
        Ok(Self { url: url.to_owned(), webhooks, settings: settings.clone() })
    }

    /// Sends a notice, which `id` names in the log, until it is taken or attempts run out; then says
    /// why the last one failed.
    pub(crate) async fn send(&self, id: &str, body: Bytes) -> ports::Result<()> {
        let mut attempt = 1;
        let mut pause = self.settings.retry_delay;
        loop {
            let headers = [(SIGNATURE, signature(&self.settings.secret, now(), &body))];
            let Err(error) = self.webhooks.send(&self.url, &headers, body.clone()).await else {
                return Ok(());
            };
            tracing::warn!(id, attempt, %error, "a notice was not taken");
            // An address that is refused stays so.
            if error.kind() == ports::ErrorKind::Denied || attempt >= self.settings.attempts {
                tracing::error!(id, "a notice was given up");
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
            attempt += 1;
        }
    }
}

fn signature(secret: &str, at: u64, body: &[u8]) -> String {
    // A key of any length will do.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return String::new();
    };
    mac.update(format!("{at}.").as_bytes());
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    let hexadecimal: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={at},v1={hexadecimal}")
}

/// Seconds since 1970.
fn now() -> u64 {
    jiff::Timestamp::now().as_second().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_hmac_sha256() {
        // As `printf '1700000000.{}' | openssl dgst -sha256 -hmac key` prints it.
        assert_eq!(
            signature("key", 1_700_000_000, b"{}"),
            "t=1700000000,v1=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae"
        );
    }
}
