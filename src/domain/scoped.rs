//! The service as one caller may use it: the only way of HTTP handlers and of agents' tools to the
//! use-cases. What the caller does not see is as if it were not there, and what they may not change is
//! refused.
//!
//! The service is reached through three doors: [`Scoped::of`] for what is of one video,
//! [`Scoped::to_change`] for what changes anything, and [`Scoped::within`] for what takes the caller's
//! [`Access`] along and leaves out by itself what it does not reach.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use futures::future::ready;
use futures::stream::{self, BoxStream};
use ports::ByteStream;
use ports::storage::ObjectInfo;
use serde_json::{Map, Value};

use super::Shotlog;
use crate::domain::alerts::{Alert, AlertSearch};
use crate::domain::analysis::correction::Correction;
use crate::domain::analysis::extraction::ExtractorDefinition;
use crate::domain::answering::ask::{AskEvent, AskResponse, Question};
use crate::domain::answering::evidence::{EvidenceQuery, FoundEvidence};
use crate::domain::answering::query::QueryResponse;
use crate::domain::catalog::about::{AboutPatch, MetadataKeys};
use crate::domain::catalog::aggregates::Aggregates;
use crate::domain::catalog::chunks::{ChunkPage, ChunkQuery, ChunkView};
use crate::domain::catalog::collections::{CollectionChange, CollectionList};
use crate::domain::catalog::entities::EntityList;
use crate::domain::catalog::extractors::ExtractorDraft;
use crate::domain::catalog::moments::{MissingMoment, Moment};
use crate::domain::catalog::transcript::Transcript;
use crate::domain::catalog::videos::{Deleted, VideoDetail, VideoList, VideoPage};
use crate::domain::chunking::ChunkingFields;
use crate::domain::evaluation::questions::Question as JudgedQuestion;
use crate::domain::evaluation::run::{Run, RunRequest};
use crate::domain::evaluation::{Evaluation, EvaluationSummary};
use crate::domain::export::library::{LibraryExport, LibraryFormat};
use crate::domain::export::{CaptionOptions, Export, PartFields};
use crate::domain::frames::{ClipFile, ClipOutline, Peaks, Storyboard};
use crate::domain::ingest::correct::CorrectionDraft;
use crate::domain::ingest::plan::{IngestPlan, Subject};
use crate::domain::ingest::preview::ChunkingPreview;
use crate::domain::ingest::uploads::{Appending, UploadState};
use crate::domain::ingest::{IngestFields, Spool, Spooled};
use crate::domain::jobs::Job;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::tokens::Tokens;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::search::values::{Values, ValuesQuery};
use crate::domain::search::{Query, SearchResult, Thresholds};
use crate::domain::status::{Outcome, Schema};

/// The use-cases for one caller. Each is described where it is: here stands who may.
#[derive(Clone)]
pub struct Scoped {
    service: Arc<Shotlog>,
    access: Access,
}

impl Scoped {
    pub(super) fn new(service: Arc<Shotlog>, access: Access) -> Self {
        Self { service, access }
    }

    /// The service, for what is of a video; `NotFound` where the caller does not see that.
    async fn of(&self, video_id: VideoId) -> Result<&Arc<Shotlog>> {
        self.service.catalog.check_seen(&self.access, video_id).await?;
        Ok(&self.service)
    }

    /// The service, for what changes anything; `Forbidden` where the caller only reads.
    fn to_change(&self) -> Result<&Arc<Shotlog>> {
        self.access.check_change()?;
        Ok(&self.service)
    }

    /// `Forbidden` where the caller only reads: asked before a long request is taken in.
    pub fn check_change(&self) -> Result<()> {
        self.access.check_change()
    }

    /// The service, for what takes the access along.
    fn within(&self) -> (&Arc<Shotlog>, &Access) {
        (&self.service, &self.access)
    }
}

