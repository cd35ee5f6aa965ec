//! Errors from reading a file, and their mapping to the port's errors.

use ffmpeg_next as ffmpeg;
use ports::{ErrorKind, FrameRate, PortError};

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("cannot read the file: {0}")]
    Io(#[from] std::io::Error),
    #[error("the file is empty: a media file is needed")]
    Empty,
    #[error("not a regular file: a media file is needed")]
    NotAFile,
    #[error(
        "the file is a picture ({0}), not a video; send a file that plays, such as MP4, WebM or MKV"
    )]
    Picture(&'static str),
    #[error(
        "the file is a playlist (HLS), which names other files and holds no video; send the video as \
         one file, which `ffmpeg -i ADDRESS -c copy video.mp4` makes of the playlist's address"
    )]
    Playlist,
    #[error("the file is compressed with gzip; unpack it (gunzip) and send the video itself")]
    Gzip,
    #[error("not a media file: it begins like no known format of video or sound")]
    Unknown,
    #[error("not a media file that can be decoded: its headers are damaged")]
    NotMedia(#[source] ffmpeg::Error),
    #[error(
        "the container is '{found}', which is not accepted; accepted (decoder.containers): {accepted}"
    )]
    Container { found: String, accepted: String },
    #[error(
        "its {what} are coded as '{found}', which is not accepted; accepted (decoder.codecs): {accepted}"
    )]
    Codec { what: &'static str, found: String, accepted: String },
    #[error("the sound has {0} samples per second: 4,000 to 384,000 are accepted")]
    SampleRate(i32),
    #[error(
        "the file takes more memory to decode, or has more streams, than it may (decoder.memory, \
         decoder.max_streams)"
    )]
    Memory,
    #[error("the file holds neither pictures nor sound that can be decoded")]
    NoStreams,
    #[error("nothing in the file can be decoded: {0}")]
    LeftOut(String),
    #[error(
        "the file has no sound track {track} that can be decoded; it has {tracks}, counted from 0"
    )]
    NoTrack { track: u32, tracks: usize },
    #[error("nothing in the file could be decoded: it holds no intact picture or sound")]
    NothingDecoded,
    #[error("the pictures are {width}×{height} pixels: at most {max} pixels are accepted")]
    TooManyPixels { width: u32, height: u32, max: u64 },
    #[error("the media runs past {0} seconds, which is the longest accepted")]
    TooLong(f64),
    #[error("decoding took longer than the {0:.0} seconds allowed for this file")]
    Deadline(f64),
    #[error(
        "the FFmpeg libraries of this machine come without '{0}', which an exact cut takes; ask for one \
         at key frames (exact=false)"
    )]
    NoEncoder(&'static str),
    #[error(
        "the FFmpeg libraries of this machine come without '{0}', which joining clips to a video takes"
    )]
    NoSequenceEncoder(&'static str),
    #[error(
        "the FFmpeg libraries of this machine come without the filter '{0}', which captions in pictures \
         take; get the video without them, and the captions as a file (format=srt)"
    )]
    NoCaptionFilter(&'static str),
    #[error(
        "the font '{0}' (decoder.caption_font), which captions in pictures take, cannot be read; a \
         TrueType or OpenType file is needed, such as DejaVuSans.ttf of the package fonts-dejavu-core"
    )]
    CaptionFont(String),
    #[error("the parts have {found} frames or more, and not {expected}")]
    WrongLength { found: u64, expected: u64 },
    #[error("a video cannot have {0} frames per second; 25/1 or 30000/1001 is usual")]
    FrameRate(FrameRate),
    #[error("the clip has more than {0} bytes, the most that is cut; ask for a shorter one")]
    TooManyBytes(u64),
    #[error("the decoder failed: {0}")]
    Decoder(#[from] ffmpeg::Error),
    #[error("{0}")]
    Sink(PortError),
}

impl From<Error> for PortError {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Sink(_) => ErrorKind::Other,
            Error::Io(e) if e.kind() == std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            Error::Io(e) if e.kind() == std::io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            Error::Io(_) | Error::Decoder(_) => ErrorKind::Other,
            Error::Empty
            | Error::NotAFile
            | Error::Memory
            | Error::Container { .. }
            | Error::Codec { .. }
            | Error::SampleRate(_)
            | Error::Picture(_)
            | Error::Playlist
            | Error::Gzip
            | Error::Unknown
            | Error::NotMedia(_)
            | Error::NoStreams
            | Error::LeftOut(_)
            | Error::WrongLength { .. }
            | Error::FrameRate(_)
            | Error::NoTrack { .. }
            | Error::NothingDecoded => ErrorKind::Invalid,
            Error::TooManyPixels { .. } | Error::TooLong(_) | Error::TooManyBytes(_) => {
                ErrorKind::TooLarge
            }
            Error::Deadline(_) => ErrorKind::Timeout,
            Error::NoEncoder(_)
            | Error::NoSequenceEncoder(_)
            | Error::NoCaptionFilter(_)
            | Error::CaptionFont(_) => ErrorKind::Unavailable,
        };
        match error {
            Error::Sink(e) => e,
            other => PortError::caused_by(kind, other.to_string(), other),
        }
    }
}
