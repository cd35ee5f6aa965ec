//! Ingest: from a file or URL to a published, searchable video.

pub(crate) mod aggregate;
mod analyze;
mod audio_track;
pub mod correct;
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

use crate::domain::aggregation::result::ModelUsage;
use crate::domain::catalog::Catalog;
use crate::domain::catalog::about::{About, AboutPatch};
use crate::domain::catalog::videos::VideoDetail;
use crate::domain::chunking::{Chunking, ChunkingFields};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::ports::{Models, Stores};
use crate::domain::kernel::profile::StepCost;
use crate::domain::kernel::video::VideoId;
pub(crate) use pipeline::IngestRequest;
pub(crate) use settings::Sections;
pub use settings::{DownloadSettings, IngestSettings, RepairSettings, ScanSettings};
pub(crate) use source::Source;
pub use spool::{Limit, Spool, Spooled};
pub use uploads::Uploads;

/// The fields of an ingest other than its source, as the client gave them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IngestFields {
    /// Comma-separated analyzer ids.
    pub analyzers: String,
    /// Mode and parameters.
    pub chunking: ChunkingFields,
    /// A client's key for this request: sent again, it is answered with the same job.
    pub idempotency_key: Option<String>,
    /// Where to send the job when it has ended.
    pub callback_url: Option<String>,
    /// Calls of the language model that the job may make at most.
    pub max_model_calls: Option<u32>,
    /// Which of its sound tracks is used, counted from 0; without it the one in which most is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_track: Option<u32>,
    /// What is said of the video; of one that is there already, what changes.
    #[serde(default)]
    pub about: AboutPatch,
    /// Who asks for it: a video that is there already has to be one that they see.
    #[serde(default)]
    pub access: Access,
}

/// Result of an ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IngestResult {
    /// Content hash.
    pub video_id: VideoId,
    /// Public storage URL.
    pub video_url: String,
    /// Public storage URL; `None` when poster extraction failed.
    pub poster_url: Option<String>,
    /// `<video_id>/<filename>`.
    pub storage_path: String,
    /// Cleaned name.
    pub filename: String,
    /// Length of the video, seconds.
    pub duration: f64,
    /// Size of the file, bytes.
    pub size_bytes: u64,
    /// Canonical form.
    pub chunk_config: String,
    /// Number of chunks.
    pub chunks: u32,
    /// Analyzers that have output now.
    pub analyzers: Vec<String>,
    /// Analyzers whose output is gone: the video was split otherwise, and they were not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// What of the file was left out or chosen, each a sentence without a full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Vectors written, by analyzer.
    pub indexed: BTreeMap<String, u64>,
    /// What aggregation did.
    pub aggregated: Aggregated,
    /// What the language model took, if it is billed and was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ModelUsage>,
    /// What each step took, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profile: BTreeMap<String, StepCost>,
}

/// What aggregation did during an ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Aggregated {
    /// It ran.
    Done {
        /// Computed this time.
        ran: Vec<String>,
        /// Kept.
        reused: Vec<String>,
        /// Everything stored.
        aggregates: Vec<String>,
        /// Not possible: what they depend on was not found.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
        /// Why each that could not be computed was not: `TypeName: message`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        failed: BTreeMap<String, String>,
    },
    /// It failed as a whole; the ingest did not.
    Failed {
        /// `TypeName: message`.
        error: String,
    },
}

/// From a source to a published video.
pub struct Ingest {
    pub(crate) catalog: Arc<Catalog>,
    stores: Stores,
    models: Models,
    settings: Sections,
    /// Uploads in pieces.
    pub uploads: Uploads,
}

impl Ingest {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: Arc<Catalog>,
        settings: Sections,
    ) -> Self {
        let uploads = Uploads::new(stores, settings.ingest.clone());
        Self { catalog, stores: stores.clone(), models: models.clone(), settings, uploads }
    }

    /// A file to stream an upload into; `TooLarge` past the upload limit, `Busy` while too many
    /// bytes of uploads wait. Dropping it removes it.
    pub async fn spool_upload(&self) -> Result<Spool> {
        let most = self.settings.ingest.max_waiting_bytes;
        Spool::upload(self.settings.work_dir.clone(), self.upload_limit(), most).await
    }

    fn upload_limit(&self) -> Limit {
        Limit { bytes: self.settings.ingest.max_upload_bytes, key: "ingest.max_upload_bytes" }
    }

    /// Removes the sources that a process which was killed left behind. For start-up only: the
    /// folder belongs to one process.
    pub async fn clear_work(&self) -> Result<()> {
        Spool::clear(self.settings.work_dir.clone()).await
    }

    /// Enters the keys of what will be said of a video, before its job is queued: what cannot be
    /// stored is refused while the caller waits.
    pub(crate) async fn announce(&self, about: &AboutPatch) -> Result<()> {
        let about = about.apply(&About::default(), self.settings.ingest.max_metadata_bytes)?;
        self.catalog.enter_keys(&about).await
    }

    /// Changes what is said of a video. `NotFound` where there is none.
    pub async fn annotate(&self, video_id: VideoId, patch: &AboutPatch) -> Result<VideoDetail> {
        self.catalog.opening.check()?;
        let max_bytes = self.settings.ingest.max_metadata_bytes;
        self.catalog.annotate(video_id, patch, max_bytes).await
    }

    pub(crate) async fn request(&self, fields: &IngestFields) -> Result<IngestRequest> {
        self.catalog.load_extractors_of(&fields.analyzers).await?;
        Ok(IngestRequest {
            analyzers: self.catalog.analyzers.select(&self.models, &fields.analyzers)?,
            chunking: Chunking::parse(&fields.chunking)?,
            max_model_calls: fields.max_model_calls,
            audio_track: fields.audio_track,
            about: fields.about.clone(),
        })
    }

    /// Removes what a job has worked on. An upload that came in pieces stays for another try, unless
    /// the job is `done`: it goes when its time is over.
    pub(crate) async fn discard_source(&self, source: &Source, done: bool) {
        let removed = match source {
            Source::File { path, .. } => match tokio::fs::remove_file(path).await {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e.into()),
                _ => Ok(()),
            },
            Source::Stored { key, .. } => {
                let (folder, _) = key.rsplit_once('/').unwrap_or_default();
                self.stores
                    .storage
                    .delete_prefix(&format!("{folder}/"))
                    .await
                    .map(|_| ())
                    .map_err(Error::from)
            }
            Source::Upload { id, .. } if done => self.uploads.forget(id).await,
            Source::Upload { .. } | Source::Url { .. } => Ok(()),
        };
        if let Err(error) = removed {
            tracing::warn!(%error, ?source, "an upload that is not needed any more was left");
        }
    }
}
