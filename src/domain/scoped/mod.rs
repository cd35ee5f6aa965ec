//! The service restricted to one caller's access. HTTP handlers and agent tools reach the use-cases
//! only through this module. Each permission is a type, which only its check creates: [`Scoped`]
//! reads what the caller may see, [`VisibleVideo`] reads one video, [`OpenShare`] reads the clips of a share, [`Editor`] and [`EditableVideo`]
//! make changes, [`Install`] and [`InstallEditor`] reach what belongs to the whole install.

mod editor;
mod install;
mod people;
mod shares;
mod video;

use std::ops::Range;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::ready;
use futures::stream::{self, BoxStream};
use ports::storage::ObjectInfo;
use ports::{ByteStream, FrameRate};
use serde_json::{Map, Value};

use super::Shotlog;
use crate::analysis::extraction::ExtractorDefinition;
use crate::answering::ask::{AskEvent, AskResponse, Question};
use crate::answering::evidence::{EvidenceQuery, EvidenceResult};
use crate::answering::query::QueryResponse;
use crate::bins::select::SelectId;
use crate::bins::{Bin, BinId, BinList, BinQuery, SelectList, SelectView};
use crate::comments::activity::{ActivityList, ActivityQuery};
use crate::export::Export;
use crate::export::bin::{BinSelection, ClipArchive, StringOutOptions};
use crate::export::library::{LibraryExport, LibraryFormat};
use crate::frames::{ClipFile, SequencePlan};
use crate::ingest::IngestFields;
use crate::ingest::plan::{IngestPlan, PlanSource};
use crate::ingest::uploads::UploadState;
use crate::interval_search::page::{IntervalPage, IntervalQuery};
use crate::jobs::Job;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::token_budget::TokenCounter;
use crate::kernel::video::VideoId;
use crate::library::collections::CollectionList;
use crate::library::moments::{MissingMoment, Moment};
use crate::library::videos::{VideoList, VideoQuery};
use crate::records::metadata::MetadataKeys;
use crate::search::values::{Values, ValuesQuery};
use crate::search::{SearchRequest, Thresholds};
use crate::status::Schema;
pub use editor::Editor;
pub use install::{Install, InstallEditor};
pub use people::VisiblePeople;
pub use shares::{OpenShare, SharedClip, VisibleShares};
pub use video::{EditableVideo, VisibleVideo};

/// The use-cases for one caller. This type and the ones that it returns only check permissions. For
/// documentation, see the use-cases that their methods call.
#[derive(Clone)]
pub struct Scoped {
    service: Arc<Shotlog>,
    access: Access,
}

/// The checks of the caller's permissions.
impl Scoped {
    pub(super) fn new(service: Arc<Shotlog>, access: Access) -> Self {
        Self { service, access }
    }

    /// Returns the operations on a video. Returns `NotFound` if the caller may not see the video.
    pub async fn video(&self, video_id: VideoId) -> Result<VisibleVideo<'_>> {
        self.service.catalog.records.check_visible(&self.access, video_id).await?;
        Ok(VisibleVideo { service: &self.service, access: &self.access, video_id })
    }

    /// Returns the changes that the caller may make. Returns `Forbidden` if the caller has
    /// read-only access.
    pub fn for_write(&self) -> Result<Editor<'_>> {
        self.access.check_write()?;
        Ok(Editor(self))
    }

    /// Returns the operations on the whole install. Returns `Forbidden` if the caller's access is
    /// restricted to collections.
    pub fn unrestricted(&self) -> Result<Install<'_>> {
        self.access.check_unrestricted()?;
        Ok(Install(self))
    }
}

