//! A `VideoDecoder` on the linked FFmpeg libraries. It reads nothing but the given regular file,
//! which FFmpeg sees as bytes without a name, and every step has a deadline.
//!
//! # The timeline
//! Time 0 is the start of the earliest video or audio stream of the container, where a player's
//! `currentTime` starts; every other stream keeps its offset. So a video stream that an empty edit
//! delays by 0.834 s against the audio has its first frame at 0.834, an MPEG transport stream that
//! begins at 1.4 s begins at 0, and a WebM cut from a longer recording begins at 0. FFmpeg applies
//! edit lists and encoder priming and returns corrected timestamps; hidden content is never
//! decoded. Frame times are those of the container, so a variable frame rate shifts nothing. A
//! claimed duration is reported and can confirm a long pause, but does not determine the length;
//! unconfirmed jumps of the clock are removed (`timeline`).

mod accepted;
mod clip;
mod context;
mod deadline;
mod error;
mod file_type;
mod frames;
mod hdr;
mod input;
mod order;
mod picture;
mod scan;
mod shrink;
mod skip;
mod sound;
mod source;
mod timeline;

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Once};
use std::time::Duration;

use ffmpeg_next as ffmpeg;
use ports::Result;
use ports::decoder::{
    CancellationToken, Clip, ClipRequest, Frame, MediaInfo, ScanOptions, ScanSink, ScanSummary,
    Still, VideoDecoder,
};
use serde::{Deserialize, Serialize};

pub(super) use accepted::check_lists;
use error::Error;
pub(super) use frames::SeekMethod;
use input::Input;

/// Limits on the cost of a hostile file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FfmpegOptions {
    /// Decoding threads per file. Each holds a few more frames in memory. Twice the number of cores
    /// plus one keeps the cores busy: some threads wait for a reference frame, and some have a
    /// skipped one.
    pub threads: usize,
    /// Maximum frame size, width × height. A larger one is `TooLarge`.
    pub max_pixels: u64,
    /// Maximum number of streams; a file with more is `Invalid`.
    pub max_streams: u32,
    /// Maximum duration, seconds. A scan with later timestamps ends with `TooLarge`.
    pub max_duration: f64,
    /// Timeout for opening a file and finding its streams.
    pub open_timeout: Duration,
    /// Base timeout for a scan or a set of frames …
    pub timeout: Duration,
    /// … and additional time per second of decoded media, or per requested frame.
    pub timeout_per_second: Duration,
    /// Maximum pause or frame duration that is believed from the container alone, seconds.
    pub max_gap: f64,
    /// Accepted demuxers, by FFmpeg's names.
    pub containers: Vec<String>,
    /// Accepted codecs, by FFmpeg's names.
    pub codecs: Vec<String>,
    /// Maximum size of a single FFmpeg allocation, bytes. Applies to the whole process.
    pub max_allocation: usize,
}

impl Default for FfmpegOptions {
    /// The defaults of `[decoder]`.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

impl From<&super::Settings> for FfmpegOptions {
    fn from(section: &super::Settings) -> Self {
        Self {
            threads: match section.threads {
                0 => std::thread::available_parallelism().map_or(5, |n| 2 * n.get() + 1).min(5),
                threads => threads,
            },
            max_pixels: section.max_pixels,
            max_streams: section.max_streams,
            max_duration: 24.0 * 3600.0,
            open_timeout: Duration::from_secs(section.open_timeout),
            timeout: Duration::from_secs(section.timeout),
            timeout_per_second: Duration::from_secs(section.timeout_per_second),
            max_gap: section.max_gap as f64,
            containers: section.containers.clone(),
            codecs: section.codecs.clone(),
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
    /// A decoder with these limits. Opens no file.
    pub fn new(options: FfmpegOptions) -> Self {
        static QUIET: Once = Once::new();
        QUIET.call_once(|| {
            // FFmpeg logs to stderr for damaged files; the summary counts their packets.
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

impl FfmpegDecoder {
    pub(super) fn probe_file(&self, file: &Arc<File>) -> Result<MediaInfo> {
        Ok(Input::open(file, &self.options, None)?.info())
    }

    pub(super) fn scan_file(
        &self,
        file: &Arc<File>,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        let mut input = Input::open(file, &self.options, options.audio_track)?;
        Ok(scan::scan(&mut input, &self.options, options, sink)?)
    }

    pub(super) fn decode_audio_file(
        &self,
        file: &Arc<File>,
        audio_track: Option<u32>,
        sink: &mut dyn ScanSink,
    ) -> Result<()> {
        let mut input = Input::open(file, &self.options, audio_track)?;
        input.sound_only();
        let size = ScanOptions { width: 0, height: 0, exact: true, audio_track };
        match scan::scan(&mut input, &self.options, &size, sink) {
            Ok(_) | Err(Error::NothingDecoded) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn extract_frames(
        &self,
        file: &Arc<File>,
        stills: &[Still],
        method: Option<SeekMethod>,
        found: &mut dyn FnMut(usize, &Frame) -> Result<()>,
    ) -> Result<SeekMethod> {
        Ok(frames::frames(file, &self.options, stills, method, found)?)
    }
}

impl FfmpegDecoder {
    pub(super) fn write_clip(
        &self,
        file: &Arc<File>,
        cut: &ClipRequest,
        out: impl Write + Seek + Send + 'static,
    ) -> Result<Clip> {
        Ok(clip::clip(file, &self.options, cut, out)?)
    }
}

/// Opens a non-empty regular file.
pub(super) fn open_media(path: &Path) -> Result<Arc<File>> {
    let open = || {
        // Without the flag, a FIFO would block in open(2), which has no deadline.
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        let meta = file.metadata()?;
        match () {
            () if !meta.is_file() => Err(Error::NotAFile),
            () if meta.len() == 0 => Err(Error::Empty),
            () => Ok(Arc::new(file)),
        }
    };
    Ok(open()?)
}

impl VideoDecoder for FfmpegDecoder {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        self.probe_file(&open_media(file)?)
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        self.scan_file(&open_media(file)?, options, sink)
    }

    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        self.decode_audio_file(&open_media(file)?, audio_track, sink)
    }

    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>> {
        let mut frames = vec![None; stills.len()];
        self.extract_frames(&open_media(file)?, stills, None, &mut |index, frame| {
            frames[index] = Some(frame.clone());
            Ok(())
        })?;
        Ok(frames)
    }

    fn clip(
        &self,
        file: &Path,
        cut: &ClipRequest,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<Clip> {
        self.write_clip(&open_media(file)?, cut, clip::CancellableWriter::new(out, cancel.clone()))
    }
}
