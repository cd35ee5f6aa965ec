//! Speech recognition.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Result;

/// A recognised word. Times are in seconds from the first sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// The word as written, without surrounding spaces.
    pub text: String,
    /// Start of the word.
    pub start: f64,
    /// End of the word; never before `start`.
    pub end: f64,
    /// Confidence that the word is right, 0..1.
    pub confidence: f32,
}

/// Recognised speech.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transcript {
    /// ISO 639-1 code of the spoken language, if the recogniser detects it.
    pub language: Option<String>,
    /// Probability of `language`, 0..1, if the recogniser reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language_probability: Option<f32>,
    /// The words, ordered by start time.
    pub words: Vec<Word>,
}

/// Recognises speech.
///
/// ```
/// use adapters::transcriber::ScriptedTranscriber;
/// use shotlog_ports::transcriber::{Transcriber, Transcript, Word};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let word = Word { text: "hello".into(), start: 0.1, end: 0.4, confidence: 0.9 };
/// let transcript = Transcript { words: vec![word], ..Transcript::default() };
/// let transcriber = ScriptedTranscriber::with_transcript(transcript.clone());
/// assert_eq!(transcriber.transcribe(&[0.1; 16_000], Some("en")).await?, transcript);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Transcriber: Send + Sync {
    /// Identifies the model and everything else that affects the recognised words, for example
    /// `whisper-base-1f2e3d4c`. Words that were cached under another name are not reused.
    fn model(&self) -> &str;

    /// Returns the length of the longest segment that the recogniser handles well, in seconds.
    /// Callers split longer speech at pauses.
    fn max_seconds(&self) -> f64;

    /// Recognises the words in mono samples at [`SAMPLE_RATE`](crate::decoder::SAMPLE_RATE);
    /// silence yields no words. `language` is the ISO 639-1 code of the spoken language, if the
    /// caller knows it. A recogniser ignores this language if it does not support it or is
    /// configured for another one.
    async fn transcribe(&self, samples: &[f32], language: Option<&str>) -> Result<Transcript>;
}
