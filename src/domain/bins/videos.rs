//! The videos of selects: which of them the caller may see, and the selects as users see them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::{StreamExt, TryStreamExt, stream};

use super::select::{Select, SelectId};
use super::{Bin, BinId, Bins};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::listing::BATCH;
use crate::records::MAX_CONCURRENT_READS;

/// A select as users see it.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectView {
    /// The select.
    pub select: Select,
    /// The video's file name. If the video is missing, the name that it had when the select was
    /// added.
    pub filename: String,
    /// Public storage URL of the video; `None` if the video is missing, that is, if it was deleted
    /// or if the caller may not see it.
    pub video_url: Option<String>,
}

/// Some of a bin's selects, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectList {
    /// The bin.
    pub bin: Bin,
    /// Number of selects skipped.
    pub offset: usize,
    /// The selects after them.
    pub selects: Vec<SelectView>,
}

/// A video that the caller may see.
#[derive(Debug, Clone)]
pub(super) struct BinVideo {
    pub(super) filename: String,
    pub(super) collection: Option<String>,
    /// Length, in seconds.
    duration: f64,
    /// Key of the file in storage.
    storage_path: String,
}

impl Bins {
    /// Reads at most `limit` selects of a bin, starting after the first `offset` ones. Returns
    /// `NotFound` if the caller may not see the bin.
    pub async fn selects(
        &self,
        access: &Access,
        bin_id: &BinId,
        offset: usize,
        limit: usize,
    ) -> Result<SelectList> {
        let positions = offset..offset.saturating_add(limit);
        let (stored, selects) = self.open_range(access, bin_id, positions).await?;
        let selects = self.views(access, selects).await?;
        Ok(SelectList { bin: stored.head.view(), offset, selects })
    }

    /// Reads one select, with the bin that contains it. Returns `NotFound` if the caller may not
    /// see the bin or if it has no such select.
    pub async fn select(
        &self,
        access: &Access,
        bin_id: &BinId,
        select_id: SelectId,
    ) -> Result<(Bin, SelectView)> {
        let (stored, select) = self.open_select(access, bin_id, select_id).await?;
        let views = self.views(access, vec![select]).await?;
        let view = views.into_iter().next();
        let view = view.ok_or_else(|| Error::corrupt("a select is gone"))?;
        Ok((stored.head.view(), view))
    }

    /// Finds the chunks that the selects of a bin overlap, as trimmed, in order, without those of
    /// missing videos. Returns `Invalid` if there is no such bin or the caller may not see it.
    pub(crate) async fn chunks(
        &self,
        access: &Access,
        bin_id: &str,
    ) -> Result<Vec<(VideoId, ChunkId)>> {
        let opened = match BinId::parse(bin_id) {
            Ok(bin_id) => self.open(access, &bin_id).await,
            Err(error) => Err(error),
        };
        let (_, selects) = opened.map_err(|error| match error {
            Error::NotFound(detail) => Error::Invalid(detail),
            error => error,
        })?;
        let visible = self.visible_videos(access, selects.iter().map(|s| s.video_id)).await?;
        let mut spans: BTreeMap<VideoId, Vec<Span>> = BTreeMap::new();
        for select in selects.iter().filter(|select| visible.contains_key(&select.video_id)) {
            spans.entry(select.video_id).or_default().push(select.trimmed_span());
        }
        let reads = stream::iter(spans)
            .map(|(video_id, spans)| self.overlapping_chunks(video_id, spans))
            .buffered(MAX_CONCURRENT_READS);
        let chunks: Vec<Vec<(VideoId, ChunkId)>> = reads.try_collect().await?;
        Ok(chunks.into_iter().flatten().collect())
    }

    /// Finds the chunks of a video that overlap any of these spans.
    async fn overlapping_chunks(
        &self,
        video_id: VideoId,
        spans: Vec<Span>,
    ) -> Result<Vec<(VideoId, ChunkId)>> {
        let records = &self.library.records;
        let read = |record| async move { records.spans(&record).await };
        let chunks = match records.read_published(video_id, read).await {
            // The video was deleted in the meantime.
            Err(Error::NotFound(_)) => Vec::new(),
            chunks => chunks?,
        };
        let is_selected = |chunk: &Span| spans.iter().any(|span| span.overlap(chunk) > 0.0);
        let chunks = (0..).map(ChunkId).zip(chunks).filter(|(_, chunk)| is_selected(chunk));
        Ok(chunks.map(|(chunk_id, _)| (video_id, chunk_id)).collect())
    }

