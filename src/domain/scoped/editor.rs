//! The changes that a caller without read-only access may make.

use super::{EditableVideo, Scoped};
use crate::bins::change::{BinChange, BinChanged};
use crate::bins::{Bin, BinDraft, BinId};
use crate::export::bin::BinSelection;
use crate::ingest::uploads::{UploadState, UploadWriter};
use crate::ingest::{IngestFields, Spool, SpooledFile};
use crate::jobs::Job;
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::library::collections::CollectionChange;
use crate::shares::{ShareDraft, ShareId, ShareView, SharedPart};

/// A caller that may make changes, within its access.
pub struct Editor<'s>(pub(super) &'s Scoped);

#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl<'s> Editor<'s> {
    /// Returns the changes to a video. Returns `NotFound` if the caller may not see the video.
    pub async fn video(&self, video_id: VideoId) -> Result<EditableVideo<'s>> {
        self.0.video(video_id).await?;
        Ok(EditableVideo { scoped: self.0, video_id })
    }

    pub async fn spool_upload(&self) -> Result<Spool> {
        self.0.service.sources.spool_upload().await
    }

    pub async fn ingest_file(
        &self,
        filename: Option<&str>,
        file: SpooledFile,
        fields: IngestFields,
    ) -> Result<Job> {
        self.0.service.jobs.submission.ingest_file(filename, file, self.with_caller(fields)?).await
    }

    pub async fn ingest_upload(&self, upload_id: &str, fields: IngestFields) -> Result<Job> {
        self.0.service.jobs.submission.ingest_upload(upload_id, self.with_caller(fields)?).await
    }

    pub async fn ingest_url(&self, url: &str, fields: IngestFields) -> Result<Job> {
        self.0.service.jobs.submission.ingest_url(url, self.with_caller(fields)?).await
    }

    /// Adds the caller's access to an ingest's fields. If the caller's access is restricted, also
    /// adds the default collection.
    fn with_caller(&self, mut fields: IngestFields) -> Result<IngestFields> {
        fields.metadata.assign_collection(&self.0.access)?;
        fields.access = self.0.access.clone();
        Ok(fields)
    }

    pub async fn change_collection(&self, name: &str, change: CollectionChange) -> Result<Job> {
        self.0.service.jobs.submission.change_collection(&self.0.access, name, change).await
    }

    pub async fn create_bin(&self, draft: BinDraft) -> Result<Bin> {
        self.0.service.catalog.bins.create(&self.0.access, draft).await
    }

    pub async fn change_bin(
        &self,
        bin_id: &BinId,
        expected: Option<u64>,
        change: BinChange,
    ) -> Result<BinChanged> {
        self.0.service.catalog.bins.change(&self.0.access, bin_id, expected, change).await
    }

    pub async fn delete_bin(&self, bin_id: &BinId, expected: Option<u64>) -> Result<()> {
        self.0.service.catalog.bins.delete(&self.0.access, bin_id, expected).await
    }

    /// Shares selects of a bin, each of which can be cut as a clip.
    pub async fn share_bin(
        &self,
        bin_id: &BinId,
        selection: &BinSelection,
        draft: &ShareDraft,
    ) -> Result<ShareView> {
        let Scoped { service, access } = self.0;
        let (name, moments) = service.exports.selected_moments(access, bin_id, selection).await?;
        service.catalog.shares.check_parts(moments.len())?;
        let mut parts = Vec::with_capacity(moments.len());
        for moment in moments {
            let (video_id, span) = (moment.video_id(), moment.span());
            let span = service.frames.clip_span(video_id, Some(span.start), Some(span.end)).await?;
            parts.push(SharedPart { video_id, span });
        }
        service.catalog.shares.add_bin(access, (bin_id, &name), &parts, draft).await
    }

    pub async fn withdraw_share(&self, share_id: &ShareId) -> Result<()> {
        self.0.service.catalog.shares.withdraw(&self.0.access, share_id).await
    }

    pub async fn cancel_job(&self, job_id: &str) -> Result<Job> {
        self.0.job(job_id).await?;
        self.0.service.jobs.finisher.cancel(job_id).await
    }

    pub async fn begin_upload(
        &self,
        length: u64,
        filename: Option<String>,
        metadata: String,
    ) -> Result<UploadState> {
        let uploads = &self.0.service.sources.uploads;
        uploads.begin(&self.0.access, length, filename, metadata).await
    }

    pub async fn append_to_upload(
        &self,
        id: &str,
        offset: u64,
        checksum: Option<[u8; 20]>,
    ) -> Result<UploadWriter> {
        self.0.service.sources.uploads.append(&self.0.access, id, offset, checksum).await
    }

    pub async fn remove_upload(&self, id: &str) -> Result<()> {
        self.0.service.sources.uploads.remove(&self.0.access, id).await
    }
}
