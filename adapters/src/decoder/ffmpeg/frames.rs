//! Full-size frames at given times: go to the key frame before, decode up to the time. Where the
//! clock of the container jumps, its stamps do not lead there: packets are counted instead.

use std::fs::File;
use std::sync::Arc;

use ffmpeg::Packet;
use ffmpeg::codec::decoder::Opened;
use ffmpeg::frame::Video;
use ffmpeg_next as ffmpeg;
use ports::decoder::Frame;
use serde::{Deserialize, Serialize};

use super::input::{Input, Kind};
use super::picture::Converter;
use super::scan::{MAX_READ_ERRORS, is_drained};
use super::{Error, FfmpegOptions};

/// Without an index in the container, a time this far ahead is sought and not decoded up to,
/// seconds.
const STRIDE: f64 = 5.0;

/// How much earlier to look, step by step, when a seek lands behind the time asked for, seconds.
/// Formats without an index land between key frames, or behind the one wanted by as much as frames
/// are reordered. The last step means the beginning.
const STEPS_BACK: [f64; 4] = [0.0, 2.0, 15.0, f64::INFINITY];

/// A time before everything: seeking to it means the beginning, seconds.
const BEGINNING: f64 = -10.0;

/// Slack for the rounding of times to the ticks of the container, seconds.
const EPSILON: f64 = 1e-4;

/// Files up to this size are read through once to see whether their clock jumps, bytes.
const READ_THROUGH: u64 = 64 << 20;

/// Key frames that are noted of a file whose clock jumps.
const MARKS: usize = 2000;

/// Hands out the frames shown at `times`, each with the index of its time, and returns the way they
/// were found, which is the same for every call.
pub(super) fn frames(
    file: &Arc<File>,
    options: &FfmpegOptions,
    times: &[f64],
    max_side: u32,
    way: Option<Way>,
    found: &mut dyn FnMut(usize, &Frame) -> ports::Result<()>,
) -> Result<Way, Error> {
    let mut input = Input::open(file, options)?;
    let Some(stream) = input.picture else { return Ok(Way::default()) };
    let per_frame = u32::try_from(times.len()).unwrap_or(u32::MAX);
    let allowed =
        options.timeout.saturating_add(options.timeout_per_second.saturating_mul(per_frame));
    input.deadline.set(allowed);
    let way = match way {
        Some(way) => way,
        None => {
            let way = Way::through(&mut input, file.metadata()?.len())?;
            input = Input::open(file, options)?;
            input.deadline.set(allowed);
            way
        }
    };
    // Packets are counted with those of the sound, which also tells where the clock jumps.
    if way == Way::Stamps {
        input.picture_only();
    }

    let mut order: Vec<usize> = (0..times.len()).filter(|&i| times[i].is_finite()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));

    let mut converter = Converter::fine(input.orientation());
    let aspect = input.pixel_aspect();
    let decoder = input.decoder(stream, options.threads, options)?;
    let mut reel = Reel::new(stream, decoder);
    let mut last: Option<Frame> = None;
    for i in order {
        match &way {
            Way::Stamps => reel.wind_to(times[i], &mut input)?,
            Way::Packets(marks) => reel.count_to(times[i], marks, &mut input)?,
        }
        let Some((time, picture)) = reel.current.as_ref().filter(|(_, frame)| is_sound(frame))
        else {
            continue;
        };
        // Several times may fall on one frame.
        if last.as_ref().is_none_or(|f| f.time != *time) {
            let image = converter.image(picture, aspect, max_side).ok();
            last = image.map(|image| Frame { time: *time, image });
        }
        if let Some(frame) = &last {
            found(i, frame).map_err(Error::Sink)?;
        }
    }
    Ok(way)
}

/// How the packets of a time are found in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Way {
    /// By the stamps of the container.
    #[default]
    Stamps,
    /// By counting: its clock jumps. Key frames of the picture, as the number of the packet and its
    /// time in seconds: at most [`MARKS`], a second or more apart.
    Packets(Vec<(u64, f64)>),
}

