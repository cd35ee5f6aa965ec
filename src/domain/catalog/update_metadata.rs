//! Updates user metadata of published videos.

use ports::records::Precondition;
use serde::Deserialize;
use serde_json::Value;

use crate::catalog::metadata::{self, MetadataKeys, MetadataPatch, VideoMetadata};
use crate::catalog::record::VideoRecord;
use crate::catalog::videos::VideoDetail;
use crate::catalog::{Catalog, RecordState};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::{VideoId, unknown_video};

/// Key of the record that holds the types of all metadata keys.
const KEYS: &str = "metadata/keys.json";

/// Maximum number of distinct metadata keys across all videos.
const MAX_KEYS: usize = 1000;

/// Maximum number of attempts to update a video if concurrent changes interfere.
const ATTEMPTS: usize = 20;

impl Catalog {
    /// Applies a patch to a video's metadata. Returns `NotFound` if there is no such video.
    pub async fn update_metadata(
        &self,
        video_id: VideoId,
        patch: &MetadataPatch,
        max_bytes: usize,
    ) -> Result<VideoDetail> {
        self.modify_metadata(video_id, |metadata| patch.apply(metadata, max_bytes)).await?;
        self.video(video_id).await
    }

    /// Changes a video's metadata and updates its listing entry. Returns `NotFound` if there is no
    /// such video.
    pub(super) async fn modify_metadata(
        &self,
        video_id: VideoId,
        change: impl Fn(&VideoMetadata) -> Result<VideoMetadata>,
    ) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let current = self.record_state(video_id).await?;
            let Some(record) = current.record() else {
                current.into_record()?;
                return Err(unknown_video(video_id));
            };
            let metadata = change(&record.metadata)?;
            if metadata == record.metadata {
                return self.relist(video_id).await;
            }
            self.register_keys(&metadata).await?;
            let changed = RecordState::from_record(VideoRecord { metadata, ..record.clone() })?;
            match self.swap(video_id, &current, changed).await {
                Ok(_) => return self.relist(video_id).await,
                // If an ingest began or ended in the meantime, retry with the new record.
                Err(error) if self.record_state(video_id).await?.same_except_metadata(&current) => {
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
    pub async fn visible_metadata_keys(&self, access: &Access) -> Result<MetadataKeys> {
        let mut keys = self.metadata_keys().await?;
        if let Some(visible) = metadata::visible_to(access)
            && !keys.is_empty()
        {
            let used = self
                .listing
                .keyword_counts(metadata::METADATA_KEYS, &[visible], None, MAX_KEYS)
                .await?;
            keys.retain(|key, _| used.iter().any(|(word, _)| word == key));
        }
        Ok(keys)
    }

    /// Reads the types of all metadata keys ever used.
    pub async fn metadata_keys(&self) -> Result<MetadataKeys> {
        Ok(self.read(KEYS).await?.unwrap_or_default())
    }

    /// Registers the keys of `metadata` with their types. Returns `Invalid` if a key already has
    /// another type or there would be too many keys.
    pub(crate) async fn register_keys(&self, metadata: &VideoMetadata) -> Result<()> {
        if metadata.values.is_empty() {
            return Ok(());
        }
        loop {
            let stored: Option<Value> = self.records.get(KEYS).await?;
            let mut keys = match &stored {
                Some(json) => MetadataKeys::deserialize(json)
                    .map_err(|e| Error::corrupt(format!("the record {KEYS}: {e}")))?,
                None => MetadataKeys::new(),
            };
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
            if keys.len() == known {
                return Ok(());
            }
            if keys.len() > MAX_KEYS {
                return Err(Error::Invalid(format!(
                    "the videos have {known} metadata keys, of {MAX_KEYS} at most; use one of those \
                     that /schema lists"
                )));
            }
            let json = serde_json::to_value(&keys)
                .map_err(|e| Error::corrupt(format!("cannot store {KEYS}: {e}")))?;
            let expected = Precondition::from(stored.as_ref());
            if self.records.compare_and_swap(KEYS, expected, &json).await? {
                return Ok(());
            }
        }
    }
}
