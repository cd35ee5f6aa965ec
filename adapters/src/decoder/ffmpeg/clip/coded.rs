//! Re-encodes the video and audio of a clip.

use std::collections::BTreeMap;

use ffmpeg::codec::decoder::Opened;
use ffmpeg::codec::encoder;
use ffmpeg::format::Pixel;
use ffmpeg::format::context::Output;
use ffmpeg::frame::{Audio, Video};
use ffmpeg::software::scaling;
use ffmpeg::{Packet, Rational};
use ffmpeg_next as ffmpeg;

use super::output::{add_coded, set_colours};
use super::{ClipSpan, each_packet, write as write_packet};
use crate::decoder::ffmpeg::cut_audio::{AUDIO_RATE, AudioCutter};
use crate::decoder::ffmpeg::hdr::Transfer;
use crate::decoder::ffmpeg::input::Input;
use crate::decoder::ffmpeg::order::PresentationOrder;
use crate::decoder::ffmpeg::picture::{Converter, Orientation};
use crate::decoder::ffmpeg::timeline::StreamKind;
use crate::decoder::ffmpeg::{Error, FfmpegOptions, encoders};

/// Video ticks per second. The number is divisible by all common frame rates.
const TICKS: i32 = 90_000;

/// Tolerance for rounding times to ticks, in seconds.
const EPSILON: f64 = 1e-4;

/// Maximum number of packets to read to find the first video packet.
const FIRST_PACKETS: usize = 64;

/// Re-encodes the part's video and audio to `output`. Starts reading at `from` seconds, or at the
/// beginning of the file if `from` is `None`.
pub(super) fn write(
    input: &mut Input,
    options: &FfmpegOptions,
    mut output: Output,
    part: ClipSpan,
    from: Option<f64>,
) -> Result<(), Error> {
    let mut pictures = match input.streams.picture {
        Some(stream) => Some(VideoTranscoder::open(input, stream, options, &mut output, part)?),
        None => None,
    };
    let mut sounds = match input.streams.sound {
        Some(stream) => Some(AudioTranscoder::open(input, stream, options, &mut output, part)?),
        None => None,
    };
    output.write_header()?;
    if let Some(from) = from {
        if let Some(pictures) = &mut pictures {
            input.prime_decoder(&mut pictures.decoder, FIRST_PACKETS)?;
            pictures.decoder.flush();
        }
        input.seek(from)?;
    }
    each_packet(input, |input, kind, packet| {
        match (kind, &mut pictures, &mut sounds) {
            (StreamKind::Picture, Some(pictures), _) => {
                pictures.order.send(packet);
                pictures.feed(Some(packet), input, &mut output)?
            }
            (StreamKind::Sound, _, Some(sounds)) => {
                sounds.feed(Some(packet), input, &mut output)?
            }
            _ => {}
        }
        let over =
            pictures.as_ref().is_none_or(|p| p.over) && sounds.as_ref().is_none_or(|s| s.over);
        Ok(!over)
    })?;
    if let Some(pictures) = &mut pictures {
        pictures.feed(None, input, &mut output)?;
        pictures.finish(&mut output)?;
    }
    if let Some(sounds) = &mut sounds {
        sounds.feed(None, input, &mut output)?;
        sounds.finish(&mut output)?;
    }
    Ok(output.write_trailer()?)
}

struct VideoTranscoder {
    decoder: Opened,
    order: PresentationOrder,
    encoder: encoder::video::Encoder,
    /// Tone-maps high dynamic range so that all players can show it.
    converter: Converter,
    scaler: Option<scaling::Context>,
    stream: usize,
    place: usize,
    part: ClipSpan,
    /// The current picture and its start time.
    shown: Option<(f64, Video)>,
    /// Durations of the pictures that are still in the encoder, keyed by timestamp. Durations and
    /// timestamps are in ticks.
    lengths: BTreeMap<i64, i64>,
    over: bool,
}

impl VideoTranscoder {
    fn open(
        input: &Input,
        stream: usize,
        options: &FfmpegOptions,
        output: &mut Output,
        part: ClipSpan,
    ) -> Result<Self, Error> {
        let decoder = input.streams.decoder(stream, options.threads, options)?;
        let (codec, context) = encoders::find(encoders::H264, output, Error::NoEncoder)?;
        let mut encoder = context.encoder().video()?;
        let (width, height) = input.streams.coded_size(stream);
        // Chroma subsampling requires even sizes.
        encoder.set_width((width & !1).max(2));
        encoder.set_height((height & !1).max(2));
        encoder.set_format(Pixel::YUV420P);
        encoder.set_time_base(Rational(1, TICKS));
        encoder.set_aspect_ratio(input.streams.sample_aspect(stream));
        if let Some(length) = input.streams.frame_length() {
            encoder.set_frame_rate(Some(Rational::from(1.0 / length)));
        }
        set_colours(&input.streams, stream, &mut encoder);
        let encoder = encoders::open_video(encoder, codec, options.threads)?;
        let place = add_coded(&input.streams, stream, &encoder, output)?;
        Ok(Self {
            decoder,
            order: PresentationOrder::default(),
            encoder,
            converter: Converter::fine(Orientation::default()),
            scaler: None,
            stream,
            place,
            part,
            shown: None,
            lengths: BTreeMap::new(),
            over: false,
        })
    }

