//! The one pass over a file that yields its small frames and its sound together.

use std::time::Duration;

use ffmpeg::codec::decoder::Opened;
use ffmpeg::frame::{Audio, Video};
use ffmpeg::{Discard, Packet};
use ffmpeg_next as ffmpeg;
use ports::decoder::{ScanOptions, ScanSink, ScanSummary};

use super::input::{Input, Kind};
use super::picture::Converter;
use super::sound::Track;
use super::{Error, FfmpegOptions};

/// Unreadable stretches of the container after which reading ends.
const MAX_READ_ERRORS: u32 = 100;

/// A step back of the clock that is a fault of single frames and not a new start, seconds.
const JITTER: f64 = 1.0;

pub(super) fn scan(
    input: &mut Input,
    options: &FfmpegOptions,
    size: &ScanOptions,
    sink: &mut dyn ScanSink,
) -> Result<ScanSummary, Error> {
    let mut budget = Budget::new(input, options);
    let mut pictures = Pictures::open(input, options, (size.width, size.height));
    let mut sounds = Sounds::open(input, options);
    if pictures.is_none() && sounds.is_none() {
        return Err(Error::NothingDecoded);
    }
    let mut packet = Packet::empty();
    let mut damaged = 0;
    let mut read_errors = 0;
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
        let ok = match (kind, &mut pictures, &mut sounds) {
            (Kind::Picture, Some(p), _) => p.feed(Some(&packet), input, &mut budget, sink)?,
            (Kind::Sound, _, Some(s)) => s.feed(Some(&packet), input, &mut budget, sink)?,
            _ => true,
        };
        damaged += u64::from(!ok && !packet.is_corrupt());
    }
    let mut summary = ScanSummary { damaged, ..Default::default() };
    // Without this the frames still inside the decoders would be lost.
    if let Some(p) = &mut pictures {
        p.feed(None, input, &mut budget, sink)?;
        summary.frames = p.frames;
        summary.end = p.end;
    }
    if let Some(s) = &mut sounds {
        s.feed(None, input, &mut budget, sink)?;
        s.track.end_segment(sink)?;
        summary.samples = s.track.samples;
        summary.end = summary.end.max(s.track.end());
    }
    if summary.frames == 0 && summary.samples == 0 {
        return Err(Error::NothingDecoded);
    }
    Ok(summary)
}

/// Keeps the time spent in proportion to the media decoded.
struct Budget {
    base: Duration,
    per_second: Duration,
    max_duration: f64,
    reached: f64,
}

impl Budget {
    fn new(input: &Input, options: &FfmpegOptions) -> Self {
        input.deadline.set(options.timeout);
        Self {
            base: options.timeout,
            per_second: options.timeout_per_second,
            max_duration: options.max_duration,
            reached: 0.0,
        }
    }

    /// Accounts for a frame or a sound at `time`.
    fn reach(&mut self, time: f64, input: &Input) -> Result<(), Error> {
        if time > self.max_duration {
            return Err(Error::TooLong(self.max_duration));
        }
        if time > self.reached + 1.0 {
            self.reached = time;
            input.deadline.set(self.base + self.per_second.mul_f64(time));
        }
        input.deadline.check()
    }
}

struct Pictures {
    stream: usize,
    decoder: Opened,
    converter: Converter,
    size: (u32, u32),
    /// Seconds a frame lasts where nothing else is known.
    length: f64,
    last: Option<f64>,
    frames: u64,
    end: f64,
    frame: Video,
    rgb: Vec<u8>,
}

impl Pictures {
    /// `None` where the stream cannot be decoded: the sound may still be of use.
    fn open(input: &Input, options: &FfmpegOptions, size: (u32, u32)) -> Option<Self> {
        let stream = input.picture?;
        let mut decoder = input.decoder(stream, options.threads, options).ok()?;
        // Small frames do not show what the loop filter does, and frames nothing refers to can go
        // without it: nothing that is decoded after them changes.
        decoder.skip_loop_filter(Discard::NonReference);
        Some(Self {
            stream,
            decoder,
            converter: Converter::small(input.orientation()),
            size,
            length: input.frame_length().filter(|l| (1e-3..=1.0).contains(l)).unwrap_or(0.04),
            last: None,
            frames: 0,
            end: 0.0,
            frame: Video::empty(),
            rgb: Vec::new(),
        })
    }

