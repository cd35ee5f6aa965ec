//! Full-size frames at given times: seek to the key frame before, decode up to the time.

use ffmpeg::Packet;
use ffmpeg::codec::decoder::Opened;
use ffmpeg::frame::Video;
use ffmpeg_next as ffmpeg;
use ports::decoder::Frame;

use super::input::Input;
use super::picture::Converter;
use super::scan::is_drained;
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

pub(super) fn frames(
    input: &mut Input,
    options: &FfmpegOptions,
    times: &[f64],
    max_side: u32,
) -> Result<Vec<Option<Frame>>, Error> {
    let mut found = vec![None; times.len()];
    let Some(stream) = input.picture else { return Ok(found) };
    let per_frame = u32::try_from(times.len()).unwrap_or(u32::MAX);
    input
        .deadline
        .set(options.timeout.saturating_add(options.timeout_per_second.saturating_mul(per_frame)));
    input.picture_only();

    let mut order: Vec<usize> = (0..times.len()).filter(|&i| times[i].is_finite()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));

    let mut converter = Converter::fine(input.orientation());
    let aspect = input.pixel_aspect();
    let decoder = input.decoder(stream, options.threads, options)?;
    let mut reel = Reel::new(stream, decoder);
    let mut last: Option<Frame> = None;
    for i in order {
        reel.wind_to(times[i], input)?;
        let Some((time, picture)) = reel.current.as_ref().filter(|(_, frame)| is_sound(frame))
        else {
            continue;
        };
        // Several times may fall on one frame.
        if last.as_ref().is_none_or(|f| f.time != *time) {
            let image = converter.image(picture, aspect, max_side).ok();
            last = image.map(|image| Frame { time: *time, image });
        }
        found[i].clone_from(&last);
    }
    Ok(found)
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
            self.show_beginning(input)?;
        }
        self.started = true;
        self.current = None;
        self.next = None;
        self.drained = false;
        self.decoder.flush();
        input.seek(time)
    }

    /// Shows the decoder the first packet of the picture, which may say what all others depend on:
    /// x264 tells its version there, without which its early 4:4:4 streams decode to garbage.
    fn show_beginning(&mut self, input: &mut Input) -> Result<(), Error> {
        match input.read(&mut self.packet) {
            Ok(Some(_)) => _ = self.decoder.send_packet(&self.packet),
            Err(e @ Error::Deadline(_)) => return Err(e),
            // What cannot be read here is found missing where it is needed.
            Ok(None) | Err(_) => {}
        }
        Ok(())
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
                Ok(Some(_)) => _ = self.decoder.send_packet(&self.packet),
                Err(e @ Error::Deadline(_)) => return Err(e),
                Ok(None) | Err(_) => {
                    self.drained = true;
                    _ = self.decoder.send_eof();
                }
            }
        }
    }
}
