//! A transcriber that answers what a test tells it to. Tests of the domain use it; it recognises
//! nothing of its own accord.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ports::{
    Result,
    decoder::SAMPLE_RATE,
    transcriber::{Transcriber, Transcript},
};

type Script = dyn Fn(&[f32]) -> Result<Transcript> + Send + Sync;

/// Answers with a closure over the samples and counts the calls. Digital silence holds no words,
/// and no word lasts longer than the samples.
pub struct ScriptedTranscriber {
    max_seconds: f64,
    script: Box<Script>,
    calls: AtomicUsize,
}

impl ScriptedTranscriber {
    /// Asks `script` about samples that are not silent.
    pub fn new<F>(script: F) -> Self
    where
        F: Fn(&[f32]) -> Result<Transcript> + Send + Sync + 'static,
    {
        Self { max_seconds: 30.0, script: Box::new(script), calls: AtomicUsize::new(0) }
    }

    /// Hears the same words in every stretch of sound.
    pub fn hearing(transcript: Transcript) -> Self {
        Self::new(move |_| Ok(transcript.clone()))
    }

    /// Sets what [`Transcriber::max_seconds`] says; 30 s otherwise.
    pub fn with_max_seconds(mut self, seconds: f64) -> Self {
        self.max_seconds = seconds;
        self
    }

    /// How many stretches of sound it was asked about.
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
        let mut heard = (self.script)(samples)?;
        let end = samples.len() as f64 / f64::from(SAMPLE_RATE);
        heard.words.retain(|w| w.start < end);
        for word in &mut heard.words {
            word.end = word.end.min(end);
        }
        Ok(heard)
    }
}
