//! Video decoding. A decoder reads stream information, scans small frames and audio in one pass,
//! decodes single frames, cuts clips and renders sequences of clips.
//!
//! Times are in seconds on the container's presentation timeline and equal a player's
//! `currentTime`. They account for stream offsets, edit lists and variable frame rates.
//!
//! The decodable content determines the timeline. If a timestamp jumps ahead of all earlier content
//! by more than a second, it is trusted only if the container confirms it: by the duration it
//! claims, by the length of the previous packet, or by continuous audio. Jumps beyond the adapter's
//! limit are never trusted. An untrusted jump is removed: the content after it begins where the
//! content before it ends. So slide shows and recordings of an idle screen keep their length, but a
//! one-second file that claims three hours is a one-second video.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::{FrameRate, Result};

/// Sample rate of all decoded audio, in Hz.
pub const SAMPLE_RATE: u32 = 16_000;

/// Sample rate of the audio of rendered sequences, in Hz.
pub const RENDER_SAMPLE_RATE: u32 = 48_000;

/// The properties of a file, as stated by its container.
#[derive(Debug, Clone, PartialEq)]
pub struct MediaInfo {
    /// Name of the container format, such as `mov,mp4,m4a,3gp,3g2,mj2`.
    pub container: String,
    /// Filename extension for the container, without the dot.
    pub extension: String,
    /// MIME type of the container.
    pub content_type: String,
    /// The duration claimed by the container, in seconds; `None` if the container claims none or an
    /// unusable one. The claim may be wrong, so costs are computed from [`ScanSummary::end`].
    pub duration: Option<f64>,
    /// The video stream that a player would show, if any. Attached pictures (cover art) do not
    /// count as video.
    pub video: Option<VideoInfo>,
    /// The audio streams, if any.
    pub audio: Option<AudioInfo>,
    /// Why the file's video cannot be decoded, as a sentence without a full stop. `None` if the
    /// video can be decoded or the file has none.
    pub undecodable_video: Option<String>,
    /// The timecode of the first frame, such as `01:00:00:00`; a `;` before the frame number marks
    /// drop-frame timecode.
    pub timecode: Option<String>,
    /// The reel (tape, card or camera roll) that the file was copied from, as stated by the
    /// container.
    pub reel_name: Option<String>,
    /// The recording time stated by the container, in ISO 8601. The UTC offset may lack its colon.
    pub recorded_at: Option<String>,
}

/// The audio streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AudioInfo {
    /// Number of audio streams.
    pub tracks: u32,
    /// Index of the audio stream that a player would play, counted from 0. This stream is decoded
    /// unless the caller requests another one.
    pub default_track: u32,
}

/// The video stream.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoInfo {
    /// Codec name, such as `h264`.
    pub codec: String,
    /// Displayed width in pixels (rotation applied).
    pub width: u32,
    /// Displayed height in pixels (rotation applied).
    pub height: u32,
    /// Frames per second, if known. Of a variable rate, it is the rate of film or television at which
    /// frames were left out, if there is one, otherwise the average.
    pub frame_rate: Option<FrameRate>,
}

/// An 8-bit RGB image without padding between rows.
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

/// Options for a scan.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanOptions {
    /// Width of the frames in pixels. Every frame is scaled to exactly this size, regardless of its
    /// aspect ratio.
    pub width: u32,
    /// Height of the frames in pixels.
    pub height: u32,
    /// Whether to return every frame exactly as displayed. If `false`, the frames only need to
    /// reveal shot boundaries: they may be slightly coarser, and in static passages the decoder may
    /// skip frames that are within a tenth of a second of a returned frame.
    pub exact: bool,
    /// Index of the audio stream to decode, counted from 0; `None` selects the stream that a player
    /// would play.
    pub audio_track: Option<u32>,
}

/// A frame from a scan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScanFrame<'a> {
    /// Presentation time, in seconds.
    pub time: f64,
    /// The `width × height` RGB pixels.
    pub rgb: &'a [u8],
    /// Number of frames skipped since the previous frame.
    pub skipped: u32,
}

impl<'a> ScanFrame<'a> {
    /// Creates a frame before which no frames were skipped.
    pub fn new(time: f64, rgb: &'a [u8]) -> Self {
        Self { time, rgb, skipped: 0 }
    }
}

/// Consecutive audio samples from a scan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AudioBlock<'a> {
    /// Time of the first sample, in seconds.
    pub time: f64,
    /// Mono samples in −1..1 at [`SAMPLE_RATE`], mixed down from all channels.
    pub samples: &'a [f32],
    /// The left and right channels of a stereo track, each as long as `samples`; `None` if the
    /// track is not stereo or its channels do not differ.
    pub channels: Option<[&'a [f32]; 2]>,
}

