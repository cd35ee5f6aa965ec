//! What `[decoder]` says of reading files, and the adapter that reads them.

use std::sync::Arc;
use std::time::Duration;

use ports::decoder::VideoDecoder;
use serde::{Deserialize, Serialize};

use crate::OpenError;

/// Decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Threads per file; 0 is as many as the processor has use for.
    pub threads: usize,
    /// Largest picture, width × height.
    pub max_pixels: u64,
    /// Streams a file may have.
    pub max_streams: u32,
    /// Longest wait for a file to open, seconds.
    pub open_timeout: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threads: 0, max_pixels: 8192 * 4608, max_streams: 64, open_timeout: 15 }
    }
}

/// Opens the decoder of media that lasts at most `max_duration`.
#[cfg(feature = "ffmpeg")]
pub fn open(
    section: &Settings,
    max_duration: Duration,
) -> Result<Arc<dyn VideoDecoder>, OpenError> {
    use super::{FfmpegDecoder, FfmpegOptions};

    let options = FfmpegOptions { max_duration: max_duration.as_secs_f64(), ..section.into() };
    Ok(Arc::new(FfmpegDecoder::new(options)))
}

/// Says that this build decodes nothing.
#[cfg(not(feature = "ffmpeg"))]
pub fn open(_: &Settings, _max_duration: Duration) -> Result<Arc<dyn VideoDecoder>, OpenError> {
    Err(OpenError::compiled_out("decoding", "ffmpeg"))
}
