//! Defines the configuration section `[fetch]` and opens the fetcher.

use std::sync::Arc;
use std::time::Duration;

use ports::units::seconds;
use serde::{Deserialize, Serialize};

use super::{HttpFetcher, HttpFetcherOptions};
use crate::OpenError;

/// Settings for downloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Whether to allow private addresses. Use only in trusted networks.
    pub allow_private: bool,
    /// Maximum number of redirects to follow.
    pub max_redirects: usize,
    /// Connection timeout, in seconds.
    #[serde(with = "seconds")]
    pub connect_timeout: u64,
    /// Timeout for the next bytes from the server, in seconds.
    #[serde(with = "seconds")]
    pub read_timeout: u64,
    /// Timeout for a whole download, in seconds.
    #[serde(with = "seconds")]
    pub timeout: u64,
    /// Maximum number of times to resume a download that stalls or breaks off, if the server
    /// supports it.
    pub max_resumes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allow_private: false,
            max_redirects: 5,
            connect_timeout: 10,
            read_timeout: 30,
            timeout: 3600,
            max_resumes: 5,
        }
    }
}

impl Default for HttpFetcherOptions {
    /// The defaults of `[fetch]`.
    fn default() -> Self {
        (&Settings::default()).into()
    }
}

impl From<&Settings> for HttpFetcherOptions {
    fn from(section: &Settings) -> Self {
        Self {
            connect_timeout: Duration::from_secs(section.connect_timeout),
            read_timeout: Duration::from_secs(section.read_timeout),
            total_timeout: Duration::from_secs(section.timeout),
            max_redirects: section.max_redirects,
            max_resumes: section.max_resumes,
            allow_private: section.allow_private,
            user_agent: concat!("shotlog/", env!("CARGO_PKG_VERSION")).into(),
        }
    }
}

/// Opens the client for downloads and webhooks, both of which send requests to URLs that clients
/// supply.
pub fn open(section: &Settings) -> Result<Arc<HttpFetcher>, OpenError> {
    Ok(Arc::new(HttpFetcher::new(section.into()).map_err(OpenError::in_section("fetch"))?))
}
