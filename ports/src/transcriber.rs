//! Speech recognition.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Result;

/// A recognised word. Times are seconds from the start of the samples that were given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// As written, without surrounding space.
    pub text: String,
    /// When it begins.
    pub start: f64,
    /// When it ends, not before `start`.
    pub end: f64,
    /// 0..1.
    pub confidence: f32,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transcript {
    /// ISO 639-1 code, when the recogniser knows.
    pub language: Option<String>,
    /// In order of start.
    pub words: Vec<Word>,
}

/// Recognises speech.
#[async_trait]
pub trait Transcriber: Send + Sync {
    /// Identifies the model, as `whisper-base`.
    fn model(&self) -> &str;

    /// The longest stretch the recogniser takes well, seconds; callers split longer speech at
    /// pauses.
    fn max_seconds(&self) -> f64;

    /// Words in mono samples at [`crate::decoder::SAMPLE_RATE`]. Silence gives no words.
    async fn transcribe(&self, samples: &[f32]) -> Result<Transcript>;
}
