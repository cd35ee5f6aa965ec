//! Renders a sequence: starts a worker for each part, one after the other, and passes the pictures and
//! samples that they decode to a worker that encodes them. Both keep what they read in memory only
//! until it is passed on.

use std::fs::File;
use std::io;
use std::process::{ChildStdin, Stdio};

use ports::Result;
use ports::decoder::{CancellationToken, RenderFormat, RenderParts};

use super::process::{Process, outcome};
use super::wire::{self, WorkerJob, WorkerResult, protocol_violation};
use super::{WorkerDecoder, open_media};
use crate::decoder::ffmpeg::{PartRequest, RenderSink};

/// Renders the parts to `out`.
pub(super) fn render(
    decoder: &WorkerDecoder,
    format: &RenderFormat,
    parts: &mut RenderParts<'_>,
    out: &File,
    cancel: &CancellationToken,
) -> Result<()> {
    let mut encoder = decoder.start_with(Stdio::piped(), WorkerJob::Encode(*format))?;
    encoder.cancel_with(cancel);
    encoder.wait_without_limit();
    let mut input = EncoderInput { pipe: encoder.take_input()?, broken: false };
    // The encoder blocks if nobody reads what it writes, so it is read on another thread.
    let (decoded, encoded) = std::thread::scope(|scope| {
        let encoding = scope.spawn(move || match encoder.write_file(out, format.max_bytes)? {
            WorkerResult::Encoded => Ok(()),
            _ => Err(protocol_violation()),
        });
        let decoded = decode_parts(decoder, format, parts, cancel, &mut input);
        let broken = input.broken;
        // The encoder finishes at the end of its input.
        drop(input);
        let encoded = encoding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (decoded.map_err(|error| (error, broken)), encoded)
    });
    match (decoded, encoded) {
        (Err((error, false)), _) => Err(error),
        // If the encoder has ended early, its error is the cause.
        (Err((error, true)), Ok(())) => Err(error),
        (_, encoded) => encoded,
    }
}

fn decode_parts(
    decoder: &WorkerDecoder,
    format: &RenderFormat,
    parts: &mut RenderParts<'_>,
    cancel: &CancellationToken,
    input: &mut EncoderInput,
) -> Result<()> {
    let mut first = 0_u64;
    for part in parts {
        let part = part?;
        let request = PartRequest::new(format, first, &part);
        let mut worker =
            decoder.start(open_media(&part.file)?, WorkerJob::Part(request.clone()))?;
        worker.cancel_with(cancel);
        receive_part(worker, &request, input)?;
        first = first.saturating_add(part.frames);
    }
    Ok(())
}

/// Receives a part, which must have exactly the requested numbers of frames and samples.
fn receive_part(
    mut worker: Process,
    request: &PartRequest,
    sink: &mut dyn RenderSink,
) -> Result<()> {
    let (mut frames, mut samples) = (request.frames, request.samples);
    let mut body = Vec::new();
    loop {
        match worker.next(&mut body)? {
            wire::RENDERED_PICTURE => {
                let (count, rgb) = wire::read_picture(&body).ok_or_else(protocol_violation)?;
                let is_whole = count > 0 && rgb.len() == request.picture_bytes();
                frames = frames
                    .checked_sub(count)
                    .filter(|_| is_whole)
                    .ok_or_else(protocol_violation)?;
                sink.picture(count, rgb)?;
            }
            wire::RENDERED_SOUND => {
                let sound = wire::read_sound(&body).ok_or_else(protocol_violation)?;
                let is_finite = sound.iter().all(|sample| sample.is_finite());
                let left = samples.checked_sub(sound.len() as u64 / 2).filter(|_| is_finite);
                samples = left.ok_or_else(protocol_violation)?;
                sink.samples(&sound)?;
            }
            wire::OUTCOME => match outcome(&body)? {
                WorkerResult::Part if frames == 0 && samples == 0 => return Ok(()),
                _ => return Err(protocol_violation()),
            },
            _ => return Err(protocol_violation()),
        }
    }
}

/// Standard input of the worker that encodes.
struct EncoderInput {
    pipe: ChildStdin,
    /// Whether a write has failed, because the worker has ended.
    broken: bool,
}

impl EncoderInput {
    fn check(&mut self, sent: io::Result<()>) -> Result<()> {
        self.broken |= sent.is_err();
        Ok(sent?)
    }
}

impl RenderSink for EncoderInput {
    fn picture(&mut self, frames: u64, rgb: &[u8]) -> Result<()> {
        let sent = wire::send_picture(&mut self.pipe, frames, rgb);
        self.check(sent)
    }

    fn samples(&mut self, samples: &[f32]) -> Result<()> {
        let sent = wire::send_sound(&mut self.pipe, samples);
        self.check(sent)
    }
}
