//! A single pass over a file that yields small frames and audio.

use std::time::Duration;

use ffmpeg::codec::decoder::Opened;
use ffmpeg::frame::{Audio, Video};
use ffmpeg::{Discard, Packet};
use ffmpeg_next as ffmpeg;
use ports::decoder::{ScanFrame, ScanOptions, ScanSink, ScanSummary};

use super::context::OUT_OF_MEMORY;
use super::input::Input;
use super::order::PresentationOrder;
use super::picture::Converter;
use super::skip::SkipDecider;
use super::sound::AudioTimeline;
use super::timeline::StreamKind;
use super::{Error, FfmpegOptions};

/// Maximum number of read errors before the scan ends.
pub(super) const MAX_READ_ERRORS: u32 = 100;

/// Maximum backward step of the clock that counts as jitter rather than a restart, in seconds.
const JITTER: f64 = 1.0;

/// Maximum distance between a skipped frame and the last shown frame, in seconds.
const MAX_SKIP_DISTANCE: f64 = 0.2;

pub(super) fn scan(
    input: &mut Input,
    options: &FfmpegOptions,
    size: &ScanOptions,
    sink: &mut dyn ScanSink,
) -> Result<ScanSummary, Error> {
    let mut limits = ScanLimits::new(input, options);
    let mut pictures = VideoPipeline::open(input, options, size)?;
    let mut sounds = AudioPipeline::open(input, options)?;
    if pictures.is_none() && sounds.is_none() {
        return Err(Error::NothingDecoded);
    }
    let mut packet = Packet::empty();
    let (mut damaged, mut read_errors) = (0, 0);
    loop {
        let kind = match input.read(&mut packet) {
            Ok(Some(kind)) => kind,
            Ok(None) => break,
            Err(e @ Error::Deadline(_)) => return Err(e),
            Err(_) => {
                damaged += 1;
                read_errors += 1;
                if read_errors > MAX_READ_ERRORS {
                    break;
                }
                continue;
            }
        };
        damaged += u64::from(packet.is_corrupt());
        let result = match (kind, &mut pictures, &mut sounds) {
            (StreamKind::Picture, Some(p), _) => {
                p.feed(Some(&mut packet), input, &mut limits, sink)?
            }
            (StreamKind::Sound, _, Some(s)) => s.feed(Some(&packet), input, &mut limits, sink)?,
            _ => FeedResult::Whole,
        };
        damaged += u64::from(result != FeedResult::Whole && !packet.is_corrupt());
        if result == FeedResult::Far {
            break;
        }
    }
    let mut summary = ScanSummary { damaged, ..Default::default() };
    // Flushes the frames that are still in the decoders.
    if let Some(p) = &mut pictures {
        p.feed(None, input, &mut limits, sink)?;
        summary.frames = p.frames;
        summary.end = p.end();
    }
    if let Some(s) = &mut sounds {
        s.feed(None, input, &mut limits, sink)?;
        s.track.end_segment(sink)?;
        summary.samples = s.track.samples;
        summary.end = summary.end.max(s.track.end());
    }
    if summary.frames == 0 && summary.samples == 0 {
        let starved = pictures.is_some_and(|p| p.starved) || sounds.is_some_and(|s| s.starved);
        return Err(if starved { Error::Memory } else { Error::NothingDecoded });
    }
    Ok(summary)
}

/// The result of feeding a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeedResult {
    Whole,
    Damaged,
    /// The content begins too long after the end of everything decoded so far.
    Far,
}

/// Limits the decoding time in proportion to the decoded media, and keeps the media contiguous.
struct ScanLimits {
    base: Duration,
    per_second: Duration,
    max_duration: f64,
    max_gap: f64,
    /// The end of the decoded video and audio, in seconds.
    end: f64,
    reached: f64,
}

impl ScanLimits {
    fn new(input: &Input, options: &FfmpegOptions) -> Self {
        input.deadline.set(options.timeout);
        Self {
            base: options.timeout,
            per_second: options.timeout_per_second,
            max_duration: options.max_duration,
            max_gap: options.max_gap,
            end: 0.0,
            reached: 0.0,
        }
    }

