//! Renders a sequence of parts of files as one MP4. Each part is decoded to uncompressed pictures of the
//! sequence's size and to samples; one encoder encodes them all. So each part has exactly its number
//! of frames and samples, the audio is continuous across joins, and the priming of the audio encoder
//! occurs once, at the beginning. The pictures are RGB, because the files' colour matrices differ.

mod encode;
mod part;

use ports::decoder::{BurnedCaption, RenderFormat, RenderPart};
use ports::{FrameRate, Result};
use serde::{Deserialize, Serialize};

pub(in crate::decoder) use encode::SequenceEncoder;
pub(super) use part::decode_part;

/// A part of a file, with the form of its pictures and its length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::decoder) struct PartRequest {
    /// Start of the part, in seconds on the timeline of a scan.
    pub(in crate::decoder) start: f64,
    /// Number of frames.
    pub(in crate::decoder) frames: u64,
    /// Number of samples per channel.
    pub(in crate::decoder) samples: u64,
    /// Width and height of the pictures, in pixels.
    pub(in crate::decoder) size: (u32, u32),
    /// Frames per second.
    pub(in crate::decoder) rate: FrameRate,
    pub(in crate::decoder) audio_track: Option<u32>,
    /// The captions, with times from the start of the part.
    pub(in crate::decoder) captions: Vec<BurnedCaption>,
}

impl PartRequest {
    /// Creates the request for a part whose first frame is the frame `first` of the sequence.
    pub(in crate::decoder) fn new(format: &RenderFormat, first: u64, part: &RenderPart) -> Self {
        let end = format.samples_before(first.saturating_add(part.frames));
        Self {
            start: part.start,
            frames: part.frames,
            samples: end - format.samples_before(first),
            size: (format.width, format.height),
            rate: format.rate,
            audio_track: part.audio_track,
            captions: part.captions.clone(),
        }
    }

    /// Returns the duration, in seconds.
    pub(in crate::decoder) fn seconds(&self) -> f64 {
        self.rate.seconds(self.frames)
    }

    /// Returns the length of a picture, in bytes.
    pub(in crate::decoder) fn picture_bytes(&self) -> usize {
        self.size.0 as usize * self.size.1 as usize * 3
    }
}

/// Receives the pictures and the samples of parts, each in order.
pub(in crate::decoder) trait RenderSink {
    /// Receives a picture that is shown for `frames` frames: RGB rows without padding.
    fn picture(&mut self, frames: u64, rgb: &[u8]) -> Result<()>;

    /// Receives samples, with the left and right channels interleaved.
    fn samples(&mut self, samples: &[f32]) -> Result<()>;
}
