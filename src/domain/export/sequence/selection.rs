//! Which parts of a video become the clips of a sequence: its chunks, its chapters, or moments in a
//! given order.

use std::ops::Range;
use std::sync::Arc;

use crate::aggregation::aggregators::chapters;
use crate::export::VideoLog;
use crate::export::chapter_marks::{chapters, stored_chapters};
use crate::export::sequence::{
    Sequence, SequenceClip, SequenceMarker, SourceVideo, UNKNOWN_REEL, default_rate,
};
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::time::{Span, timecode};
use crate::kernel::timecode::Timecode;
use crate::kernel::video::ChunkId;

/// The parts of a video that become clips.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ClipSelection {
    /// All chunks.
    #[default]
    Chunks,
    /// All chapters.
    Chapters,
    /// Moments of the video, in this order.
    Moments(Vec<MomentId>),
}

impl ClipSelection {
    /// Parses the fields of a request: the name of a kind of clip, or moment ids separated by
    /// commas. Returns `None` if both are missing, and `Invalid` if a value is malformed or both
    /// are given.
    pub fn parse(clips: Option<&str>, moment_ids: Option<&str>) -> Result<Option<Self>> {
        match (clips, moment_ids) {
            (None, None) => Ok(None),
            (Some("chunks"), None) => Ok(Some(Self::Chunks)),
            (Some(chapters::ID), None) => Ok(Some(Self::Chapters)),
            (Some(other), None) => Err(Error::Invalid(format!(
                "unknown clips '{}'; available: chunks, chapters",
                other.chars().take(60).filter(|c| !c.is_control()).collect::<String>()
            ))),
            (None, Some(ids)) => {
                let ids = ids.split(',').map(|id| id.trim().parse()).collect::<Result<_>>()?;
                Ok(Some(Self::Moments(ids)))
            }
            (Some(_), Some(_)) => Err(Error::Invalid(
                "'clips' and 'moment_ids' exclude each other; give one of them".into(),
            )),
        }
    }
}

/// Makes a sequence of the selected parts of a video, clipped to the exported part.
pub(in crate::export) fn sequence(log: &VideoLog, selection: &ClipSelection) -> Result<Sequence> {
    let source = Arc::new(source_video(log));
    let clips = match selection {
        ClipSelection::Chunks => chunk_clips(log, &source),
        ClipSelection::Chapters => chapter_clips(log, &source)?,
        ClipSelection::Moments(ids) => moment_clips(log, &source, ids)?,
    };
    let mut sequence = Sequence::new(log.stem().to_owned(), clips);
    if *selection == ClipSelection::Chunks {
        // Chunks follow one another as in the video, so the sequence keeps the times of the part.
        let start = log.part.exported_time(log.chunks().next().map_or(0.0, |(_, span)| span.start));
        sequence.start = sequence.start + sequence.rate.frame_at(start);
        sequence.markers = chapter_markers(log, &source);
    }
    Ok(sequence)
}

/// Describes the video that clips are taken from.
pub(in crate::export) fn source_video(log: &VideoLog) -> SourceVideo {
    let record = &log.record;
    let rate = record.frame_rate_fraction().unwrap_or_else(default_rate);
    let stated = record.timecode.as_deref().and_then(|text| Timecode::parse(text, rate).ok());
    SourceVideo {
        video_id: record.video_id,
        filename: record.filename.clone(),
        url: log.video_url.clone(),
        rate,
        start: stated.unwrap_or_else(|| Timecode::from_frames(0, rate, false)),
        reel: record.reel_name().unwrap_or_else(|| UNKNOWN_REEL.to_owned()),
        frames: rate.frame_at(record.end(&log.video.spans)),
        duration: record.end(&log.video.spans),
        has_picture: record.frame_rate.is_some() || record.has_picture(),
        picture_size: record.picture_size,
        audio_tracks: record.audio_tracks,
    }
}

fn chunk_clips(log: &VideoLog, source: &Arc<SourceVideo>) -> Vec<SequenceClip> {
    let chunk_clip = |(chunk, span): (ChunkId, Span)| {
        let clip = clip(log, source, frames(source, span), format!("{} {chunk}", log.stem()))?;
        Some(SequenceClip { note: log.headline(chunk), chunk_id: Some(chunk), ..clip })
    };
    log.chunks().filter_map(chunk_clip).collect()
}

fn chapter_clips(log: &VideoLog, source: &Arc<SourceVideo>) -> Result<Vec<SequenceClip>> {
    chapters(log, "clips")?;
    let clips = stored_chapters(log)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|chapter| clip(log, source, frames(source, chapter.span), chapter.title));
    Ok(clips.collect())
}

