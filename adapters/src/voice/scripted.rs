//! Voice adapters that answer what a test tells them to. Tests of the domain use them.

use async_trait::async_trait;
use ports::{
    Result,
    decoder::SAMPLE_RATE,
    voice::{SpeakerEmbedder, SpeechSpan, VoiceActivity, VoiceActivitySession},
};

/// Finds speech in given spans, as far as the stream reaches and is not digital silence there.
pub struct ScriptedVoiceActivity {
    spans: Vec<SpeechSpan>,
}

impl ScriptedVoiceActivity {
    /// `spans` are in order and do not overlap.
    pub fn new(spans: Vec<SpeechSpan>) -> Self {
        Self { spans }
    }
}

impl VoiceActivity for ScriptedVoiceActivity {
    fn model(&self) -> &str {
        "scripted"
    }

    fn begin(&self) -> Result<Box<dyn VoiceActivitySession>> {
        let heard = vec![false; self.spans.len()];
        Ok(Box::new(Session { spans: self.spans.clone(), heard, samples: 0 }))
    }
}

struct Session {
    spans: Vec<SpeechSpan>,
    heard: Vec<bool>,
    samples: u64,
}

impl VoiceActivitySession for Session {
    fn push(&mut self, samples: &[f32]) -> Result<()> {
        for sample in samples {
            if *sample != 0.0 {
                let time = self.samples as f64 / f64::from(SAMPLE_RATE);
                for (span, heard) in self.spans.iter().zip(&mut self.heard) {
                    *heard |= span.start <= time && time < span.end;
                }
            }
            self.samples += 1;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<SpeechSpan>> {
        let end = self.samples as f64 / f64::from(SAMPLE_RATE);
        let heard = self.spans.into_iter().zip(self.heard).filter(|(_, heard)| *heard);
        Ok(heard.map(|(s, _)| SpeechSpan { end: s.end.min(end), ..s }).collect())
    }
}

type Script = dyn Fn(&[f32]) -> Option<Vec<f32>> + Send + Sync;

/// Answers with a closure over the samples; less than 0.1 s and digital silence have no voice.
pub struct ScriptedSpeakerEmbedder {
    script: Box<Script>,
}

impl ScriptedSpeakerEmbedder {
    /// `script` gives a vector of any length but zero; it is scaled to length 1.
    pub fn new<F>(script: F) -> Self
    where
        F: Fn(&[f32]) -> Option<Vec<f32>> + Send + Sync + 'static,
    {
        Self { script: Box::new(script) }
    }
}

#[async_trait]
impl SpeakerEmbedder for ScriptedSpeakerEmbedder {
    fn model(&self) -> &str {
        "scripted"
    }

    fn same_voice(&self) -> f32 {
        0.5
    }

    async fn embed(&self, samples: &[f32]) -> Result<Option<Vec<f32>>> {
        if samples.len() < SAMPLE_RATE as usize / 10 || samples.iter().all(|s| *s == 0.0) {
            return Ok(None);
        }
        let vector = (self.script)(samples).map(|mut vector| {
            let norm = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
            vector.iter_mut().for_each(|v| *v /= norm);
            vector
        });
        Ok(vector)
    }
}
