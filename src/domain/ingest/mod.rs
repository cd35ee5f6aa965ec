//! Ingest: from a file or URL to a published, searchable video.

mod claims;
mod perceive;
mod pipeline;
mod poster;
mod scan;
mod source;
pub mod spool;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::watch;

use super::callbacks::Callback;
use super::chunking::{Chunking, ChunkingFields};
use super::error::Result;
use super::jobs::{Ended, Idempotency, Job, Submission};
use super::{Shotlog, analyzers};
pub use claims::{Claim, Claims};
pub(crate) use pipeline::Plan;
use source::Source;
pub(crate) use source::check_url;
pub use spool::{Limit, Spool, Spooled};

/// The fields of an ingest other than its source, as the client gave them.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Checks the fields that can be checked while the caller waits.
    pub fn check_ingest(&self, fields: &IngestFields) -> Result<()> {
        self.callback(fields)?;
        self.plan(fields).map(|_| ())
    }

    /// A file to stream an upload into; `TooLarge` past the upload limit. Dropping it removes it.
    pub async fn spool_upload(&self) -> Result<Spool> {
        let limit = Limit { bytes: self.settings.max_upload, key: "ingest.max_upload_bytes" };
        Spool::create(self.settings.work_dir.clone(), limit).await
    }

    /// Removes the sources that a process which was killed left behind. For start-up only: the
    /// folder belongs to one process.
    pub async fn clear_work(&self) -> Result<()> {
        Spool::clear(self.settings.work_dir.clone()).await
    }

    /// Queues the ingest of an uploaded file. `filename` is the client's.
    pub fn ingest_file(
        self: &Arc<Self>,
        filename: Option<&str>,
        file: Spooled,
        fields: IngestFields,
    ) -> Result<Job> {
        let key = fields.idempotency(&file.video_id);
        self.submit(Source::File(file, filename.map(str::to_owned)), &fields, key)
    }

    /// Queues the ingest of an http(s) URL.
    pub fn ingest_url(self: &Arc<Self>, url: &str, fields: IngestFields) -> Result<Job> {
        check_url(url)?;
        self.submit(Source::Url(url.to_owned()), &fields, fields.idempotency(url))
    }

    /// One job.
    pub fn job(&self, job_id: &str) -> Result<Job> {
        self.jobs.get(job_id)
    }

    /// One job now and after each change.
    pub fn watch_job(&self, job_id: &str) -> Result<watch::Receiver<Job>> {
        self.jobs.watch(job_id)
    }

    /// Stops a job: at once while it waits, at its next safe point while it runs.
    pub fn cancel_job(&self, job_id: &str) -> Result<Job> {
        self.jobs.cancel(job_id, "the job was cancelled")
    }

    /// Whether new jobs are taken; not while the service stops.
    pub fn takes_jobs(&self) -> bool {
        self.jobs.open()
    }

    /// Every job this process has seen, newest first.
    pub fn jobs(&self) -> Vec<Job> {
        self.jobs.list()
    }

    /// Takes no new jobs, gives running ones `grace` to finish, then stops them at a safe point.
    pub async fn stop_jobs(&self, grace: std::time::Duration) {
        self.jobs.stop(grace).await;
    }

    pub(crate) fn plan(&self, fields: &IngestFields) -> Result<Plan> {
        Ok(Plan {
            analyzers: analyzers::select(&self.ports, &fields.analyzers)?,
            chunking: Chunking::parse(&fields.chunking)?,
            max_model_calls: fields.max_model_calls,
        })
    }

    fn callback(&self, fields: &IngestFields) -> Result<Option<Callback>> {
        let (notifier, settings) = (&self.ports.notifier, &self.settings.callbacks);
        let to = |url: &String| Callback::to(url, notifier.clone(), settings);
        fields.callback_url.as_ref().map(to).transpose()
    }

    fn submit(
        self: &Arc<Self>,
        source: Source,
        fields: &IngestFields,
        key: Option<Idempotency>,
    ) -> Result<Job> {
        let plan = self.plan(fields)?;
        let ended = self.callback(fields)?.map(|callback| -> Ended {
            Box::new(move |job| {
                tokio::spawn(callback.send(job));
            })
        });
        let service = self.clone();
        let name = match &source {
            Source::File(_, name) => name.clone().unwrap_or_default(),
            Source::Url(url) => url.clone(),
        };
        let submission = Submission { what: "ingest", source: name, idempotency: key, ended };
        self.jobs.submit(submission, move |progress| async move {
            service.ingest(source, plan, progress).await
        })
    }
}