impl<'a> AudioBlock<'a> {
    /// Creates a block from a track whose channels do not differ.
    pub fn mono(time: f64, samples: &'a [f32]) -> Self {
        Self { time, samples, channels: None }
    }
}

/// Receives a scan's frames and audio, each in order of presentation time.
pub trait ScanSink: Send {
    /// Receives one frame. An error ends the scan with that error.
    fn frame(&mut self, frame: ScanFrame<'_>) -> Result<()>;

    /// Receives one block of audio. Blocks are contiguous, because silence fills gaps longer than
    /// 50 ms. Audio starts at time 0 or later (earlier samples are dropped).
    fn audio(&mut self, block: AudioBlock<'_>) -> Result<()>;
}

/// The result of a scan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScanSummary {
    /// Number of frames passed to the sink.
    pub frames: u64,
    /// Number of samples passed to the sink.
    pub samples: u64,
    /// End of the last frame or sample, in seconds. It exceeds the duration of the decoded content
    /// by at most a second.
    pub end: f64,
    /// Number of damaged packets that were skipped.
    pub damaged: u64,
}

/// A request for a single frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Still {
    /// The time at which the frame is shown, in seconds on the timeline of a scan.
    pub time: f64,
    /// Maximum width and height in pixels. A larger frame is scaled down and keeps its aspect
    /// ratio.
    pub max_side: u32,
}

/// A decoded frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Presentation time, in seconds.
    pub time: f64,
    /// The pixels, with rotation applied.
    pub image: Image,
}

/// A request for part of a file. Times are in seconds on the timeline of a scan.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipRequest {
    /// Start of the clip.
    pub start: f64,
    /// End of the clip.
    pub end: f64,
    /// Whether the clip must begin exactly at `start`. If `false`, it may begin at the previous key
    /// frame.
    pub exact: bool,
    /// Maximum size of the clip in bytes.
    pub max_bytes: u64,
    /// The audio stream; see [`ScanOptions::audio_track`].
    pub audio_track: Option<u32>,
}

/// The result of writing a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// The actual start of the clip, in seconds on the timeline of a scan.
    pub start: f64,
    /// Whether the packets were copied from the file. If `false`, the clip was re-encoded.
    pub copied: bool,
    /// Whether the clip has video.
    pub video: bool,
}

/// The form of a rendered sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderFormat {
    /// Width in pixels; an even number.
    pub width: u32,
    /// Height in pixels; an even number.
    pub height: u32,
    /// Frames per second. Every frame has the same duration.
    pub rate: FrameRate,
    /// Number of frames of all parts.
    pub frames: u64,
    /// Maximum size of the file in bytes.
    pub max_bytes: u64,
}

impl RenderFormat {
    /// Returns the number of samples at [`RENDER_SAMPLE_RATE`] before a frame. Rounding errors do
    /// not add up, because the number is that of the whole sequence up to the frame.
    pub fn samples_before(&self, frame: u64) -> u64 {
        let (numerator, denominator) = (self.rate.numerator(), self.rate.denominator());
        let scaled = u128::from(frame) * u128::from(denominator) * u128::from(RENDER_SAMPLE_RATE);
        let numerator = u128::from(numerator);
        u64::try_from((scaled + numerator / 2) / numerator).unwrap_or(u64::MAX)
    }

    /// Returns the duration of all frames, in seconds.
    pub fn seconds(&self) -> f64 {
        self.rate.seconds(self.frames)
    }
}

/// A caption that is drawn into the pictures of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurnedCaption {
    /// Start, in seconds from the start of the part.
    pub start: f64,
    /// End, in seconds from the start of the part.
    pub end: f64,
    /// The lines of text.
    pub lines: Vec<String>,
}

/// A part of a file in a rendered sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderPart {
    /// The file.
    pub file: PathBuf,
    /// Start of the part, in seconds on the timeline of a scan.
    pub start: f64,
    /// Number of frames, at the rate of the sequence. At least 1.
    pub frames: u64,
    /// The audio stream; see [`ScanOptions::audio_track`].
    pub audio_track: Option<u32>,
    /// Captions to draw into the pictures.
    pub captions: Vec<BurnedCaption>,
}

/// Supplies the parts of a sequence, in order. It may block until the next file is available, and
/// the decoder reads a file only until it requests the next one.
pub type RenderParts<'a> = dyn Iterator<Item = Result<RenderPart>> + Send + 'a;

