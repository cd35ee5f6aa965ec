//! Exports the selects of a bin as a sequence of clips, as an archive of clips, or as one video.

mod archive;
mod selection;
mod string_out;

use std::collections::BTreeMap;
use std::sync::Arc;

use ports::FrameRate;

use crate::bins::select::Select;
use crate::bins::{BinId, SelectList, SelectView};
use crate::export::sequence::selection::{moment_clip, source_video};
use crate::export::sequence::{Sequence, SequenceClip, clip_format};
use crate::export::{Export, Exports, VideoLog, ended};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::video::VideoId;

/// Maximum number of selects that an error names.
const MAX_NAMED: usize = 5;

/// Accepted frame rates, in frames per second.
const MIN_RATE: f64 = 1.0;
const MAX_RATE: f64 = 120.0;

pub use archive::ClipArchive;
pub use selection::{BinSelection, MissingVideos};
pub use string_out::StringOutOptions;
pub(super) use string_out::picture_size;

impl Exports {
    /// Exports selects of a bin in order, at a frame rate or, without one, at the most frequent one.
    /// Returns `NotFound` if the caller may not see the bin or if the bin does not have a select,
    /// `Unprocessable` if the frame rate is out of range, and `Invalid` if the format is unknown or
    /// cannot contain clips, if there are no selects, or if a video is missing and `selection` does
    /// not allow that.
    pub async fn export_bin(
        &self,
        access: &Access,
        bin_id: &BinId,
        format: &str,
        frame_rate: Option<FrameRate>,
        selection: &BinSelection,
    ) -> Result<Export> {
        let (format, _) = clip_format(format)?;
        frame_rate.map_or(Ok(()), check_rate)?;
        let mut sequence = self.sequence(access, bin_id, selection, 0.0).await?;
        if let Some(rate) = frame_rate {
            sequence = sequence.at_rate(rate);
        }
        // Writing a long sequence would block the executor.
        tokio::task::spawn_blocking(move || sequence.export(format.id)).await.map_err(ended)?
    }

    /// Returns the name of a bin and the moments that its selects are, in order. Returns the errors of
    /// [`Self::export_bin`].
    pub(crate) async fn selected_moments(
        &self,
        access: &Access,
        bin_id: &BinId,
        selection: &BinSelection,
    ) -> Result<(String, Vec<MomentId>)> {
        let sequence = self.sequence(access, bin_id, selection, 0.0).await?;
        let moment = |clip: &SequenceClip| MomentId::new(clip.source.video_id, clip.span());
        let moments = sequence.clips.iter().map(moment).collect();
        Ok((sequence.name, moments))
    }

    /// Makes the sequence of selects of a bin at their most frequent frame rate, with handles of this
    /// many seconds. Returns the errors of [`Self::export_bin`].
    async fn sequence(
        &self,
        access: &Access,
        bin_id: &BinId,
        selection: &BinSelection,
        handles: f64,
    ) -> Result<Sequence> {
        let SelectList { bin, selects, .. } =
            self.bins.selects(access, bin_id, 0, usize::MAX).await?;
        let selects = selection.filter(bin_id, selects)?;
        let clips = self.clips(&selects, handles).await?;
        if selection.missing == MissingVideos::Refuse {
            check_complete(&selects, &clips)?;
        }
        let sequence = Sequence::new(bin.name, clips.into_iter().flatten().collect());
        let rate = sequence.most_frequent_rate();
        Ok(sequence.at_rate(rate))
    }

    /// Makes the clip of each select; `None` if its video is missing or ends before the select.
    /// Reads one video at a time.
    async fn clips(
        &self,
        selects: &[SelectView],
        handles: f64,
    ) -> Result<Vec<Option<SequenceClip>>> {
        let mut by_video: BTreeMap<VideoId, Vec<(usize, Select)>> = BTreeMap::new();
        for (position, view) in selects.iter().enumerate() {
            if view.video_url.is_some() {
                let of_video = by_video.entry(view.select.video_id).or_default();
                of_video.push((position, view.select.clone()));
            }
        }
        let mut clips = vec![None; selects.len()];
        for (video_id, selects) in by_video {
            let read = |record| self.log(record, true);
            let log = match self.records.read_published(video_id, read).await {
                // The video was deleted in the meantime.
                Err(Error::NotFound(_)) => continue,
                log => log?,
            };
            let make = move || clips_of_video(&log, selects, handles);
            for (position, clip) in tokio::task::spawn_blocking(make).await.map_err(ended)? {
                clips[position] = clip;
            }
        }
        Ok(clips)
    }
}

fn clips_of_video(
    log: &VideoLog,
    selects: Vec<(usize, Select)>,
    handles: f64,
) -> Vec<(usize, Option<SequenceClip>)> {
    let source = Arc::new(source_video(log));
    let clip = |select: Select| {
        let mut clip = moment_clip(log, &source, select.trimmed_span())?;
        // Only what users wrote: a description of the whole moment may not hold for a part of it.
        clip.note = select.note;
        if handles > 0.0 {
            clip.add_handles(handles);
            clip.speech = log.speech_in(clip.span());
        }
        Some(SequenceClip { tags: select.tags, rating: select.rating, ..clip })
    };
    selects.into_iter().map(|(position, select)| (position, clip(select))).collect()
}

fn check_rate(rate: FrameRate) -> Result<()> {
    if (MIN_RATE..=MAX_RATE).contains(&rate.per_second()) {
        return Ok(());
    }
    Err(Error::Unprocessable(format!(
        "frame_rate is {rate}; it must be from {MIN_RATE} to {MAX_RATE} frames per second"
    )))
}

/// Returns `Invalid` if a select has no clip.
fn check_complete(selects: &[SelectView], clips: &[Option<SequenceClip>]) -> Result<()> {
    let missing: Vec<&SelectView> = selects
        .iter()
        .zip(clips)
        .filter(|(_, clip)| clip.is_none())
        .map(|(view, _)| view)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let name = |view: &&SelectView| format!("{} ({})", view.select.id, view.filename);
    let mut named: Vec<String> = missing.iter().take(MAX_NAMED).map(name).collect();
    if missing.len() > MAX_NAMED {
        named.push(format!("{} more", missing.len() - MAX_NAMED));
    }
    Err(Error::Invalid(format!(
        "the videos of these selects are missing or end before them: {}; remove the selects, or \
         export with missing=omit",
        named.join(", ")
    )))
}
