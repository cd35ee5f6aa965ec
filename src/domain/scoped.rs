//! The service restricted to one caller's access. HTTP handlers and agent tools reach the use-cases
//! only through this module. Videos that the caller may not see appear to be missing, and forbidden
//! changes are rejected.
//!
//! Three methods give access to the service: [`Scoped::for_video`] for operations on one video,
//! [`Scoped::for_write`] for changes, and [`Scoped::with_access`] for operations that filter by the
//! caller's [`Access`] themselves.

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
use crate::alerts::{Alert, AlertSearch};
use crate::analysis::correction::Correction;
use crate::analysis::extraction::ExtractorDefinition;
use crate::answering::ask::{AskEvent, AskResponse, Question};
use crate::answering::evidence::{EvidenceQuery, EvidenceResult};
use crate::answering::query::QueryResponse;
use crate::chunking::ChunkingFields;
use crate::corrections::CorrectionDraft;
use crate::evaluation::questions::EvaluationQuestion;
use crate::evaluation::run::{EvaluationRun, RunRequest};
use crate::evaluation::{Evaluation, EvaluationSummary};
use crate::export::library::{LibraryExport, LibraryFormat};
use crate::export::{CaptionOptions, Export, PartFields};
use crate::frames::{ClipFile, ClipOutline, Peaks, Storyboard};
use crate::ingest::plan::{IngestPlan, PlanSource};
use crate::ingest::preview::ChunkingPreview;
use crate::ingest::uploads::{UploadState, UploadWriter};
use crate::ingest::{IngestFields, Spool, SpooledFile};
use crate::jobs::Job;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::token_budget::TokenCounter;
use crate::kernel::video::{ChunkId, VideoId};
use crate::library::aggregates::Aggregates;
use crate::library::chunks::{ChunkPage, ChunkQuery, ChunkView};
use crate::library::collections::{CollectionChange, CollectionList};
use crate::library::entities::EntityList;
use crate::library::extractors::ExtractorDraft;
use crate::library::moments::{MissingMoment, Moment};
use crate::library::transcript::VideoTranscript;
use crate::library::videos::{VideoDetail, VideoList, VideoQuery};
use crate::publishing::removal::VideoDeletion;
use crate::records::metadata::{MetadataKeys, MetadataPatch};
use crate::search::values::{Values, ValuesQuery};
use crate::search::{SearchRequest, SearchResult, Thresholds};
use crate::status::{ProbeOutcome, Schema};

/// The use-cases for one caller. This type only checks permissions. For documentation, see the
/// use-cases that its methods call.
#[derive(Clone)]
pub struct Scoped {
    service: Arc<Shotlog>,
    access: Access,
}

impl Scoped {
    pub(super) fn new(service: Arc<Shotlog>, access: Access) -> Self {
        Self { service, access }
    }

    /// Gives access to the service for an operation on a video. Returns `NotFound` if the caller
    /// may not see the video.
    async fn for_video(&self, video_id: VideoId) -> Result<&Arc<Shotlog>> {
        self.service.catalog.records.check_visible(&self.access, video_id).await?;
        Ok(&self.service)
    }

    /// Gives access to the service for a change. Returns `Forbidden` if the caller has read-only
    /// access.
    fn for_write(&self) -> Result<&Arc<Shotlog>> {
        self.access.check_write()?;
        Ok(&self.service)
    }

    /// Checks that the caller may make changes and returns `Forbidden` if not. Call this before
    /// reading a long request body.
    pub fn check_write(&self) -> Result<()> {
        self.access.check_write()
    }

    /// Gives access to the service, together with the caller's access rights, for an operation that
    /// filters by access itself.
    fn with_access(&self) -> (&Arc<Shotlog>, &Access) {
        (&self.service, &self.access)
    }
}

