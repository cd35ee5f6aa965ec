//! Decodes a part of a file to the pictures and samples of a sequence.

use std::fs::File;
use std::sync::Arc;

use ffmpeg::Packet;
use ffmpeg::codec::decoder::Opened;
use ffmpeg::frame::{Audio, Video};
use ffmpeg_next as ffmpeg;

use super::{PartRequest, RenderSink};
use crate::decoder::ffmpeg::captions::CaptionPainter;
use crate::decoder::ffmpeg::clip::{ClipSpan, each_packet, key_frame_before, read_from};
use crate::decoder::ffmpeg::cut_audio::AudioCutter;
use crate::decoder::ffmpeg::input::Input;
use crate::decoder::ffmpeg::order::PresentationOrder;
use crate::decoder::ffmpeg::picture::{Converter, display_size};
use crate::decoder::ffmpeg::timeline::StreamKind;
use crate::decoder::ffmpeg::{Error, FfmpegOptions};

/// How far a picture may begin after a frame of the sequence and still be shown in it, in frames of
/// the file or of the sequence, whichever are shorter. It is less than half a frame, so that
/// timestamps that are rounded never change which picture is shown if one rate is a multiple of the
/// other.
const TOLERANCE: f64 = 0.4;

/// Maximum number of packets to read to find the first video packet.
const FIRST_PACKETS: usize = 64;

/// Number of silent samples that are passed on at once, per channel.
const SILENCE: u64 = 4800;

/// Decodes a part of `file`, draws its captions, and passes exactly its number of frames and samples
/// to `sink`.
pub(in crate::decoder::ffmpeg) fn decode_part(
    file: &Arc<File>,
    options: &FfmpegOptions,
    request: &PartRequest,
    captions: Option<CaptionPainter>,
    sink: &mut dyn RenderSink,
) -> Result<(), Error> {
    let allowed = options.timeout + options.timeout_per_second.mul_f64(request.seconds());
    let open = || {
        let input = Input::open(file, options, request.audio_track)?;
        input.deadline.set(allowed);
        Ok::<_, Error>(input)
    };
    let mut input = open()?;
    let mut pictures = match input.streams.picture {
        Some(stream) => Some(PictureCutter::open(&input, stream, options, request)?),
        None => None,
    };
    let part = ClipSpan { start: request.start, end: request.start + request.seconds() };
    let mut sounds = match input.streams.sound {
        Some(stream) => Some(AudioCutter::open(&input, stream, options, part, request.samples)?),
        None => None,
    };
    if let Some(pictures) = &mut pictures
        && let Some(key_frame) = key_frame_before(open, file.metadata()?.len(), request.start)?
    {
        input.prime_decoder(&mut pictures.decoder, FIRST_PACKETS)?;
        pictures.decoder.flush();
        input.seek(read_from(key_frame))?;
    }
    let mut writer = PartWriter::new(request, sink, pictures.is_some(), sounds.is_some());
    writer.captions = captions;
    each_packet(&mut input, |input, kind, packet| {
        match (kind, &mut pictures, &mut sounds) {
            (StreamKind::Picture, Some(pictures), _) => {
                pictures.order.send(packet);
                pictures.feed(Some(packet), input, &mut writer)?;
            }
            (StreamKind::Sound, _, Some(sounds)) => {
                sounds.feed(Some(packet), input, &mut |frame| writer.sound(frame))?;
            }
            _ => {}
        }
        let over =
            pictures.as_ref().is_none_or(|p| p.over) && sounds.as_ref().is_none_or(|s| s.is_over());
        Ok(!over)
    })?;
    if let Some(pictures) = &mut pictures {
        pictures.feed(None, &input, &mut writer)?;
        pictures.finish(&mut writer)?;
    }
    if let Some(sounds) = &mut sounds {
        sounds.feed(None, &input, &mut |frame| writer.sound(frame))?;
        sounds.finish(&mut |frame| writer.sound(frame))?;
    }
    writer.finish()
}

/// Selects the picture of each frame.
struct PictureCutter {
    decoder: Opened,
    order: PresentationOrder,
    converter: Converter,
    pixel_aspect: f64,
    stream: usize,
    request: PartRequest,
    /// How long after the beginning of a frame its picture may begin, in seconds.
    tolerance: f64,
    /// The latest picture and its start time.
    latest: Option<(f64, Video)>,
    rgb: Vec<u8>,
    canvas: Vec<u8>,
    over: bool,
}