/// Cancels a running call when its caller no longer needs the result. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// Requests cancellation.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Decodes video files. All methods are *blocking*.
///
/// A file that cannot be decoded yields `Invalid` with a message that says why. A hostile file
/// takes bounded memory and time. If it crashes the decoder, the call fails with an error that a
/// person can understand.
///
/// ```
/// use adapters::decoder::{Fill, RecordedDecoder, Recording, Scene};
/// use shotlog_ports::decoder::VideoDecoderExt;
///
/// # fn main() -> shotlog_ports::Result<()> {
/// let recording = Recording {
///     width: 64,
///     height: 36,
///     frame_rate: 25.0,
///     scenes: vec![Scene { seconds: 2.0, fill: Fill::Colour([220, 30, 30]) }],
///     sounds: Vec::new(),
///     claimed_duration: None,
///     damaged_from: None,
/// };
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("red.recording");
/// std::fs::write(&file, recording.to_bytes())?;
///
/// let frames = RecordedDecoder.frames(&file, &[1.0], 64)?;
/// let frame = frames[0].as_ref().expect("a frame");
/// assert_eq!(frame.image.rgb[..3], [220, 30, 30]);
/// # Ok(())
/// # }
/// ```
pub trait VideoDecoder: Send + Sync {
    /// Reads the properties of a file. MUST return `Invalid` for anything that is not a media file,
    /// such as text, a playlist, random bytes or an empty file. MUST NOT open any other file or
    /// URL.
    fn probe(&self, file: &Path) -> Result<MediaInfo>;

    /// Decodes the file once and passes small frames and audio to `sink`. A damaged file yields the
    /// parts that can be decoded. A file without decodable content yields `Invalid`.
    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary>;

    /// Decodes only the audio and passes it to `sink` as [`Self::scan`] does. A file without audio
    /// passes nothing to `sink`. `audio_track` has the same meaning as in [`ScanOptions`].
    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()>;

    /// Decodes the frame shown at each requested time: the last frame at or before that time, or
    /// the first frame if the time precedes all frames. The times may be in any order. The result
    /// has one entry per request; an entry is `None` if no frame could be decoded or the time is
    /// not finite.
    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>>;

    /// Writes part of the file as MP4 to `out`, which must be empty. Copies the packets if the part
    /// begins at a key frame or the start need not be exact; otherwise re-encodes video and audio
    /// from `start` to `end`. Returns `TooLarge` if the clip exceeds `max_bytes` and `Unavailable`
    /// if there is no encoder. After cancellation, the call fails within a second.
    fn clip(
        &self,
        file: &Path,
        cut: &ClipRequest,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<Clip>;

    /// Joins parts of files to one video, and writes it as MP4 to `out`, which must be empty. Each
    /// part has exactly its number of frames, and audio of the same duration:
    ///
    /// - A frame of a part shows what its file shows at the time at which the frame begins, within
    ///   0.4 frames of the file or of the sequence, whichever are shorter. After the last frame of
    ///   the file, that frame is repeated. A file without video yields black frames.
    /// - Pictures of another size are scaled to fit, centred, and padded with black.
    /// - The audio is stereo. It is silent where the file has none.
    /// - The captions are drawn at the bottom of the pictures, exactly as they are written.
    ///
    /// Returns the error of `parts` if one fails, `Invalid` if the parts do not have `frames`
    /// frames, `TooLarge` if the file exceeds `max_bytes`, and `Unavailable` if there is no encoder,
    /// or no font for the captions. After cancellation, the call fails within a second unless it
    /// waits for a part.
    fn render(
        &self,
        format: &RenderFormat,
        parts: &mut RenderParts<'_>,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<()>;
}

/// Conveniences over every decoder.
pub trait VideoDecoderExt: VideoDecoder {
    /// Like [`VideoDecoder::stills`], with the same `max_side` for all times.
    fn frames(&self, file: &Path, times: &[f64], max_side: u32) -> Result<Vec<Option<Frame>>> {
        let stills: Vec<Still> = times.iter().map(|&time| Still { time, max_side }).collect();
        self.stills(file, &stills)
    }

    /// Scans the file and drops the frames, for decoders that cannot decode audio alone.
    fn scan_sound(
        &self,
        file: &Path,
        audio_track: Option<u32>,
        sink: &mut dyn ScanSink,
    ) -> Result<()> {
        let size = ScanOptions { width: 2, height: 2, exact: false, audio_track };
        self.scan(file, &size, &mut SoundOnly(sink))?;
        Ok(())
    }
}

impl<T: VideoDecoder + ?Sized> VideoDecoderExt for T {}

/// A sink that passes audio on and drops frames.
struct SoundOnly<'a>(&'a mut dyn ScanSink);

impl ScanSink for SoundOnly<'_> {
    fn frame(&mut self, _: ScanFrame<'_>) -> Result<()> {
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> Result<()> {
        self.0.audio(block)
    }
}
