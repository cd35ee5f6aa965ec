//! Ingest: from a file or URL to a published, searchable video.

pub(crate) mod aggregate;
mod analyze;
mod audio_track;
mod draft;
mod fetch;
pub(crate) mod pipeline;
pub mod plan;
mod poster;
pub mod preview;
pub(crate) mod publish;
mod scan;
mod settings;
mod signals;
pub(crate) mod source;
pub mod spool;
pub mod uploads;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::aggregation::result::ModelUsage;
use crate::catalog::Catalog;
use crate::chunking::{Chunking, ChunkingFields};
use crate::corrections::Corrections;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::{Models, Stores};
use crate::kernel::profile::StepCost;
use crate::kernel::video::VideoId;
use crate::library::videos::VideoDetail;
use crate::records::metadata::{MetadataPatch, VideoMetadata};
pub(crate) use pipeline::IngestRequest;
pub(crate) use settings::IngestConfig;
pub use settings::{DownloadSettings, IngestSettings, RepairSettings, ScanSettings};
pub(crate) use source::IngestSource;
pub use spool::{Limit, Spool, SpooledFile};
pub use uploads::Uploads;

/// The client's parameters for an ingest, apart from its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IngestFields {
    /// Comma-separated analyzer ids.
    pub analyzers: String,
    /// Chunking mode and parameters.
    pub chunking: ChunkingFields,
    /// The request's idempotency key; a repeated request with the same key returns the same job.
    pub idempotency_key: Option<String>,
    /// The webhook to call when the job has ended.
    pub callback_url: Option<String>,
    /// Maximum number of language model calls.
    pub max_model_calls: Option<u32>,
    /// Index of the audio track to use; by default, the track with the most speech.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_track: Option<u32>,
    /// The user metadata of a new video, or a change to an existing video's metadata.
    #[serde(default, rename = "about")]
    pub metadata: MetadataPatch,
    /// The permissions of the caller, who must be able to see the video if it exists.
    #[serde(default)]
    pub access: Access,
}

/// The result of an ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IngestResult {
    /// First 16 hexadecimal digits of the SHA-1 of the file.
    pub video_id: VideoId,
    /// Public storage URL of the video file.
    pub video_url: String,
    /// Public storage URL of the poster; `None` if there is no poster.
    pub poster_url: Option<String>,
    /// Object key, `<video_id>/<filename>`.
    pub storage_path: String,
    /// The cleaned file name.
    pub filename: String,
    /// Length of the video, in seconds.
    pub duration: f64,
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// Canonical form of the chunking configuration.
    pub chunk_config: String,
    /// Number of chunks.
    pub chunks: u32,
    /// Analyzers with output.
    pub analyzers: Vec<String>,
    /// Analyzers whose output was dropped because the chunks changed and the request did not
    /// include these analyzers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Warnings about parts of the file that were skipped or selected. Each warning is a sentence
    /// without a full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Number of vectors written, by analyzer.
    pub indexed: BTreeMap<String, u64>,
    /// The outcome of aggregation.
    pub aggregated: AggregationStatus,
    /// The usage of the language model, if it is billed and was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ModelUsage>,
    /// How often each step ran and how long it took, by step name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profile: BTreeMap<String, StepCost>,
}

/// The outcome of aggregation during an ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AggregationStatus {
    /// Aggregation ran.
    Done {
        /// Ids of computed aggregates.
        ran: Vec<String>,
        /// Ids of reused aggregates.
        reused: Vec<String>,
        /// Ids of all stored aggregates.
        aggregates: Vec<String>,
        /// Ids of aggregators that were skipped because their inputs are missing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
        /// `TypeName: message` for each failed aggregator, by id.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        failed: BTreeMap<String, String>,
    },
    /// Aggregation failed as a whole, but the ingest succeeded.
    Failed {
        /// The error, as `TypeName: message`.
        error: String,
    },
}

/// Ingests a source and publishes it as a video.
pub struct Ingest {
    pub(crate) catalog: Arc<Catalog>,
    corrections: Arc<Corrections>,
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
        settings: IngestConfig,
    ) -> Self {
        let uploads = Uploads::new(stores, settings.ingest.clone());
        let (stores, models) = (stores.clone(), models.clone());
        Self { catalog, corrections, stores, models, settings, uploads }
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
        self.catalog.extractors.load_for(&fields.analyzers).await?;
        Ok(IngestRequest {
            analyzers: self.catalog.analyzers.select(&self.models, &fields.analyzers)?,
            chunking: Chunking::parse(&fields.chunking)?,
            max_model_calls: fields.max_model_calls,
            audio_track: fields.audio_track,
            metadata: fields.metadata.clone(),
        })
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
