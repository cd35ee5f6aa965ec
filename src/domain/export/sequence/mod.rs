//! A sequence: an ordered list of clips of one or more videos, counted in frames. Each format that
//! editing programs read is written from a sequence in a separate file; [`super::FORMATS`] lists
//! them.

pub(super) mod clip_list;
pub(super) mod edl;
pub(super) mod fcpxml;
pub(super) mod markdown;
pub(super) mod marker_edl;
pub(super) mod otio;
pub(super) mod qda;
pub(super) mod quotes;
pub(super) mod selection;
#[cfg(test)]
pub(super) mod testing;
pub(super) mod xmeml;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use ports::FrameRate;
pub use selection::ClipSelection;

use crate::export::{ClipWriter, Export, Format, find_format, without_clips};
use crate::kernel::error::Result;
use crate::kernel::time::Span;
use crate::kernel::timecode::Timecode;
use crate::kernel::video::{ChunkId, VideoId};
use crate::media::speech::Utterance;

/// Maximum length of a reel name, in characters.
const MAX_REEL_CHARS: usize = 32;

/// The reel of a source whose name is unknown.
pub(super) const UNKNOWN_REEL: &str = "AX";

/// A video that clips are taken from.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceVideo {
    /// The id of the video.
    pub video_id: VideoId,
    /// The file name, by which editing programs find the file.
    pub filename: String,
    /// URL of the file.
    pub url: String,
    /// Frames per second.
    pub rate: FrameRate,
    /// Timecode of the first frame.
    pub start: Timecode,
    /// Name of the reel.
    pub reel: String,
    /// Number of frames.
    pub frames: u64,
    /// Length, in seconds.
    pub duration: f64,
    /// Whether the file has pictures.
    pub has_picture: bool,
    /// Width and height of the pictures, in pixels, if known.
    pub picture_size: Option<(u32, u32)>,
    /// Number of audio tracks, if known.
    pub audio_tracks: Option<u32>,
}

/// A part of a video in a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceClip {
    /// The video.
    pub source: Arc<SourceVideo>,
    /// The frames of the video, counted from 0. Not empty.
    pub frames: Range<u64>,
    /// Name of the clip.
    pub name: String,
    /// What the clip shows or why it was chosen; may be empty.
    pub note: String,
    /// What is said in the clip, with times in seconds from the start of the video.
    pub speech: Vec<Utterance>,
    /// Tags that a user gave the clip.
    pub tags: Vec<String>,
    /// Rating that a user gave the clip, 1..=5; 0 if there is none.
    pub rating: u8,
    /// Wall-clock time of the first frame in ISO 8601, if known.
    pub recorded_at: Option<String>,
    /// The chunk that the clip was made from, if it was made from one.
    pub chunk_id: Option<ChunkId>,
}

/// A named span of a sequence, in frames counted from the first clip.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceMarker {
    /// The frames of the sequence. Not empty.
    pub frames: Range<u64>,
    /// Name of the marker.
    pub name: String,
}

/// An ordered list of clips, which play one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    /// Name of the sequence.
    pub name: String,
    /// Frames per second of the sequence. Clips with another rate keep their speed.
    pub rate: FrameRate,
    /// Timecode of the sequence's first frame.
    pub start: Timecode,
    /// The clips, in order.
    pub clips: Vec<SequenceClip>,
    /// Markers, in order of their first frame.
    pub markers: Vec<SequenceMarker>,
}

/// A clip with its place in the sequence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlacedClip<'s> {
    pub(super) clip: &'s SequenceClip,
    /// The frames of the sequence, counted from 0.
    pub(super) placed: Range<u64>,
}

impl SequenceClip {
    /// Creates a clip of the given frames of a video. Returns `None` if there are no frames.
    pub fn new(source: Arc<SourceVideo>, frames: Range<u64>, name: String) -> Option<Self> {
        let clip = Self {
            source,
            frames,
            name,
            note: String::new(),
            speech: Vec::new(),
            tags: Vec::new(),
            rating: 0,
            recorded_at: None,
            chunk_id: None,
        };
        Some(clip).filter(|clip| clip.length() > 0)
    }

    /// Adds up to this many seconds before and after the clip, as far as the video goes.
    pub(super) fn add_handles(&mut self, seconds: f64) {
        let handle = self.source.rate.frame_at(seconds);
        let Range { start, end } = self.frames;
        self.frames = start.saturating_sub(handle)..(end + handle).min(self.source.frames.max(end));
    }

    /// Returns the number of frames, at the rate of the video.
    pub(super) fn length(&self) -> u64 {
        self.frames.end.saturating_sub(self.frames.start)
    }

    /// Returns the span of the frames, in seconds from the start of the video.
    pub(super) fn span(&self) -> Span {
        let [start, end] =
            [self.frames.start, self.frames.end].map(|frame| self.source.rate.seconds(frame));
        Span { start, end }
    }

    /// Returns the timecodes of the first frame and of the frame after the last one.
    pub(super) fn timecodes(&self) -> [Timecode; 2] {
        [self.frames.start, self.frames.end].map(|frame| self.source.start + frame)
    }

    /// Returns the times of the first frame and of the frame after the last one, in frames of the
    /// source counted from timecode 0.
    pub(super) fn source_frames(&self) -> Range<u64> {
        let first = self.source.start.frames();
        first + self.frames.start..first + self.frames.end
    }
}

