//! Decodes the audio of a part of a file and converts it to stereo at [`AUDIO_RATE`], for the encoders
//! of clips and rendered sequences.

use ffmpeg::Packet;
use ffmpeg::codec::decoder::Opened;
use ffmpeg::filter::{self, Graph};
use ffmpeg::frame::Audio;
use ffmpeg_next as ffmpeg;
use ports::decoder::RENDER_SAMPLE_RATE;

use super::clip::ClipSpan;
use super::input::Input;
use super::{Error, FfmpegOptions};

/// Sample rate of encoded audio, in Hz.
pub(super) const AUDIO_RATE: i32 = RENDER_SAMPLE_RATE as i32;

/// Receives converted audio: 32-bit floats, one plane per channel.
pub(super) type AudioConsumer<'a> = dyn FnMut(&Audio) -> Result<(), Error> + 'a;

/// Cuts the audio of one part. Gaps in the file become silence.
pub(super) struct AudioCutter {
    decoder: Opened,
    /// Converts audio to the encoder's sample rate and channels, and trims it to the part.
    graph: Option<Graph>,
    stream: usize,
    part: ClipSpan,
    /// Number of samples of the part.
    samples: u64,
    clock: f64,
    over: bool,
}

impl AudioCutter {
    pub(super) fn open(
        input: &Input,
        stream: usize,
        options: &FfmpegOptions,
        part: ClipSpan,
        samples: u64,
    ) -> Result<Self, Error> {
        let decoder = input.streams.decoder(stream, 1, options)?;
        Ok(Self { decoder, graph: None, stream, part, samples, clock: 0.0, over: false })
    }

    /// Returns whether all audio of the part has been read.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Decodes a packet, or what the decoder still holds if `packet` is `None`.
    pub(super) fn feed(
        &mut self,
        packet: Option<&Packet>,
        input: &Input,
        take: &mut AudioConsumer<'_>,
    ) -> Result<(), Error> {
        // Ignores errors caused by damaged packets.
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
            self.pass_on(take)?;
        }
        Ok(())
    }

    /// Passes on the rest. If the file has no audio in the part, there is none.
    pub(super) fn finish(&mut self, take: &mut AudioConsumer<'_>) -> Result<(), Error> {
        if let Some(mut source) = self.graph.as_mut().and_then(|graph| graph.get("in")) {
            source.source().flush()?;
        }
        self.pass_on(take)
    }

    fn filter(&mut self, frame: &Audio) -> Result<(), Error> {
        if self.graph.is_none() {
            self.graph = Some(graph(frame, self.samples)?);
        }
        let source = self.graph.as_mut().and_then(|graph| graph.get("in"));
        Ok(source.ok_or(Error::NoStreams)?.source().add(frame)?)
    }

    fn pass_on(&mut self, take: &mut AudioConsumer<'_>) -> Result<(), Error> {
        let mut samples = Audio::empty();
        while let Some(mut sink) = self.graph.as_mut().and_then(|graph| graph.get("out")) {
            if sink.sink().frame(&mut samples).is_err() {
                break;
            }
            take(&samples)?;
        }
        Ok(())
    }
}

/// Builds the filter graph that converts decoded audio to the samples of the part. It trims the
/// beginning and fills gaps with silence.
fn graph(frame: &Audio, samples: u64) -> Result<Graph, Error> {
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
    let steps = format!(
        "aresample={AUDIO_RATE}:async=1:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo,\
         atrim=end_sample={samples},apad=whole_len={samples},asetnsamples=n=1024:p=0"
    );
    graph.output("in", 0)?.input("out", 0)?.parse(&steps)?;
    graph.validate()?;
    Ok(graph)
}
