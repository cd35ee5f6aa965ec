//! Defines the configuration section `[decoder]` and opens the decoder.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ports::decoder::VideoDecoder;
use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};

use crate::OpenError;

/// Where files are decoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In one sandboxed process per file.
    #[default]
    Process,
    /// In the service itself, so a file that crashes the decoder crashes the service.
    None,
}

/// Settings of video decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Where files are decoded.
    pub isolation: Isolation,
    /// Number of threads per file. 0 derives the number from the CPU cores, up to 5.
    pub threads: usize,
    /// Maximum number of pixels per frame, width × height.
    pub max_pixels: u64,
    /// Maximum number of streams in a file.
    pub max_streams: u32,
    /// Timeout for opening a file, in seconds.
    #[serde(with = "seconds")]
    pub open_timeout: u64,
    /// Base timeout for decoding a file, in seconds.
    #[serde(with = "seconds")]
    pub timeout: u64,
    /// Additional timeout in seconds per second of media, or per requested frame.
    #[serde(with = "seconds")]
    pub timeout_per_second: u64,
    /// Base limit on CPU time for decoding a file, in seconds (only with process isolation).
    #[serde(with = "seconds")]
    pub cpu_time: u64,
    /// Additional CPU time in seconds per second of media, or per requested frame (only with
    /// process isolation).
    #[serde(with = "seconds")]
    pub cpu_time_per_second: u64,
    /// Memory limit for decoding a file in bytes, in addition to the program's own memory (only
    /// with process isolation).
    #[serde(with = "byte_size")]
    pub memory: u64,
    /// Longest frame or pause, in seconds, that is accepted if only the container's data confirms
    /// it.
    #[serde(with = "seconds")]
    pub max_gap: u64,
    /// Accepted containers, by FFmpeg's demuxer names.
    pub containers: Vec<String>,
    /// Accepted codecs, by FFmpeg's names.
    pub codecs: Vec<String>,
    /// The font of captions that are drawn into pictures, a TrueType or OpenType file.
    pub caption_font: PathBuf,
}

/// Video and audio containers. The list deliberately excludes image sequences, text, playlists, and
/// other formats that open a second file or a URL.
const CONTAINERS: &str = "\
aac ac3 aiff amr ape asf au avi caf dts dv eac3 flac flv gif gxf h264 hevc ivf m4v matroska mov mp3 \
mpeg mpegts mpegvideo mxf nut obu ogg rm tta vc1 voc w64 wav webm wtv wv yuv4mpegpipe";

/// Codecs used by cameras, phones, screen recorders, browsers, broadcasters and archives.
const CODECS: &str = "\
av1 cavs cfhd cinepak cljr dirac dnxhd dvvideo ffv1 ffvhuff flashsv flashsv2 flv1 gif h261 h263 h263i \
h263p h264 hap hevc huffyuv indeo2 indeo3 indeo4 indeo5 jpeg2000 jpegls lagarith magicyuv mjpeg mjpegb \
mpeg1video mpeg2video mpeg4 msmpeg4v1 msmpeg4v2 msmpeg4v3 msrle mss1 mss2 msvideo1 png prores qtrle \
r10k r210 rawvideo rpza rv10 rv20 rv30 rv40 smc snow svq1 svq3 theora tscc tscc2 utvideo v210 vc1 vp3 \
vp4 vp5 vp6 vp6a vp6f vp7 vp8 vp9 wmv1 wmv2 wmv3 zmbv \
aac aac_latm ac3 adpcm_ima_qt adpcm_ima_wav adpcm_ms adpcm_swf adpcm_yamaha alac amr_nb amr_wb ape \
atrac3 cook dts dvaudio eac3 evrc flac g723_1 g729 gsm gsm_ms ilbc mace3 mace6 mlp mp1 mp2 mp3 \
nellymoser opus pcm_alaw pcm_bluray pcm_dvd pcm_f32be pcm_f32le pcm_f64be pcm_f64le pcm_mulaw pcm_s16be \
pcm_s16le pcm_s24be pcm_s24le pcm_s32be pcm_s32le pcm_s8 pcm_u16be pcm_u16le pcm_u24be pcm_u24le \
pcm_u32be pcm_u32le pcm_u8 qcelp qdm2 qdmc ra_144 ra_288 ralf s302m sipr speex truehd tta vorbis \
wavpack wmalossless wmapro wmav1 wmav2 wmavoice";

/// Where Debian's package fonts-dejavu-core has it. It contains Latin, Greek, Cyrillic, Arabic and Hebrew
/// letters.
const CAPTION_FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

impl Default for Settings {
    fn default() -> Self {
        let list = |names: &str| names.split_whitespace().map(str::to_owned).collect();
        Self {
            isolation: Isolation::default(),
            threads: 0,
            max_pixels: 8192 * 4608,
            max_streams: 64,
            open_timeout: 15,
            timeout: 15,
            timeout_per_second: 10,
            cpu_time: 30,
            cpu_time_per_second: 20,
            memory: 1 << 30,
            max_gap: 120,
            containers: list(CONTAINERS),
            codecs: list(CODECS),
            caption_font: CAPTION_FONT.into(),
        }
    }
}

/// Opens the decoder for media of at most `max_duration`.
#[cfg(feature = "ffmpeg")]
pub fn open(
    section: &Settings,
    max_duration: Duration,
) -> Result<Arc<dyn VideoDecoder>, OpenError> {
    use super::{FfmpegDecoder, FfmpegOptions, WorkerDecoder, WorkerOptions, missing_protection};

    super::ffmpeg::check_lists(&section.containers, &section.codecs).map_err(OpenError::new)?;
    let ffmpeg = FfmpegOptions { max_duration: max_duration.as_secs_f64(), ..section.into() };
    if section.isolation == Isolation::None {
        tracing::warn!(
            "files are decoded in the service itself (decoder.isolation = \"none\"): a file that \
             crashes the decoder crashes the service"
        );
        return Ok(Arc::new(FfmpegDecoder::new(ffmpeg)));
    }
    for missing in missing_protection() {
        tracing::warn!(
            "this kernel lacks {missing}, so decode processes are less strictly sandboxed"
        );
    }
    Ok(Arc::new(WorkerDecoder::new(WorkerOptions { ffmpeg, ..section.into() })))
}

/// Reports that this build lacks a decoder.
#[cfg(not(feature = "ffmpeg"))]
pub fn open(_: &Settings, _max_duration: Duration) -> Result<Arc<dyn VideoDecoder>, OpenError> {
    Err(OpenError::compiled_out("decoding", "ffmpeg"))
}

/// Describes the decoder for the log and for `shotlog check`.
#[cfg(not(feature = "ffmpeg"))]
pub fn describe(_: &Settings) -> String {
    "none".into()
}

/// Describes the decoder for the log and for `shotlog check`.
#[cfg(feature = "ffmpeg")]
pub fn describe(section: &Settings) -> String {
    match section.isolation {
        Isolation::None => "ffmpeg, not isolated".into(),
        Isolation::Process => match super::missing_protection().as_slice() {
            [] => "ffmpeg in a sandboxed process".into(),
            missing => {
                format!("ffmpeg in a process; this kernel lacks {}", missing.join(" and "))
            }
        },
    }
}
