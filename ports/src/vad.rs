//! Voice activity: where speech is.

use crate::Result;

/// A stretch of speech, seconds from the first sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeechSpan {
    /// When it begins.
    pub start: f64,
    /// When it ends, after `start`.
    pub end: f64,
}

/// Finds speech in sound of any length.
pub trait VoiceActivity: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// A detection over one stream of samples.
    fn begin(&self) -> Result<Box<dyn VoiceActivitySession>>;
}

/// One stream of mono samples at [`crate::decoder::SAMPLE_RATE`]. Both methods *block*.
pub trait VoiceActivitySession: Send {
    /// The next samples; blocks of any size give the same spans.
    fn push(&mut self, samples: &[f32]) -> Result<()>;

    /// Ends the stream: its spans, in order, not overlapping.
    fn finish(self: Box<Self>) -> Result<Vec<SpeechSpan>>;
}
