//! Updates user metadata of published videos, and registers the types of its keys.

use std::sync::Arc;

use ports::records::RecordStore;

use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::{VideoId, unknown_video};
use crate::listing::Listing;
use crate::publishing::Publisher;
use crate::records::Records;
use crate::records::documents::{change_document, read_document};
use crate::records::metadata::{self, MetadataKeys, MetadataPatch, VideoMetadata};
use crate::records::record::VideoRecord;
use crate::records::record_state::RecordState;

/// Key of the record that holds the types of all metadata keys.
const KEYS: &str = "metadata/keys.json";

/// Maximum number of distinct metadata keys across all videos.
const MAX_KEYS: usize = 1000;

/// Maximum number of attempts to update a video if concurrent changes interfere.
const ATTEMPTS: usize = 20;

/// The user metadata of published videos, and the types of its keys.
pub(crate) struct MetadataStore {
    store: Arc<dyn RecordStore>,
    records: Arc<Records>,
    publisher: Arc<Publisher>,
    pub(crate) listing: Arc<Listing>,
}

impl MetadataStore {
    pub(crate) fn new(
        store: Arc<dyn RecordStore>,
        records: Arc<Records>,
        publisher: Arc<Publisher>,
        listing: Arc<Listing>,
    ) -> Self {
        Self { store, records, publisher, listing }
    }

    /// Applies a patch to a video's metadata. Returns `NotFound` if there is no such video.
    pub(crate) async fn update(
        &self,
        video_id: VideoId,
        patch: &MetadataPatch,
        max_bytes: usize,
    ) -> Result<()> {
        self.modify(video_id, |metadata| patch.apply(metadata, max_bytes)).await
    }

    /// Changes a video's metadata and updates its listing entry. Returns `NotFound` if there is no
    /// such video.
    pub(crate) async fn modify(
        &self,
        video_id: VideoId,
        change: impl Fn(&VideoMetadata) -> Result<VideoMetadata>,
    ) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let current = self.records.state(video_id).await?;
            let Some(record) = current.record() else {
                current.into_record()?;
                return Err(unknown_video(video_id));
            };
            let metadata = change(&record.metadata)?;
            if metadata == record.metadata {
                return self.listing.relist(video_id).await;
            }
            self.register_keys(&metadata).await?;
            let changed = RecordState::from_record(VideoRecord { metadata, ..record.clone() })?;
            match self.publisher.swap(video_id, &current, changed).await {
                Ok(_) => return self.listing.relist(video_id).await,
                // If an ingest began or ended in the meantime, retry with the new record.
                Err(error)
                    if self.records.state(video_id).await?.same_except_metadata(&current) =>
                {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        Err(Error::Busy {
            message: format!("video '{video_id}' is being changed by others; try again"),
            retry_after: 1,
        })
    }

    /// Reads the types of the metadata keys that are set on the videos that a caller may see. If
    /// access is unrestricted, reads the types of all keys ever used.
    pub(crate) async fn visible_keys(&self, access: &Access) -> Result<MetadataKeys> {
        let mut keys = self.keys().await?;
        if let Some(visible) = metadata::visible_to(access)
            && !keys.is_empty()
        {
            let used = self.listing.words(metadata::METADATA_KEYS, &[visible], MAX_KEYS).await?;
            keys.retain(|key, _| used.iter().any(|(word, _)| word == key));
        }
        Ok(keys)
    }

    /// Reads the types of all metadata keys ever used.
    async fn keys(&self) -> Result<MetadataKeys> {
        Ok(read_document(&*self.store, KEYS).await?.unwrap_or_default())
    }

    /// Registers the keys of `metadata` with their types. Returns `Invalid` if a key already has
    /// another type or there would be too many keys.
    pub(crate) async fn register_keys(&self, metadata: &VideoMetadata) -> Result<()> {
        if metadata.values.is_empty() {
            return Ok(());
        }
        let register = |keys: &mut MetadataKeys| {
            let known = keys.len();
            for (key, value) in &metadata.values {
                let kind = *keys.entry(key.clone()).or_insert(value.kind());
                if kind != value.kind() {
                    return Err(Error::Invalid(format!(
                        "metadata '{key}' is a {} in other videos, and here a {}; give it another \
                         name or a value of that type",
                        kind.name(),
                        value.kind().name()
                    )));
                }
            }
            if keys.len() > known && keys.len() > MAX_KEYS {
                return Err(Error::Invalid(format!(
                    "the videos have {known} metadata keys, of {MAX_KEYS} at most; use one of those \
                     that /schema lists"
                )));
            }
            Ok(())
        };
        change_document(&*self.store, KEYS, "metadata keys are", register).await
    }
}
