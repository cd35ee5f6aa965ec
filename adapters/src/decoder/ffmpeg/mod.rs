//! A `VideoDecoder` that uses the linked FFmpeg libraries. It reads only the given regular file,
//! and FFmpeg sees this file as a byte stream without a name. Every step has a deadline.
//!
//! # The timeline
//! Time 0 is the start of the container's earliest video or audio stream, which is also where a
//! player's `currentTime` starts; every other stream keeps its offset. For example, if an empty
//! edit delays the video by 0.834 s relative to the audio, the first frame is at 0.834 s. An MPEG
//! transport stream whose clock begins at 1.4 s begins at 0, and so does a WebM file cut from a
//! longer recording. FFmpeg applies edit lists and encoder priming and returns corrected
//! timestamps. Hidden content is never decoded. Frame times come from the container, so a variable
//! frame rate causes no drift. A claimed duration is reported and can confirm a long pause, but
//! does not determine the length. Unconfirmed clock jumps are removed (see `timeline`).

mod accepted;
mod captions;
mod clip;
mod context;
mod cut_audio;
mod deadline;
mod encoders;
mod error;
mod file_type;
mod frames;
mod hdr;
mod input;
mod order;
mod picture;
mod render;
mod scan;
mod shrink;
mod skip;
mod sound;
mod source;
mod timeline;

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use ffmpeg_next as ffmpeg;
use ports::Result;
use ports::decoder::{
    CancellationToken, Clip, ClipRequest, Frame, MediaInfo, RenderFormat, RenderParts, ScanOptions,
    ScanSink, ScanSummary, Still, VideoDecoder,
};
use serde::{Deserialize, Serialize};

pub(super) use accepted::check_lists;
pub(super) use captions::CaptionPainter;
use error::Error;
pub(super) use frames::SeekMethod;
use input::{Input, media_info};
pub(super) use render::{PartRequest, RenderSink, SequenceEncoder};

/// Accepted formats, and limits that bound the cost of decoding a hostile file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FfmpegOptions {
    /// Number of decoding threads per file. Each thread holds a few more frames in memory. Twice
    /// the number of cores plus one keeps all cores busy, because some threads wait for a reference
    /// frame and some hold a skipped frame.
    pub threads: usize,
    /// Maximum number of pixels per frame, width × height. Larger frames yield `TooLarge`.
    pub max_pixels: u64,
    /// Maximum number of streams. A file with more streams yields `Invalid`.
    pub max_streams: u32,
    /// Maximum duration, in seconds. A scan that reaches a later timestamp ends with `TooLarge`.
    pub max_duration: f64,
    /// Timeout for opening a file and finding its streams.
    pub open_timeout: Duration,
    /// Base timeout for a scan or a set of frames.
    pub timeout: Duration,
    /// Additional timeout per second of decoded media, or per requested frame.
    pub timeout_per_second: Duration,
    /// Longest frame or pause, in seconds, that is accepted if only the container's data confirms
    /// it.
    pub max_gap: f64,
    /// Accepted demuxers, by FFmpeg's names.
    pub containers: Vec<String>,
    /// Accepted codecs, by FFmpeg's names.
    pub codecs: Vec<String>,
    /// Maximum size of a single allocation by FFmpeg, in bytes. The limit applies to the whole
    /// process.
    pub max_allocation: usize,
    /// The font of captions that are drawn into pictures, a TrueType or OpenType file.
    pub caption_font: PathBuf,
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
            caption_font: section.caption_font.clone(),
        }
    }
}

/// Reads video and audio files with FFmpeg.
#[derive(Debug)]
pub struct FfmpegDecoder {
    options: FfmpegOptions,
}

impl FfmpegDecoder {
    /// Creates a decoder with these limits. Opens no file.
    pub fn new(options: FfmpegOptions) -> Self {
        static QUIET: Once = Once::new();
        QUIET.call_once(|| {
            // Otherwise FFmpeg would report damaged files on stderr. The scan summary counts
            // damaged packets instead.
            ffmpeg::log::set_level(ffmpeg::log::Level::Quiet);
        });
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the call only sets a number, which FFmpeg reads atomically.
        unsafe {
            ffmpeg::ffi::av_max_alloc(options.max_allocation);
        }
        Self { options }
    }
}

impl FfmpegDecoder {
    pub(super) fn probe_file(&self, file: &Arc<File>) -> Result<MediaInfo> {
        Ok(media_info(&Input::open(file, &self.options, None)?.streams))
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
        input.streams.sound_only();
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

    /// Prepares to draw the captions of a part; `None` if it has none. Reads the font, so it must be
    /// called before the process gives up access to the file system.
    pub(super) fn caption_painter(&self, part: &PartRequest) -> Result<Option<CaptionPainter>> {
        let open = || {
            let font = &self.options.caption_font;
            CaptionPainter::open(font, part.size, part.rate, &part.captions)
        };
        Ok((!part.captions.is_empty()).then(open).transpose()?)
    }

    pub(super) fn decode_part(
        &self,
        file: &Arc<File>,
        request: &PartRequest,
        captions: Option<CaptionPainter>,
        sink: &mut dyn RenderSink,
    ) -> Result<()> {
        Ok(render::decode_part(file, &self.options, request, captions, sink)?)
    }

    pub(super) fn open_encoder(
        &self,
        format: &RenderFormat,
        out: impl Write + Seek + Send + 'static,
    ) -> Result<SequenceEncoder> {
        SequenceEncoder::open(self.options.threads, format, out)
    }
}

/// Opens a non-empty regular file.
pub(super) fn open_media(path: &Path) -> Result<Arc<File>> {
    let open = || {
        // Without this flag, opening a FIFO would block, and open(2) has no deadline.
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

    fn render(
        &self,
        format: &RenderFormat,
        parts: &mut RenderParts<'_>,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<()> {
        let out = clip::CancellableWriter::new(out, cancel.clone());
        let mut encoder = self.open_encoder(format, out)?;
        let mut first = 0_u64;
        for part in parts {
            let part = part?;
            let request = PartRequest::new(format, first, &part);
            let captions = self.caption_painter(&request)?;
            self.decode_part(&open_media(&part.file)?, &request, captions, &mut encoder)?;
            first = first.saturating_add(part.frames);
        }
        encoder.finish()
    }
}
