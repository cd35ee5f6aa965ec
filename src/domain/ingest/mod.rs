//! Ingest: from a file or URL to a published, searchable video.

mod claims;
mod perceive;
mod pipeline;
mod poster;
mod scan;
mod source;
pub mod spool;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::callbacks::Callback;
use super::chunking::{Chunking, ChunkingFields};
use super::error::Result;
use super::jobs::{Idempotency, Job, Submitted, Task};
use super::{Shotlog, analyzers};
pub use claims::{Claim, Claims};
pub(crate) use pipeline::Plan;
pub(crate) use source::{Source, check_url};
pub use spool::{Limit, Spool, Spooled};

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
}

impl IngestFields {
    /// What the key stands for: these fields and the source.
    fn idempotency(&self, source: &str) -> Option<Idempotency> {
        let key = self.idempotency_key.clone()?;
        let request = format!(
            "{source}\n{}\n{:?}\n{:?}\n{:?}",
            self.analyzers, self.chunking, self.callback_url, self.max_model_calls
        );
        Some(Idempotency { key, request })
    }
}

/// Result of an ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IngestResult {
    /// Content hash.
    pub video_id: String,
    /// Public storage URL.
    pub video_url: String,
    /// Public storage URL; `None` when poster extraction failed.
    pub poster_url: Option<String>,
    /// `<video_id>/<filename>`.
    pub storage_path: String,
    /// Cleaned name.
    pub filename: String,
    /// Seconds.
    pub duration: f64,
    /// Bytes.
    pub size_bytes: u64,
    /// Canonical form.
    pub chunk_config: String,
    /// Number of chunks.
    pub chunks: u32,
    /// Analyzers that have output now.
    pub analyzers: Vec<String>,
    /// Vectors written, by analyzer.
    pub indexed: BTreeMap<String, u64>,
    /// What aggregation did.
    pub aggregated: Aggregated,
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
    },
    /// It failed as a whole; the ingest did not.
    Failed {
        /// `TypeName: message`.
        error: String,
    },
}

impl Shotlog {
    /// A file to stream an upload into; `TooLarge` past the upload limit. Dropping it removes it.
    pub async fn spool_upload(&self) -> Result<Spool> {
        Spool::create(self.settings.work_dir.clone(), self.upload_limit()).await
    }

    fn upload_limit(&self) -> Limit {
        Limit { bytes: self.settings.max_upload, key: "ingest.max_upload_bytes" }
    }

    /// Removes the sources that a process which was killed left behind. For start-up only: the
    /// folder belongs to one process.
    pub async fn clear_work(&self) -> Result<()> {
        Spool::clear(self.settings.work_dir.clone()).await
    }

    /// Queues the ingest of an uploaded file. `filename` is the client's.
    pub async fn ingest_file(
        &self,
        filename: Option<&str>,
        file: Spooled,
        fields: IngestFields,
    ) -> Result<Job> {
        self.check(&fields)?;
        let asked = fields.idempotency(&file.video_id);
        let name = filename.map(str::to_owned);
        let Spooled { path, video_id, size } = file;
        if self.jobs.shared() {
            if let Some(job) = self.jobs.admit(asked.as_ref()).await? {
                return Ok(job);
            }
            let key = source::incoming();
            let content = pipeline::file_stream(&path).await?;
            self.ports.storage.put(&key, content, "application/octet-stream").await?;
            return self.submit(Source::Stored { key, name }, fields, asked).await;
        }
        let source = Source::File { path: path.to_path_buf(), video_id, size, name };
        let job = self.submit(source, fields, asked).await?;
        // From here on the file is the job's.
        path.keep().map_err(|e| e.error)?;
        Ok(job)
    }

    /// Queues the ingest of an http(s) URL.
    pub async fn ingest_url(&self, url: &str, fields: IngestFields) -> Result<Job> {
        check_url(url)?;
        self.check(&fields)?;
        let asked = fields.idempotency(url);
        self.submit(Source::Url { url: url.to_owned() }, fields, asked).await
    }

    pub(crate) fn plan(&self, fields: &IngestFields) -> Result<Plan> {
        Ok(Plan {
            analyzers: analyzers::select(&self.ports, &fields.analyzers)?,
            chunking: Chunking::parse(&fields.chunking)?,
            max_model_calls: fields.max_model_calls,
        })
    }

    pub(crate) fn callback(&self, fields: &IngestFields) -> Result<Option<Callback>> {
        let (notifier, settings) = (&self.ports.notifier, &self.settings.callbacks);
        let to = |url: &String| Callback::to(url, notifier.clone(), settings);
        fields.callback_url.as_ref().map(to).transpose()
    }

    /// Checks the fields that can be checked while the caller waits.
    fn check(&self, fields: &IngestFields) -> Result<()> {
        self.callback(fields)?;
        self.plan(fields).map(|_| ())
    }

    async fn submit(
        &self,
        source: Source,
        fields: IngestFields,
        asked: Option<Idempotency>,
    ) -> Result<Job> {
        let task = Task::Ingest { source: source.clone(), fields: Box::new(fields) };
        // On an error the job may have been added all the same, and need its source.
        let Submitted { job, before } =
            self.jobs.submit(source.name().to_owned(), task, asked).await?;
        if before {
            self.discard_source(&source).await;
        }
        Ok(job)
    }

    /// Removes an upload that no job needs any more.
    pub(crate) async fn discard_source(&self, source: &Source) {
        let removed = match source {
            Source::File { path, .. } => match tokio::fs::remove_file(path).await {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e.into()),
                _ => Ok(()),
            },
            Source::Stored { key, .. } => {
                let (folder, _) = key.rsplit_once('/').unwrap_or_default();
                self.ports.storage.delete_prefix(&format!("{folder}/")).await.map(|_| ())
            }
            Source::Url { .. } => Ok(()),
        };
        if let Err(error) = removed {
            tracing::warn!(%error, ?source, "an upload that is not needed any more was left");
        }
    }
}
