//! Re-encodes the video and audio of a clip.

use std::collections::BTreeMap;

use ffmpeg::codec::decoder::Opened;
use ffmpeg::codec::{Context, Flags, encoder};
use ffmpeg::filter::{self, Graph};
use ffmpeg::format::context::Output;
use ffmpeg::format::{Pixel, Sample};
use ffmpeg::frame::{Audio, Video};
use ffmpeg::software::scaling;
use ffmpeg::{Dictionary, Packet, Rational, ffi};
use ffmpeg_next as ffmpeg;

use super::output::{add_coded, set_colours};
use super::{ClipSpan, each_packet, write as write_packet};
use crate::decoder::ffmpeg::hdr::Transfer;
use crate::decoder::ffmpeg::input::Input;
use crate::decoder::ffmpeg::order::PresentationOrder;
use crate::decoder::ffmpeg::picture::{Converter, Orientation};
use crate::decoder::ffmpeg::timeline::StreamKind;
use crate::decoder::ffmpeg::{Error, FfmpegOptions};

/// Video ticks per second. The number is divisible by all common frame rates.
const TICKS: i32 = 90_000;

/// Audio sample rate, in Hz.
const RATE: i32 = 48_000;

/// Audio bit rate, in bits per second.
const BIT_RATE: usize = 160_000;

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

/// Opens an encoder by name for the next stream of the output.
fn encoder_named(
    name: &'static str,
    output: &mut Output,
) -> Result<(ffmpeg::Codec, Context), Error> {
    let codec = encoder::find_by_name(name).ok_or(Error::NoEncoder(name))?;
    let mut context = Context::new_with_codec(codec);
    if output.format().flags().contains(ffmpeg::format::Flags::GLOBAL_HEADER) {
        context.set_flags(Flags::GLOBAL_HEADER);
    }
    Ok((codec, context))
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
        let (codec, context) = encoder_named("libx264", output)?;
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
        encoder.set_max_b_frames(0);
        let mut how = Dictionary::new();
        for (key, value) in [("preset", "veryfast"), ("crf", "20"), ("rc-lookahead", "10")] {
            how.set(key, value);
        }
        how.set("threads", &options.threads.max(1).to_string());
        let encoder = encoder.open_as_with(codec, how)?;
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
    decoder: Opened,
    encoder: encoder::audio::Encoder,
    /// Converts audio to the output's sample rate and channels, and trims it to the part.
    graph: Option<Graph>,
    stream: usize,
    place: usize,
    part: ClipSpan,
    clock: f64,
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
        let decoder = input.streams.decoder(stream, 1, options)?;
        let (codec, context) = encoder_named("aac", output)?;
        let mut encoder = context.encoder().audio()?;
        encoder.set_rate(RATE);
        encoder.set_format(Sample::F32(ffmpeg::format::sample::Type::Planar));
        encoder.set_bit_rate(BIT_RATE);
        encoder.set_time_base(Rational(1, RATE));
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the context is allocated and not yet open, and the field is plain.
        unsafe {
            ffi::av_channel_layout_default(&raw mut (*encoder.as_mut_ptr()).ch_layout, 2);
        }
        let encoder = encoder.open_as(codec)?;
        let place = add_coded(&input.streams, stream, &encoder, output)?;
        Ok(Self { decoder, encoder, graph: None, stream, place, part, clock: 0.0, over: false })
    }

    fn feed(
        &mut self,
        packet: Option<&Packet>,
        input: &Input,
        output: &mut Output,
    ) -> Result<(), Error> {
        let _ = match packet {
            Some(packet) => self.decoder.send_packet(packet),
            None => self.decoder.send_eof(),
        };
        let mut frame = Audio::empty();
        while !self.over && self.decoder.receive_frame(&mut frame).is_ok() {
            input.deadline.check()?;
            let rate = f64::from(frame.rate().max(1));
            let time = frame.timestamp().map(|stamp| input.seconds(self.stream, stamp));
            let time = time.unwrap_or(self.clock);
            self.clock = time + frame.samples() as f64 / rate;
            self.over = time >= self.part.end;
            if self.over || self.clock <= self.part.start {
                continue;
            }
            frame.set_pts(Some(((time - self.part.start) * rate).round() as i64));
            self.filter(&frame)?;
            self.encode(output)?;
        }
        Ok(())
    }

    fn filter(&mut self, frame: &Audio) -> Result<(), Error> {
        if self.graph.is_none() {
            self.graph = Some(graph(frame, self.part)?);
        }
        let source = self.graph.as_mut().and_then(|graph| graph.get("in"));
        Ok(source.ok_or(Error::NoStreams)?.source().add(frame)?)
    }

    fn encode(&mut self, output: &mut Output) -> Result<(), Error> {
        let mut samples = Audio::empty();
        while let Some(mut sink) = self.graph.as_mut().and_then(|graph| graph.get("out")) {
            if sink.sink().frame(&mut samples).is_err() {
                break;
            }
            self.encoder.send_frame(&samples)?;
            self.drain(output)?;
        }
        Ok(())
    }

    fn drain(&mut self, output: &mut Output) -> Result<(), Error> {
        let mut packet = Packet::empty();
        while self.encoder.receive_packet(&mut packet).is_ok() {
            write_packet(output, self.place, Rational(1, RATE), &mut packet)?;
        }
        Ok(())
    }

    fn finish(&mut self, output: &mut Output) -> Result<(), Error> {
        if let Some(mut source) = self.graph.as_mut().and_then(|graph| graph.get("in")) {
            source.source().flush()?;
        }
        self.encode(output)?;
        self.encoder.send_eof()?;
        self.drain(output)
    }
}

/// Builds the filter graph that converts decoded audio to the samples of the part. It trims the
/// beginning and fills gaps with silence.
fn graph(frame: &Audio, part: ClipSpan) -> Result<Graph, Error> {
    let mut graph = Graph::new();
    let (abuffer, sink) = (filter::find("abuffer"), filter::find("abuffersink"));
    let missing = || Error::NoEncoder("abuffer");
    let rate = frame.rate();
    let channels = match frame.channel_layout().bits() {
        0 => format!("channels={}", frame.channels()),
        layout => format!("channel_layout=0x{layout:x}"),
    };
    let arguments = format!(
        "time_base=1/{rate}:sample_rate={rate}:sample_fmt={}:{channels}",
        frame.format().name()
    );
    graph.add(&abuffer.ok_or_else(missing)?, "in", &arguments)?;
    graph.add(&sink.ok_or_else(missing)?, "out", "")?;
    let samples = ((part.end - part.start) * f64::from(RATE)).round();
    let steps = format!(
        "aresample={RATE}:async=1:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo,\
         atrim=end_sample={samples},apad=whole_len={samples},asetnsamples=n=1024:p=0"
    );
    graph.output("in", 0)?.input("out", 0)?.parse(&steps)?;
    graph.validate()?;
    Ok(graph)
}
