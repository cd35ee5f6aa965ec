//! Adapters of `ports::decoder`.

#[cfg(feature = "ffmpeg")]
mod ffmpeg;
mod recorded;

#[cfg(feature = "ffmpeg")]
pub use ffmpeg::{FfmpegDecoder, FfmpegOptions};
pub use recorded::{Fill, RecordedDecoder, Recording, Scene, Sound};