/// Videos, and what is stored of them.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn videos(&self, page: &VideoPage) -> Result<VideoList> {
        let (service, access) = self.within();
        service.catalog.videos(access, page).await
    }

    pub async fn video(&self, video_id: VideoId) -> Result<VideoDetail> {
        self.of(video_id).await?.catalog.video(video_id).await
    }

    pub async fn annotate(&self, video_id: VideoId, patch: &AboutPatch) -> Result<VideoDetail> {
        self.to_change()?;
        let service = self.of(video_id).await?;
        patch.check_place(&self.access)?;
        service.ingest.annotate(video_id, patch).await
    }

    pub async fn delete_video(&self, video_id: VideoId) -> Result<Deleted> {
        self.to_change()?;
        self.of(video_id).await?.delete_video(video_id).await
    }

    pub async fn media_url(&self, video_id: VideoId) -> Result<String> {
        self.of(video_id).await?.catalog.media_url(video_id).await
    }

    /// What `write` makes of a video, or what it has made of it as it is: see [`Catalog::written`].
    pub(crate) async fn written<E: From<Error>>(
        &self,
        video_id: VideoId,
        name: &str,
        write: impl Future<Output = std::result::Result<Bytes, E>>,
    ) -> std::result::Result<Bytes, E> {
        self.of(video_id).await?.catalog.written(video_id, name, write).await
    }

    pub async fn chunks(&self, video_id: VideoId, query: ChunkQuery) -> Result<ChunkPage> {
        self.of(video_id).await?.catalog.chunks(video_id, query).await
    }

    pub async fn chunk(
        &self,
        video_id: VideoId,
        chunk_id: ChunkId,
        verbose: bool,
    ) -> Result<ChunkView> {
        self.of(video_id).await?.catalog.chunk(video_id, chunk_id, verbose).await
    }

    pub async fn transcript(
        &self,
        video_id: VideoId,
        after: Option<f64>,
        before: Option<f64>,
    ) -> Result<Transcript> {
        self.of(video_id).await?.catalog.transcript(video_id, after, before).await
    }

    pub async fn aggregates(&self, video_id: VideoId) -> Result<Aggregates> {
        self.of(video_id).await?.catalog.aggregates(video_id).await
    }

    pub async fn aggregate(&self, video_id: VideoId, aggregator: &str) -> Result<Value> {
        self.of(video_id).await?.catalog.aggregate(video_id, aggregator).await
    }

    pub async fn entities(&self, video_id: VideoId, min_appearances: u32) -> Result<EntityList> {
        self.of(video_id).await?.catalog.entities(video_id, min_appearances).await
    }

    pub async fn moment(&self, id: &MomentId) -> Result<Moment> {
        let (service, access) = self.within();
        service.catalog.moment(access, id).await
    }

    pub async fn moments(
        &self,
        ids: Vec<MomentId>,
    ) -> Result<Vec<std::result::Result<Moment, MissingMoment>>> {
        let (service, access) = self.within();
        service.catalog.moments(access, ids).await
    }

    pub async fn export(
        &self,
        video_id: VideoId,
        format: &str,
        captions: CaptionOptions,
        part: PartFields,
    ) -> Result<Export> {
        self.of(video_id).await?.exports.export(video_id, format, captions, part).await
    }

    pub async fn export_library(
        &self,
        video_ids: Option<&[String]>,
        filters: &Map<String, Value>,
        format: LibraryFormat,
    ) -> Result<LibraryExport> {
        let (service, access) = self.within();
        service.exports.export_library(access, video_ids, filters, format).await
    }

    pub async fn frame(&self, video_id: VideoId, time: f64, width: u32) -> Result<Bytes> {
        self.of(video_id).await?.frames.frame(video_id, time, width).await
    }

    pub async fn clip(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
        exact: bool,
    ) -> Result<ClipFile> {
        self.of(video_id).await?.frames.clip(video_id, start, end, exact).await
    }

    pub async fn clip_outline(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
        exact: bool,
    ) -> Result<ClipOutline> {
        self.of(video_id).await?.frames.clip_outline(video_id, start, end, exact).await
    }

    pub async fn peaks(&self, video_id: VideoId, buckets: u32) -> Result<Peaks> {
        self.of(video_id).await?.frames.peaks(video_id, buckets).await
    }

    pub async fn storyboard(&self, video_id: VideoId) -> Result<Storyboard> {
        self.of(video_id).await?.frames.storyboard(video_id).await
    }

    pub async fn storyboard_sheet(&self, video_id: VideoId) -> Result<Bytes> {
        self.of(video_id).await?.frames.storyboard_sheet(video_id).await
    }

    pub async fn preview_chunking(
        &self,
        video_id: VideoId,
        fields: &ChunkingFields,
    ) -> Result<ChunkingPreview> {
        self.of(video_id).await?.ingest.preview_chunking(video_id, fields).await
    }

    pub async fn object_info(&self, key: &str) -> Result<ObjectInfo> {
        self.of_object(key).await?.catalog.object_info(key).await
    }

    pub async fn object(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        self.of_object(key).await?.catalog.object(key, range).await
    }

    /// The service, for an object of a video.
    async fn of_object(&self, key: &str) -> Result<&Arc<Shotlog>> {
        let (folder, _) = key.split_once('/').unwrap_or((key, ""));
        let absent = |error| match error {
            Error::NotFound(_) => Error::NotFound(format!("no stored object '{key}'")),
            other => other,
        };
        match folder.parse() {
            Ok(video_id) => self.of(video_id).await.map_err(absent),
            // Of no video: there is none that the caller sees.
            Err(_) if self.access.collections().is_some() => {
                Err(Error::NotFound(format!("no stored object '{key}'")))
            }
            Err(_) => Ok(&self.service),
        }
    }
}