    /// Accounts for a frame or audio from `time` to `end`. Returns `false` if it begins too long
    /// after the content decoded so far.
    fn reach(&mut self, time: f64, end: f64, input: &Input) -> Result<bool, Error> {
        // The packets since then may have had no content.
        if time > self.end + self.max_gap {
            return Ok(false);
        }
        if time > self.max_duration {
            return Err(Error::TooLong(self.max_duration));
        }
        self.end = self.end.max(end);
        if time > self.reached + 1.0 {
            self.reached = time;
            input.deadline.set(self.base + self.per_second.mul_f64(time));
        }
        input.deadline.check()?;
        Ok(true)
    }
}

struct VideoPipeline {
    stream: usize,
    decoder: Opened,
    order: PresentationOrder,
    converter: Converter,
    size: (u32, u32),
    /// Decides which frames to skip.
    calm: Option<SkipDecider>,
    /// Default frame duration, in seconds.
    length: f64,
    last: Option<f64>,
    frames: u64,
    end: f64,
    /// Whether the decoder ran out of memory.
    starved: bool,
    frame: Video,
    rgb: Vec<u8>,
}

impl VideoPipeline {
    fn open(
        input: &Input,
        options: &FfmpegOptions,
        size: &ScanOptions,
    ) -> Result<Option<Self>, Error> {
        let Some(stream) = input.streams.picture else { return Ok(None) };
        let opened = if_decodable(input.streams.decoder(stream, options.threads, options))?;
        let Some(mut decoder) = opened else { return Ok(None) };
        // The loop filter hardly affects small frames, so it can be skipped. If it is skipped for
        // reference frames too, errors accumulate until the next key frame, where the picture then
        // changes slightly.
        let unfiltered = if size.exact { Discard::NonReference } else { Discard::All };
        decoder.skip_loop_filter(unfiltered);
        Ok(Some(Self {
            stream,
            decoder,
            order: PresentationOrder::default(),
            converter: Converter::small(input.streams.orientation(), size.exact),
            size: (size.width, size.height),
            // If one field of a frame were skipped, only half of the lines would be shown.
            calm: (!size.exact && !input.streams.is_interlaced()).then(SkipDecider::default),
            length: input
                .streams
                .frame_length()
                .filter(|l| (1e-3..=1.0).contains(l))
                .unwrap_or(0.04),
            last: None,
            frames: 0,
            end: 0.0,
            starved: false,
            frame: Video::empty(),
            rgb: Vec::new(),
        }))
    }

    /// Decodes a packet, or flushes the decoder if `packet` is `None`.
    fn feed(
        &mut self,
        mut packet: Option<&mut Packet>,
        input: &Input,
        limits: &mut ScanLimits,
        sink: &mut dyn ScanSink,
    ) -> Result<FeedResult, Error> {
        if let (Some(calm), Some(packet)) = (&mut self.calm, &packet) {
            let time = packet.pts().map(|stamp| input.seconds(self.stream, stamp));
            let pass_over = calm.may_skip(packet, time);
            let discard = if pass_over { Discard::NonReference } else { Discard::Default };
            self.decoder.skip_frame(discard);
        }
        if let Some(packet) = &mut packet {
            self.order.send(packet);
        }
        let sent = send(&mut self.decoder, packet.as_deref());
        self.starved |= sent == Err(OUT_OF_MEMORY);
        let mut result = if sent.is_ok() { FeedResult::Whole } else { FeedResult::Damaged };
        loop {
            match self.decoder.receive_frame(&mut self.frame) {
                Ok(()) => {
                    if !self.show(input, limits, sink)? {
                        return Ok(FeedResult::Far);
                    }
                }
                Err(e) if is_drained(e) => return Ok(result),
                // During flushing, the good frames after a bad frame must still be shown.
                Err(_) if packet.is_none() && result == FeedResult::Whole => {
                    result = FeedResult::Damaged
                }
                Err(e) => {
                    self.starved |= e == OUT_OF_MEMORY;
                    return Ok(FeedResult::Damaged);
                }
            }
        }
    }

