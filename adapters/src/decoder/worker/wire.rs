//! The protocol between parent and worker. The parent passes a request on the command line; the
//! worker answers with a stream of messages. A message consists of a byte for its kind, the length
//! of its body as a 32-bit little-endian number, and the body.

use std::io::{self, Read, Write};

use ports::decoder::{AudioInfo, MediaInfo, RenderFormat, ScanSummary, Still, VideoInfo};
use ports::{ErrorKind, FrameRate, PortError};
use serde::{Deserialize, Serialize};

use crate::decoder::ffmpeg::{FfmpegOptions, PartRequest, SeekMethod};

/// A frame of a scan. The body is the frame's time, the number of frames skipped before it (32-bit
/// little-endian), and its pixels.
pub(super) const FRAME: u8 = 1;
/// Maximum number of frames skipped in a row. It exceeds the number of frames that any codec
/// reorders.
pub(super) const MAX_SKIPPED: u32 = 32;
/// An audio block. The body is the block's time, followed by its samples as 32-bit floats.
pub(super) const SOUND: u8 = 2;
/// A full-size frame. The body is a [`PictureHead`], followed by the pixels.
pub(super) const PICTURE: u8 = 3;
/// The last message. The body is a [`WorkerResult`] as JSON.
pub(super) const OUTCOME: u8 = 4;
/// A piece of a clip. The body is the piece's offset (64-bit little-endian), followed by its bytes.
pub(super) const BYTES: u8 = 5;
/// An audio block whose channels differ. The body is the block's time, followed by the samples of
/// the mix, the left channel and the right channel as 32-bit floats. All three have the same number
/// of samples.
pub(super) const STEREO: u8 = 6;
/// A picture of a sequence. The body is the number of frames for which it is shown (64-bit
/// little-endian), followed by its pixels. A worker that decodes a part sends such messages, and a
/// worker that encodes a sequence receives them.
pub(super) const RENDERED_PICTURE: u8 = 7;
/// Samples of a sequence, sent like pictures. The body is the samples as 32-bit floats, with the left
/// and right channels interleaved.
pub(super) const RENDERED_SOUND: u8 = 8;

/// Maximum number of clip bytes per message.
pub(super) const MAX_CHUNK: usize = 128 << 10;

/// Maximum length of a JSON body, in bytes. A seek method lists up to two thousand packets.
pub(super) const MAX_JSON: usize = 256 << 10;

/// A worker's job and its limits.
#[derive(Serialize, Deserialize)]
pub(super) struct WorkerRequest {
    pub(super) ffmpeg: FfmpegOptions,
    pub(super) memory: u64,
    pub(super) processor_seconds: u64,
    /// The worker exits when this process dies.
    pub(super) parent: u32,
    pub(super) job: WorkerJob,
}

#[derive(Serialize, Deserialize)]
pub(super) enum WorkerJob {
    Probe,
    Scan {
        width: u32,
        height: u32,
        exact: bool,
        audio_track: Option<u32>,
    },
    Sound {
        audio_track: Option<u32>,
    },
    Frames {
        stills: Vec<Still>,
        method: Option<SeekMethod>,
    },
    Clip {
        start: f64,
        end: f64,
        exact: bool,
        max_bytes: u64,
        audio_track: Option<u32>,
    },
    /// Decodes a part of a sequence.
    Part(PartRequest),
    /// Encodes a sequence. Its pictures and samples come from standard input instead of a file.
    Encode(RenderFormat),
}

impl WorkerJob {
    /// The amount of work that is known beforehand: seconds of media, or number of frames. A scan
    /// gets its time as media comes out.
    pub(super) fn content(&self) -> f64 {
        match self {
            Self::Frames { stills, .. } => stills.len() as f64,
            Self::Clip { start, end, .. } => (end - start).max(0.0),
            Self::Part(part) => part.seconds(),
            Self::Encode(format) => format.seconds(),
            Self::Probe | Self::Scan { .. } | Self::Sound { .. } => 0.0,
        }
    }
}

/// The result of a job.
#[derive(Serialize, Deserialize)]
pub(super) enum WorkerResult {
    MediaInfo(Box<WireMediaInfo>),
    Summary(WireSummary),
    Sound,
    Frames(SeekMethod),
    Clip { start: f64, copied: bool, video: bool },
    Part,
    Encoded,
    Failed { kind: FailureKind, message: String },
}

/// The kinds of error that a file can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FailureKind {
    Invalid,
    TooLarge,
    Timeout,
    Unavailable,
    Other,
}

impl WorkerResult {
    pub(super) fn failed(error: &PortError) -> Self {
        let kind = match error.kind() {
            ErrorKind::Invalid => FailureKind::Invalid,
            ErrorKind::TooLarge => FailureKind::TooLarge,
            ErrorKind::Timeout => FailureKind::Timeout,
            ErrorKind::Unavailable => FailureKind::Unavailable,
            _ => FailureKind::Other,
        };
        Self::Failed { kind, message: error.to_string() }
    }
}

impl From<FailureKind> for ErrorKind {
    fn from(failure: FailureKind) -> Self {
        match failure {
            FailureKind::Invalid => Self::Invalid,
            FailureKind::TooLarge => Self::TooLarge,
            FailureKind::Timeout => Self::Timeout,
            FailureKind::Unavailable => Self::Unavailable,
            FailureKind::Other => Self::Other,
        }
    }
}