/// Videos and their stored results.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn videos(&self, page: &VideoQuery) -> Result<VideoList> {
        let (service, access) = self.with_access();
        service.catalog.library.videos(access, page).await
    }

    pub async fn video(&self, video_id: VideoId) -> Result<VideoDetail> {
        self.for_video(video_id).await?.catalog.library.video(video_id).await
    }

    pub async fn update_metadata(
        &self,
        video_id: VideoId,
        patch: &MetadataPatch,
    ) -> Result<VideoDetail> {
        self.for_write()?;
        let service = self.for_video(video_id).await?;
        patch.check_collection(&self.access)?;
        service.metadata.update(video_id, patch).await
    }

    pub async fn delete_video(&self, video_id: VideoId) -> Result<VideoDeletion> {
        self.for_write()?;
        self.for_video(video_id).await?.delete_video(video_id).await
    }

    pub async fn media_url(&self, video_id: VideoId) -> Result<String> {
        self.for_video(video_id).await?.catalog.library.media_url(video_id).await
    }

    /// Returns a cached response about a video; see `ResponseCache::get_or_encode`.
    pub async fn cached_response<E: From<Error>>(
        &self,
        video_id: VideoId,
        name: &str,
        encode: impl Future<Output = std::result::Result<Bytes, E>>,
    ) -> std::result::Result<Bytes, E> {
        self.for_video(video_id)
            .await?
            .catalog
            .responses
            .get_or_encode(video_id, name, encode)
            .await
    }

    pub async fn chunks(&self, video_id: VideoId, query: ChunkQuery) -> Result<ChunkPage> {
        self.for_video(video_id).await?.catalog.library.chunks(video_id, query).await
    }

    pub async fn chunk(
        &self,
        video_id: VideoId,
        chunk_id: ChunkId,
        verbose: bool,
    ) -> Result<ChunkView> {
        self.for_video(video_id).await?.catalog.library.chunk(video_id, chunk_id, verbose).await
    }

    pub async fn transcript(
        &self,
        video_id: VideoId,
        after: Option<f64>,
        before: Option<f64>,
    ) -> Result<VideoTranscript> {
        self.for_video(video_id).await?.catalog.library.transcript(video_id, after, before).await
    }

    pub async fn aggregates(&self, video_id: VideoId) -> Result<Aggregates> {
        self.for_video(video_id).await?.catalog.library.aggregates(video_id).await
    }

    pub async fn aggregate(&self, video_id: VideoId, aggregator: &str) -> Result<Value> {
        self.for_video(video_id).await?.catalog.library.aggregate(video_id, aggregator).await
    }

    pub async fn entities(&self, video_id: VideoId, min_appearances: u32) -> Result<EntityList> {
        self.for_video(video_id).await?.catalog.library.entities(video_id, min_appearances).await
    }

    pub async fn moment(&self, id: &MomentId) -> Result<Moment> {
        let (service, access) = self.with_access();
        service.catalog.library.moment(access, id).await
    }

    pub async fn moments(
        &self,
        ids: Vec<MomentId>,
    ) -> Result<Vec<std::result::Result<Moment, MissingMoment>>> {
        let (service, access) = self.with_access();
        service.catalog.library.moments(access, ids).await
    }

    pub async fn export(
        &self,
        video_id: VideoId,
        format: &str,
        captions: CaptionOptions,
        part: PartFields,
    ) -> Result<Export> {
        self.for_video(video_id).await?.exports.export(video_id, format, captions, part).await
    }

    pub async fn export_library(
        &self,
        video_ids: Option<&[String]>,
        filters: &Map<String, Value>,
        format: LibraryFormat,
    ) -> Result<LibraryExport> {
        let (service, access) = self.with_access();
        service.exports.export_library(access, video_ids, filters, format).await
    }

    pub async fn frame(&self, video_id: VideoId, time: f64, width: u32) -> Result<Bytes> {
        self.for_video(video_id).await?.frames.frame(video_id, time, width).await
    }

    pub async fn clip(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
        exact: bool,
    ) -> Result<ClipFile> {
        self.for_video(video_id).await?.frames.clip(video_id, start, end, exact).await
    }

    pub async fn clip_outline(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
        exact: bool,
    ) -> Result<ClipOutline> {
        self.for_video(video_id).await?.frames.clip_outline(video_id, start, end, exact).await
    }

    pub async fn peaks(&self, video_id: VideoId, buckets: u32) -> Result<Peaks> {
        self.for_video(video_id).await?.frames.peaks(video_id, buckets).await
    }

    pub async fn storyboard(&self, video_id: VideoId) -> Result<Storyboard> {
        self.for_video(video_id).await?.frames.storyboard(video_id).await
    }

    pub async fn storyboard_sheet(&self, video_id: VideoId) -> Result<Bytes> {
        self.for_video(video_id).await?.frames.storyboard_sheet(video_id).await
    }

    pub async fn preview_chunking(
        &self,
        video_id: VideoId,
        fields: &ChunkingFields,
    ) -> Result<ChunkingPreview> {
        self.for_video(video_id).await?.planner.preview_chunking(video_id, fields).await
    }

    pub async fn object_info(&self, key: &str) -> Result<ObjectInfo> {
        self.for_object(key).await?.catalog.library.object_info(key).await
    }

    pub async fn object(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        self.for_object(key).await?.catalog.library.object(key, range).await
    }

    /// Gives access to the service for an operation on one of a video's stored objects.
    async fn for_object(&self, key: &str) -> Result<&Arc<Shotlog>> {
        let (folder, _) = key.split_once('/').unwrap_or((key, ""));
        let absent = |error| match error {
            Error::NotFound(_) => Error::NotFound(format!("no stored object '{key}'")),
            other => other,
        };
        match folder.parse() {
            Ok(video_id) => self.for_video(video_id).await.map_err(absent),
            // An object that belongs to no video is invisible to a restricted caller.
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
        let (service, access) = self.with_access();
        service.catalog.listing.collections(access, after, limit).await
    }

    pub async fn change_collection(&self, name: &str, change: CollectionChange) -> Result<Job> {
        self.for_write()?.jobs.change_collection(&self.access, name, change).await
    }
}