impl PictureCutter {
    fn open(
        input: &Input,
        stream: usize,
        options: &FfmpegOptions,
        request: &PartRequest,
    ) -> Result<Self, Error> {
        let frame_length = request.rate.seconds(1);
        let source_length = input.streams.frame_length().unwrap_or(frame_length);
        Ok(Self {
            decoder: input.streams.decoder(stream, options.threads, options)?,
            order: PresentationOrder::default(),
            converter: Converter::fine(input.streams.orientation()),
            pixel_aspect: input.streams.pixel_aspect(),
            stream,
            request: request.clone(),
            tolerance: TOLERANCE * frame_length.min(source_length),
            latest: None,
            rgb: Vec::new(),
            canvas: Vec::new(),
            over: false,
        })
    }

    fn feed(
        &mut self,
        packet: Option<&Packet>,
        input: &Input,
        writer: &mut PartWriter<'_>,
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
            let after = self.latest.as_ref().map_or(0.0, |(last, _)| last + step);
            let stamp = self.order.time_of(&frame);
            let time = stamp.map_or(after, |stamp| input.seconds(self.stream, stamp));
            let due = self.frames_before(time);
            self.write_latest(due, writer)?;
            self.over = due == self.request.frames;
            self.latest = Some((time, std::mem::replace(&mut frame, Video::empty())));
        }
        Ok(())
    }

    /// Shows the last picture until the end of the part.
    fn finish(&mut self, writer: &mut PartWriter<'_>) -> Result<(), Error> {
        self.write_latest(self.request.frames, writer)
    }

    /// Returns the number of frames of the part that show pictures before the one that begins at
    /// `time`.
    fn frames_before(&self, time: f64) -> u64 {
        let frames = (time - self.request.start - self.tolerance) * self.request.rate.per_second();
        (frames.ceil().max(0.0) as u64).min(self.request.frames)
    }

    /// Writes the latest picture until the part has `due` frames.
    fn write_latest(&mut self, due: u64, writer: &mut PartWriter<'_>) -> Result<(), Error> {
        let Some((_, picture)) = &self.latest else { return Ok(()) };
        let frames = due.saturating_sub(writer.frames);
        if frames == 0 {
            return Ok(());
        }
        let shown = display_size(picture.width(), picture.height(), self.pixel_aspect);
        let shown = self.converter.orientation().size(shown);
        let size = fitted(shown, self.request.size);
        self.converter.convert(picture, size, &mut self.rgb)?;
        if size == self.request.size {
            return writer.picture(frames, &self.rgb);
        }
        pad(&self.rgb, size, self.request.size, &mut self.canvas);
        writer.picture(frames, &self.canvas)
    }
}

/// Returns the largest size with the aspect ratio of `shown` that fits into `room`.
fn fitted(shown: (u32, u32), room: (u32, u32)) -> (u32, u32) {
    let (width, height) = (f64::from(shown.0.max(1)), f64::from(shown.1.max(1)));
    let scale = (f64::from(room.0) / width).min(f64::from(room.1) / height);
    let side = |length: f64, max: u32| ((length * scale).round() as u32).clamp(1, max.max(1));
    (side(width, room.0), side(height, room.1))
}

/// Centres an RGB picture on a black one.
fn pad(rgb: &[u8], size: (u32, u32), room: (u32, u32), canvas: &mut Vec<u8>) {
    canvas.clear();
    canvas.resize(room.0 as usize * room.1 as usize * 3, 0);
    let (left, top) = (((room.0 - size.0) / 2) as usize, ((room.1 - size.1) / 2) as usize);
    let rows = canvas.chunks_exact_mut(room.0 as usize * 3).skip(top);
    for (row, from) in rows.zip(rgb.chunks_exact(size.0 as usize * 3)) {
        row[left * 3..left * 3 + from.len()].copy_from_slice(from);
    }
}

