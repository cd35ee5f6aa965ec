//! Decoding: what a video file holds, its small frames and sound in one pass, single frames.
//!
//! Every time is in seconds on the container's presentation timeline, which is what a player's
//! `currentTime` shows: offsets of a stream, edit lists and variable frame rates are accounted for.
//!
//! The timeline follows what can be decoded. A time stamp that lies more than a second after all
//! content before it is believed only where the container bears it out in another way, by the
//! duration it claims, by the length of the packet before, or by sound that runs on; and never where
//! the pause is longer than the adapter's limit. Any other jump is taken out: what follows it begins
//! where the content before it ends. So slide shows and recordings of a still screen keep their
//! length, and a file of a second that claims three hours is a video of a second.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::Result;

/// Sample rate of all decoded sound, Hz. Sound is mono.
pub const SAMPLE_RATE: u32 = 16_000;

/// What a file says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct MediaInfo {
    /// Name of the container format, as `mov,mp4,m4a,3gp,3g2,mj2`.
    pub container: String,
    /// File name extension that fits the container, without the dot.
    pub extension: String,
    /// MIME type that fits the container.
    pub content_type: String,
    /// What the container claims, seconds; `None` when it claims nothing usable. Nothing holds it to
    /// the truth: costs follow [`ScanSummary::end`].
    pub duration: Option<f64>,
    /// The picture stream a player would show, if any. Attached pictures (cover art) do not count.
    pub video: Option<VideoInfo>,
    /// The sound, if any.
    pub audio: Option<AudioInfo>,
    /// Why its pictures are left out, where it has some that no decoder reads, as a sentence without a
    /// full stop.
    pub undecodable_video: Option<String>,
    /// The timecode of its first picture, as `01:00:00:00`; with `;` before the frames it is drop-frame.
    pub timecode: Option<String>,
    /// When it was recorded, as the container says it: ISO 8601, also with an offset without a colon.
    pub recorded_at: Option<String>,
}

/// The sound streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AudioInfo {
    /// How many there are.
    pub tracks: u32,
    /// The one that a player would play, counted from 0. It is decoded unless another is asked for.
    pub default_track: u32,
}

/// The picture stream.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoInfo {
    /// Codec name, as `h264`.
    pub codec: String,
    /// Width in pixels as shown (rotation applied).
    pub width: u32,
    /// Height in pixels as shown (rotation applied).
    pub height: u32,
    /// Average frames per second, when known.
    pub frame_rate: Option<f64>,
}

/// An 8-bit RGB picture, rows without padding.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels per row.
    pub width: u32,
    /// Rows from top to bottom.
    pub height: u32,
    /// `width × height × 3` bytes.
    pub rgb: Vec<u8>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({}×{})", self.width, self.height)
    }
}

/// Limits of a scan and the size of the frames it yields.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanOptions {
    /// Every frame is scaled to exactly this size (pixels), whatever its aspect ratio.
    pub width: u32,
    /// See `width`.
    pub height: u32,
    /// Whether every frame is handed out, as it is shown. Else what tells one shot from another is
    /// enough: where the picture hardly changes, frames may be passed over, each no further than a
    /// tenth of a second from one that is handed out, and pictures may be a little coarser.
    pub exact: bool,
    /// Which sound stream is decoded, counted from 0; none: the one that a player would play.
    pub audio_track: Option<u32>,
}

/// A frame of a scan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScanFrame<'a> {
    /// Its presentation time, seconds.
    pub time: f64,
    /// Its `width × height` RGB pixels.
    pub rgb: &'a [u8],
    /// Frames that were passed over between the one before and this one.
    pub skipped: u32,
}

impl<'a> ScanFrame<'a> {
    /// One that comes right after the one before.
    pub fn new(time: f64, rgb: &'a [u8]) -> Self {
        Self { time, rgb, skipped: 0 }
    }
}