/// Collections.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn collections(&self, after: Option<&str>, limit: usize) -> Result<CollectionList> {
        let (service, access) = self.within();
        service.catalog.collections(access, after, limit).await
    }

    pub async fn change_collection(&self, name: &str, change: CollectionChange) -> Result<Job> {
        self.to_change()?.jobs.change_collection(&self.access, name, change).await
    }
}

/// Extractors: they are of the whole install.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn extractors(&self) -> Result<Vec<ExtractorDefinition>> {
        self.service.extractors.list().await
    }

    pub async fn extractor(&self, name: &str) -> Result<ExtractorDefinition> {
        self.service.extractors.get(name).await
    }

    pub async fn put_extractor(
        &self,
        name: &str,
        draft: &ExtractorDraft,
    ) -> Result<ExtractorDefinition> {
        self.access.check_everything()?;
        self.to_change()?.extractors.put(name, draft).await
    }

    pub async fn delete_extractor(&self, name: &str) -> Result<()> {
        self.access.check_everything()?;
        self.to_change()?.extractors.delete(name).await
    }
}

/// Evaluations: they are of the whole install, and nothing of them is seen by who sees a part of it.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn evaluations(&self) -> Result<Vec<EvaluationSummary>> {
        self.access.check_everything()?;
        self.service.evaluations.list().await
    }

    pub async fn evaluation(&self, name: &str) -> Result<Evaluation> {
        self.access.check_everything()?;
        self.service.evaluations.get(name).await
    }

    pub async fn put_evaluation(
        &self,
        name: &str,
        questions: Vec<JudgedQuestion>,
    ) -> Result<Evaluation> {
        self.access.check_everything()?;
        self.to_change()?.evaluations.put(name, questions).await
    }

    pub async fn delete_evaluation(&self, name: &str) -> Result<()> {
        self.access.check_everything()?;
        self.to_change()?.evaluations.delete(name).await
    }

    pub async fn evaluate(&self, name: &str, request: RunRequest) -> Result<(Job, u32)> {
        self.access.check_everything()?;
        self.to_change()?.jobs.evaluate(name, request).await
    }

    pub async fn evaluation_run(&self, name: &str, run_id: &str) -> Result<Run> {
        self.access.check_everything()?;
        self.service.evaluations.get_run(name, run_id).await
    }
}

/// Alerts: they look at every video, and nothing of them is seen by who sees some.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn alerts(&self) -> Result<Vec<Alert>> {
        self.access.check_everything()?;
        self.service.alerts.list().await
    }

    pub async fn alert(&self, name: &str) -> Result<Alert> {
        self.access.check_everything()?;
        self.service.alerts.get(name).await
    }

    pub async fn put_alert(
        &self,
        name: &str,
        search: AlertSearch,
        webhook: String,
    ) -> Result<Alert> {
        self.access.check_everything()?;
        self.to_change()?.alerts.put(name, search, webhook).await
    }

    pub async fn delete_alert(&self, name: &str) -> Result<()> {
        self.access.check_everything()?;
        self.to_change()?.alerts.delete(name).await
    }

    pub async fn test_alert(&self, name: &str) -> Result<Vec<SearchResult>> {
        self.access.check_everything()?;
        self.service.alerts.test(name).await
    }

    pub async fn retry_alert(&self, name: &str) -> Result<Vec<Job>> {
        self.access.check_everything()?;
        self.to_change()?.jobs.retry_alert(name).await
    }
}

/// Searches and questions.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn query(&self, query: Query) -> Result<QueryResponse> {
        let (service, access) = self.within();
        service.answering.query(access, query).await
    }

    pub async fn values(&self, query: &ValuesQuery) -> Result<Values> {
        let (service, access) = self.within();
        service.search.values(access, query).await
    }

    pub async fn evidence(&self, query: EvidenceQuery) -> Result<FoundEvidence> {
        let (service, access) = self.within();
        service.answering.evidence(access, query).await
    }

    pub async fn ask(&self, question: Question) -> Result<AskResponse> {
        let (service, access) = self.within();
        service.answering.ask(access, question).await
    }

    /// As [`Self::ask`], told as it becomes known; an error ends it.
    pub fn ask_told(&self, question: Question) -> BoxStream<'static, Result<AskEvent>> {
        let (telling, told) = futures::channel::mpsc::unbounded();
        let caller = self.clone();
        let work = async move {
            let (service, access) = caller.within();
            let answer = service.answering.ask_telling(access, question, Some(&telling)).await;
            // Whoever asked may have gone.
            let _ = telling.unbounded_send(answer.map(|answer| AskEvent::Answer(answer.into())));
        };
        // It is worked on as long as somebody reads what is told.
        let work = stream::once(work).filter_map(|()| ready(None));
        stream::select(told, work).boxed()
    }

    pub fn tokens(&self) -> &Tokens {
        &self.service.tokens
    }
}