impl Sequence {
    /// Creates a sequence with the frame rate and the kind of timecode of its first clip, or 25
    /// frames per second if it has no clips. Its timecode starts at 0.
    pub fn new(name: String, clips: Vec<SequenceClip>) -> Self {
        let first = clips.first().map(|clip| &clip.source);
        let rate = first.map_or_else(default_rate, |source| source.rate);
        let drop_frame = first.is_some_and(|source| source.start.is_drop_frame());
        let start = Timecode::from_frames(0, rate, drop_frame);
        Self { name, rate, start, clips, markers: Vec::new() }
    }

    /// Changes the frame rate of a sequence whose timecode starts at 0. The kind of timecode is that
    /// of the first clip with this rate.
    pub(super) fn at_rate(self, rate: FrameRate) -> Self {
        let source = self.clips.iter().map(|clip| &clip.source).find(|source| source.rate == rate);
        let drop_frame = source.is_some_and(|source| source.start.is_drop_frame());
        Self { rate, start: Timecode::from_frames(0, rate, drop_frame), ..self }
    }

    /// Returns the frame rate of most clips, and the first of several such rates. Clips without
    /// pictures count only if no clip has any.
    pub(super) fn most_frequent_rate(&self) -> FrameRate {
        let mut counts: Vec<(FrameRate, usize)> = Vec::new();
        for source in self.clips.iter().map(|clip| &clip.source).filter(|s| s.has_picture) {
            match counts.iter_mut().find(|(rate, _)| *rate == source.rate) {
                Some((_, count)) => *count += 1,
                None => counts.push((source.rate, 1)),
            }
        }
        // Of equal elements, `max_by_key` returns the last one.
        let most_frequent = counts.into_iter().rev().max_by_key(|(_, count)| *count);
        most_frequent.map_or(self.rate, |(rate, _)| rate)
    }

    /// Writes the sequence as a file. Returns `Invalid` if there is no such format, if it cannot
    /// contain clips, or if the sequence lacks data that it needs.
    pub fn export(&self, format: &str) -> Result<Export> {
        let (format, write) = clip_format(format)?;
        Ok(Export {
            content_type: format.content_type,
            filename: format!("{}.{}", self.stem(), format.extension),
            content: write(self)?,
        })
    }

    /// Returns a file name without extension, made from the name.
    pub(super) fn stem(&self) -> String {
        let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
        let safe = |c: char| if is_allowed(c) { c } else { '_' };
        let stem: String = self.name.chars().take(100).map(safe).collect();
        let stem = stem.trim_matches(['.', '_']);
        if stem.is_empty() { "sequence".into() } else { stem.into() }
    }

    /// Returns the clips, each with its place in the sequence. A clip with another frame rate gets
    /// the nearest number of frames, at least one.
    pub(super) fn placed_clips(&self) -> impl Iterator<Item = PlacedClip<'_>> {
        let mut end = 0;
        self.clips.iter().map(move |clip| {
            let start = end;
            end += clip.source.rate.convert(clip.length(), self.rate).max(1);
            PlacedClip { clip, placed: start..end }
        })
    }

    /// Returns the number of frames.
    pub(super) fn length(&self) -> u64 {
        self.placed_clips().last().map_or(0, |clip| clip.placed.end)
    }

    /// Returns the videos, in the order in which they first occur.
    pub(super) fn sources(&self) -> Vec<&SourceVideo> {
        let mut sources: Vec<&SourceVideo> = Vec::new();
        let mut known = HashSet::new();
        for clip in &self.clips {
            if known.insert(clip.source.video_id) {
                sources.push(&clip.source);
            }
        }
        sources
    }

    /// Returns a reel name for each video. If two videos have the same reel name and overlapping
    /// timecodes, a timecode would not identify the video, so the later one gets a number.
    pub(super) fn reels(&self) -> HashMap<VideoId, String> {
        let mut assigned: HashMap<String, Vec<Range<u64>>> = HashMap::new();
        let mut reels = HashMap::new();
        for source in self.sources() {
            let first = source.start.frames();
            let timecodes = first..first + source.frames.max(1);
            let is_free = |name: &String| {
                let mut others = assigned.get(name).into_iter().flatten();
                name == UNKNOWN_REEL || !others.any(|other| overlap(other, &timecodes))
            };
            let mut names = (1..).map(|number| numbered(&source.reel, number));
            let name = names.find(is_free).unwrap_or_else(|| source.reel.clone());
            assigned.entry(name.clone()).or_default().push(timecodes);
            reels.insert(source.video_id, name);
        }
        reels
    }
}

impl PlacedClip<'_> {
    /// Returns the timecodes of the first frame and of the frame after the last one in a sequence
    /// that begins at `start`.
    pub(super) fn timecodes(&self, start: Timecode) -> [Timecode; 2] {
        [self.placed.start, self.placed.end].map(|frame| start + frame)
    }
}

/// Finds a format that can contain clips, and the function that writes it.
pub(super) fn clip_format(id: &str) -> Result<(&'static Format, ClipWriter)> {
    let format = find_format(id)?;
    Ok((format, format.clip_writer().ok_or_else(|| without_clips(format))?))
}

/// Returns the frame rate of sequences without clips, and of files without pictures.
pub(super) fn default_rate() -> FrameRate {
    FrameRate::nearest(25.0).expect("the rate is positive")
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Appends a number above 1 to a reel name, within the maximum length.
fn numbered(reel: &str, number: u32) -> String {
    if number == 1 {
        return reel.to_owned();
    }
    let number = format!("_{number}");
    let kept: String = reel.chars().take(MAX_REEL_CHARS - number.len()).collect();
    kept + &number
}
