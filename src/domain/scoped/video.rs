//! The operations on one video.

use bytes::Bytes;

use super::Scoped;
use crate::Shotlog;
use crate::analysis::correction::Correction;
use crate::chunking::ChunkingFields;
use crate::comments::{CommentChange, CommentDraft, CommentList, CommentQuery, CommentView};
use crate::corrections::CorrectionDraft;
use crate::export::{Export, ExportOptions};
use crate::frames::{ClipFile, ClipOutline, Peaks, SequencePlan, Storyboard};
use crate::ingest::preview::ChunkingPreview;
use crate::jobs::Job;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::library::aggregates::Aggregates;
use crate::library::chunks::{ChunkPage, ChunkQuery, ChunkView};
use crate::library::entities::EntityList;
use crate::library::transcript::{TranscriptQuery, VideoTranscript};
use crate::library::videos::VideoDetail;
use crate::publishing::removal::VideoDeletion;
use crate::records::metadata::MetadataPatch;
use crate::shares::{ShareDraft, ShareView, SharedPart};

/// A video that the caller may see.
pub struct VisibleVideo<'s> {
    pub(super) service: &'s Shotlog,
    pub(super) access: &'s Access,
    pub(super) video_id: VideoId,
}

#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl VisibleVideo<'_> {
    pub async fn detail(&self) -> Result<VideoDetail> {
        self.service.catalog.library.video(self.video_id).await
    }

    pub async fn media_url(&self) -> Result<String> {
        self.service.catalog.library.media_url(self.video_id).await
    }

    /// Returns a cached response about the video; see `ResponseCache::get_or_encode`.
    pub async fn cached_response<E: From<Error>>(
        &self,
        name: &str,
        encode: impl Future<Output = std::result::Result<Bytes, E>>,
    ) -> std::result::Result<Bytes, E> {
        self.service.catalog.responses.get_or_encode(self.video_id, name, encode).await
    }

    pub async fn chunks(&self, query: ChunkQuery) -> Result<ChunkPage> {
        self.service.catalog.library.chunks(self.video_id, query).await
    }

    pub async fn chunk(&self, chunk_id: ChunkId, verbose: bool) -> Result<ChunkView> {
        self.service.catalog.library.chunk(self.video_id, chunk_id, verbose).await
    }

    pub async fn transcript(&self, query: TranscriptQuery) -> Result<VideoTranscript> {
        self.service.catalog.library.transcript(self.video_id, query).await
    }

    pub async fn aggregates(&self) -> Result<Aggregates> {
        self.service.catalog.library.aggregates(self.video_id).await
    }

    pub async fn aggregate(&self, aggregator: &str) -> Result<serde_json::Value> {
        self.service.catalog.library.aggregate(self.video_id, aggregator).await
    }

    pub async fn entities(&self, min_appearances: u32) -> Result<EntityList> {
        self.service.catalog.library.entities(self.video_id, min_appearances).await
    }

    pub async fn corrections(&self) -> Result<Vec<Correction>> {
        self.service.catalog.records.video_corrections(self.video_id).await
    }

    pub async fn comments(&self, query: &CommentQuery) -> Result<CommentList> {
        self.service.catalog.comments.list(self.access, self.video_id, query).await
    }

    pub async fn export(&self, format: &str, options: ExportOptions) -> Result<Export> {
        self.service.exports.export(self.video_id, format, options).await
    }

    pub async fn frame(&self, time: f64, width: u32) -> Result<Bytes> {
        self.service.frames.frame(self.video_id, time, width).await
    }

    pub async fn clip(&self, start: f64, end: f64, exact: bool) -> Result<ClipFile> {
        self.service.frames.clip(self.video_id, start, end, exact).await
    }

    pub async fn clip_outline(&self, start: f64, end: f64, exact: bool) -> Result<ClipOutline> {
        self.service.frames.clip_outline(self.video_id, start, end, exact).await
    }

    pub async fn captioned_clip(&self, span: Span) -> Result<SequencePlan> {
        let Shotlog { exports, frames, .. } = self.service;
        exports.captioned_clip(frames, self.video_id, span).await
    }

    pub async fn peaks(&self, buckets: u32) -> Result<Peaks> {
        self.service.frames.peaks(self.video_id, buckets).await
    }

    pub async fn portrait(&self, entity_id: &str, height: u32) -> Result<Bytes> {
        self.service.frames.portrait(self.video_id, entity_id, height).await
    }

    pub async fn storyboard(&self) -> Result<Storyboard> {
        self.service.frames.storyboard(self.video_id).await
    }

    pub async fn storyboard_sheet(&self) -> Result<Bytes> {
        self.service.frames.storyboard_sheet(self.video_id).await
    }

    pub async fn preview_chunking(&self, fields: &ChunkingFields) -> Result<ChunkingPreview> {
        self.service.planner.preview_chunking(self.video_id, fields).await
    }
}

/// A video that the caller may see and change.
pub struct EditableVideo<'s> {
    pub(super) scoped: &'s Scoped,
    pub(super) video_id: VideoId,
}

#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl EditableVideo<'_> {
    pub async fn update_metadata(&self, patch: &MetadataPatch) -> Result<VideoDetail> {
        patch.check_collection(&self.scoped.access)?;
        self.scoped.service.metadata.update(self.video_id, patch).await
    }

    pub async fn delete(&self) -> Result<VideoDeletion> {
        self.scoped.service.delete_video(self.video_id).await
    }

    pub async fn comment(&self, draft: &CommentDraft) -> Result<CommentView> {
        let Scoped { service, access } = self.scoped;
        service.catalog.comments.add(access, self.video_id, draft).await
    }

    pub async fn edit_comment(
        &self,
        comment_id: &str,
        change: &CommentChange,
    ) -> Result<CommentView> {
        let Scoped { service, access } = self.scoped;
        service.catalog.comments.edit(access, self.video_id, comment_id, change).await
    }

    pub async fn delete_comment(&self, comment_id: &str) -> Result<()> {
        let Scoped { service, access } = self.scoped;
        service.catalog.comments.delete(access, self.video_id, comment_id).await
    }

    /// Shares a part of the video that can be cut as a clip.
    pub async fn share(
        &self,
        start: Option<f64>,
        end: Option<f64>,
        draft: &ShareDraft,
    ) -> Result<ShareView> {
        let (Scoped { service, access }, video_id) = (self.scoped, self.video_id);
        let span = service.frames.clip_span(video_id, start, end).await?;
        service.catalog.shares.add(access, SharedPart { video_id, span }, draft).await
    }

    pub async fn rerun_aggregates(
        &self,
        aggregators: Option<Vec<String>>,
        force: bool,
    ) -> Result<Job> {
        self.scoped
            .service
            .jobs
            .submission
            .rerun_aggregates(self.video_id, aggregators, force)
            .await
    }

    pub async fn correct(
        &self,
        drafts: Vec<CorrectionDraft>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        self.scoped.service.jobs.submission.correct(self.video_id, drafts, aggregate).await
    }

    pub async fn undo_corrections(
        &self,
        id: Option<String>,
        aggregate: Option<bool>,
    ) -> Result<(Vec<Correction>, Option<Job>)> {
        self.scoped.service.jobs.submission.undo_corrections(self.video_id, id, aggregate).await
    }
}