impl Way {
    /// The way through the file, which is read to its end where that is not known more cheaply.
    /// `input` is used up.
    pub(super) fn through(input: &mut Input, size: u64) -> Result<Self, Error> {
        if size > READ_THROUGH && input.ends_as_claimed() {
            return Ok(Self::Stamps);
        }
        let mut marks: Vec<(u64, f64)> = Vec::new();
        let mut apart = 1.0;
        let mut packet = Packet::empty();
        let mut errors = 0;
        loop {
            match input.read(&mut packet) {
                Ok(Some(Kind::Picture)) if packet.is_key() => {
                    let stamp = packet.pts().or(packet.dts());
                    let time = stamp.map(|stamp| input.seconds(packet.stream(), stamp));
                    let after = marks.last().map_or(f64::NEG_INFINITY, |(_, last)| last + apart);
                    if let Some(time) = time.filter(|time| *time >= after) {
                        marks.push((input.packets, time));
                        if marks.len() == MARKS {
                            let mut even = false;
                            marks.retain(|_| {
                                even = !even;
                                even
                            });
                            apart *= 2.0;
                        }
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(e @ Error::Deadline(_)) => return Err(e),
                Err(_) => {
                    errors += 1;
                    if errors > MAX_READ_ERRORS {
                        break;
                    }
                }
            }
        }
        let jumps = input.timeline.as_ref().map_or(0, |timeline| timeline.jumps);
        Ok(if jumps == 0 { Self::Stamps } else { Self::Packets(marks) })
    }
}

/// Whether the decoder had all that the frame is made of.
fn is_sound(frame: &Video) -> bool {
    !frame.is_corrupt() && !frame.has_decode_errors()
}

/// The decoder, the frame it stands on and the one after it.
struct Reel {
    stream: usize,
    decoder: Opened,
    /// The frame shown.
    current: Option<(f64, Video)>,
    /// The frame that ends it.
    next: Option<(f64, Video)>,
    started: bool,
    drained: bool,
    packet: Packet,
}

impl Reel {
    fn new(stream: usize, decoder: Opened) -> Self {
        Self {
            stream,
            decoder,
            current: None,
            next: None,
            started: false,
            drained: false,
            packet: Packet::empty(),
        }
    }

    /// Leaves the frame shown at `time` in `current`, or the first frame of the file.
    fn wind_to(&mut self, time: f64, input: &mut Input) -> Result<(), Error> {
        if self.can_go_on(time, input) {
            return self.play_to(time, input);
        }
        for back in STEPS_BACK {
            let target = if time - back > 0.0 { time - back } else { BEGINNING };
            let at_start = !self.started && target == BEGINNING;
            if !at_start && self.restart(target, input).is_err() {
                // Some containers cannot seek, or not to their beginning: what lies ahead is all
                // there is.
                input.deadline.check()?;
            }
            self.play_to(time, input)?;
            let shown = self.current.as_ref();
            if shown.is_some_and(|(t, frame)| *t <= time + EPSILON && is_sound(frame))
                || target == BEGINNING
            {
                break;
            }
        }
        Ok(())
    }

    /// The same by the number of the packet.
    fn count_to(
        &mut self,
        time: f64,
        marks: &[(u64, f64)],
        input: &mut Input,
    ) -> Result<(), Error> {
        let mark =
            marks.iter().rev().find(|(_, key)| *key <= time).map_or(0, |(number, _)| *number);
        if mark > input.packets + 1 {
            if !self.started {
                input.show_beginning(&mut self.decoder, 1)?;
            }
            self.current = None;
            self.next = None;
            self.decoder.flush();
            while input.packets + 1 < mark {
                match input.read(&mut self.packet) {
                    Ok(Some(_)) => {}
                    Err(e @ Error::Deadline(_)) => return Err(e),
                    Ok(None) | Err(_) => break,
                }
            }
        }
        self.play_to(time, input)
    }

    /// Whether decoding on from here reaches `time` sooner than a seek.
    fn can_go_on(&mut self, time: f64, input: &mut Input) -> bool {
        let Some((here, _)) = self.current else { return false };
        if time + EPSILON < here {
            return false;
        }
        let ahead = self.next.as_ref().map_or(here, |(t, _)| *t);
        time <= ahead || input.key_frame_before(time).map_or(time - here < STRIDE, |k| k <= ahead)
    }

    fn restart(&mut self, time: f64, input: &mut Input) -> Result<(), Error> {
        if !self.started {
            input.show_beginning(&mut self.decoder, 1)?;
        }
        self.started = true;
        self.current = None;
        self.next = None;
        self.drained = false;
        self.decoder.flush();
        input.seek(time)
    }

    fn play_to(&mut self, time: f64, input: &mut Input) -> Result<(), Error> {
        self.started = true;
        loop {
            if let Some((t, _)) = &self.next {
                if *t > time + EPSILON && self.current.is_some() {
                    return Ok(());
                }
                self.current = self.next.take();
                if self.current.as_ref().is_some_and(|(t, _)| *t > time + EPSILON) {
                    // The first frame after a seek already lies behind the time.
                    return Ok(());
                }
            }
            match self.decode(input)? {
                Some(frame) => self.next = Some(frame),
                None => return Ok(()),
            }
        }
    }

    /// The next decodable frame, with its time; `None` at the end of the file.
    fn decode(&mut self, input: &mut Input) -> Result<Option<(f64, Video)>, Error> {
        loop {
            input.deadline.check()?;
            let mut frame = Video::empty();
            match self.decoder.receive_frame(&mut frame) {
                Ok(()) => {
                    let last = self.next.as_ref().or(self.current.as_ref()).map(|(t, _)| *t);
                    let step = input.frame_length().unwrap_or(0.04);
                    let time = frame
                        .timestamp()
                        .map(|t| input.seconds(self.stream, t))
                        .unwrap_or_else(|| last.map_or(0.0, |l| l + step));
                    return Ok(Some((time.max(0.0), frame)));
                }
                Err(e) if is_drained(e) && !self.drained => {}
                Err(_) if !self.drained => {}
                Err(_) => return Ok(None),
            }
            match input.read(&mut self.packet) {
                // A damaged packet is passed over; the decoder says so again at the next frame.
                Ok(Some(Kind::Picture)) => _ = self.decoder.send_packet(&self.packet),
                Ok(Some(Kind::Sound)) => {}
                Err(e @ Error::Deadline(_)) => return Err(e),
                Ok(None) | Err(_) => {
                    self.drained = true;
                    _ = self.decoder.send_eof();
                }
            }
        }
    }
}
