//! `VideoDecoder` on the linked FFmpeg libraries. The composition root opens it; it never reads
//! anything but the one regular file it is given, and every step of it has a deadline.
//!
//! # The timeline
//! Time 0 is where the earliest picture or sound stream of the container begins, which is where a
//! player's `currentTime` starts; every other stream keeps its distance to it. So a picture stream
//! that an empty edit delays by 0.834 s against the sound has its first frame at 0.834, an MPEG
//! transport stream that begins at 1.4 s begins at 0, and a WebM cut out of a longer recording
//! begins at 0. Edit lists and encoder priming are applied by FFmpeg, which hands out corrected
//! timestamps; what they hide is never seen. Frame times are the container's own, so a variable
//! frame rate shifts nothing, and a claimed duration is reported but never relied on.

mod error;
mod file_type;
mod frames;
mod input;
mod picture;
mod scan;
mod sound;

use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use ffmpeg_next as ffmpeg;
use ports::Result;
use ports::decoder::{Frame, MediaInfo, ScanOptions, ScanSink, ScanSummary, VideoDecoder};

use error::Error;
use input::Input;

/// Limits that keep a hostile file from costing more than it may.
#[derive(Debug, Clone, PartialEq)]
pub struct FfmpegOptions {
    /// Decoding threads per file. Each holds a few more pictures in memory. One more than there
    /// are cores keeps them busy while a frame is scaled and judged.
    pub threads: usize,
    /// Largest picture, width × height. A larger one is `TooLarge`.
    pub max_pixels: u64,
    /// Streams a file may have; one with more is `Invalid`.
    pub max_streams: u32,
    /// Longest accepted media, seconds. Time stamps beyond it end a scan with `TooLarge`.
    pub max_duration: f64,
    /// Time allowed for opening a file and finding its streams.
    pub open_timeout: Duration,
    /// Time allowed for a scan or a set of frames, whatever the file holds …
    pub timeout: Duration,
    /// … and in addition for each second of media that was decoded, or for each frame asked for.
    pub timeout_per_second: Duration,
    /// Largest single block of memory FFmpeg may allocate, bytes. Holds for the whole process.
    pub max_allocation: usize,
}

impl Default for FfmpegOptions {
    /// Those of `[decoder]` where nothing else is set.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

impl From<&super::Settings> for FfmpegOptions {
    fn from(section: &super::Settings) -> Self {
        Self {
            threads: match section.threads {
                0 => std::thread::available_parallelism().map_or(3, |n| n.get() + 1).min(5),
                threads => threads,
            },
            max_pixels: section.max_pixels,
            max_streams: section.max_streams,
            max_duration: 24.0 * 3600.0,
            open_timeout: Duration::from_secs(section.open_timeout),
            timeout: Duration::from_secs(60),
            timeout_per_second: Duration::from_secs(10),
            max_allocation: 512 << 20,
        }
    }
}

/// Reads video and sound files with FFmpeg.
#[derive(Debug)]
pub struct FfmpegDecoder {
    options: FfmpegOptions,
}

impl FfmpegDecoder {
    /// A decoder with these limits. Touches no file.
    pub fn new(options: FfmpegOptions) -> Self {
        static QUIET: Once = Once::new();
        QUIET.call_once(|| {
            // FFmpeg writes to stderr what damaged files make it think of; the summary counts it.
            ffmpeg::log::set_level(ffmpeg::log::Level::Quiet);
        });
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: sets one number that FFmpeg reads atomically.
        unsafe {
            ffmpeg::ffi::av_max_alloc(options.max_allocation);
        }
        Self { options }
    }
}

impl VideoDecoder for FfmpegDecoder {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        Ok(Input::open(file, &self.options)?.info())
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        let mut input = Input::open(file, &self.options)?;
        Ok(scan::scan(&mut input, &self.options, options, sink)?)
    }

    fn frames(&self, file: &Path, times: &[f64], max_side: u32) -> Result<Vec<Option<Frame>>> {
        let mut input = Input::open(file, &self.options)?;
        Ok(frames::frames(&mut input, &self.options, times, max_side)?)
    }
}
