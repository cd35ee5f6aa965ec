//! Opens a format context with all limits in place before FFmpeg reads the first byte.

use std::ffi::{CString, c_int};
use std::sync::Arc;

use ffmpeg::ffi;
use ffmpeg_next as ffmpeg;

use super::accepted::{codec_whitelist, detect_container};
use super::deadline::{Deadline, interrupted};
use super::source::{IoContext, refuse_open};
use super::{Error, FfmpegOptions};

/// Limits for finding the streams: maximum number of bytes to read, and maximum duration of media
/// to analyze in microseconds.
const PROBE_BYTES: i64 = 8 << 20;
const PROBE_MICROSECONDS: i64 = 10_000_000;

/// FFmpeg's error for a failed allocation.
pub(super) const OUT_OF_MEMORY: ffmpeg::Error =
    ffmpeg::Error::Other { errno: ffmpeg::error::ENOMEM };

/// Opens the file behind `source` and finds its streams. `source` and the deadline must outlive the
/// context.
pub(super) fn open_context(
    source: &mut IoContext,
    deadline: &Arc<Deadline>,
    options: &FfmpegOptions,
) -> Result<ffmpeg::format::context::Input, Error> {
    let container = detect_container(source, options)?;
    let check = |code: c_int| {
        if code < 0 { Err(Error::Decoder(code.into())) } else { Ok(()) }
    };
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: the context is allocated here, passed to `avformat_open_input`, which frees it on
    // failure, and then owned by the wrapper. The strings are copies that the context frees. The
    // source and the deadline outlive the context (see `Input`).
    unsafe {
        let mut raw = ffi::avformat_alloc_context();
        if raw.is_null() {
            return Err(Error::Memory);
        }
        (*raw).interrupt_callback = ffi::AVIOInterruptCB {
            callback: Some(interrupted),
            opaque: Arc::as_ptr(deadline).cast_mut().cast(),
        };
        (*raw).pb = source.as_mut_ptr();
        (*raw).io_open = Some(refuse_open);
        (*raw).probesize = PROBE_BYTES;
        (*raw).max_analyze_duration = PROBE_MICROSECONDS;
        (*raw).max_streams = c_int::try_from(options.max_streams).unwrap_or(c_int::MAX);
        (*raw).protocol_whitelist = ffi::av_strdup(c"".as_ptr());
        (*raw).format_whitelist = ffi::av_strdup(CString::from(container.name()).as_ptr());
        (*raw).codec_whitelist = ffi::av_strdup(codec_whitelist(options).as_ptr());
        check(ffi::avformat_open_input(
            &mut raw,
            c"".as_ptr(),
            container.as_ptr(),
            std::ptr::null_mut(),
        ))?;
        let context = ffmpeg::format::context::Input::wrap(raw);
        // Probing opens additional decoders, so the size limit must apply to them too.
        let limit = CString::new(options.max_pixels.to_string()).unwrap_or_default();
        let mut limits: Vec<*mut ffi::AVDictionary> =
            vec![std::ptr::null_mut(); (*raw).nb_streams as usize];
        for dictionary in &mut limits {
            ffi::av_dict_set(dictionary, c"max_pixels".as_ptr(), limit.as_ptr(), 0);
        }
        let code = ffi::avformat_find_stream_info(raw, limits.as_mut_ptr());
        for dictionary in &mut limits {
            ffi::av_dict_free(dictionary);
        }
        check(code)?;
        Ok(context)
    }
}
