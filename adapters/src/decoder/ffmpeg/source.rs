//! FFmpeg's I/O callbacks for one open file descriptor. FFmpeg gets no file name and no protocol,
//! so it cannot open anything else.

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use ffmpeg::ffi;
use ffmpeg_next as ffmpeg;

use super::deadline::Deadline;

/// FFmpeg's read size, in bytes.
const BUFFER: usize = 64 << 10;

/// A reader for FFmpeg. It must outlive the format context that uses it.
pub(super) struct IoContext {
    raw: *mut ffi::AVIOContext,
    /// The argument passed to the callbacks; its address must not change.
    _reader: Box<Reader>,
}

struct Reader {
    file: Arc<File>,
    /// The read position. Each reader tracks its own position, because other readers may share the
    /// file descriptor.
    at: u64,
    deadline: Arc<Deadline>,
}

impl IoContext {
    /// Opens a reader that starts at the beginning of `file` and fails after the deadline.
    pub(super) fn open(file: Arc<File>, deadline: Arc<Deadline>) -> Result<Self, super::Error> {
        let mut reader = Box::new(Reader { file, at: 0, deadline });
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the buffer belongs to FFmpeg and is freed in `drop`; the reader lives as long as
        // `self`, which outlives the context.
        let raw = unsafe {
            ffi::avio_alloc_context(
                ffi::av_malloc(BUFFER).cast(),
                BUFFER as c_int,
                0,
                (&raw mut *reader).cast(),
                Some(read),
                None,
                Some(seek),
            )
        };
        if raw.is_null() {
            return Err(super::Error::Memory);
        }
        Ok(Self { raw, _reader: reader })
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut ffi::AVIOContext {
        self.raw
    }
}

impl Drop for IoContext {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: FFmpeg may have replaced the buffer; `buffer` points to the current one. The
        // buffer and the context are freed once.
        unsafe {
            ffi::av_freep((&raw mut (*self.raw).buffer).cast());
            ffi::avio_context_free(&mut self.raw);
        }
    }
}

/// Rejects every request to open a file, so that references in a container are never followed.
pub(super) extern "C" fn refuse_open(
    _: *mut ffi::AVFormatContext,
    _: *mut *mut ffi::AVIOContext,
    _: *const c_char,
    _: c_int,
    _: *mut *mut ffi::AVDictionary,
) -> c_int {
    ffi::AVERROR(libc::EPERM)
}

extern "C" fn read(reader: *mut c_void, buffer: *mut u8, size: c_int) -> c_int {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: `reader` is the box of the `IoContext`, which nothing else accesses while FFmpeg
    // reads; `buffer` has room for `size` bytes.
    let (reader, buffer) = unsafe {
        let size = usize::try_from(size).unwrap_or(0);
        (&mut *reader.cast::<Reader>(), std::slice::from_raw_parts_mut(buffer, size))
    };
    if reader.deadline.passed() {
        return ffi::AVERROR_EXIT;
    }
    match reader.file.read_at(buffer, reader.at) {
        Ok(0) => ffi::AVERROR_EOF,
        Ok(count) => {
            reader.at += count as u64;
            c_int::try_from(count).unwrap_or(c_int::MAX)
        }
        Err(_) => ffi::AVERROR(libc::EIO),
    }
}

extern "C" fn seek(reader: *mut c_void, offset: i64, whence: c_int) -> i64 {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: `reader` is the box of the `IoContext`, which nothing else accesses while FFmpeg
    // seeks.
    let reader = unsafe { &mut *reader.cast::<Reader>() };
    let size = || reader.file.metadata().ok().and_then(|data| i64::try_from(data.len()).ok());
    let from = match whence & !(ffi::AVSEEK_FORCE) {
        ffi::AVSEEK_SIZE => return size().unwrap_or(-1),
        libc::SEEK_SET => Some(0),
        libc::SEEK_CUR => i64::try_from(reader.at).ok(),
        libc::SEEK_END => size(),
        _ => None,
    };
    let to = from.and_then(|from| from.checked_add(offset)).filter(|to| *to >= 0);
    let Some(to) = to else { return i64::from(ffi::AVERROR(libc::EIO)) };
    reader.at = to.unsigned_abs();
    to
}