/// Operations that filter by the caller's access themselves.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn videos(&self, page: &VideoQuery) -> Result<VideoList> {
        self.service.catalog.library.videos(&self.access, page).await
    }

    pub async fn collections(&self, after: Option<&str>, limit: usize) -> Result<CollectionList> {
        self.service.catalog.listing.collections(&self.access, after, limit).await
    }

    pub async fn moment(&self, id: &MomentId) -> Result<Moment> {
        self.service.catalog.library.moment(&self.access, id).await
    }

    pub async fn moments(
        &self,
        ids: Vec<MomentId>,
    ) -> Result<Vec<std::result::Result<Moment, MissingMoment>>> {
        self.service.catalog.library.moments(&self.access, ids).await
    }

    pub async fn bins(&self, query: &BinQuery) -> Result<BinList> {
        self.service.catalog.bins.list(&self.access, query).await
    }

    pub async fn bin(&self, bin_id: &BinId) -> Result<Bin> {
        self.service.catalog.bins.get(&self.access, bin_id).await
    }

    pub async fn activity(&self, query: &ActivityQuery) -> Result<ActivityList> {
        self.service.catalog.comments.activity(&self.access, query).await
    }

    pub async fn selects(&self, bin_id: &BinId, offset: usize, limit: usize) -> Result<SelectList> {
        self.service.catalog.bins.selects(&self.access, bin_id, offset, limit).await
    }

    pub async fn select(&self, bin_id: &BinId, id: SelectId) -> Result<(Bin, SelectView)> {
        self.service.catalog.bins.select(&self.access, bin_id, id).await
    }

    pub async fn export_bin(
        &self,
        bin_id: &BinId,
        format: &str,
        frame_rate: Option<FrameRate>,
        selection: &BinSelection,
    ) -> Result<Export> {
        let Self { service, access } = self;
        service.exports.export_bin(access, bin_id, format, frame_rate, selection).await
    }

    pub async fn bin_clips(&self, bin_id: &BinId, selection: &BinSelection) -> Result<ClipArchive> {
        let Shotlog { exports, frames, .. } = &*self.service;
        exports.bin_clips(frames, &self.access, bin_id, selection).await
    }

    pub async fn string_out(
        &self,
        bin_id: &BinId,
        options: &StringOutOptions,
    ) -> Result<SequencePlan> {
        self.service.exports.string_out(&self.access, bin_id, options).await
    }

    pub async fn sequence(&self, plan: &SequencePlan) -> Result<ClipFile> {
        self.service.frames.sequence(plan).await
    }

    pub async fn cached_sequence(&self, plan: &SequencePlan) -> Option<ClipFile> {
        self.service.frames.cached_sequence(plan).await
    }

    pub async fn export_library(
        &self,
        video_ids: Option<&[String]>,
        filters: &Map<String, Value>,
        format: LibraryFormat,
    ) -> Result<LibraryExport> {
        self.service.exports.export_library(&self.access, video_ids, filters, format).await
    }

    pub async fn query(&self, request: &SearchRequest, synthesize: bool) -> Result<QueryResponse> {
        let Shotlog { answering, frames, search, .. } = &*self.service;
        let request = frames.with_example(search, &self.access, request).await?;
        answering.query(&self.access, &request, synthesize).await
    }

    pub async fn intervals(&self, query: IntervalQuery) -> Result<IntervalPage> {
        self.service.intervals.find(&self.access, query).await
    }

    pub async fn values(&self, query: &ValuesQuery) -> Result<Values> {
        self.service.filter_values.values(&self.access, query).await
    }

    pub async fn evidence(&self, query: EvidenceQuery) -> Result<EvidenceResult> {
        self.service.answering.evidence(&self.access, query).await
    }

    pub async fn ask(&self, question: Question) -> Result<AskResponse> {
        self.service.answering.ask(&self.access, question).await
    }

    /// Does the same as [`Self::ask`], but returns a stream of events. An error ends the stream.
    pub fn ask_stream(&self, question: Question) -> BoxStream<'static, Result<AskEvent>> {
        let (sink, events) = futures::channel::mpsc::unbounded();
        let Self { service, access } = self.clone();
        let work = async move {
            let answer = service.answering.ask_stream(&access, question, Some(&sink)).await;
            // The client may have disconnected.
            let _ = sink.unbounded_send(answer.map(|answer| AskEvent::Answer(answer.into())));
        };
        // The work continues only while the stream is polled.
        let work = stream::once(work).filter_map(|()| ready(None));
        stream::select(events, work).boxed()
    }

    pub async fn plan(
        &self,
        source: &PlanSource,
        duration: Option<f64>,
        fields: &IngestFields,
    ) -> Result<IngestPlan> {
        self.service.planner.plan(&self.access, source, duration, fields).await
    }

    pub async fn jobs(&self) -> Result<Vec<Job>> {
        self.service.jobs.store.list_visible(&self.access).await
    }

    pub async fn job(&self, job_id: &str) -> Result<Job> {
        self.service.jobs.store.get_visible(&self.access, job_id).await
    }

    pub async fn watch_job(&self, job_id: &str) -> Result<BoxStream<'static, Job>> {
        self.job(job_id).await?;
        self.service.jobs.store.watch(job_id).await
    }

    pub async fn upload(&self, id: &str) -> Result<UploadState> {
        self.service.sources.uploads.state(&self.access, id).await
    }

    pub async fn metadata_keys(&self) -> Result<MetadataKeys> {
        self.service.catalog.metadata.visible_keys(&self.access).await
    }
}

/// Stored objects of videos.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn object_info(&self, key: &str) -> Result<ObjectInfo> {
        self.check_object(key).await?;
        self.service.catalog.library.object_info(key).await
    }

    pub async fn object(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        self.check_object(key).await?;
        self.service.catalog.library.object(key, range).await
    }

    /// Checks that the caller may see the video that a stored object belongs to.
    async fn check_object(&self, key: &str) -> Result<()> {
        let (folder, _) = key.split_once('/').unwrap_or((key, ""));
        let absent = || Error::NotFound(format!("no stored object '{key}'"));
        match folder.parse() {
            Ok(video_id) => match self.video(video_id).await {
                Err(Error::NotFound(_)) => Err(absent()),
                visible => visible.map(drop),
            },
            // An object that belongs to no video is invisible to a restricted caller.
            Err(_) if self.access.collections().is_some() => Err(absent()),
            Err(_) => Ok(()),
        }
    }
}

/// Information that every caller may read.
#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl Scoped {
    pub async fn extractors(&self) -> Result<Vec<ExtractorDefinition>> {
        self.service.extractors.list().await
    }

    pub async fn extractor(&self, name: &str) -> Result<ExtractorDefinition> {
        self.service.extractors.get(name).await
    }

    pub async fn schema(&self) -> Schema {
        // Another instance may have changed the extractors. On an error, use the ones that are
        // already loaded.
        let _ = self.service.catalog.extractors.load().await;
        self.service.status.schema()
    }

    pub fn recommended_thresholds(&self) -> Thresholds {
        self.service.search.calibrator.recommended_thresholds()
    }

    pub fn tokens(&self) -> &TokenCounter {
        &self.service.tokens
    }

    pub fn max_upload_bytes(&self) -> u64 {
        self.service.sources.uploads.max_bytes()
    }
}
