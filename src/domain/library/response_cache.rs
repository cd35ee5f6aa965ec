//! Caches encoded responses about a video until the video changes.

use std::sync::Arc;

use bytes::Bytes;
use ports::records::{RecordStore, Version};

use crate::kernel::cache::ByteCache;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::records::documents::record_key;

/// An encoded response and a version of the record. The response was created from this version or a
/// later one.
pub(crate) type CachedResponse = (Version, Bytes);

/// The cache of encoded responses.
pub(crate) struct ResponseCache {
    store: Arc<dyn RecordStore>,
    responses: ByteCache<CachedResponse>,
}

impl ResponseCache {
    pub(crate) fn new(store: Arc<dyn RecordStore>, responses: ByteCache<CachedResponse>) -> Self {
        Self { store, responses }
    }

    /// Returns the response that `encode` creates from a published video and its documents. If a
    /// response with this name is cached for the record's current version, returns the cached
    /// response. Every change to the record creates a new version.
    pub(crate) async fn get_or_encode<E: From<Error>>(
        &self,
        video_id: VideoId,
        name: &str,
        encode: impl Future<Output = std::result::Result<Bytes, E>>,
    ) -> std::result::Result<Bytes, E> {
        // Read the version before the data. If the record changes in between, the next request
        // detects that the version has changed.
        let version = self.version(video_id).await?;
        let Some(version) = version else { return encode.await };
        let name = [video_id.as_str(), " ", name].concat();
        let cached =
            self.responses.get(&name).filter(|(cached_version, _)| *cached_version == version);
        if let Some((_, response)) = cached {
            return Ok(response);
        }
        let response = encode.await?;
        self.responses.insert(&name, (version, response.clone()), response.len());
        Ok(response)
    }

    async fn version(&self, video_id: VideoId) -> Result<Option<Version>> {
        Ok(self.store.version(&record_key(video_id)).await?)
    }
}