/// Ingests and other jobs.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn spool_upload(&self) -> Result<Spool> {
        self.to_change()?.ingest.spool_upload().await
    }

    pub async fn ingest_file(
        &self,
        filename: Option<&str>,
        file: Spooled,
        fields: IngestFields,
    ) -> Result<Job> {
        self.to_change()?.jobs.ingest_file(filename, file, self.placed(fields)?).await
    }

    pub async fn ingest_upload(&self, upload_id: &str, fields: IngestFields) -> Result<Job> {
        self.to_change()?.jobs.ingest_upload(upload_id, self.placed(fields)?).await
    }

    pub async fn ingest_url(&self, url: &str, fields: IngestFields) -> Result<Job> {
        self.to_change()?.jobs.ingest_url(url, self.placed(fields)?).await
    }

    /// The ingest in the caller's name, into a collection that they see.
    fn placed(&self, mut fields: IngestFields) -> Result<IngestFields> {
        fields.about.place(&self.access)?;
        fields.access = self.access.clone();
        Ok(fields)
    }

    pub async fn plan(
        &self,
        subject: &Subject,
        duration: Option<f64>,
        fields: &IngestFields,
    ) -> Result<IngestPlan> {
        let (service, access) = self.within();
        service.ingest.plan(access, subject, duration, fields).await
    }

    pub async fn rerun_aggregates(
        &self,
        video_id: VideoId,
        aggregators: Option<Vec<String>>,
        force: bool,
    ) -> Result<Job> {
        self.to_change()?;
        self.of(video_id).await?.jobs.rerun_aggregates(video_id, aggregators, force).await
    }

    pub async fn corrections(&self, video_id: VideoId) -> Result<Vec<Correction>> {
        self.of(video_id).await?.catalog.corrections_of(video_id).await
    }

    pub async fn correct(
        &self,
        video_id: VideoId,
        drafts: Vec<CorrectionDraft>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        self.to_change()?;
        self.of(video_id).await?.jobs.correct(video_id, drafts, aggregate).await
    }

    pub async fn undo_corrections(
        &self,
        video_id: VideoId,
        id: Option<String>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        self.to_change()?;
        self.of(video_id).await?.jobs.undo_corrections(video_id, id, aggregate).await
    }

    pub async fn jobs(&self) -> Result<Vec<Job>> {
        let (service, access) = self.within();
        service.jobs.list_seen(access).await
    }

    pub async fn job(&self, job_id: &str) -> Result<Job> {
        let (service, access) = self.within();
        service.jobs.get_seen(access, job_id).await
    }

    pub async fn watch_job(&self, job_id: &str) -> Result<BoxStream<'static, Job>> {
        self.job(job_id).await?;
        self.service.jobs.watch(job_id).await
    }

    pub async fn cancel_job(&self, job_id: &str) -> Result<Job> {
        let service = self.to_change()?;
        self.job(job_id).await?;
        service.jobs.cancel(job_id).await
    }
}

/// Uploads in pieces, each of those who began it.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub fn largest_upload(&self) -> u64 {
        self.service.ingest.uploads.largest()
    }

    pub async fn begin_upload(
        &self,
        length: u64,
        filename: Option<String>,
        metadata: String,
    ) -> Result<UploadState> {
        let uploads = &self.to_change()?.ingest.uploads;
        uploads.begin(&self.access, length, filename, metadata).await
    }

    pub async fn upload(&self, id: &str) -> Result<UploadState> {
        let (service, access) = self.within();
        service.ingest.uploads.state(access, id).await
    }

    pub async fn append_to_upload(
        &self,
        id: &str,
        offset: u64,
        checksum: Option<[u8; 20]>,
    ) -> Result<Appending> {
        self.to_change()?.ingest.uploads.append(&self.access, id, offset, checksum).await
    }

    pub async fn remove_upload(&self, id: &str) -> Result<()> {
        self.to_change()?.ingest.uploads.remove(&self.access, id).await
    }
}

/// What the install is.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn schema(&self) -> Schema {
        // Another instance may have defined some; without the records it is what is known here.
        let _ = self.service.catalog.load_extractors().await;
        self.service.status.schema()
    }

    pub async fn metadata_keys(&self) -> Result<MetadataKeys> {
        let (service, access) = self.within();
        service.catalog.metadata_keys_seen(access).await
    }

    pub fn recommended_thresholds(&self) -> Thresholds {
        self.service.search.recommended_thresholds()
    }

    /// `Forbidden` where the caller sees some videos only: counts are of all.
    pub async fn measured(&self) -> Result<Outcome> {
        self.access.check_everything()?;
        Ok(self.service.status.measured().await)
    }
}
