//! What `[fetch]` says of downloads, and the adapter that makes them.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{HttpFetcher, HttpFetcherOptions};
use crate::OpenError;

/// Downloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Allow addresses that are not public: for trusted networks only.
    pub allow_private: bool,
    /// Redirects that are followed.
    pub max_redirects: usize,
    /// Longest wait for a connection, seconds.
    pub connect_timeout: u64,
    /// Longest silence of the server, seconds.
    pub read_timeout: u64,
    /// Longest download, seconds.
    pub timeout: u64,
    /// Times that a download which stalls or breaks off is resumed where the server allows it.
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

/// Opens what fetches sources and sends notices: both go where a client says.
pub fn open(section: &Settings) -> Result<Arc<HttpFetcher>, OpenError> {
    Ok(Arc::new(HttpFetcher::new(section.into()).map_err(OpenError::at("fetch"))?))
}