    /// Decodes a packet, or with `None` what is left. False where the packet was damaged.
    fn feed(
        &mut self,
        packet: Option<&Packet>,
        input: &Input,
        budget: &mut Budget,
        sink: &mut dyn ScanSink,
    ) -> Result<bool, Error> {
        let mut ok = send(&mut self.decoder, packet);
        loop {
            match self.decoder.receive_frame(&mut self.frame) {
                Ok(()) => self.show(input, budget, sink)?,
                Err(e) if is_drained(e) => return Ok(ok),
                // While draining, one bad frame must not hide the good ones behind it.
                Err(_) if packet.is_none() && ok => ok = false,
                Err(_) => return Ok(false),
            }
        }
    }

    fn show(
        &mut self,
        input: &Input,
        budget: &mut Budget,
        sink: &mut dyn ScanSink,
    ) -> Result<(), Error> {
        let length = match input.length(self.stream, self.frame.packet().duration) {
            l if l > 0.0 && l < 60.0 => l,
            _ => self.length,
        };
        let stamped = self.frame.timestamp().map(|t| input.seconds(self.stream, t));
        let mut time = stamped.unwrap_or_else(|| self.last.map_or(0.0, |l| l + length));
        if time + length <= 0.0 {
            return Ok(());
        }
        time = time.max(0.0);
        if let Some(last) = self.last
            && time <= last
        {
            // Time never goes back. A single bad stamp is squeezed in behind its predecessor; a
            // clock that starts anew goes on from where it was.
            time = if last - time < JITTER { last + 1e-3 } else { last + length };
        }
        budget.reach(time, input)?;
        self.last = Some(time);
        if self.converter.convert(&self.frame, self.size, &mut self.rgb).is_err() {
            return Ok(());
        }
        sink.frame(time, &self.rgb).map_err(Error::Sink)?;
        self.frames += 1;
        self.end = time + length;
        Ok(())
    }
}

struct Sounds {
    stream: usize,
    decoder: Opened,
    track: Track,
    frame: Audio,
}

impl Sounds {
    fn open(input: &Input, options: &FfmpegOptions) -> Option<Self> {
        let stream = input.sound?;
        let decoder = input.decoder(stream, 1, options).ok()?;
        Some(Self { stream, decoder, track: Track::default(), frame: Audio::empty() })
    }

    fn feed(
        &mut self,
        packet: Option<&Packet>,
        input: &Input,
        budget: &mut Budget,
        sink: &mut dyn ScanSink,
    ) -> Result<bool, Error> {
        let mut ok = send(&mut self.decoder, packet);
        loop {
            match self.decoder.receive_frame(&mut self.frame) {
                Ok(()) => {}
                Err(e) if is_drained(e) => return Ok(ok),
                Err(_) => return Ok(false),
            }
            let time = self.frame.timestamp().map(|t| input.seconds(self.stream, t));
            budget.reach(time.unwrap_or(0.0), input)?;
            match self.track.push(&self.frame, time, sink) {
                Ok(()) => {}
                Err(e @ Error::Sink(_)) => return Err(e),
                Err(_) => ok = false,
            }
        }
    }
}

fn send(decoder: &mut Opened, packet: Option<&Packet>) -> bool {
    match packet {
        Some(packet) => decoder.send_packet(packet).is_ok(),
        None => decoder.send_eof().is_ok(),
    }
}

/// Whether the decoder wants more input or has given everything.
pub(super) fn is_drained(error: ffmpeg::Error) -> bool {
    error == ffmpeg::Error::Eof || error == (ffmpeg::Error::Other { errno: ffmpeg::error::EAGAIN })
}
