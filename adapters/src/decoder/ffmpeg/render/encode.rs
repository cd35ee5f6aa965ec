//! Encodes the pictures and samples of a sequence as H.264 and AAC in MP4.

use std::io::{Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ffmpeg::codec::encoder;
use ffmpeg::format::context::{Output, StreamIo};
use ffmpeg::format::{Pixel, Sample};
use ffmpeg::frame::{Audio, Video};
use ffmpeg::software::scaling;
use ffmpeg::{ChannelLayout, Packet, Rational, ffi};
use ffmpeg_next as ffmpeg;
use ports::decoder::{RENDER_SAMPLE_RATE, RenderFormat};

use super::RenderSink;
use crate::decoder::ffmpeg::clip::{BoundedWriter, write as write_packet};
use crate::decoder::ffmpeg::cut_audio::AUDIO_RATE;
use crate::decoder::ffmpeg::picture::set_colours;
use crate::decoder::ffmpeg::{Error, encoders};

/// Number of samples in a block of the audio encoder, per channel.
const BLOCK: usize = 1024;

/// Places of the streams in the file.
const VIDEO: usize = 0;
const AUDIO: usize = 1;

/// Encodes a sequence that is passed to it picture by picture. The timestamp of a picture is its
/// number, in units of the duration of a frame.
pub(in crate::decoder) struct SequenceEncoder {
    output: Output,
    format: RenderFormat,
    /// Duration of a frame, in seconds.
    frame_base: Rational,
    pictures: encoder::video::Encoder,
    scaler: scaling::Context,
    sounds: encoder::audio::Encoder,
    /// Number of frames encoded.
    frames: u64,
    /// Number of samples encoded, per channel.
    samples: u64,
    /// Interleaved samples that do not fill a block yet.
    waiting: Vec<f32>,
    /// Set once the file has exceeded its maximum size.
    full: Arc<AtomicBool>,
}

impl SequenceEncoder {
    /// Opens the encoders and writes the beginning of the file.
    pub(in crate::decoder) fn open(
        threads: usize,
        format: &RenderFormat,
        out: impl Write + Seek + Send + 'static,
    ) -> Result<Self, ports::PortError> {
        let full = Arc::new(AtomicBool::new(false));
        let out = BoundedWriter::new(out, format.max_bytes, full.clone());
        let opened = Self::open_output(threads, format, out, full.clone());
        match full.load(Ordering::Relaxed) {
            true => Err(Error::TooManyBytes(format.max_bytes).into()),
            false => Ok(opened?),
        }
    }

    fn open_output(
        threads: usize,
        format: &RenderFormat,
        out: impl Write + Seek + Send + 'static,
        full: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let out = StreamIo::from_write_seek(out)?;
        let mut output = ffmpeg::format::output_to_stream(out, None, Some("mp4"))?;
        let frame_base = frame_base(format)?;
        let (width, height) = (format.width, format.height);
        let pictures = open_pictures(threads, format, frame_base, &output)?;
        let mut video = output.add_stream_with(&pictures)?;
        // The times of the frames are whole ticks only in this unit.
        video.set_time_base(frame_base);
        video.set_avg_frame_rate(frame_base.invert());
        let sounds = encoders::open_audio(&output, Error::NoSequenceEncoder)?;
        output.add_stream_with(&sounds)?.set_time_base(Rational(1, AUDIO_RATE));
        output.write_header()?;
        let (from, to) = (Pixel::RGB24, Pixel::YUV420P);
        let flags = scaling::Flags::BICUBIC;
        let mut scaler = scaling::Context::get(from, width, height, to, width, height, flags)?;
        set_colours(&mut scaler, (ffi::SWS_CS_ITU709, true), (ffi::SWS_CS_ITU709, false));
        Ok(Self {
            output,
            format: *format,
            frame_base,
            pictures,
            scaler,
            sounds,
            frames: 0,
            samples: 0,
            waiting: Vec::new(),
            full,
        })
    }

    /// Encodes what is left and writes the end of the file. Returns `Invalid` if there were fewer
    /// or more frames than stated.
    pub(in crate::decoder) fn finish(mut self) -> Result<(), ports::PortError> {
        let (found, expected) = (self.frames, self.format.frames);
        if found != expected {
            return Err(Error::WrongLength { found, expected }.into());
        }
        let finished = self.write_rest();
        Ok(self.checked(finished)?)
    }

    fn write_rest(&mut self) -> Result<(), Error> {
        let rest = std::mem::take(&mut self.waiting);
        if !rest.is_empty() {
            self.encode_block(&rest)?;
        }
        self.pictures.send_eof()?;
        self.drain_pictures()?;
        self.sounds.send_eof()?;
        self.drain_sounds()?;
        Ok(self.output.write_trailer()?)
    }

    /// Replaces the error of a write by its cause.
    fn checked<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        match self.full.load(Ordering::Relaxed) {
            true => Err(Error::TooManyBytes(self.format.max_bytes)),
            false => result,
        }
    }

    fn encode_picture(&mut self, frames: u64, rgb: &[u8]) -> Result<(), Error> {
        let mut picture = Video::new(Pixel::RGB24, self.format.width, self.format.height);
        let stride = picture.stride(0);
        let row_bytes = self.format.width as usize * 3;
        let rows = picture.data_mut(0).chunks_mut(stride);
        for (row, from) in rows.zip(rgb.chunks_exact(row_bytes)) {
            row[..row_bytes].copy_from_slice(from);
        }
        let mut coded = Video::empty();
        self.scaler.run(&picture, &mut coded)?;
        for _ in 0..frames {
            coded.set_pts(Some(self.frames as i64));
            self.pictures.send_frame(&coded)?;
            self.frames += 1;
            self.drain_pictures()?;
        }
        Ok(())
    }

    fn drain_pictures(&mut self) -> Result<(), Error> {
        let mut packet = Packet::empty();
        while self.pictures.receive_packet(&mut packet).is_ok() {
            packet.set_duration(1);
            write_packet(&mut self.output, VIDEO, self.frame_base, &mut packet)?;
        }
        Ok(())
    }

    fn encode_samples(&mut self, samples: &[f32]) -> Result<(), Error> {
        self.waiting.extend_from_slice(samples);
        let waiting = std::mem::take(&mut self.waiting);
        let (blocks, rest) = waiting.as_chunks::<{ 2 * BLOCK }>();
        for block in blocks {
            self.encode_block(block)?;
        }
        self.waiting.extend_from_slice(rest);
        Ok(())
    }

    fn encode_block(&mut self, interleaved: &[f32]) -> Result<(), Error> {
        let (samples, _) = interleaved.as_chunks::<2>();
        let format = Sample::F32(ffmpeg::format::sample::Type::Planar);
        let mut block = Audio::new(format, samples.len(), ChannelLayout::STEREO);
        block.set_rate(RENDER_SAMPLE_RATE);
        for channel in [0, 1] {
            let plane = block.plane_mut::<f32>(channel);
            plane.iter_mut().zip(samples).for_each(|(to, from)| *to = from[channel]);
        }
        block.set_pts(Some(self.samples as i64));
        self.samples += samples.len() as u64;
        self.sounds.send_frame(&block)?;
        self.drain_sounds()
    }

    fn drain_sounds(&mut self) -> Result<(), Error> {
        let mut packet = Packet::empty();
        while self.sounds.receive_packet(&mut packet).is_ok() {
            write_packet(&mut self.output, AUDIO, Rational(1, AUDIO_RATE), &mut packet)?;
        }
        Ok(())
    }
}

