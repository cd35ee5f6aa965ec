//! An opened media file. Limits apply before FFmpeg reads the first byte. Packets of the selected
//! streams are placed on one continuous timeline.

mod info;
mod limits;
mod streams;

use std::ffi::c_int;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use ffmpeg::codec::decoder::Opened;
use ffmpeg::{Packet, ffi};
use ffmpeg_next as ffmpeg;

use super::context::{OUT_OF_MEMORY, open_context};
use super::deadline::Deadline;
use super::file_type::{is_gzip, is_playlist, picture};
use super::source::IoContext;
use super::timeline::{StreamKind, Timeline};
use super::{Error, FfmpegOptions};
pub(super) use info::media_info;
pub(super) use streams::Streams;

/// Maximum number of frames that may be decoded before a frame that is shown earlier. This is the
/// limit of H.264 and HEVC.
const REORDERED: f64 = 16.0;

/// An opened media file.
pub(super) struct Input {
    // Declared before `_source` and `deadline`, so that its context is dropped before them.
    pub(super) streams: Streams,
    _source: IoContext,
    pub(super) deadline: Arc<Deadline>,
    /// The container's clock at time 0, in seconds.
    origin: f64,
    /// `None` after a seek, because timestamps are then used unchanged.
    pub(super) timeline: Option<Timeline>,
    /// Number of packets read so far from the selected streams.
    pub(super) packets: u64,
    /// Number of video packets read so far. `stamped` is `true` if any video packet had a
    /// timestamp.
    pictures: u64,
    stamped: bool,
}

impl Input {
    /// Opens a file. `audio_track` selects the audio stream, counted from 0.
    pub(super) fn open(
        file: &Arc<File>,
        options: &FfmpegOptions,
        audio_track: Option<u32>,
    ) -> Result<Self, Error> {
        let mut head = [0; 32];
        let read = file.read_at(&mut head, 0)?;
        if read == 0 {
            return Err(Error::Empty);
        }
        if let Some(format) = picture(&head[..read]) {
            return Err(Error::Picture(format));
        }
        if is_playlist(&head[..read]) {
            return Err(Error::Playlist);
        }
        if is_gzip(&head[..read]) {
            return Err(Error::Gzip);
        }
        let deadline = Arc::new(Deadline::new(options.open_timeout));
        let mut source = IoContext::open(file.clone(), deadline.clone())?;
        let context = open_context(&mut source, &deadline, options).map_err(|e| match e {
            _ if deadline.passed() => Error::Deadline(options.open_timeout.as_secs_f64()),
            Error::Decoder(OUT_OF_MEMORY) => Error::Memory,
            Error::Decoder(e) => Error::NotMedia(e),
            other => other,
        })?;
        deadline.check()?;

        let streams = Streams::choose(context, audio_track)?;
        limits::check(&streams, options)?;
        Ok(Self {
            origin: streams.earliest_start(),
            timeline: Some(Timeline::new(
                streams.claimed_duration(),
                options.max_gap,
                streams.are_spliceable(),
            )),
            streams,
            _source: source,
            deadline,
            packets: 0,
            pictures: 0,
            stamped: false,
        })
    }

    /// Reads the next packet of a selected stream and places it on the timeline of
    /// [`Input::seconds`]. Returns `None` at the end of the file.
    pub(super) fn read(&mut self, packet: &mut Packet) -> Result<Option<StreamKind>, Error> {
        loop {
            self.deadline.check()?;
            // Reading does not free the packet's previous content.
            *packet = Packet::empty();
            match packet.read(&mut self.streams.context) {
                Ok(()) => {}
                Err(ffmpeg::Error::Other { errno: ffmpeg::error::EAGAIN }) => continue,
                Err(e) => {
                    self.deadline.check()?;
                    return if e == ffmpeg::Error::Eof { Ok(None) } else { Err(e.into()) };
                }
            }
            let index = packet.stream();
            let kind = match Some(index) {
                i if i == self.streams.picture => StreamKind::Picture,
                i if i == self.streams.sound => StreamKind::Sound,
                _ => continue,
            };
            self.packets += 1;
            self.place(index, kind, packet);
            return Ok(Some(kind));
        }
    }

    /// Converts a stream's timestamp to seconds on the timeline.
    pub(super) fn seconds(&self, stream: usize, stamp: i64) -> f64 {
        stamp as f64 * self.streams.time_base(stream) - self.origin
    }

    /// Converts a duration of `ticks` in a stream to seconds.
    pub(super) fn length(&self, stream: usize, ticks: i64) -> f64 {
        ticks as f64 * self.streams.time_base(stream)
    }