/// Extractors, which belong to the whole install.
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
        self.access.check_unrestricted()?;
        self.for_write()?.extractors.put(name, draft).await
    }

    pub async fn delete_extractor(&self, name: &str) -> Result<()> {
        self.access.check_unrestricted()?;
        self.for_write()?.extractors.delete(name).await
    }
}

/// Evaluations, which belong to the whole install and require unrestricted access.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn evaluations(&self) -> Result<Vec<EvaluationSummary>> {
        self.access.check_unrestricted()?;
        self.service.evaluations.list().await
    }

    pub async fn evaluation(&self, name: &str) -> Result<Evaluation> {
        self.access.check_unrestricted()?;
        self.service.evaluations.get(name).await
    }

    pub async fn put_evaluation(
        &self,
        name: &str,
        questions: Vec<EvaluationQuestion>,
    ) -> Result<Evaluation> {
        self.access.check_unrestricted()?;
        self.for_write()?.evaluations.put(name, questions).await
    }

    pub async fn delete_evaluation(&self, name: &str) -> Result<()> {
        self.access.check_unrestricted()?;
        self.for_write()?.evaluations.delete(name).await
    }

    pub async fn evaluate(&self, name: &str, request: RunRequest) -> Result<(Job, u32)> {
        self.access.check_unrestricted()?;
        self.for_write()?.jobs.evaluate(name, request).await
    }

    pub async fn evaluation_run(&self, name: &str, run_id: &str) -> Result<EvaluationRun> {
        self.access.check_unrestricted()?;
        self.service.evaluations.get_run(name, run_id).await
    }
}

/// Alerts, which search all videos and require unrestricted access.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn alerts(&self) -> Result<Vec<Alert>> {
        self.access.check_unrestricted()?;
        self.service.alerts.list().await
    }

    pub async fn alert(&self, name: &str) -> Result<Alert> {
        self.access.check_unrestricted()?;
        self.service.alerts.get(name).await
    }

    pub async fn put_alert(
        &self,
        name: &str,
        search: AlertSearch,
        webhook: String,
    ) -> Result<Alert> {
        self.access.check_unrestricted()?;
        self.for_write()?.alerts.put(name, search, webhook).await
    }

    pub async fn delete_alert(&self, name: &str) -> Result<()> {
        self.access.check_unrestricted()?;
        self.for_write()?.alerts.delete(name).await
    }

    pub async fn test_alert(&self, name: &str) -> Result<Vec<SearchResult>> {
        self.access.check_unrestricted()?;
        self.service.alerts.test(name).await
    }

    pub async fn retry_alert(&self, name: &str) -> Result<Vec<Job>> {
        self.access.check_unrestricted()?;
        self.for_write()?.jobs.retry_alert(name).await
    }
}

/// Searches and questions.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn query(&self, request: &SearchRequest, synthesize: bool) -> Result<QueryResponse> {
        let (service, access) = self.with_access();
        service.answering.query(access, request, synthesize).await
    }

    pub async fn values(&self, query: &ValuesQuery) -> Result<Values> {
        let (service, access) = self.with_access();
        service.filter_values.values(access, query).await
    }

    pub async fn evidence(&self, query: EvidenceQuery) -> Result<EvidenceResult> {
        let (service, access) = self.with_access();
        service.answering.evidence(access, query).await
    }

    pub async fn ask(&self, question: Question) -> Result<AskResponse> {
        let (service, access) = self.with_access();
        service.answering.ask(access, question).await
    }

    /// Does the same as [`Self::ask`], but returns a stream of events. An error ends the stream.
    pub fn ask_stream(&self, question: Question) -> BoxStream<'static, Result<AskEvent>> {
        let (sink, events) = futures::channel::mpsc::unbounded();
        let caller = self.clone();
        let work = async move {
            let (service, access) = caller.with_access();
            let answer = service.answering.ask_stream(access, question, Some(&sink)).await;
            // The client may have disconnected.
            let _ = sink.unbounded_send(answer.map(|answer| AskEvent::Answer(answer.into())));
        };
        // The work continues only while the stream is polled.
        let work = stream::once(work).filter_map(|()| ready(None));
        stream::select(events, work).boxed()
    }

    pub fn tokens(&self) -> &TokenCounter {
        &self.service.tokens
    }
}