impl RenderSink for SequenceEncoder {
    fn picture(&mut self, frames: u64, rgb: &[u8]) -> ports::Result<()> {
        let (found, expected) = (self.frames.saturating_add(frames), self.format.frames);
        if found > expected {
            return Err(Error::WrongLength { found, expected }.into());
        }
        let encoded = self.encode_picture(frames, rgb);
        Ok(self.checked(encoded)?)
    }

    fn samples(&mut self, samples: &[f32]) -> ports::Result<()> {
        let encoded = self.encode_samples(samples);
        Ok(self.checked(encoded)?)
    }
}

/// Returns the duration of a frame in seconds, as FFmpeg's fraction.
fn frame_base(format: &RenderFormat) -> Result<Rational, Error> {
    let part = |part: u32| i32::try_from(part).map_err(|_| Error::FrameRate(format.rate));
    Ok(Rational(part(format.rate.denominator())?, part(format.rate.numerator())?))
}

fn open_pictures(
    threads: usize,
    format: &RenderFormat,
    frame_base: Rational,
    output: &Output,
) -> Result<encoder::video::Encoder, Error> {
    let (codec, context) = encoders::find(encoders::H264, output, Error::NoSequenceEncoder)?;
    let mut encoder = context.encoder().video()?;
    encoder.set_width(format.width);
    encoder.set_height(format.height);
    encoder.set_format(Pixel::YUV420P);
    encoder.set_time_base(frame_base);
    encoder.set_frame_rate(Some(frame_base.invert()));
    encoder.set_aspect_ratio(Rational(1, 1));
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: the encoder is not yet open, and these are plain fields.
    unsafe {
        let to = &mut *encoder.as_mut_ptr();
        to.color_primaries = ffi::AVColorPrimaries::AVCOL_PRI_BT709;
        to.color_trc = ffi::AVColorTransferCharacteristic::AVCOL_TRC_BT709;
        to.colorspace = ffi::AVColorSpace::AVCOL_SPC_BT709;
        to.color_range = ffi::AVColorRange::AVCOL_RANGE_MPEG;
    }
    encoders::open_video(encoder, codec, threads)
}
