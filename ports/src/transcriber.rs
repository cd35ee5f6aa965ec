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
    /// How probably it is that language, 0..1, when the recogniser tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language_probability: Option<f32>,
    /// In order of start.
    pub words: Vec<Word>,
}

/// Recognises speech.
#[async_trait]
pub trait Transcriber: Send + Sync {
    /// Identifies the model and whatever else its words depend on, as `whisper-base-1f2e3d4c`: words
    /// that are kept under another name are not taken for its own.
    fn model(&self) -> &str;

    /// The longest stretch the recogniser takes well, seconds; callers split longer speech at
    /// pauses.
    fn max_seconds(&self) -> f64;

    /// Words in mono samples at [`crate::decoder::SAMPLE_RATE`]. Silence gives no words. `language`
    /// is the ISO 639-1 code of what is spoken, where the caller knows; a recogniser that does not
    /// know it, or that is set to another, goes its own way.
    async fn transcribe(&self, samples: &[f32], language: Option<&str>) -> Result<Transcript>;
}