    /// Adds to selects what is known about their videos. A video that the caller may not see looks
    /// like a deleted one.
    pub(super) async fn views(
        &self,
        access: &Access,
        selects: Vec<Select>,
    ) -> Result<Vec<SelectView>> {
        let videos = self.visible_videos(access, selects.iter().map(|s| s.video_id)).await?;
        let mut urls = HashMap::new();
        for (video_id, video) in &videos {
            let url = self.library.storage.download_url(&video.storage_path).await?;
            urls.insert(*video_id, url);
        }
        let view = |select: Select| {
            let video = videos.get(&select.video_id);
            let filename = video.map_or(&select.filename, |video| &video.filename).clone();
            SelectView { filename, video_url: urls.get(&select.video_id).cloned(), select }
        };
        Ok(selects.into_iter().map(view).collect())
    }

    /// Reads the videos of moments. Returns `Invalid` if a video does not exist or the caller may
    /// not see it, or if a moment lies outside its video.
    pub(super) async fn videos_of_moments(
        &self,
        access: &Access,
        moments: &[MomentId],
    ) -> Result<HashMap<VideoId, BinVideo>> {
        let videos = self.visible_videos(access, moments.iter().map(MomentId::video_id)).await?;
        let is_within = |moment: &MomentId| {
            let video = videos.get(&moment.video_id());
            video.is_some_and(|video| moment.span().end <= video.duration)
        };
        if let Some(gone) = moments.iter().find(|moment| !videos.contains_key(&moment.video_id())) {
            let video_id = gone.video_id();
            return Err(Error::Invalid(format!(
                "moment '{gone}' is gone: there is no video '{video_id}'"
            )));
        }
        // The decoded video may be longer than the duration in the listing.
        let unclear = moments.iter().filter(|moment| !is_within(moment));
        match self.library.missing_moments(unclear).await?.into_iter().next() {
            Some(missing) => Err(Error::Invalid(missing.reason)),
            None => Ok(videos),
        }
    }

    /// Checks that the trims of selects lie within their videos. The trim of a select whose video
    /// is missing must lie within the moment.
    pub(super) async fn check_trims(&self, access: &Access, selects: &[Select]) -> Result<()> {
        let videos = self.visible_videos(access, selects.iter().map(|s| s.video_id)).await?;
        let mut moments = Vec::new();
        for select in selects {
            let (moment, trimmed) = (select.span(), select.trimmed_span());
            if videos.contains_key(&select.video_id) {
                moments.push(MomentId::new(select.video_id, trimmed));
            } else if trimmed.start < moment.start || trimmed.end > moment.end {
                return Err(Error::Invalid(format!(
                    "the video of select '{}' is missing, so its trim must lie within {} s and {} s",
                    select.id, moment.start, moment.end
                )));
            }
        }
        self.videos_of_moments(access, &moments).await.map(drop)
    }

    /// Reads those of the given videos that exist and that the caller may see.
    pub(super) async fn visible_videos(
        &self,
        access: &Access,
        ids: impl Iterator<Item = VideoId>,
    ) -> Result<HashMap<VideoId, BinVideo>> {
        let ids: Vec<VideoId> = ids.collect::<BTreeSet<_>>().into_iter().collect();
        let mut videos = HashMap::new();
        for batch in ids.chunks(BATCH) {
            for (entry, summary) in self.library.listing.visible_summaries(access, batch).await? {
                let video = BinVideo {
                    filename: entry.filename,
                    collection: summary.metadata.collection,
                    duration: summary.duration,
                    storage_path: summary.storage_path,
                };
                if !self.library.records.unreadable().has_no_record(entry.video_id) {
                    videos.insert(entry.video_id, video);
                }
            }
        }
        Ok(videos)
    }
}
