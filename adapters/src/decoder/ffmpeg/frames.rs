//! Extracts full-size frames at given times. For each time, it seeks to the preceding key frame and
//! decodes up to the requested time, skipping non-reference frames on the way. If the container's
//! clock jumps, timestamps cannot be used for seeking, so packets are counted instead.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use ffmpeg::codec::decoder::Opened;
use ffmpeg::frame::Video;
use ffmpeg::{Discard, Packet};
use ffmpeg_next as ffmpeg;
use ports::decoder::{Frame, Still};
use serde::{Deserialize, Serialize};

use super::input::Input;
use super::order::PresentationOrder;
use super::picture::{Converter, Orientation};
use super::scan::{MAX_READ_ERRORS, is_drained};
use super::timeline::StreamKind;
use super::{Error, FfmpegOptions};

/// In a container without an index, the minimum distance in seconds for seeking forward. Shorter
/// distances are decoded.
const STRIDE: f64 = 5.0;

/// How many seconds before the requested time to seek. If a seek lands too late, the next attempt
/// uses the next larger value; the last one seeks to the beginning. In formats without an index, a
/// seek may land between key frames, or too late by the reordering delay.
const STEPS_BACK: [f64; 4] = [0.0, 2.0, 15.0, f64::INFINITY];

/// How many seconds to go back to find the key frame before the preceding key frame.
const SECOND_KEY_FRAME: f64 = 15.0;

/// A time in seconds that precedes all content, used to seek to the beginning.
const BEGINNING: f64 = -10.0;

/// Frames that begin at most this many frame durations before the requested time are never skipped.
/// If frames are evenly spaced, one of these frames is the one shown at that time.
const LENGTHS: f64 = 1.5;

/// Tolerance for rounding times to the container's ticks, in seconds.
const EPSILON: f64 = 1e-4;

/// Maximum size in bytes of a file that is read through once to find clock jumps.
const READ_THROUGH: u64 = 64 << 20;

/// Minimum number of packets to read from a larger file before its end is examined. This number is
/// enough to show what kind of timestamps the file has.
const BEFORE_END: u64 = 100;

/// Maximum number of key frames to remember for a file whose clock jumps.
const MARKS: usize = 2000;

/// Passes each requested frame to `found` with the index of its still. Returns the seek method,
/// which is the same for every call on this file.
pub(super) fn frames(
    file: &Arc<File>,
    options: &FfmpegOptions,
    stills: &[Still],
    method: Option<SeekMethod>,
    found: &mut dyn FnMut(usize, &Frame) -> ports::Result<()>,
) -> Result<SeekMethod, Error> {
    let per_frame = u32::try_from(stills.len()).unwrap_or(u32::MAX);
    let allowed =
        options.timeout.saturating_add(options.timeout_per_second.saturating_mul(per_frame));
    let open = |time: Duration| {
        let input = Input::open(file, options, None)?;
        input.deadline.set(time);
        Ok::<_, Error>(input)
    };
    let mut input = open(allowed)?;
    let Some(stream) = input.streams.picture else { return Ok(SeekMethod::default()) };
    let method = match method {
        Some(method) => method,
        None => {
            let method = SeekMethod::detect(|| open(allowed / 2), file.metadata()?.len())?;
            // The time limit for the extraction starts now.
            input.deadline.set(allowed);
            method
        }
    };
    // The other methods also need audio packets, which are counted and help to detect clock jumps.
    if matches!(method, SeekMethod::Stamps | SeekMethod::Decoding) {
        input.streams.picture_only();
    }

    let mut sorted: Vec<usize> =
        (0..stills.len()).filter(|&i| stills[i].time.is_finite()).collect();
    sorted.sort_by(|&a, &b| stills[a].time.total_cmp(&stills[b].time));

    let mut cursor = FrameCursor::open(&input, stream, options, &method)?;
    let mut scaler = StillScaler::new(&input);
    for i in sorted {
        let Still { time, max_side } = stills[i];
        cursor.show(time, &method, &mut input)?;
        let Some((time, picture)) = cursor.current.as_ref().filter(|(_, frame)| is_intact(frame))
        else {
            continue;
        };
        if let Some(frame) = scaler.scale(*time, picture, max_side) {
            found(i, frame).map_err(Error::Sink)?;
        }
    }
    Ok(method)
}

