//! The accepted containers and codecs, and the checks that reject a file.

use std::ffi::{CStr, CString};

use ffmpeg::ffi;
use ffmpeg_next as ffmpeg;

use super::source::IoContext;
use super::{Error, FfmpegOptions};

/// Demuxers that open a second file, a URL or a device, that generate their content, or that read
/// images or text. They are never accepted, even if the configuration lists them.
const FORBIDDEN: &[&str] = &[
    "alias_pix",
    "alsa",
    "avisynth",
    "concat",
    "dash",
    "fbdev",
    "ffmetadata",
    "hls",
    "image2",
    "image2pipe",
    "imf",
    "ivr",
    "jack",
    "kmsgrab",
    "lavfi",
    "libgme",
    "openal",
    "oss",
    "pulse",
    "rtp",
    "rtsp",
    "sap",
    "sbg",
    "sdp",
    "sndio",
    "tedcaptions",
    "tty",
    "vapoursynth",
    "video4linux2",
    "webm_dash_manifest",
    "x11grab",
    "xcbgrab",
];

/// A demuxer from FFmpeg's static table.
#[derive(Clone, Copy)]
pub(super) struct Container(&'static ffi::AVInputFormat);

impl Container {
    pub(super) fn name(self) -> &'static CStr {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every demuxer has a static name.
        unsafe {
            CStr::from_ptr(self.0.name)
        }
    }

    pub(super) fn as_ptr(self) -> *const ffi::AVInputFormat {
        self.0
    }
}

/// Detects the container from the file's first bytes. Rejects a container that is not on the list.
pub(super) fn detect_container(
    source: &mut IoContext,
    options: &FfmpegOptions,
) -> Result<Container, Error> {
    let mut format = std::ptr::null();
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: the source is open; the call reads from it, rewinds it, and writes a pointer into the
    // static table of demuxers.
    let format = unsafe {
        ffi::av_probe_input_buffer2(
            source.as_mut_ptr(),
            &mut format,
            std::ptr::null(),
            std::ptr::null_mut(),
            0,
            0,
        );
        format.as_ref()
    };
    let container = Container(format.ok_or(Error::Unknown)?);
    let name = container.name().to_string_lossy();
    if name.split(',').any(|name| options.containers.iter().any(|c| c == name)) {
        return Ok(container);
    }
    Err(Error::Container { found: name.into_owned(), accepted: options.containers.join(", ") })
}

/// Rejects a codec that is not on the list. `what` names the stream in the error.
pub(super) fn check_codec(
    name: &str,
    what: &'static str,
    options: &FfmpegOptions,
) -> Result<(), Error> {
    if options.codecs.iter().any(|codec| codec == name) {
        return Ok(());
    }
    let accepted = options.codecs.join(", ");
    Err(Error::Codec { what, found: name.to_owned(), accepted })
}

/// Returns the decoders for the listed codecs, separated by commas as FFmpeg expects. FFmpeg needs
/// this list because it opens decoders by itself while probing the streams.
pub(super) fn codec_whitelist(options: &FfmpegOptions) -> CString {
    let decoders: Vec<String> = options
        .codecs
        .iter()
        .filter_map(|name| codec_id(name))
        .filter_map(|id| ffmpeg::decoder::find(id).map(|decoder| decoder.name().to_owned()))
        .collect();
    CString::new(decoders.join(",")).unwrap_or_default()
}

/// Checks that the linked FFmpeg knows every name, and that no container is forbidden.
pub(in super::super) fn check_lists(
    containers: &[String],
    codecs: &[String],
) -> Result<(), String> {
    for name in containers {
        if FORBIDDEN.contains(&name.as_str()) {
            return Err(format!(
                "decoder.containers names '{name}', which opens other files or addresses; remove it"
            ));
        }
        if !has_demuxer(name) {
            return Err(format!(
                "decoder.containers names '{name}', which this FFmpeg does not know; `ffmpeg \
                 -demuxers` lists what it does"
            ));
        }
    }
    match codecs.iter().find(|name| codec_id(name).is_none()) {
        Some(name) => Err(format!(
            "decoder.codecs names '{name}', which this FFmpeg does not know; `ffmpeg -codecs` lists \
             what it does"
        )),
        None => Ok(()),
    }
}

fn has_demuxer(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: looks the name up in a static table.
    let found = unsafe { ffi::av_find_input_format(name.as_ptr()) };
    !found.is_null()
}

fn codec_id(name: &str) -> Option<ffmpeg::codec::Id> {
    let name = CString::new(name).ok()?;
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: looks the name up in a static table of plain descriptors.
    let descriptor = unsafe { ffi::avcodec_descriptor_get_by_name(name.as_ptr()).as_ref() };
    descriptor.map(|descriptor| descriptor.id.into())
}
