//! Validates requests and queues them as jobs.

use std::sync::Arc;

use ports::storage::ObjectStorage;
use ports::webhook::WebhookSender;

use crate::aggregation::Aggregators;
use crate::alerts::Alerts;
use crate::corrections::Corrections;
use crate::evaluation::Evaluations;
use crate::evaluation::run::RunRequest;
use crate::ingest::objects::file_stream;
use crate::ingest::source::incoming_key;
use crate::ingest::uploads::CompleteUpload;
use crate::ingest::{Ingest, IngestFields, IngestSource, Sources, SpooledFile, VideoAggregation};
use crate::jobs::store::{Admission, JobStore};
use crate::jobs::{Idempotency, Job, JobTask};
use crate::kernel::error::Result;
use crate::kernel::urls::{check_url, redact_secrets};
use crate::kernel::video::VideoId;
use crate::kernel::webhook::{CallbackSettings, Webhook};
use crate::library::metadata_editor::MetadataEditor;
use crate::listing::Listing;
use crate::publishing::Publisher;
use crate::records::Records;
use crate::records::metadata::MetadataPatch;

/// Validates requests and queues them as jobs.
pub struct Submission {
    pub(super) store: Arc<JobStore>,
    pub(super) ingest: Arc<Ingest>,
    pub(super) sources: Arc<Sources>,
    pub(super) metadata: Arc<MetadataEditor>,
    pub(super) corrections: Arc<Corrections>,
    pub(super) aggregation: Arc<VideoAggregation>,
    pub(super) evaluations: Arc<Evaluations>,
    pub(crate) alerts: Arc<Alerts>,
    pub(super) aggregators: Aggregators,
    pub(super) records: Arc<Records>,
    pub(super) listing: Arc<Listing>,
    pub(super) publisher: Arc<Publisher>,
    pub(super) storage: Arc<dyn ObjectStorage>,
    pub(super) webhooks: Arc<dyn WebhookSender>,
    pub(super) callbacks: CallbackSettings,
}

impl IngestFields {
    /// Binds the idempotency key to these fields and the source. Ignores secrets in URLs, so a
    /// repeated request may have a new URL signature.
    fn idempotency(&self, source: &str) -> Option<Idempotency> {
        let key = self.idempotency_key.clone()?;
        // Earlier versions stored fingerprints in this form, in which an empty patch adds nothing.
        let metadata = match &self.metadata {
            patch if patch.is_empty() => String::new(),
            MetadataPatch { values, collection, recorded_at } => format!(
                "\nAboutPatch {{ metadata: {values:?}, collection: {collection:?}, recorded_at: \
                 {recorded_at:?} }}"
            ),
        };
        let track = self.audio_track.map_or_else(String::new, |track| format!("\n{track}"));
        let request = format!(
            "{source}\n{}\n{:?}\n{:?}\n{:?}{}{track}",
            self.analyzers,
            self.chunking,
            self.callback_url.as_deref().map(redact_secrets),
            self.max_model_calls,
            metadata
        );
        Some(Idempotency { key, request, access: self.access.clone() })
    }
}

impl Submission {
    /// Requeues the durable jobs that the queue has lost. They keep their ids. Also queues pending
    /// alerts.
    pub async fn resume(&self) -> Result<()> {
        self.store.requeue_pending().await?;
        self.queue_alerts().await;
        Ok(())
    }

    /// Queues the ingest of an uploaded file. `filename` is the client's name for the file.
    pub async fn ingest_file(
        &self,
        filename: Option<&str>,
        file: SpooledFile,
        fields: IngestFields,
    ) -> Result<Job> {
        self.check(&fields).await?;
        let idempotency = fields.idempotency(file.video_id.as_str());
        let name = filename.map(str::to_owned);
        let SpooledFile { path, video_id, size } = file;
        if self.store.shared() {
            if let Some(job) = self.store.admit(idempotency.as_ref()).await? {
                return Ok(job);
            }
            let key = incoming_key();
            let content = file_stream(&path).await?;
            self.storage.put(&key, content, "application/octet-stream").await?;
            return self.submit(IngestSource::Stored { key, name }, fields, idempotency).await;
        }
        let source = IngestSource::File { path: path.to_path_buf(), video_id, size, name };
        let job = self.submit(source, fields, idempotency).await?;
        // From here on, the job owns the file.
        path.keep().map_err(|e| e.error)?;
        Ok(job)
    }

    /// Queues the ingest of a resumable upload. Returns `Unprocessable` if the upload is
    /// incomplete.
    pub async fn ingest_upload(&self, upload_id: &str, fields: IngestFields) -> Result<Job> {
        self.check(&fields).await?;
        let CompleteUpload { video_id, name } =
            self.sources.uploads.complete(&fields.access, upload_id).await?;
        let idempotency = fields.idempotency(video_id.as_str());
        self.submit(IngestSource::Upload { id: upload_id.to_owned(), name }, fields, idempotency)
            .await
    }

    /// Queues the ingest of an http(s) URL.
    pub async fn ingest_url(&self, url: &str, fields: IngestFields) -> Result<Job> {
        check_url(url)?;
        self.check(&fields).await?;
        let idempotency = fields.idempotency(&redact_secrets(url));
        self.submit(IngestSource::Url { url: url.to_owned() }, fields, idempotency).await
    }

    pub(super) fn callback(&self, fields: &IngestFields) -> Result<Option<Webhook>> {
        let (webhooks, settings) = (&self.webhooks, &self.callbacks);
        let webhook = |url: &String| Webhook::new("callback_url", url, webhooks.clone(), settings);
        fields.callback_url.as_ref().map(webhook).transpose()
    }

    /// Validates the fields as far as possible while the caller waits.
    async fn check(&self, fields: &IngestFields) -> Result<()> {
        self.callback(fields)?;
        self.ingest.request(fields).await?;
        self.metadata.register(&fields.metadata).await
    }

    async fn submit(
        &self,
        source: IngestSource,
        fields: IngestFields,
        idempotency: Option<Idempotency>,
    ) -> Result<Job> {
        let task = JobTask::Ingest { source: source.clone(), fields: Box::new(fields) };
        // Keep the source even after an error, since the job may exist and need it.
        let Admission { job, existing } = self.store.add(source.name(), task, idempotency).await?;
        if existing {
            self.sources.discard(&source, false).await;
        }
        Ok(job)
    }

    /// Queues a rerun of the named aggregators, or of all aggregators.
    pub async fn rerun_aggregates(
        &self,
        video_id: VideoId,
        aggregators: Option<Vec<String>>,
        force: bool,
    ) -> Result<Job> {
        self.aggregators.select(aggregators.as_deref())?;
        let filename = self.records.get(video_id).await?.filename;
        let task = JobTask::Aggregate { video_id, aggregators, force };
        Ok(self.store.add(filename, task, None).await?.job)
    }

    /// Queues a run of an evaluation. Also returns the maximum number of billed model calls, not
    /// counting retries.
    pub async fn evaluate(&self, evaluation: &str, request: RunRequest) -> Result<(Job, u32)> {
        let model_calls = self.evaluations.plan(evaluation, &request).await?;
        let task =
            JobTask::Evaluate { evaluation: evaluation.to_owned(), request: Box::new(request) };
        Ok((self.store.add(evaluation.to_owned(), task, None).await?.job, model_calls))
    }
}