/// Converts decoded frames to images of the requested sizes. Keeps the last image of each size,
/// because several requested times may share a frame.
struct StillScaler {
    orientation: Orientation,
    aspect: f64,
    /// Converters with their last images, keyed by the maximum length of the longer side in pixels.
    sizes: BTreeMap<u32, (Converter, Option<Frame>)>,
}

impl StillScaler {
    fn new(input: &Input) -> Self {
        Self {
            orientation: input.streams.orientation(),
            aspect: input.streams.pixel_aspect(),
            sizes: BTreeMap::new(),
        }
    }

    /// Returns the picture shown at `time` as an image, or `None` if it cannot be converted.
    fn scale(&mut self, time: f64, picture: &Video, max_side: u32) -> Option<&Frame> {
        let (converter, last) =
            self.sizes.entry(max_side).or_insert_with(|| (Converter::fine(self.orientation), None));
        if last.as_ref().is_none_or(|frame| frame.time != time) {
            let image = converter.image(picture, self.aspect, max_side).ok();
            *last = image.map(|image| Frame { time, image });
        }
        last.as_ref()
    }
}

/// How to find the packets for a given time in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum SeekMethod {
    /// By the timestamps of the container.
    #[default]
    Stamps,
    /// By timestamps, which are only decoding times. To reconstruct the display order, decoding
    /// starts at least one key frame earlier.
    Decoding,
    /// By counting packets, because the clock jumps. Lists the packet number and the time in
    /// seconds of up to [`MARKS`] key frames that are at least a second apart.
    Packets(Vec<(u64, f64)>),
    /// By counting packets, because there are no timestamps. Lists key frames like
    /// [`Self::Packets`].
    Unstamped(Vec<(u64, f64)>),
}

/// Returns the index of the last key frame in `marks` at or before `time`.
fn mark_before(marks: &[(u64, f64)], time: f64) -> Option<usize> {
    marks.partition_point(|(_, key)| *key <= time).checked_sub(1)
}

