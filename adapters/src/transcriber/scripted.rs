//! A transcriber with scripted results, for tests of the domain.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ports::{
    Result,
    decoder::SAMPLE_RATE,
    transcriber::{Transcriber, Transcript},
};

type Script = dyn Fn(&[f32]) -> Result<Transcript> + Send + Sync;

/// A transcriber that calls a closure with the samples and counts the calls. Digital silence has no
/// words, and no word extends beyond the end of the samples.
pub struct ScriptedTranscriber {
    max_seconds: f64,
    script: Box<Script>,
    calls: AtomicUsize,
}

impl ScriptedTranscriber {
    /// Creates a transcriber that calls `script` with all samples that are not silent.
    pub fn new<F>(script: F) -> Self
    where
        F: Fn(&[f32]) -> Result<Transcript> + Send + Sync + 'static,
    {
        Self { max_seconds: 30.0, script: Box::new(script), calls: AtomicUsize::new(0) }
    }

    /// Creates a transcriber that returns the same words for every segment.
    pub fn with_transcript(transcript: Transcript) -> Self {
        Self::new(move |_| Ok(transcript.clone()))
    }

    /// Sets [`Transcriber::max_seconds`], which is 30 s by default.
    pub fn with_max_seconds(mut self, seconds: f64) -> Self {
        self.max_seconds = seconds;
        self
    }

    /// Returns the number of segments received so far.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Transcriber for ScriptedTranscriber {
    fn model(&self) -> &str {
        "scripted"
    }

    fn max_seconds(&self) -> f64 {
        self.max_seconds
    }

    async fn transcribe(&self, samples: &[f32], _: Option<&str>) -> Result<Transcript> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if samples.iter().all(|s| *s == 0.0) {
            return Ok(Transcript::default());
        }
        let mut transcript = (self.script)(samples)?;
        let end = samples.len() as f64 / f64::from(SAMPLE_RATE);
        transcript.words.retain(|w| w.start < end);
        for word in &mut transcript.words {
            word.end = word.end.min(end);
        }
        Ok(transcript)
    }
}