/// Passes pictures and samples on, and adds those that the file lacks: black pictures along with the
/// sound of a file without video, and silence along with the pictures of a file without audio.
struct PartWriter<'a> {
    request: &'a PartRequest,
    sink: &'a mut dyn RenderSink,
    captions: Option<CaptionPainter>,
    has_picture: bool,
    has_sound: bool,
    /// Number of frames passed on.
    frames: u64,
    /// Number of samples passed on, per channel.
    samples: u64,
    interleaved: Vec<f32>,
}

impl<'a> PartWriter<'a> {
    fn new(
        request: &'a PartRequest,
        sink: &'a mut dyn RenderSink,
        has_picture: bool,
        has_sound: bool,
    ) -> Self {
        Self {
            request,
            sink,
            captions: None,
            has_picture,
            has_sound,
            frames: 0,
            samples: 0,
            interleaved: Vec::new(),
        }
    }

    fn picture(&mut self, frames: u64, rgb: &[u8]) -> Result<(), Error> {
        let frames = frames.min(self.request.frames - self.frames);
        if frames == 0 {
            return Ok(());
        }
        let end = self.frames + frames;
        while self.frames < end {
            self.same_captions(end, rgb)?;
        }
        if !self.has_sound {
            let due = proportion(self.frames, self.request.frames, self.request.samples);
            self.silence(due)?;
        }
        Ok(())
    }

    /// Passes on a picture until the captions change, but at most to the frame `end`.
    fn same_captions(&mut self, end: u64, rgb: &[u8]) -> Result<(), Error> {
        let (mut until, mut drawn) = (end, None);
        if let Some(captions) = &mut self.captions {
            until = captions.next_change(self.frames).map_or(end, |change| change.min(end));
            drawn = captions.draw(self.frames, rgb)?;
        }
        let rgb = drawn.as_deref().unwrap_or(rgb);
        self.sink.picture(until - self.frames, rgb).map_err(Error::Sink)?;
        self.frames = until;
        Ok(())
    }

    /// Passes on planar stereo samples.
    fn sound(&mut self, frame: &Audio) -> Result<(), Error> {
        let count = (frame.samples() as u64).min(self.request.samples - self.samples) as usize;
        if count == 0 || frame.planes() < 2 {
            return Ok(());
        }
        let (left, right) = (&frame.plane::<f32>(0)[..count], &frame.plane::<f32>(1)[..count]);
        self.interleaved.clear();
        self.interleaved.extend(left.iter().zip(right).flat_map(|(left, right)| [*left, *right]));
        self.sink.samples(&self.interleaved).map_err(Error::Sink)?;
        self.samples += count as u64;
        if !self.has_picture {
            let due = proportion(self.samples, self.request.samples, self.request.frames);
            self.black(due)?;
        }
        Ok(())
    }

    /// Fills up what the file lacks at its end.
    fn finish(&mut self) -> Result<(), Error> {
        self.black(self.request.frames)?;
        self.silence(self.request.samples)
    }

    /// Shows black until the part has `due` frames.
    fn black(&mut self, due: u64) -> Result<(), Error> {
        if due > self.frames {
            let black = vec![0; self.request.picture_bytes()];
            self.picture(due - self.frames, &black)?;
        }
        Ok(())
    }

    /// Adds silence until the part has `due` samples.
    fn silence(&mut self, due: u64) -> Result<(), Error> {
        while self.samples < due {
            let count = (due - self.samples).min(SILENCE);
            self.sink.samples(&vec![0.0; 2 * count as usize]).map_err(Error::Sink)?;
            self.samples += count;
        }
        Ok(())
    }
}

/// Returns the part of `whole` that `done` is of `total`.
fn proportion(done: u64, total: u64, whole: u64) -> u64 {
    let part = u128::from(done) * u128::from(whole) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_fit_and_are_centred() {
        assert_eq!(fitted((1920, 1080), (1280, 720)), (1280, 720));
        assert_eq!(fitted((768, 576), (1920, 1080)), (1440, 1080));
        assert_eq!(fitted((1080, 1920), (1920, 1080)), (608, 1080));
        assert_eq!(fitted((4000, 1), (64, 36)), (64, 1));
        let mut canvas = Vec::new();
        pad(&[9; 2 * 2 * 3], (2, 2), (4, 2), &mut canvas);
        let row = [0, 0, 0, 9, 9, 9, 9, 9, 9, 0, 0, 0];
        assert_eq!(canvas, [row, row].concat());
    }
}