impl SeekMethod {
    /// Determines the seek method for a file of `size` bytes. Reads the whole file unless there is
    /// a cheaper way to find out. Stops reading a large file at the input's deadline.
    pub(super) fn detect(
        open: impl Fn() -> Result<Input, Error>,
        size: u64,
    ) -> Result<Self, Error> {
        let mut input = open()?;
        let large = size > READ_THROUGH;
        let mut marks: Vec<(u64, f64)> = Vec::new();
        let mut apart = 1.0;
        let mut packet = Packet::empty();
        let mut errors = 0;
        let mut order = PresentationOrder::default();
        let mut knows_end = !large;
        loop {
            if !knows_end && input.packets >= BEFORE_END {
                knows_end = true;
                if !input.is_unstamped() && open()?.ends_as_claimed() {
                    break;
                }
            }
            match input.read(&mut packet) {
                Ok(Some(StreamKind::Picture)) => {
                    order.send(&mut packet);
                    if !packet.is_key() {
                        continue;
                    }
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
                Err(Error::Deadline(_)) if large => break,
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
        Ok(match () {
            () if input.is_unstamped() => Self::Unstamped(marks),
            () if jumps > 0 => Self::Packets(marks),
            () if order.is_decoding_only() => Self::Decoding,
            () => Self::Stamps,
        })
    }
}

/// Returns whether the decoder had all reference frames of `frame`.
fn is_intact(frame: &Video) -> bool {
    !frame.is_corrupt() && !frame.has_decode_errors()
}

/// A decoder that is positioned on a frame. It holds this frame and the next one.
struct FrameCursor {
    stream: usize,
    decoder: Opened,
    order: PresentationOrder,
    /// The current frame.
    current: Option<(f64, Video)>,
    /// The frame that follows `current`, if it has been decoded.
    next: Option<(f64, Video)>,
    started: bool,
    drained: bool,
    /// Whether non-reference frames may be skipped on the way to a requested time.
    may_skip: bool,
    /// Whether non-reference frames are being skipped now. They are skipped only after a seek, so
    /// that another seek can restore them.
    is_skipping: bool,
    /// Start of the last skipped frame, in seconds.
    skipped_from: f64,
    packet: Packet,
}

impl FrameCursor {
    fn open(
        input: &Input,
        stream: usize,
        options: &FfmpegOptions,
        method: &SeekMethod,
    ) -> Result<Self, Error> {
        let order = match method {
            SeekMethod::Stamps => PresentationOrder::new(false),
            SeekMethod::Decoding | SeekMethod::Unstamped(_) => PresentationOrder::new(true),
            SeekMethod::Packets(_) => PresentationOrder::default(),
        };
        Ok(Self {
            stream,
            decoder: input.streams.decoder(stream, options.threads, options)?,
            order,
            current: None,
            next: None,
            started: false,
            drained: false,
            // If one field of a frame were skipped, only half of the lines would be shown.
            may_skip: *method == SeekMethod::Stamps && !input.streams.is_interlaced(),
            is_skipping: false,
            skipped_from: f64::NEG_INFINITY,
            packet: Packet::empty(),
        })
    }

    /// Moves `current` to the frame shown at `time`, using the file's seek method.
    fn show(&mut self, time: f64, method: &SeekMethod, input: &mut Input) -> Result<(), Error> {
        match method {
            SeekMethod::Stamps | SeekMethod::Decoding => self.advance_to(time, input),
            SeekMethod::Packets(marks) => {
                let mark = mark_before(marks, time).map_or(0, |i| marks[i].0);
                self.count_to(time, mark, input)
            }
            SeekMethod::Unstamped(marks) => {
                // Start at least one key frame earlier, since the display order must be
                // reconstructed.
                let before = mark_before(marks, time).and_then(|i| i.checked_sub(1));
                self.count_to(time, before.map_or(0, |i| marks[i].0), input)
            }
        }
    }

    /// Moves `current` to the frame shown at `time`, or to the first frame of the file.
    fn advance_to(&mut self, time: f64, input: &mut Input) -> Result<(), Error> {
        self.go_to(time, input)?;
        let here = self.current.as_ref().map_or(f64::NEG_INFINITY, |(t, _)| *t);
        if self.skipped_from <= here + EPSILON {
            return Ok(());
        }
        // The requested frame was skipped because the frames are unevenly spaced.
        self.may_skip = false;
        self.current = None;
        self.go_to(time, input)
    }

    fn go_to(&mut self, time: f64, input: &mut Input) -> Result<(), Error> {
        if self.is_within_reach(time, input) {
            return self.play_to(time, input);
        }
        // Start at least one key frame earlier if the display order must be reconstructed.
        let min_back = if self.order.is_decoding_only() { SECOND_KEY_FRAME } else { 0.0 };
        for back in STEPS_BACK.into_iter().filter(|back| *back >= min_back) {
            let target = if time - back > 0.0 { time - back } else { BEGINNING };
            let at_start = !self.started && target == BEGINNING;
            if !at_start && self.restart(target, input).is_err() {
                // Some containers do not support seeking, or seeking to their beginning. In this
                // case, reading continues from the current position.
                input.deadline.check()?;
            }
            self.play_to(time, input)?;
            let shown = self.current.as_ref();
            if shown.is_some_and(|(t, frame)| *t <= time + EPSILON && is_intact(frame))
                || target == BEGINNING
            {
                break;
            }
        }
        Ok(())
    }

    /// Does the same as [`Self::advance_to`], but reaches an earlier key frame, packet number
    /// `mark`, by counting packets.
    fn count_to(&mut self, time: f64, mark: u64, input: &mut Input) -> Result<(), Error> {
        if mark > input.packets + 1 {
            if !self.started {
                input.prime_decoder(&mut self.decoder, 1)?;
            }
            self.current = None;
            self.next = None;
            self.decoder.flush();
            self.order.restart();
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

    /// Returns whether decoding forward reaches `time` sooner than a seek.
    fn is_within_reach(&mut self, time: f64, input: &mut Input) -> bool {
        let Some((here, _)) = self.current else { return false };
        if time + EPSILON < here {
            return false;
        }
        let ahead = self.next.as_ref().map_or(here, |(t, _)| *t);
        time <= ahead || input.key_frame_before(time).map_or(time - here < STRIDE, |k| k <= ahead)
    }

    fn restart(&mut self, time: f64, input: &mut Input) -> Result<(), Error> {
        if !self.started {
            input.prime_decoder(&mut self.decoder, 1)?;
        }
        self.started = true;
        self.current = None;
        self.next = None;
        self.skipped_from = f64::NEG_INFINITY;
        self.drained = false;
        self.decoder.flush();
        let seek = if time == BEGINNING {
            self.order.rewind();
            // In AVI, nothing precedes the first key frame, so a seek to an earlier time fails.
            input.seek(time).or_else(|_| input.seek(0.0))
        } else {
            self.order.restart();
            input.seek(time)
        };
        self.is_skipping = self.may_skip && seek.is_ok();
        seek
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
                    // The first frame after the seek is later than the requested time.
                    return Ok(());
                }
            }
            match self.decode(time, input)? {
                Some(frame) => self.next = Some(frame),
                None => return Ok(()),
            }
        }
    }

    /// Decodes the next decodable frame on the way to `to` and returns it with its time. Returns
    /// `None` at the end of the file.
    fn decode(&mut self, to: f64, input: &mut Input) -> Result<Option<(f64, Video)>, Error> {
        loop {
            input.deadline.check()?;
            let mut frame = Video::empty();
            match self.decoder.receive_frame(&mut frame) {
                Ok(()) => {
                    let last = self.next.as_ref().or(self.current.as_ref()).map(|(t, _)| *t);
                    let step = input.streams.frame_length().unwrap_or(0.04);
                    let stamp = self.order.time_of(&frame);
                    if self.order.is_unsettled() {
                        continue;
                    }
                    let time = stamp
                        .map(|t| input.seconds(self.stream, t))
                        .unwrap_or_else(|| last.map_or(0.0, |l| l + step));
                    return Ok(Some((time.max(0.0), frame)));
                }
                Err(e) if is_drained(e) && !self.drained => {}
                Err(_) if !self.drained => {}
                Err(_) => return Ok(None),
            }
            match input.read(&mut self.packet) {
                // Ignores the error for a damaged packet, because the decoder reports it again at
                // the next frame.
                Ok(Some(StreamKind::Picture)) => {
                    self.skip_unneeded(to, input);
                    self.order.send(&mut self.packet);
                    _ = self.decoder.send_packet(&self.packet);
                }
                Ok(Some(StreamKind::Sound)) => {}
                Err(e @ Error::Deadline(_)) => return Err(e),
                Ok(None) | Err(_) => {
                    self.drained = true;
                    _ = self.decoder.send_eof();
                }
            }
        }
    }

    /// Makes the decoder skip the packet's frame if the frame is not shown at `to` and no other
    /// frame references it.
    fn skip_unneeded(&mut self, to: f64, input: &Input) {
        let begins = self.packet.pts().map(|stamp| input.seconds(self.stream, stamp));
        let step = input.streams.frame_length().unwrap_or(STRIDE);
        let unseen = begins.filter(|begins| self.is_skipping && begins + LENGTHS * step < to);
        let discard = if unseen.is_some() { Discard::NonReference } else { Discard::Default };
        self.decoder.skip_frame(discard);
        // Treats the frame as skipped, since only the decoder knows which frames are references.
        self.skipped_from =
            unseen.map_or(self.skipped_from, |begins| begins.max(self.skipped_from));
    }
}
