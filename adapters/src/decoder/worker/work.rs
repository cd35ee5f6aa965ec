//! The worker side: runs one job on one open file, in a process that can access nothing else.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;

use ports::decoder::{
    AudioBlock, Clip, ClipRequest, Frame, RenderFormat, ScanFrame, ScanOptions, ScanSink,
};
use ports::{ErrorKind, PortError, Result};

use super::wire::{
    self, PictureHead, WorkerJob, WorkerRequest, WorkerResult, protocol_violation, send,
};
use super::{FRAMES_AT_ONCE, sandbox};
use crate::decoder::ffmpeg::{CaptionPainter, FfmpegDecoder, RenderSink};

/// Size of the buffer for the input of the encoder, in bytes.
const INPUT: usize = 256 << 10;

/// Runs the job in `request` on the file at standard input, and writes the results to standard
/// output. This is the implementation of `shotlog decode`. The caller must not have started a
/// thread or opened a file.
pub fn work(request: Option<OsString>) -> ExitCode {
    sandbox::close_descriptors();
    let request = request.and_then(|text| text.into_string().ok());
    let request: Option<WorkerRequest> = request.and_then(|text| serde_json::from_str(&text).ok());
    let (Some(request), Ok((file, mut out))) = (request, standard_files()) else {
        eprintln!("shotlog: `decode` is what the service starts for itself; it has no other use");
        return ExitCode::FAILURE;
    };
    let outcome = sandboxed_job(request, &Arc::new(file), &mut out);
    let outcome = outcome.unwrap_or_else(|error| WorkerResult::failed(&error));
    let sent = serde_json::to_vec(&outcome)
        .map_err(io::Error::from)
        .and_then(|json| send(&mut &*out.file, wire::OUTCOME, &json, &[]));
    if sent.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn standard_files() -> io::Result<(File, Output)> {
    let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Ok((file, Output { file: Arc::new(out), message: Vec::new() }))
}

/// Closes the sandbox and runs the job. Reads only the font of captions before.
fn sandboxed_job(
    request: WorkerRequest,
    file: &Arc<File>,
    out: &mut Output,
) -> Result<WorkerResult> {
    let decoder = FfmpegDecoder::new(request.ffmpeg.clone());
    let captions = match &request.job {
        WorkerJob::Part(part) => decoder.caption_painter(part),
        _ => Ok(None),
    };
    sandbox::close(&request).map_err(|why| {
        let message = format!("the decode process could not be sandboxed: {why}");
        PortError::new(ErrorKind::Other, message)
    })?;
    do_job(&decoder, request.job, captions?, file, out)
}

fn do_job(
    decoder: &FfmpegDecoder,
    job: WorkerJob,
    captions: Option<CaptionPainter>,
    file: &Arc<File>,
    out: &mut Output,
) -> Result<WorkerResult> {
    Ok(match job {
        WorkerJob::Probe => WorkerResult::MediaInfo(Box::new(decoder.probe_file(file)?.into())),
        WorkerJob::Scan { width, height, exact, audio_track } => {
            let options = ScanOptions { width, height, exact, audio_track };
            let summary = decoder.scan_file(file, &options, out)?;
            WorkerResult::Summary(summary.into())
        }
        WorkerJob::Sound { audio_track } => {
            decoder.decode_audio_file(file, audio_track, out)?;
            WorkerResult::Sound
        }
        WorkerJob::Frames { mut stills, method } => {
            stills.truncate(FRAMES_AT_ONCE);
            let method = decoder.extract_frames(file, &stills, method, &mut |index, frame| {
                out.still(index as u32, frame)
            })?;
            WorkerResult::Frames(method)
        }
        WorkerJob::Clip { start, end, exact, max_bytes, audio_track } => {
            let cut = ClipRequest { start, end, exact, max_bytes, audio_track };
            let Clip { start, copied, video } = decoder.write_clip(file, &cut, out.writer())?;
            WorkerResult::Clip { start, copied, video }
        }
        WorkerJob::Part(request) => {
            decoder.decode_part(file, &request, captions, out)?;
            WorkerResult::Part
        }
        WorkerJob::Encode(format) => {
            encode(decoder, &format, BufReader::with_capacity(INPUT, &**file), out)?;
            WorkerResult::Encoded
        }
    })
}

/// Encodes the sequence that `input` contains.
fn encode(
    decoder: &FfmpegDecoder,
    format: &RenderFormat,
    mut input: impl Read,
    out: &Output,
) -> Result<()> {
    let mut encoder = decoder.open_encoder(format, out.writer())?;
    let pixels = u64::from(format.width) * u64::from(format.height);
    let longest = usize::try_from(pixels * 3 + 8).unwrap_or(usize::MAX).max(wire::MAX_JSON);
    let mut body = Vec::new();
    loop {
        let kind = match wire::receive(&mut input, longest, &mut body) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            kind => kind?,
        };
        match kind {
            wire::RENDERED_PICTURE => {
                let (frames, rgb) = wire::read_picture(&body).ok_or_else(protocol_violation)?;
                encoder.picture(frames, rgb)?;
            }
            wire::RENDERED_SOUND => {
                encoder.samples(&wire::read_sound(&body).ok_or_else(protocol_violation)?)?;
            }
            _ => return Err(protocol_violation()),
        }
    }
    encoder.finish()
}

/// Standard output. It is written message by message.
struct Output {
    file: Arc<File>,
    message: Vec<u8>,
}

impl Output {
    fn send(&mut self, kind: u8, head: &[u8], body: &[u8]) -> Result<()> {
        // Sends each message in one write; a scan frame fits into the pipe.
        self.message.clear();
        send(&mut self.message, kind, head, body)?;
        Ok((&*self.file).write_all(&self.message)?)
    }

    fn writer(&self) -> Writer {
        Writer { file: self.file.clone(), at: 0, end: 0 }
    }

    fn still(&mut self, index: u32, frame: &Frame) -> Result<()> {
        let Frame { time, image } = frame;
        let head = PictureHead { index, width: image.width, height: image.height, time: *time };
        self.send(wire::PICTURE, &head.to_bytes(), &image.rgb)
    }
}

/// A writer for a clip. It sends each write to the parent, which performs the write.
struct Writer {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(wire::MAX_CHUNK)];
        send(&mut &*self.file, wire::BYTES, &self.at.to_le_bytes(), bytes)?;
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Writer {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl ScanSink for Output {
    fn frame(&mut self, frame: ScanFrame<'_>) -> Result<()> {
        let ScanFrame { time, rgb, skipped } = frame;
        let head = [&time.to_le_bytes()[..], &skipped.to_le_bytes()].concat();
        self.send(wire::FRAME, &head, rgb)
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> Result<()> {
        let AudioBlock { time, samples, channels } = block;
        let kind = if channels.is_some() { wire::STEREO } else { wire::SOUND };
        let all = [samples].into_iter().chain(channels.into_iter().flatten()).flatten();
        let bytes: Vec<u8> = all.flat_map(|sample| sample.to_le_bytes()).collect();
        self.send(kind, &time.to_le_bytes(), &bytes)
    }
}

impl RenderSink for Output {
    fn picture(&mut self, frames: u64, rgb: &[u8]) -> Result<()> {
        self.message.clear();
        wire::send_picture(&mut self.message, frames, rgb)?;
        Ok((&*self.file).write_all(&self.message)?)
    }

    fn samples(&mut self, samples: &[f32]) -> Result<()> {
        self.message.clear();
        wire::send_sound(&mut self.message, samples)?;
        Ok((&*self.file).write_all(&self.message)?)
    }
}
