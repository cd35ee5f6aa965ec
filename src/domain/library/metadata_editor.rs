//! Changes to the user metadata of videos, as users request them.

use std::sync::Arc;

use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::library::Library;
use crate::library::metadata_store::MetadataStore;
use crate::library::videos::VideoDetail;
use crate::records::metadata::{MetadataPatch, VideoMetadata};
use crate::records::readiness::StoreReadiness;

/// Validates and applies patches to user metadata.
pub struct MetadataEditor {
    metadata: Arc<MetadataStore>,
    library: Arc<Library>,
    readiness: Arc<StoreReadiness>,
    /// Maximum size of a video's metadata as JSON, in bytes.
    max_bytes: usize,
}

impl MetadataEditor {
    pub(crate) fn new(
        metadata: Arc<MetadataStore>,
        library: Arc<Library>,
        readiness: Arc<StoreReadiness>,
        max_bytes: usize,
    ) -> Self {
        Self { metadata, library, readiness, max_bytes }
    }

    /// Registers a future video's metadata keys before its job is queued, so that invalid metadata
    /// is rejected while the caller waits.
    pub(crate) async fn register(&self, patch: &MetadataPatch) -> Result<()> {
        let metadata = patch.apply(&VideoMetadata::default(), self.max_bytes)?;
        self.metadata.register_keys(&metadata).await
    }

    /// Applies a patch to a video's metadata. Returns `NotFound` if there is no such video.
    pub async fn update(&self, video_id: VideoId, patch: &MetadataPatch) -> Result<VideoDetail> {
        self.readiness.check()?;
        self.metadata.update(video_id, patch, self.max_bytes).await?;
        self.library.video(video_id).await
    }
}
