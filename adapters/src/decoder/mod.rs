//! Adapters of `ports::decoder`.

#[cfg(feature = "ffmpeg")]
mod ffmpeg;
mod open;
mod recorded;

#[cfg(feature = "ffmpeg")]
pub use ffmpeg::{FfmpegDecoder, FfmpegOptions};
pub use open::{Settings, open};
pub use recorded::{Fill, RecordedDecoder, Recording, Scene, Sound};