/// Serializable form of [`MediaInfo`].
#[derive(Serialize, Deserialize)]
pub(super) struct WireMediaInfo {
    container: String,
    extension: String,
    content_type: String,
    duration: Option<f64>,
    video: Option<(String, u32, u32, Option<FrameRate>)>,
    audio: Option<AudioInfo>,
    undecodable_video: Option<String>,
    timecode: Option<String>,
    reel_name: Option<String>,
    recorded_at: Option<String>,
}

impl From<MediaInfo> for WireMediaInfo {
    fn from(info: MediaInfo) -> Self {
        let video = info.video.map(|v| (v.codec, v.width, v.height, v.frame_rate));
        Self {
            container: info.container,
            extension: info.extension,
            content_type: info.content_type,
            duration: info.duration,
            video,
            audio: info.audio,
            undecodable_video: info.undecodable_video,
            timecode: info.timecode,
            reel_name: info.reel_name,
            recorded_at: info.recorded_at,
        }
    }
}

impl From<WireMediaInfo> for MediaInfo {
    fn from(info: WireMediaInfo) -> Self {
        let video = info.video.map(|(codec, width, height, frame_rate)| VideoInfo {
            codec,
            width,
            height,
            frame_rate,
        });
        Self {
            container: info.container,
            extension: info.extension,
            content_type: info.content_type,
            duration: info.duration,
            video,
            audio: info.audio,
            undecodable_video: info.undecodable_video,
            timecode: info.timecode,
            reel_name: info.reel_name,
            recorded_at: info.recorded_at,
        }
    }
}

/// Serializable form of [`ScanSummary`], without the numbers of frames and samples, which the
/// receiver counts itself.
#[derive(Serialize, Deserialize)]
pub(super) struct WireSummary {
    pub(super) end: f64,
    pub(super) damaged: u64,
}

impl From<ScanSummary> for WireSummary {
    fn from(summary: ScanSummary) -> Self {
        Self { end: summary.end, damaged: summary.damaged }
    }
}

/// Header of a full-size frame. The pixels follow the header.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PictureHead {
    /// Index of the time for which the frame was requested.
    pub(super) index: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) time: f64,
}

impl PictureHead {
    pub(super) const BYTES: usize = 20;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.index.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.width.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.height.to_le_bytes());
        bytes[12..].copy_from_slice(&self.time.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let mut time = [0; 8];
        time.copy_from_slice(&bytes[12..]);
        Self {
            index: number(0),
            width: number(4),
            height: number(8),
            time: f64::from_le_bytes(time),
        }
    }
}

/// Writes one message whose body is `head` followed by `body`.
pub(super) fn send(out: &mut impl Write, kind: u8, head: &[u8], body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(head.len() + body.len()).map_err(io::Error::other)?;
    out.write_all(&[kind])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(head)?;
    out.write_all(body)
}

/// Sends a picture of a sequence that is shown for `frames` frames.
pub(super) fn send_picture(out: &mut impl Write, frames: u64, rgb: &[u8]) -> io::Result<()> {
    send(out, RENDERED_PICTURE, &frames.to_le_bytes(), rgb)
}

/// Sends samples of a sequence.
pub(super) fn send_sound(out: &mut impl Write, samples: &[f32]) -> io::Result<()> {
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    send(out, RENDERED_SOUND, &[], &bytes)
}

/// Reads the body of a picture of a sequence.
pub(super) fn read_picture(body: &[u8]) -> Option<(u64, &[u8])> {
    let (frames, rgb) = body.split_first_chunk()?;
    Some((u64::from_le_bytes(*frames), rgb))
}

/// Reads the body of samples of a sequence.
pub(super) fn read_sound(body: &[u8]) -> Option<Vec<f32>> {
    let (samples, rest) = body.as_chunks::<4>();
    let is_whole = rest.is_empty() && samples.len().is_multiple_of(2);
    is_whole.then(|| samples.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

/// Reads one message into `body` and returns its kind. Fails if the body is longer than `longest`
/// bytes.
pub(super) fn receive(from: &mut impl Read, longest: usize, body: &mut Vec<u8>) -> io::Result<u8> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if length > longest {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is too long"));
    }
    body.resize(length, 0);
    from.read_exact(body)?;
    Ok(head[0])
}

/// Returns the error for a protocol violation. The error blames the file, which may have taken over
/// the worker.
pub(super) fn protocol_violation() -> PortError {
    PortError::new(
        ErrorKind::Invalid,
        "the file made the decoder write an invalid message: it is damaged or made to do harm",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_a_clip_is_its_length() {
        let clip = |start: f64, end: f64| {
            let job = WorkerJob::Clip { start, end, exact: true, max_bytes: 1, audio_track: None };
            job.content()
        };
        assert_eq!((clip(10_000.0, 10_001.0), clip(0.0, 30.0), clip(2.0, 1.0)), (1.0, 30.0, 0.0));
        let still = Still { time: 9_000.0, max_side: 64 };
        let frames = WorkerJob::Frames { stills: vec![still; 3], method: None };
        assert_eq!((frames.content(), WorkerJob::Probe.content()), (3.0, 0.0));
    }

    #[test]
    fn messages_round_trip_within_the_length_limit() {
        let head = PictureHead { index: 7, width: 640, height: 360, time: 1.25 };
        let mut stream = Vec::new();
        send(&mut stream, PICTURE, &head.to_bytes(), b"pixels").expect("room");
        let mut body = Vec::new();
        let kind = receive(&mut stream.as_slice(), 100, &mut body).expect("a message");
        let (bytes, pixels) = body.split_first_chunk().expect("a head");
        assert_eq!((kind, PictureHead::from_bytes(bytes), pixels), (PICTURE, head, &b"pixels"[..]));
        let error = receive(&mut stream.as_slice(), 25, &mut body).expect_err("too long");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