/// Ingests and other jobs.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn spool_upload(&self) -> Result<Spool> {
        self.for_write()?.sources.spool_upload().await
    }

    pub async fn ingest_file(
        &self,
        filename: Option<&str>,
        file: SpooledFile,
        fields: IngestFields,
    ) -> Result<Job> {
        self.for_write()?.jobs.ingest_file(filename, file, self.with_caller(fields)?).await
    }

    pub async fn ingest_upload(&self, upload_id: &str, fields: IngestFields) -> Result<Job> {
        self.for_write()?.jobs.ingest_upload(upload_id, self.with_caller(fields)?).await
    }

    pub async fn ingest_url(&self, url: &str, fields: IngestFields) -> Result<Job> {
        self.for_write()?.jobs.ingest_url(url, self.with_caller(fields)?).await
    }

    /// Adds the caller's access to an ingest's fields. If the caller's access is restricted, also
    /// adds the default collection.
    fn with_caller(&self, mut fields: IngestFields) -> Result<IngestFields> {
        fields.metadata.assign_collection(&self.access)?;
        fields.access = self.access.clone();
        Ok(fields)
    }

    pub async fn plan(
        &self,
        source: &PlanSource,
        duration: Option<f64>,
        fields: &IngestFields,
    ) -> Result<IngestPlan> {
        let (service, access) = self.with_access();
        service.planner.plan(access, source, duration, fields).await
    }

    pub async fn rerun_aggregates(
        &self,
        video_id: VideoId,
        aggregators: Option<Vec<String>>,
        force: bool,
    ) -> Result<Job> {
        self.for_write()?;
        self.for_video(video_id).await?.jobs.rerun_aggregates(video_id, aggregators, force).await
    }

    pub async fn corrections(&self, video_id: VideoId) -> Result<Vec<Correction>> {
        self.for_video(video_id).await?.catalog.records.video_corrections(video_id).await
    }

    pub async fn correct(
        &self,
        video_id: VideoId,
        drafts: Vec<CorrectionDraft>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        self.for_write()?;
        self.for_video(video_id).await?.jobs.correct(video_id, drafts, aggregate).await
    }

    pub async fn undo_corrections(
        &self,
        video_id: VideoId,
        id: Option<String>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        self.for_write()?;
        self.for_video(video_id).await?.jobs.undo_corrections(video_id, id, aggregate).await
    }

    pub async fn jobs(&self) -> Result<Vec<Job>> {
        let (service, access) = self.with_access();
        service.jobs.list_visible(access).await
    }

    pub async fn job(&self, job_id: &str) -> Result<Job> {
        let (service, access) = self.with_access();
        service.jobs.get_visible(access, job_id).await
    }

    pub async fn watch_job(&self, job_id: &str) -> Result<BoxStream<'static, Job>> {
        self.job(job_id).await?;
        self.service.jobs.watch(job_id).await
    }

    pub async fn cancel_job(&self, job_id: &str) -> Result<Job> {
        let service = self.for_write()?;
        self.job(job_id).await?;
        service.jobs.cancel(job_id).await
    }
}

/// Resumable uploads, visible to the caller that began them.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub fn max_upload_bytes(&self) -> u64 {
        self.service.sources.uploads.max_bytes()
    }

    pub async fn begin_upload(
        &self,
        length: u64,
        filename: Option<String>,
        metadata: String,
    ) -> Result<UploadState> {
        let uploads = &self.for_write()?.sources.uploads;
        uploads.begin(&self.access, length, filename, metadata).await
    }

    pub async fn upload(&self, id: &str) -> Result<UploadState> {
        let (service, access) = self.with_access();
        service.sources.uploads.state(access, id).await
    }

    pub async fn append_to_upload(
        &self,
        id: &str,
        offset: u64,
        checksum: Option<[u8; 20]>,
    ) -> Result<UploadWriter> {
        self.for_write()?.sources.uploads.append(&self.access, id, offset, checksum).await
    }

    pub async fn remove_upload(&self, id: &str) -> Result<()> {
        self.for_write()?.sources.uploads.remove(&self.access, id).await
    }
}

/// Information about the install.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn schema(&self) -> Schema {
        // Another instance may have changed the extractors. On an error, use the ones that are
        // already loaded.
        let _ = self.service.catalog.extractors.load().await;
        self.service.status.schema()
    }

    pub async fn metadata_keys(&self) -> Result<MetadataKeys> {
        let (service, access) = self.with_access();
        service.catalog.metadata.visible_keys(access).await
    }

    pub fn recommended_thresholds(&self) -> Thresholds {
        self.service.search.calibrator.recommended_thresholds()
    }

    /// Updates the gauges. Returns `Forbidden` if the caller's access is restricted, since the
    /// gauges count all videos.
    pub async fn refresh_gauges(&self) -> Result<ProbeOutcome> {
        self.access.check_unrestricted()?;
        Ok(self.service.status.refresh_gauges().await)
    }
}
