//! Fetching a source from an http(s) URL.

use async_trait::async_trait;

use crate::{ByteStream, Result};

/// A response whose body has not been read yet.
pub struct Fetched {
    /// The address that answered, after redirects; without user, password, query and fragment.
    pub url: String,
    /// The `Content-Type` header without parameters, lower case.
    pub content_type: Option<String>,
    /// The announced length in bytes.
    pub length: Option<u64>,
    /// The name that the server proposes (`Content-Disposition`), not cleaned.
    pub filename: Option<String>,
    /// The body. An error item ends it; a body cut off before its announced length ends with one. An
    /// adapter MAY resume a body that breaks off where the server still has the same file.
    pub body: ByteStream,
}

/// Opens http(s) URLs. Unless switched off for trusted networks, MUST refuse (`Denied`) every
/// address that is not public, whatever name, redirect or DNS answer leads there. Statuses other
/// than 2xx are errors: `NotFound` for 404 and 410, `Denied` for 401 and 403, `Unavailable` for 429
/// and 5xx, `Invalid` for the rest.
#[async_trait]
pub trait SourceFetcher: Send + Sync {
    /// Sends the request and reads the response head.
    async fn fetch(&self, url: &str) -> Result<Fetched>;
}
