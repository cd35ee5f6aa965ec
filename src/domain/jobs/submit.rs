//! Checking requests and queueing them as jobs.

use crate::domain::evaluation::run::RunRequest;
use crate::domain::ingest::publish::file_stream;
use crate::domain::ingest::source::incoming;
use crate::domain::ingest::uploads::Whole;
use crate::domain::ingest::{IngestFields, Source, Spooled};
use crate::domain::jobs::{Idempotency, Job, Jobs, Submitted, Task};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::urls::{check_url, without_secrets};
use crate::domain::kernel::video::VideoId;
use crate::domain::kernel::webhook::Webhook;

impl IngestFields {
    /// What the key stands for: these fields and the source. A request that is sent again may be
    /// signed anew.
    fn idempotency(&self, source: &str) -> Option<Idempotency> {
        let key = self.idempotency_key.clone()?;
        // Nothing where nothing is said: as requests of earlier versions are told apart.
        let about = match self.about.is_empty() {
            true => String::new(),
            false => format!("\n{:?}", self.about),
        };
        let track = self.audio_track.map_or_else(String::new, |track| format!("\n{track}"));
        let request = format!(
            "{source}\n{}\n{:?}\n{:?}\n{:?}{}{track}",
            self.analyzers,
            self.chunking,
            self.callback_url.as_deref().map(without_secrets),
            self.max_model_calls,
            about
        );
        Some(Idempotency { key, request, access: self.access.clone() })
    }
}

impl Jobs {
    /// Queues the ingest of an uploaded file. `filename` is the client's.
    pub async fn ingest_file(
        &self,
        filename: Option<&str>,
        file: Spooled,
        fields: IngestFields,
    ) -> Result<Job> {
        self.check(&fields).await?;
        let idempotency = fields.idempotency(file.video_id.as_str());
        let name = filename.map(str::to_owned);
        let Spooled { path, video_id, size } = file;
        if self.shared() {
            if let Some(job) = self.admit(idempotency.as_ref()).await? {
                return Ok(job);
            }
            let key = incoming();
            let content = file_stream(&path).await?;
            self.storage.put(&key, content, "application/octet-stream").await?;
            return self.submit(Source::Stored { key, name }, fields, idempotency).await;
        }
        let source = Source::File { path: path.to_path_buf(), video_id, size, name };
        let job = self.submit(source, fields, idempotency).await?;
        // From here on the file is the job's.
        path.keep().map_err(|e| e.error)?;
        Ok(job)
    }

    /// Queues the ingest of an upload that came in pieces. `Unprocessable` where some are missing.
    pub async fn ingest_upload(&self, upload_id: &str, fields: IngestFields) -> Result<Job> {
        self.check(&fields).await?;
        let Whole { video_id, name } = self.ingest.uploads.whole(&fields.access, upload_id).await?;
        let idempotency = fields.idempotency(video_id.as_str());
        self.submit(Source::Upload { id: upload_id.to_owned(), name }, fields, idempotency).await
    }

    /// Queues the ingest of an http(s) URL.
    pub async fn ingest_url(&self, url: &str, fields: IngestFields) -> Result<Job> {
        check_url(url)?;
        self.check(&fields).await?;
        let idempotency = fields.idempotency(&without_secrets(url));
        self.submit(Source::Url { url: url.to_owned() }, fields, idempotency).await
    }

    pub(super) fn callback(&self, fields: &IngestFields) -> Result<Option<Webhook>> {
        let (webhooks, settings) = (&self.webhooks, &self.callbacks);
        let to = |url: &String| Webhook::to("callback_url", url, webhooks.clone(), settings);
        fields.callback_url.as_ref().map(to).transpose()
    }

    /// Checks the fields that can be checked while the caller waits.
    async fn check(&self, fields: &IngestFields) -> Result<()> {
        self.callback(fields)?;
        self.ingest.request(fields).await?;
        self.ingest.announce(&fields.about).await
    }

    async fn submit(
        &self,
        source: Source,
        fields: IngestFields,
        idempotency: Option<Idempotency>,
    ) -> Result<Job> {
        let task = Task::Ingest { source: source.clone(), fields: Box::new(fields) };
        // On an error the job may have been added all the same, and need its source.
        let Submitted { job, before } = self.add(source.name(), task, idempotency).await?;
        if before {
            self.ingest.discard_source(&source, false).await;
        }
        Ok(job)
    }

    /// Queues a re-run of the named aggregators, or of all.
    pub async fn rerun_aggregates(
        &self,
        video_id: VideoId,
        aggregators: Option<Vec<String>>,
        force: bool,
    ) -> Result<Job> {
        self.ingest.catalog.aggregators.select(aggregators.as_deref())?;
        let filename = self.ingest.catalog.record(video_id).await?.filename;
        let task = Task::Aggregate { video_id, aggregators, force };
        Ok(self.add(filename, task, None).await?.job)
    }

    /// Queues a run of an evaluation; answers as well with the billed model calls that it makes at most,
    /// repetitions aside.
    pub async fn evaluate(&self, evaluation: &str, request: RunRequest) -> Result<(Job, u32)> {
        let model_calls = self.evaluations.plan(evaluation, &request).await?;
        let task = Task::Evaluate { evaluation: evaluation.to_owned(), request: Box::new(request) };
        Ok((self.add(evaluation.to_owned(), task, None).await?.job, model_calls))
    }
}
