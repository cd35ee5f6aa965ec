//! Signed notices to the address that an ingest named, when its job has ended.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use ports::webhook::WebhookSender;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::domain::ingest::check_url;
use crate::domain::jobs::{Job, TRACEBACK};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::seconds;

/// The header that proves who sent a notice: `t=<seconds since 1970>,v1=<hexadecimal HMAC-SHA256 of
/// "<t>.<body>" with the secret>`.
const SIGNATURE: &str = "Shotlog-Signature";

/// Notices to the addresses that ingests name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallbackSettings {
    /// Key of their signatures; empty: ingests may not name any.
    pub secret: String,
    /// Times a notice is sent until it is taken.
    pub attempts: u32,
    /// Time before the second attempt, in the file seconds; each further pause is twice as long.
    #[serde(with = "seconds")]
    pub pause: Duration,
}

impl Default for CallbackSettings {
    fn default() -> Self {
        Self { secret: String::new(), attempts: 5, pause: Duration::from_secs(2) }
    }
}

/// Where to send one job's notice.
#[derive(Clone)]
pub(crate) struct Callback {
    url: String,
    webhooks: Arc<dyn WebhookSender>,
    settings: CallbackSettings,
}

impl Callback {
    /// Checks what can be checked now: the URL's form, and that notices can be signed.
    pub(crate) fn to(
        url: &str,
        webhooks: Arc<dyn WebhookSender>,
        settings: &CallbackSettings,
    ) -> Result<Self> {
        check_url(url).map_err(|e| Error::Invalid(format!("callback_url: {e}")))?;
        if settings.secret.is_empty() {
            return Err(Error::Invalid(
                "callback_url: this install sends no callbacks, for lack of a key to sign them \
                 with; set callbacks.secret"
                    .into(),
            ));
        }
        Ok(Self { url: url.to_owned(), webhooks, settings: settings.clone() })
    }

    /// Sends the job as `GET /jobs/{job_id}` shows it, but for the traceback, until it is taken or
    /// attempts run out.
    pub(crate) async fn send(self, mut job: Job) {
        // What went on inside is for those who may ask the service.
        job.detail.remove(TRACEBACK);
        let Ok(body) = serde_json::to_vec(&job) else { return };
        let body = Bytes::from(body);
        let mut pause = self.settings.pause;
        for attempt in 1..=self.settings.attempts.max(1) {
            let headers = [(SIGNATURE, signature(&self.settings.secret, now(), &body))];
            match self.webhooks.send(&self.url, &headers, body.clone()).await {
                Ok(()) => return,
                Err(error) => {
                    tracing::warn!(job_id = %job.job_id, attempt, %error, "callback failed");
                    // An address that is refused stays so.
                    if error.kind() == ports::ErrorKind::Denied {
                        return;
                    }
                }
            }
            if attempt < self.settings.attempts {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
        }
        tracing::error!(job_id = %job.job_id, "the callback was given up");
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