fn moment_clips(
    log: &VideoLog,
    source: &Arc<SourceVideo>,
    ids: &[MomentId],
) -> Result<Vec<SequenceClip>> {
    let mut clips = Vec::with_capacity(ids.len());
    for id in ids {
        if id.video_id() != source.video_id {
            return Err(Error::Invalid(format!(
                "moment '{id}' is not of video '{}', which is exported",
                source.video_id
            )));
        }
        if source.rate.frame_at(id.span().start) >= source.frames {
            return Err(Error::Invalid(format!(
                "moment '{id}' lies outside the video, which is {} seconds long",
                log.record.duration
            )));
        }
        let Some(span) = log.part.within(id.span()) else { continue };
        clips.extend(moment_clip(log, source, span));
    }
    Ok(clips)
}

/// Makes a clip of a span, which may be a single time. Returns `None` if the span begins after the
/// video.
pub(in crate::export) fn moment_clip(
    log: &VideoLog,
    source: &Arc<SourceVideo>,
    span: Span,
) -> Option<SequenceClip> {
    let frames = frames(source, span);
    if frames.start >= source.frames {
        return None;
    }
    let frames = frames.start..frames.end.min(source.frames).max(frames.start + 1);
    let clip = clip(log, source, frames, format!("{} {}", log.stem(), timecode(span.start)))?;
    let note = nearest_chunk(log, span).map_or_else(String::new, |chunk| log.headline(chunk));
    Some(SequenceClip { note, ..clip })
}

/// Makes a clip, with what is said in it. Returns `None` if there are no frames.
fn clip(
    log: &VideoLog,
    source: &Arc<SourceVideo>,
    frames: Range<u64>,
    name: String,
) -> Option<SequenceClip> {
    let clip = SequenceClip::new(source.clone(), frames, name)?;
    let span = clip.span();
    let recorded_at = log.record.metadata.wall_clock(span.start);
    Some(SequenceClip { speech: log.speech_in(span), recorded_at, ..clip })
}

/// Returns the chunk that overlaps a span most, or that contains it if the span is a single time.
fn nearest_chunk(log: &VideoLog, span: Span) -> Option<ChunkId> {
    let shared = |chunk: &Span| match span.is_at(chunk) {
        true => f64::MIN_POSITIVE,
        false => chunk.overlap(&span),
    };
    let overlapping = log.video.chunks().filter(|(_, chunk)| shared(chunk) > 0.0);
    let best = overlapping.max_by(|(_, a), (_, b)| shared(a).total_cmp(&shared(b)));
    best.map(|(chunk, _)| chunk)
}

/// Returns the chapters as markers, with times relative to the start of the exported part.
fn chapter_markers(log: &VideoLog, source: &SourceVideo) -> Vec<SequenceMarker> {
    let start = source.rate.frame_at(log.part.start());
    let markers = stored_chapters(log).unwrap_or_default().into_iter().filter_map(|chapter| {
        let frames = frames(source, chapter.span);
        let frames = frames.start.saturating_sub(start)..frames.end.saturating_sub(start);
        (frames.end > frames.start).then_some(SequenceMarker { frames, name: chapter.title })
    });
    markers.collect()
}

/// Returns the frames nearest to a span of a video.
fn frames(source: &SourceVideo, span: Span) -> Range<u64> {
    source.rate.frame_at(span.start)..source.rate.frame_at(span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_are_parsed() {
        let id = "m_0123456789abcdef_500_2000";
        let moments = |ids: &[&str]| {
            ClipSelection::Moments(ids.iter().map(|id| id.parse().expect("a moment")).collect())
        };
        for (clips, moment_ids, expected) in [
            (None, None, None),
            (Some("chunks"), None, Some(ClipSelection::Chunks)),
            (Some("chapters"), None, Some(ClipSelection::Chapters)),
            (None, Some(format!("{id}, {id}")), Some(moments(&[id, id]))),
        ] {
            let parsed = ClipSelection::parse(clips, moment_ids.as_deref()).expect("a selection");
            assert_eq!(parsed, expected);
        }
        for (clips, moment_ids, word) in [
            (Some("shots"), None, "chunks, chapters"),
            (None, Some(""), "names no moment"),
            (None, Some("m_1"), "names no moment"),
            (Some("chunks"), Some(id), "exclude"),
        ] {
            let error = ClipSelection::parse(clips, moment_ids).expect_err(word).to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
