//! Adapters for `ports::decoder`.

#[cfg(feature = "ffmpeg")]
mod ffmpeg;
mod open;
mod recorded;
#[cfg(feature = "ffmpeg")]
mod worker;

#[cfg(feature = "ffmpeg")]
pub use ffmpeg::{FfmpegDecoder, FfmpegOptions};
pub use open::{Isolation, Settings, describe, open};
pub use recorded::{Fill, RecordedDecoder, Recording, Scene, ToneSpan};
#[cfg(feature = "ffmpeg")]
pub use worker::{WorkerDecoder, WorkerOptions, missing_protection, work};

/// Reports that this build lacks a decoder.
#[cfg(not(feature = "ffmpeg"))]
pub fn work(_: Option<std::ffi::OsString>) -> std::process::ExitCode {
    eprintln!("shotlog: decoding was compiled out; build with --features ffmpeg");
    std::process::ExitCode::FAILURE
}