    fn feed(
        &mut self,
        packet: Option<&Packet>,
        input: &Input,
        output: &mut Output,
    ) -> Result<(), Error> {
        // Ignores errors caused by damaged packets.
        let _ = match packet {
            Some(packet) => self.decoder.send_packet(packet),
            None => self.decoder.send_eof(),
        };
        let mut frame = Video::empty();
        while !self.over && self.decoder.receive_frame(&mut frame).is_ok() {
            input.deadline.check()?;
            let step = input.streams.frame_length().unwrap_or(0.04);
            let after = self.shown.as_ref().map_or(0.0, |(last, _)| last + step);
            let stamp = self.order.time_of(&frame);
            let time = stamp.map_or(after, |stamp| input.seconds(self.stream, stamp));
            let next = std::mem::replace(&mut frame, Video::empty());
            self.show(time, Some(next), output)?;
        }
        Ok(())
    }

    /// Ends the current picture at `time` and switches to `next`.
    fn show(&mut self, time: f64, next: Option<Video>, output: &mut Output) -> Result<(), Error> {
        let ClipSpan { start, end } = self.part;
        self.over |= time >= end - EPSILON;
        if let Some((since, picture)) = self.shown.take()
            && time > start + EPSILON
            && since < end - EPSILON
        {
            self.encode(since.max(start), time.min(end), &picture, output)?;
        }
        self.shown = next.map(|picture| (time, picture));
        Ok(())
    }

    fn encode(
        &mut self,
        from: f64,
        to: f64,
        picture: &Video,
        output: &mut Output,
    ) -> Result<(), Error> {
        let ticks = |time: f64| ((time - self.part.start) * f64::from(TICKS)).round() as i64;
        let (stamp, length) = (ticks(from), (ticks(to) - ticks(from)).max(1));
        let (width, height) = (self.encoder.width(), self.encoder.height());
        let mut frame = match Transfer::for_frame(picture) {
            Some(_) => self.converter.standard(picture, (width, height))?,
            None => self.scaled(picture, (width, height))?,
        };
        frame.set_pts(Some(stamp));
        if self.lengths.last_key_value().is_some_and(|(last, _)| *last >= stamp) {
            return Ok(());
        }
        self.lengths.insert(stamp, length);
        self.encoder.send_frame(&frame)?;
        self.drain(output)
    }

    /// Converts the picture to the encoder's format and to the given size.
    fn scaled(&mut self, picture: &Video, (width, height): (u32, u32)) -> Result<Video, Error> {
        let (from, to) = (picture.format(), Pixel::YUV420P);
        let (w, h, flags) = (picture.width(), picture.height(), scaling::Flags::BICUBIC);
        let scaler = match &mut self.scaler {
            Some(scaler) => {
                scaler.cached(from, w, h, to, width, height, flags);
                scaler
            }
            none => none.insert(scaling::Context::get(from, w, h, to, width, height, flags)?),
        };
        let mut scaled = Video::empty();
        scaler.run(picture, &mut scaled)?;
        Ok(scaled)
    }

    fn drain(&mut self, output: &mut Output) -> Result<(), Error> {
        let mut packet = Packet::empty();
        while self.encoder.receive_packet(&mut packet).is_ok() {
            let length = packet.pts().and_then(|stamp| self.lengths.get(&stamp));
            packet.set_duration(length.copied().unwrap_or(0));
            write_packet(output, self.place, Rational(1, TICKS), &mut packet)?;
        }
        Ok(())
    }

    fn finish(&mut self, output: &mut Output) -> Result<(), Error> {
        self.show(self.part.end, None, output)?;
        self.encoder.send_eof()?;
        self.drain(output)
    }
}

struct AudioTranscoder {
    cutter: AudioCutter,
    encoder: encoder::audio::Encoder,
    place: usize,
    over: bool,
}

impl AudioTranscoder {
    fn open(
        input: &Input,
        stream: usize,
        options: &FfmpegOptions,
        output: &mut Output,
        part: ClipSpan,
    ) -> Result<Self, Error> {
        let samples = ((part.end - part.start) * f64::from(AUDIO_RATE)).round() as u64;
        let cutter = AudioCutter::open(input, stream, options, part, samples)?;
        let encoder = encoders::open_audio(output, Error::NoEncoder)?;
        let place = add_coded(&input.streams, stream, &encoder, output)?;
        Ok(Self { cutter, encoder, place, over: false })
    }

    fn feed(
        &mut self,
        packet: Option<&Packet>,
        input: &Input,
        output: &mut Output,
    ) -> Result<(), Error> {
        let Self { cutter, encoder, place, .. } = self;
        cutter.feed(packet, input, &mut |samples| encode(encoder, samples, output, *place))?;
        self.over = cutter.is_over();
        Ok(())
    }

    fn finish(&mut self, output: &mut Output) -> Result<(), Error> {
        let Self { cutter, encoder, place, .. } = self;
        cutter.finish(&mut |samples| encode(encoder, samples, output, *place))?;
        encoder.send_eof()?;
        drain(encoder, output, *place)
    }
}

fn encode(
    encoder: &mut encoder::audio::Encoder,
    samples: &Audio,
    output: &mut Output,
    place: usize,
) -> Result<(), Error> {
    encoder.send_frame(samples)?;
    drain(encoder, output, place)
}

fn drain(
    encoder: &mut encoder::audio::Encoder,
    output: &mut Output,
    place: usize,
) -> Result<(), Error> {
    let mut packet = Packet::empty();
    while encoder.receive_packet(&mut packet).is_ok() {
        write_packet(output, place, Rational(1, AUDIO_RATE), &mut packet)?;
    }
    Ok(())
}
