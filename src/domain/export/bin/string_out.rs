//! The selects of a bin as one video, in order. The video has exactly the frames that the other
//! exports of the bin count, so an edit list of the bin fits it.

use ports::FrameRate;
use ports::decoder::RenderFormat;

use super::{BinSelection, check_rate};
use crate::bins::{BinId, BinSettings};
use crate::export::Exports;
use crate::export::captioned::{burned_captions, no_speech};
use crate::export::sequence::{PlacedClip, Sequence, SequenceClip};
use crate::frames::{RenderedClip, SequencePlan};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};

/// Longest handles, in seconds.
const MAX_HANDLES: f64 = 60.0;

/// Shortest accepted maximum of the longer side, in pixels.
const MIN_SIDE: u32 = 64;

/// The size of a video without pictures, in pixels.
const DEFAULT_SIZE: (u32, u32) = (1280, 720);

/// The form of a bin's video.
#[derive(Debug, Clone, PartialEq)]
pub struct StringOutOptions {
    /// Seconds to add before and after each select, as far as its video goes.
    pub handles: f64,
    /// Maximum of the longer side, in pixels; `None` for `bins.max_string_out_side`.
    pub max_side: Option<u32>,
    /// Frames per second; `None` for the most frequent rate of the selects.
    pub frame_rate: Option<FrameRate>,
    /// Whether the pictures show what is said.
    pub captions: bool,
    /// Which selects it shows.
    pub selection: BinSelection,
}

impl Exports {
    /// Plans the video of a bin, which [`crate::frames::Frames::sequence`] renders. Returns the
    /// errors of [`Self::export_bin`], `Unprocessable` if an option is out of range, and `Invalid`
    /// if there are more selects than `bins.max_clips` or if the video would last longer than
    /// `bins.max_string_out`, or for captions if nothing is said.
    pub async fn string_out(
        &self,
        access: &Access,
        bin_id: &BinId,
        options: &StringOutOptions,
    ) -> Result<SequencePlan> {
        let settings = self.bins.settings();
        options.check(settings)?;
        let (selection, handles) = (&options.selection, options.handles);
        let mut sequence = self.sequence(access, bin_id, selection, handles).await?;
        if let Some(rate) = options.frame_rate {
            sequence = sequence.at_rate(rate);
        }
        check_length(bin_id, &sequence, settings)?;
        let max_side = options.max_side.unwrap_or(settings.max_string_out_side);
        let (width, height) = picture_size(&sequence.clips, max_side);
        let clips = rendered_clips(&sequence, options.captions)?;
        let format = RenderFormat {
            width,
            height,
            rate: sequence.rate,
            frames: sequence.length(),
            max_bytes: settings.max_string_out_bytes,
        };
        Ok(SequencePlan { format, clips, filename: format!("{}.mp4", sequence.stem()) })
    }
}

/// Returns the clips of a sequence, with their speech as captions if requested. Returns `Invalid` if no
/// clip has recognised speech.
fn rendered_clips(sequence: &Sequence, with_captions: bool) -> Result<Vec<RenderedClip>> {
    let clip = |placed: PlacedClip<'_>| {
        let captions = if with_captions { burned_captions(placed.clip)? } else { Vec::new() };
        Ok(RenderedClip {
            video_id: placed.clip.source.video_id,
            start: placed.clip.span().start,
            frames: placed.placed.end - placed.placed.start,
            captions,
        })
    };
    let clips = sequence.placed_clips().map(clip).collect::<Result<Vec<RenderedClip>>>()?;
    if with_captions && clips.iter().all(|clip| clip.captions.is_empty()) {
        return Err(no_speech("none of the clips"));
    }
    Ok(clips)
}

impl StringOutOptions {
    fn check(&self, settings: &BinSettings) -> Result<()> {
        let (handles, max_side) = (self.handles, settings.max_string_out_side);
        if !(0.0..=MAX_HANDLES).contains(&handles) {
            return Err(Error::Unprocessable(format!(
                "handles is {handles}; it must be from 0 to {MAX_HANDLES} seconds"
            )));
        }
        if let Some(side) = self.max_side
            && !(MIN_SIDE..=max_side.max(MIN_SIDE)).contains(&side)
        {
            return Err(Error::Unprocessable(format!(
                "max_side is {side}; it must be from {MIN_SIDE} to {max_side} pixels \
                 (bins.max_string_out_side)"
            )));
        }
        self.frame_rate.map_or(Ok(()), check_rate)
    }
}

fn check_length(bin_id: &BinId, sequence: &Sequence, settings: &BinSettings) -> Result<()> {
    let (count, max) = (sequence.clips.len(), settings.max_clips);
    if count > max {
        return Err(Error::Invalid(format!(
            "bin '{bin_id}' has {count} clips; a video has at most {max} (bins.max_clips)"
        )));
    }
    let (seconds, max) = (sequence.rate.seconds(sequence.length()), settings.max_string_out);
    if seconds > max as f64 {
        return Err(Error::Invalid(format!(
            "the video would last {seconds:.1} seconds; it may last {max} (bins.max_string_out): \
             remove or trim selects, or use shorter handles"
        )));
    }
    Ok(())
}

/// Returns the size of the largest pictures, reduced so that no side exceeds `max_side`. Both
/// lengths are even.
pub(in crate::export) fn picture_size(clips: &[SequenceClip], max_side: u32) -> (u32, u32) {
    let sizes = clips.iter().filter(|clip| clip.source.has_picture);
    let sizes = sizes.filter_map(|clip| clip.source.picture_size);
    let largest = sizes.max_by_key(|(width, height)| u64::from(*width) * u64::from(*height));
    let (width, height) = largest.unwrap_or(DEFAULT_SIZE);
    let scale = (f64::from(max_side) / f64::from(width.max(height).max(1))).min(1.0);
    let side = |length: u32| ((f64::from(length) * scale / 2.0).round() as u32).max(1) * 2;
    let even_max = (max_side & !1).max(2);
    (side(width).min(even_max), side(height).min(even_max))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::export::sequence::SourceVideo;
    use crate::export::sequence::testing::{clip, source};

    fn clip_of_size(size: Option<(u32, u32)>, has_picture: bool) -> SequenceClip {
        let source = SourceVideo {
            picture_size: size,
            has_picture,
            ..(*source(1, "25/1", "", "A")).clone()
        };
        clip(&Arc::new(source), 0..10)
    }

    #[test]
    fn videos_have_the_size_of_the_largest_source() {
        let clips = [
            clip_of_size(Some((640, 360)), true),
            clip_of_size(Some((1921, 1081)), true),
            clip_of_size(Some((9000, 9000)), false),
        ];
        assert_eq!(picture_size(&clips, 4096), (1922, 1082));
        assert_eq!(picture_size(&clips, 1920), (1920, 1080));
        assert_eq!(picture_size(&clips[..1], 319), (318, 180));
        assert_eq!(picture_size(&clips[2..], 1920), DEFAULT_SIZE);
        assert_eq!(picture_size(&[clip_of_size(Some((10_000, 1)), true)], 100), (100, 2));
    }

    #[test]
    fn handles_end_at_the_ends_of_the_video() {
        let source = source(1, "25/1", "", "A");
        for (frames, expected) in
            [(100..110, 75..135), (10..20, 0..45), (89_990..90_000, 89_965..90_000)]
        {
            let mut clip = clip(&source, frames);
            clip.add_handles(1.0);
            assert_eq!(clip.frames, expected);
        }
    }
}
