//! The file as FFmpeg reads it: bytes of one open descriptor, through callbacks of our own. FFmpeg
//! is given no name and no protocol, so there is nothing else that it could open.

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use ffmpeg::ffi;
use ffmpeg_next as ffmpeg;

use super::deadline::Deadline;

/// Bytes that FFmpeg asks for at once.
const BUFFER: usize = 64 << 10;

/// FFmpeg's reader of a file. It must outlive the format context that reads through it.
pub(super) struct Source {
    raw: *mut ffi::AVIOContext,
    /// What the callbacks are given; its address must not change.
    _reader: Box<Reader>,
}

struct Reader {
    file: Arc<File>,
    deadline: Arc<Deadline>,
}

impl Source {
    /// Reads `file` from its beginning until the deadline.
    pub(super) fn open(file: Arc<File>, deadline: Arc<Deadline>) -> Result<Self, super::Error> {
        (&*file).rewind()?;
        let mut reader = Box::new(Reader { file, deadline });
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the buffer is FFmpeg's own and is freed in `drop`; the reader lives as long as
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

impl Drop for Source {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: FFmpeg may have replaced the buffer; the one that is there is its own. Both are
        // freed once.
        unsafe {
            ffi::av_freep((&raw mut (*self.raw).buffer).cast());
            ffi::avio_context_free(&mut self.raw);
        }
    }
}

/// Refuses to open anything: what a container refers to is never read.
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
    // SAFETY: `reader` is the box of the `Source`; FFmpeg's buffer has room for `size` bytes.
    let (reader, buffer) = unsafe {
        let size = usize::try_from(size).unwrap_or(0);
        (&*reader.cast::<Reader>(), std::slice::from_raw_parts_mut(buffer, size))
    };
    if reader.deadline.passed() {
        return ffi::AVERROR_EXIT;
    }
    match (&*reader.file).read(buffer) {
        Ok(0) => ffi::AVERROR_EOF,
        Ok(count) => c_int::try_from(count).unwrap_or(c_int::MAX),
        Err(_) => ffi::AVERROR(libc::EIO),
    }
}

extern "C" fn seek(reader: *mut c_void, offset: i64, whence: c_int) -> i64 {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: `reader` is the box of the `Source`.
    let reader = unsafe { &*reader.cast::<Reader>() };
    let mut file = &*reader.file;
    let moved = match whence & !(ffi::AVSEEK_FORCE) {
        ffi::AVSEEK_SIZE => {
            let size = file.stream_position().and_then(|at| {
                let size = file.seek(SeekFrom::End(0))?;
                file.seek(SeekFrom::Start(at))?;
                Ok(size)
            });
            return size.ok().and_then(|size| i64::try_from(size).ok()).unwrap_or(-1);
        }
        libc::SEEK_SET => {
            u64::try_from(offset).map(SeekFrom::Start).map_err(|_| std::io::ErrorKind::InvalidInput)
        }
        libc::SEEK_CUR => Ok(SeekFrom::Current(offset)),
        libc::SEEK_END => Ok(SeekFrom::End(offset)),
        _ => Err(std::io::ErrorKind::InvalidInput),
    };
    let moved = moved.map_err(std::io::Error::from).and_then(|to| file.seek(to));
    moved.ok().and_then(|at| i64::try_from(at).ok()).unwrap_or(i64::from(ffi::AVERROR(libc::EIO)))
}
