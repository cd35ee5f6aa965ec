//! A detector that finds speech at scripted times, for tests of the domain.

use ports::{
    Result,
    decoder::SAMPLE_RATE,
    vad::{SpeechSpan, VoiceActivityDetector, VoiceActivitySession},
};

/// A detector that finds speech in the given spans, except in digital silence and after the end of
/// the stream.
pub struct ScriptedVoiceActivity {
    spans: Vec<SpeechSpan>,
}

impl ScriptedVoiceActivity {
    /// Creates a detector. `spans` must be in order and without overlaps.
    pub fn new(spans: Vec<SpeechSpan>) -> Self {
        Self { spans }
    }
}

impl VoiceActivityDetector for ScriptedVoiceActivity {
    fn model(&self) -> &str {
        "scripted"
    }

    fn begin(&self) -> Result<Box<dyn VoiceActivitySession>> {
        let is_audible = vec![false; self.spans.len()];
        Ok(Box::new(Session { spans: self.spans.clone(), is_audible, samples: 0 }))
    }
}

struct Session {
    spans: Vec<SpeechSpan>,
    is_audible: Vec<bool>,
    samples: u64,
}

impl VoiceActivitySession for Session {
    fn push(&mut self, samples: &[f32]) -> Result<()> {
        for sample in samples {
            if *sample != 0.0 {
                let time = self.samples as f64 / f64::from(SAMPLE_RATE);
                for (span, is_audible) in self.spans.iter().zip(&mut self.is_audible) {
                    *is_audible |= span.start <= time && time < span.end;
                }
            }
            self.samples += 1;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<SpeechSpan>> {
        let end = self.samples as f64 / f64::from(SAMPLE_RATE);
        let is_audible =
            self.spans.into_iter().zip(self.is_audible).filter(|(_, is_audible)| *is_audible);
        Ok(is_audible.map(|(s, _)| SpeechSpan { end: s.end.min(end), ..s }).collect())
    }
}
