//! Writes a part of a file as MP4. If the part begins at a key frame, its packets are copied.
//! Otherwise video and audio are re-encoded.

mod coded;
mod copied;
mod output;

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ffmpeg::format::context::{Output, StreamIo};
use ffmpeg::{Packet, Rational};
use ffmpeg_next as ffmpeg;
use ports::decoder::{CancellationToken, Clip, ClipRequest};

use super::frames::SeekMethod;
use super::input::Input;
use super::scan::MAX_READ_ERRORS;
use super::timeline::StreamKind;
use super::{Error, FfmpegOptions};

/// A clip begins at a key frame if its start is at most this many seconds away from the key frame.
const ON_KEY_FRAME: f64 = 0.002;

/// How many seconds before the clip's start to begin reading. If an attempt fails, the next one
/// uses the next larger value: streams are loosely interleaved, and in some formats a single seek
/// may miss the key frame.
const STEPS_BACK: [f64; 3] = [0.5, 5.0, 30.0];

/// The part of a file to write. Times are in seconds on the file's timeline.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClipSpan {
    pub(super) start: f64,
    pub(super) end: f64,
}

/// Writes a part of `file` to `out`.
pub(super) fn clip(
    file: &Arc<File>,
    options: &FfmpegOptions,
    cut: &ClipRequest,
    out: impl Write + Seek + Send + 'static,
) -> Result<Clip, Error> {
    let length = (cut.end - cut.start).clamp(0.0, 1e6);
    let allowed = options.timeout + options.timeout_per_second.mul_f64(length);
    let open = || {
        let input = Input::open(file, options, cut.audio_track)?;
        input.deadline.set(allowed);
        Ok::<_, Error>(input)
    };
    let video = open()?.streams.picture.is_some();
    let key_frame =
        if video { key_frame_before(open, file.metadata()?.len(), cut.start)? } else { None };
    let mut input = open()?;
    let fits = |at: &f64| !cut.exact || (at - cut.start).abs() <= ON_KEY_FRAME;
    let mut copied_from = key_frame.filter(fits).filter(|_| output::is_playable(&input.streams));
    // `None` means the beginning of the file.
    let read_from = key_frame.map(read_from);
    let begin = |input: &mut Input| read_from.map_or(Ok(()), |time| input.seek(time));
    if let Some(start) = copied_from.filter(|_| cut.exact) {
        let mut ahead = open()?;
        begin(&mut ahead)?;
        if copied::overruns(&mut ahead, ClipSpan { start, end: cut.end })? {
            copied_from = None;
        }
    }
    let part = ClipSpan { start: copied_from.unwrap_or(cut.start), end: cut.end };
    let full = Arc::new(AtomicBool::new(false));
    let out = BoundedWriter::new(out, cut.max_bytes, full.clone());
    let output = StreamIo::from_write_seek(out)?;
    let output = ffmpeg::format::output_to_stream(output, None, Some("mp4"))?;
    let written = match copied_from {
        Some(_) => begin(&mut input).and_then(|()| copied::write(&mut input, output, part)),
        None => coded::write(&mut input, options, output, part, read_from),
    };
    if full.load(Ordering::Relaxed) {
        return Err(Error::TooManyBytes(cut.max_bytes));
    }
    written?;
    Ok(Clip { start: part.start, copied: copied_from.is_some(), video })
}

/// A file that rejects writes after cancellation.
pub(super) struct CancellableWriter {
    out: File,
    cancel: CancellationToken,
}

impl CancellableWriter {
    pub(super) fn new(out: File, cancel: CancellationToken) -> Self {
        Self { out, cancel }
    }
}

impl Write for CancellableWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled: the caller no longer waits"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Seek for CancellableWriter {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

/// A writer that fails when a size limit is exceeded.
pub(super) struct BoundedWriter<W> {
    out: W,
    at: u64,
    max_bytes: u64,
    /// Set once a write has exceeded the limit.
    full: Arc<AtomicBool>,
}

impl<W> BoundedWriter<W> {
    /// Creates a writer that sets `full` when it fails.
    pub(super) fn new(out: W, max_bytes: u64, full: Arc<AtomicBool>) -> Self {
        Self { out, at: 0, max_bytes, full }
    }
}

impl<W: Write> Write for BoundedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.at.saturating_add(bytes.len() as u64) > self.max_bytes {
            self.full.store(true, Ordering::Relaxed);
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let written = self.out.write(bytes)?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Seek> Seek for BoundedWriter<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.out.seek(to)?;
        Ok(self.at)
    }
}

/// Returns the time of the last key frame at or before `time`; `None` if the file of `size` bytes
/// must be read from the beginning, because its clock jumps and seeking is impossible.
pub(super) fn key_frame_before(
    open: impl Fn() -> Result<Input, Error>,
    size: u64,
    time: f64,
) -> Result<Option<f64>, Error> {
    match SeekMethod::detect(&open, size)? {
        SeekMethod::Stamps => last_key_frame(&mut open()?, time),
        _ => Ok(None),
    }
}

/// Returns the time at which to begin reading, so that the key frame is read with the audio around
/// it.
pub(super) fn read_from(key_frame: f64) -> f64 {
    (key_frame - STEPS_BACK[0]).max(0.0)
}

/// Returns the time of the last key frame at or before `time`.
fn last_key_frame(input: &mut Input, time: f64) -> Result<Option<f64>, Error> {
    for back in STEPS_BACK {
        if input.seek((time - back).max(0.0)).is_err() {
            input.deadline.check()?;
            return Ok(None);
        }
        let mut found = None;
        each_packet(input, |input, kind, packet| {
            let at = packet.pts().or(packet.dts()).map(|t| input.seconds(packet.stream(), t));
            let Some(at) = at.filter(|_| kind == StreamKind::Picture) else { return Ok(true) };
            if packet.is_key() && at <= time + ON_KEY_FRAME {
                found = Some(at);
            }
            Ok(at <= time + STEPS_BACK[0])
        })?;
        if found.is_some() || time <= back {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Passes each packet to `take` until it returns `false` or the file ends.
pub(super) fn each_packet(
    input: &mut Input,
    mut take: impl FnMut(&Input, StreamKind, &mut Packet) -> Result<bool, Error>,
) -> Result<(), Error> {
    let mut packet = Packet::empty();
    let mut errors = 0;
    loop {
        match input.read(&mut packet) {
            Ok(Some(kind)) => {
                if !take(input, kind, &mut packet)? {
                    return Ok(());
                }
            }
            Ok(None) => return Ok(()),
            Err(e @ Error::Deadline(_)) => return Err(e),
            Err(e) => {
                errors += 1;
                if errors > MAX_READ_ERRORS {
                    return Err(e);
                }
            }
        }
    }
}

/// Writes a packet, whose timestamps are in units of `base`, to a stream.
pub(super) fn write(
    output: &mut Output,
    stream: usize,
    base: Rational,
    packet: &mut Packet,
) -> Result<(), Error> {
    let into = output.stream(stream).ok_or(Error::NoStreams)?.time_base();
    packet.rescale_ts(base, into);
    packet.set_stream(stream);
    packet.set_position(-1);
    Ok(packet.write_interleaved(output)?)
}