    /// Seeks to the last key frame at or before `time`, or to the first key frame if there is none.
    pub(super) fn seek(&mut self, time: f64) -> Result<(), Error> {
        let Some(stream) = self.streams.picture else { return Err(Error::NoStreams) };
        let stamp = self.stamp(stream, time);
        self.timeline = None;
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the context is open and `stream` is one of its streams.
        let code = unsafe {
            ffi::avformat_seek_file(
                self.streams.context.as_mut_ptr(),
                stream as c_int,
                i64::MIN,
                stamp,
                stamp,
                0,
            )
        };
        if code < 0 { Err(ffmpeg::Error::from(code).into()) } else { Ok(()) }
    }

    /// Sends the first video packet to `decoder`, if it is among the first `max_packets` packets,
    /// because all later packets may depend on it. x264 stores its version in this packet. Without
    /// the version, early 4:4:4 streams from x264 decode to garbage.
    pub(super) fn prime_decoder(
        &mut self,
        decoder: &mut Opened,
        max_packets: usize,
    ) -> Result<(), Error> {
        let mut packet = Packet::empty();
        for _ in 0..max_packets {
            match self.read(&mut packet) {
                Ok(Some(StreamKind::Picture)) => {
                    _ = decoder.send_packet(&packet);
                    break;
                }
                Err(e @ Error::Deadline(_)) => return Err(e),
                // A read error can be ignored here, because it occurs again when the packet is
                // needed.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the time of the last key frame at or before `time`, if the container has an index.
    pub(super) fn key_frame_before(&mut self, time: f64) -> Option<f64> {
        let stream = self.streams.picture?;
        let stamp = self.stamp(stream, time);
        let st = self.streams.raw(stream);
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: `st` belongs to the open context; the entry is read before anything else is
        // called on it.
        let entry = unsafe {
            let entry =
                ffi::avformat_index_get_entry_from_timestamp(st, stamp, ffi::AVSEEK_FLAG_BACKWARD);
            entry.as_ref().map(|e| e.timestamp)
        };
        entry.map(|e| self.seconds(stream, e))
    }

    /// Returns whether the last frame ends where the container claims that the media ends. If so,
    /// the clock does not jump anywhere before it. Consumes the input.
    pub(super) fn ends_as_claimed(mut self) -> bool {
        let Some(timeline) = self.timeline.take() else { return false };
        let Some(claimed) = timeline.claimed.filter(|_| !timeline.restarts) else { return false };
        let mut packet = Packet::empty();
        let mut last = f64::NEG_INFINITY;
        if self.seek(claimed).is_ok() {
            while let Ok(Some(_)) = self.read(&mut packet) {
                let stamp = packet.dts().or(packet.pts());
                let time = stamp.map(|stamp| self.seconds(packet.stream(), stamp));
                last = last.max(time.unwrap_or(last));
            }
        }
        (claimed - 30.0..=claimed + 1.0).contains(&last)
    }

    /// Returns whether no video packet so far had a timestamp, as in a raw stream. In this case,
    /// packets are numbered, and the numbers are lost after a seek.
    pub(super) fn is_unstamped(&self) -> bool {
        self.pictures > 0 && !self.stamped
    }

    /// Converts seconds on the timeline to ticks of a stream.
    pub(super) fn stamp(&self, stream: usize, time: f64) -> i64 {
        ((time + self.origin) / self.streams.time_base(stream)).round() as i64
    }

    /// Counts a video packet and, in a raw stream, assigns a decoding time to it.
    fn count(&mut self, stream: usize, packet: &mut Packet) {
        self.stamped |= packet.dts().or(packet.pts()).is_some();
        if !self.stamped {
            let time = self.pictures as f64 * self.streams.frame_length().unwrap_or(0.04);
            packet.set_dts(Some(self.stamp(stream, time)));
        }
        self.pictures += 1;
    }

    /// Moves the packet to its place on the timeline.
    fn place(&mut self, stream: usize, kind: StreamKind, packet: &mut Packet) {
        if kind == StreamKind::Picture {
            self.count(stream, packet);
        }
        let tick = self.streams.time_base(stream);
        let length = packet.duration().max(0) as f64 * tick;
        if let (Some(dts), Some(pts)) = (packet.dts(), packet.pts())
            && (pts - dts).unsigned_abs() as f64 * tick > 1.0 + REORDERED * length
        {
            // Presentation and decoding times differ implausibly, so the decoder gets only the
            // packet order.
            packet.set_pts(None);
        }
        let Some(stamp) = packet.dts().or(packet.pts()) else { return };
        let time = stamp as f64 * tick - self.origin;
        let Some(timeline) = &mut self.timeline else { return };
        let shift = timeline.place(kind, time, length);
        let shown = packet.pts().unwrap_or(stamp) as f64 * tick - self.origin;
        timeline.lasts_until(shown + shift + length.min(1.0));
        if shift != 0.0 {
            let ticks = (shift / tick).round() as i64;
            packet.set_pts(packet.pts().map(|t| t.saturating_add(ticks)));
            packet.set_dts(packet.dts().map(|t| t.saturating_add(ticks)));
        }
    }
}
