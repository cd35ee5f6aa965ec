//! Voices: where speech is, and whose it is.

use async_trait::async_trait;

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

/// Turns speech into a vector that is alike for the same voice.
#[async_trait]
pub trait SpeakerEmbedder: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// The mean cosine between stretches of 2 s to 3 s above which they are one voice, −1..1.
    fn same_voice(&self) -> f32;

    /// A unit vector for mono samples at [`crate::decoder::SAMPLE_RATE`], or `None` when they are
    /// too short or silent to tell a voice by.
    async fn embed(&self, samples: &[f32]) -> Result<Option<Vec<f32>>>;
}