    /// Passes the decoded frame to the sink. Returns `false` if the frame is too far ahead.
    fn show(
        &mut self,
        input: &Input,
        limits: &mut ScanLimits,
        sink: &mut dyn ScanSink,
    ) -> Result<bool, Error> {
        let claimed = input.length(self.stream, self.frame.packet().duration);
        let stamped = self.order.time_of(&self.frame).map(|t| input.seconds(self.stream, t));
        let mut time = stamped.unwrap_or_else(|| self.last.map_or(0.0, |l| l + self.length));
        let believed = input.timeline.as_ref().is_none_or(|t| t.believes_length(time, claimed));
        let length = if claimed > 0.0 && believed { claimed } else { self.length };
        if time + length <= 0.0 {
            return Ok(true);
        }
        time = time.max(0.0);
        if let Some(last) = self.last
            && time <= last
        {
            // Time never decreases. A single bad timestamp is moved to just after the previous
            // frame. A clock that restarts continues from the previous frame.
            time = if last - time < JITTER { last + 1e-3 } else { last + self.length };
        }
        if !limits.reach(time, time + length, input)? {
            return Ok(false);
        }
        self.last = Some(time);
        if self.converter.convert(&self.frame, self.size, &mut self.rgb).is_err() {
            return Ok(true);
        }
        let skipped =
            self.calm.as_mut().map_or(0, |calm| calm.show(stamped.unwrap_or(time), &self.rgb));
        sink.frame(ScanFrame { time, rgb: &self.rgb, skipped }).map_err(Error::Sink)?;
        self.frames += 1;
        self.end = time + length;
        Ok(true)
    }

    /// Returns the end of the last frame, including skipped frames, in seconds.
    fn end(&self) -> f64 {
        let last = self.calm.as_ref().and_then(SkipDecider::last_open);
        let near = last.filter(|&time| time < self.end + MAX_SKIP_DISTANCE);
        near.map_or(self.end, |time| self.end.max(time + self.length))
    }
}

struct AudioPipeline {
    stream: usize,
    decoder: Opened,
    track: AudioTimeline,
    /// Whether the decoder ran out of memory.
    starved: bool,
    frame: Audio,
}

impl AudioPipeline {
    fn open(input: &Input, options: &FfmpegOptions) -> Result<Option<Self>, Error> {
        let Some(stream) = input.streams.sound else { return Ok(None) };
        let opened = if_decodable(input.streams.decoder(stream, 1, options))?;
        let (track, frame) = (AudioTimeline::default(), Audio::empty());
        Ok(opened.map(|decoder| Self { stream, decoder, track, starved: false, frame }))
    }

    fn feed(
        &mut self,
        packet: Option<&Packet>,
        input: &Input,
        limits: &mut ScanLimits,
        sink: &mut dyn ScanSink,
    ) -> Result<FeedResult, Error> {
        let sent = send(&mut self.decoder, packet);
        self.starved |= sent == Err(OUT_OF_MEMORY);
        let mut result = if sent.is_ok() { FeedResult::Whole } else { FeedResult::Damaged };
        loop {
            match self.decoder.receive_frame(&mut self.frame) {
                Ok(()) => {}
                Err(e) if is_drained(e) => return Ok(result),
                Err(e) => {
                    self.starved |= e == OUT_OF_MEMORY;
                    return Ok(FeedResult::Damaged);
                }
            }
            let time = self.frame.timestamp().map(|t| input.seconds(self.stream, t));
            let time = time.unwrap_or_else(|| self.track.clock());
            if !limits.reach(time, self.track.end(), input)? {
                return Ok(FeedResult::Far);
            }
            match self.track.push(&self.frame, time, sink) {
                Ok(()) => {}
                Err(e @ Error::Sink(_)) => return Err(e),
                Err(_) => result = FeedResult::Damaged,
            }
        }
    }
}

/// Returns the decoder, or `None` if the stream cannot be decoded. That is not an error, because
/// the other stream may still be useful.
fn if_decodable(opened: Result<Opened, Error>) -> Result<Option<Opened>, Error> {
    match opened {
        Ok(decoder) => Ok(Some(decoder)),
        Err(Error::Decoder(OUT_OF_MEMORY)) => Err(Error::Memory),
        Err(_) => Ok(None),
    }
}

fn send(decoder: &mut Opened, packet: Option<&Packet>) -> Result<(), ffmpeg::Error> {
    match packet {
        Some(packet) => decoder.send_packet(packet),
        None => decoder.send_eof(),
    }
}

/// Returns whether the decoder needs more input or has returned everything.
pub(super) fn is_drained(error: ffmpeg::Error) -> bool {
    error == ffmpeg::Error::Eof || error == (ffmpeg::Error::Other { errno: ffmpeg::error::EAGAIN })
}