/// Receives what a scan decodes, in order of presentation time within each kind.
pub trait ScanSink: Send {
    /// One frame. An error ends the scan with it.
    fn frame(&mut self, frame: ScanFrame<'_>) -> Result<()>;

    /// Consecutive samples in −1..1 at [`SAMPLE_RATE`]; `time` is that of the first. Gaps in the
    /// sound longer than 50 ms are filled with silence, so that block follows block; sound starts
    /// at time 0 or later (earlier samples are dropped).
    fn audio(&mut self, time: f64, samples: &[f32]) -> Result<()>;
}

/// Passes sound on and leaves pictures out.
struct SoundOnly<'a>(&'a mut dyn ScanSink);

impl ScanSink for SoundOnly<'_> {
    fn frame(&mut self, _: ScanFrame<'_>) -> Result<()> {
        Ok(())
    }

    fn audio(&mut self, time: f64, samples: &[f32]) -> Result<()> {
        self.0.audio(time, samples)
    }
}

/// What a scan found out by decoding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScanSummary {
    /// Frames handed to the sink.
    pub frames: u64,
    /// Samples handed to the sink.
    pub samples: u64,
    /// Time at which the last picture or sound ends, seconds: at most a second more than its frames
    /// and samples last.
    pub end: f64,
    /// Damaged packets that were passed over.
    pub damaged: u64,
}

/// A frame that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Still {
    /// When it is shown, seconds on the timeline of a scan.
    pub time: f64,
    /// Where it is wider or higher, it is scaled down to this, keeping its aspect, pixels.
    pub max_side: u32,
}

/// A frame at full size.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its presentation time, seconds.
    pub time: f64,
    /// Its pixels, rotation applied.
    pub image: Image,
}

/// A piece of a file, seconds on the timeline of a scan.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipRequest {
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// Whether it must begin there; else it may begin at the key frame before.
    pub exact: bool,
    /// Most bytes that it may have.
    pub max_bytes: u64,
    /// Which sound stream it has: see [`ScanOptions::audio_track`].
    pub audio_track: Option<u32>,
}

/// A piece as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// Where it begins, seconds on the timeline of a scan.
    pub start: f64,
    /// Whether its packets are those of the file; else they were coded anew.
    pub copied: bool,
    /// Whether it has pictures.
    pub video: bool,
}

/// Whether anybody still waits for a result. Clones share one answer.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// Says that nobody waits any more.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether nobody waits any more.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Reads video files. All methods *block*. A file that no decoder reads is `Invalid` with a message
/// that says so; a hostile one costs bounded memory and time, and whatever it makes the decoder do,
/// the answer is an error that a person understands.
pub trait VideoDecoder: Send + Sync {
    /// What the file is. MUST be `Invalid` for anything that is not a media file (text, playlists,
    /// random bytes, an empty file) and MUST NOT open any other file or address.
    fn probe(&self, file: &Path) -> Result<MediaInfo>;

    /// Decodes the file once, handing small frames and sound to `sink`. A file damaged half way
    /// yields what can be decoded; nothing decodable at all is `Invalid`.
    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary>;

    /// Decodes the sound alone and hands it to `sink` as `scan` does; a file without any yields none.
    /// `audio_track` is that of [`ScanOptions`].
    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        let size = ScanOptions { width: 2, height: 2, exact: false, audio_track };
        self.scan(file, &size, &mut SoundOnly(sink))?;
        Ok(())
    }

    /// For each still, in any order, the frame shown then: the last one at or before its time, or the
    /// first frame where there is none. The answer has one entry per still, `None` where nothing could
    /// be decoded or the time is no number.
    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>>;

    /// The same for times, none of the frames larger than `max_side`.
    fn frames(&self, file: &Path, times: &[f64], max_side: u32) -> Result<Vec<Option<Frame>>> {
        let stills: Vec<Still> = times.iter().map(|&time| Still { time, max_side }).collect();
        self.stills(file, &stills)
    }

    /// Writes a piece of the file to `out`, which is empty, as MP4: its packets as they are where a
    /// key frame begins it, or where it need not be exact; else what is seen and heard from `start` to
    /// `end`, coded anew. `TooLarge` past `max_bytes`, `Unavailable` without an encoder. Ends with any
    /// error within a second of `cancel`.
    fn clip(
        &self,
        file: &Path,
        cut: &ClipRequest,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<Clip>;
}
