//! Voice activity detection, which finds when there is speech.

use crate::Result;

/// A span of speech. Times are in seconds from the first sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeechSpan {
    /// Start of the span.
    pub start: f64,
    /// End of the span, after `start`.
    pub end: f64,
}

/// Finds speech in audio of any length.
///
/// ```
/// use adapters::vad::ScriptedVoiceActivity;
/// use shotlog_ports::vad::{SpeechSpan, VoiceActivityDetector};
///
/// # fn main() -> shotlog_ports::Result<()> {
/// let detector = ScriptedVoiceActivity::new(vec![SpeechSpan { start: 0.0, end: 1.5 }]);
/// let mut session = detector.begin()?;
/// session.push(&[0.1; 16_000])?;
/// assert_eq!(session.finish()?, [SpeechSpan { start: 0.0, end: 1.0 }]);
/// # Ok(())
/// # }
/// ```
pub trait VoiceActivityDetector: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// Starts a session for one stream of samples.
    fn begin(&self) -> Result<Box<dyn VoiceActivitySession>>;
}

/// A session for one stream of mono samples at [`SAMPLE_RATE`](crate::decoder::SAMPLE_RATE). Both
/// methods are *blocking*.
pub trait VoiceActivitySession: Send {
    /// Takes the next samples of the stream. The number of samples per call does not affect the
    /// spans.
    fn push(&mut self, samples: &[f32]) -> Result<()>;

    /// Ends the stream and returns its speech spans. They are in order and do not overlap.
    fn finish(self: Box<Self>) -> Result<Vec<SpeechSpan>>;
}
