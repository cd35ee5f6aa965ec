//! Ingest: from a file or URL to a published, searchable video.

mod aggregate;
mod analyze;
mod audio_track;
mod draft;
mod fetch;
pub(crate) mod objects;
mod pipeline;
pub mod plan;
mod poster;
pub mod preview;
mod request;
mod result;
mod scan;
mod settings;
mod signals;
pub(crate) mod source;
pub mod spool;
pub mod uploads;

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::corrections::Corrections;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::{Models, Stores};
use crate::kernel::video::VideoId;
use crate::library::videos::VideoDetail;
use crate::records::metadata::{MetadataPatch, VideoMetadata};
pub(crate) use aggregate::VideoAggregation;
pub use plan::Planner;
pub use request::IngestFields;
pub(crate) use request::IngestRequest;
pub use result::{AggregationStatus, IngestResult};
pub(crate) use settings::IngestConfig;
pub use settings::{DownloadSettings, IngestSettings, RepairSettings, ScanSettings};
pub(crate) use source::IngestSource;
pub use spool::{Limit, Spool, SpooledFile};
pub use uploads::Uploads;

/// Ingests a source and publishes it as a video.
pub struct Ingest {
    pub(crate) catalog: Arc<Catalog>,
    corrections: Arc<Corrections>,
    aggregation: Arc<VideoAggregation>,
    stores: Stores,
    models: Models,
    settings: IngestConfig,
    /// Resumable uploads.
    pub uploads: Uploads,
}

impl Ingest {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: Arc<Catalog>,
        corrections: Arc<Corrections>,
        aggregation: Arc<VideoAggregation>,
        settings: IngestConfig,
    ) -> Self {
        let uploads = Uploads::new(stores, settings.ingest.clone());
        let (stores, models) = (stores.clone(), models.clone());
        Self { catalog, corrections, aggregation, stores, models, settings, uploads }
    }

    /// Creates a file to which an upload can be streamed. Dropping the spool removes the file.
    /// Writing fails with `TooLarge` beyond the upload limit, and with `Busy` if pending uploads
    /// already take up too much space.
    pub async fn spool_upload(&self) -> Result<Spool> {
        let max_bytes = self.settings.ingest.max_waiting_bytes;
        Spool::upload(self.settings.work_dir.clone(), self.upload_limit(), max_bytes).await
    }

    fn upload_limit(&self) -> Limit {
        Limit { bytes: self.settings.ingest.max_upload_bytes, key: "ingest.max_upload_bytes" }
    }

    /// Removes the sources that a killed process left behind. Call this only at startup, because
    /// the sources of running jobs are in the same folder.
    pub async fn clear_work_dir(&self) -> Result<()> {
        Spool::clear(self.settings.work_dir.clone()).await
    }

    /// Registers a future video's metadata keys before its job is queued, so that invalid metadata
    /// is rejected while the caller waits.
    pub(crate) async fn register_metadata(&self, patch: &MetadataPatch) -> Result<()> {
        let metadata =
            patch.apply(&VideoMetadata::default(), self.settings.ingest.max_metadata_bytes)?;
        self.catalog.metadata.register_keys(&metadata).await
    }

    /// Applies a patch to a video's metadata. Returns `NotFound` if there is no such video.
    pub async fn update_metadata(
        &self,
        video_id: VideoId,
        patch: &MetadataPatch,
    ) -> Result<VideoDetail> {
        self.catalog.readiness.check()?;
        let max_bytes = self.settings.ingest.max_metadata_bytes;
        self.catalog.metadata.update(video_id, patch, max_bytes).await?;
        self.catalog.library.video(video_id).await
    }

    pub(crate) async fn request(&self, fields: &IngestFields) -> Result<IngestRequest> {
        IngestRequest::parse(fields, &self.catalog.extractors, &self.models).await
    }

    /// Removes a job's source. If the job is not `done`, a resumable upload is kept for another
    /// attempt until it expires.
    pub(crate) async fn discard_source(&self, source: &IngestSource, done: bool) {
        let removed = match source {
            IngestSource::File { path, .. } => match tokio::fs::remove_file(path).await {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e.into()),
                _ => Ok(()),
            },
            IngestSource::Stored { key, .. } => {
                let (folder, _) = key.rsplit_once('/').unwrap_or_default();
                self.stores
                    .storage
                    .delete_prefix(&format!("{folder}/"))
                    .await
                    .map(|_| ())
                    .map_err(Error::from)
            }
            IngestSource::Upload { id, .. } if done => self.uploads.delete_ingested(id).await,
            IngestSource::Upload { .. } | IngestSource::Url { .. } => Ok(()),
        };
        if let Err(error) = removed {
            tracing::warn!(%error, ?source, "could not remove an upload that is no longer needed");
        }
    }
}
