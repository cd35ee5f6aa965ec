//! Scripted speaker diarization, for tests of the domain.

use async_trait::async_trait;
use ports::speaker::{SpeakerEmbedder, SpeakerSegmentation, WindowActivity};
use ports::{ErrorKind, PortError, Result, decoder::SAMPLE_RATE};

type Script = dyn Fn(&[f32]) -> Option<Vec<f32>> + Send + Sync;

/// An embedder that calls a closure with the samples. Digital silence and audio shorter than 0.1 s
/// have no voice.
pub struct ScriptedSpeakerEmbedder {
    script: Box<Script>,
}

impl ScriptedSpeakerEmbedder {
    /// Creates an embedder. `script` must return a nonzero vector, which is then normalized to
    /// length 1.
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

    fn same_voice_threshold(&self) -> f32 {
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

type SegmentationScript = dyn Fn(&[f32]) -> u8 + Send + Sync;

/// A segmentation that calls a closure with the samples of each 0.1 s frame, in windows of 10 s.
/// Nobody speaks during digital silence.
pub struct ScriptedSpeakerSegmentation {
    script: Box<SegmentationScript>,
}

impl ScriptedSpeakerSegmentation {
    /// Creates a segmentation. `script` returns a bit mask of three speakers.
    pub fn new<F>(script: F) -> Self
    where
        F: Fn(&[f32]) -> u8 + Send + Sync + 'static,
    {
        Self { script: Box::new(script) }
    }
}

#[async_trait]
impl SpeakerSegmentation for ScriptedSpeakerSegmentation {
    fn model(&self) -> &str {
        "scripted"
    }

    fn window(&self) -> usize {
        10 * SAMPLE_RATE as usize
    }

    fn max_speakers(&self) -> usize {
        3
    }

    async fn segment(&self, windows: Vec<Vec<f32>>) -> Result<Vec<WindowActivity>> {
        if windows.iter().any(|samples| samples.len() > self.window()) {
            return Err(PortError::new(ErrorKind::Invalid, "a window has at most 10 s"));
        }
        let frame = SAMPLE_RATE as usize / 10;
        let mask = |samples: &[f32]| {
            if samples.iter().all(|s| *s == 0.0) { 0 } else { (self.script)(samples) & 0b111 }
        };
        let activity = |samples: Vec<f32>| {
            let mut frames: Vec<u8> = samples.chunks(frame).map(mask).collect();
            frames.resize(self.window() / frame, 0);
            WindowActivity { first: 0.05, step: 0.1, frames }
        };
        Ok(windows.into_iter().map(activity).collect())
    }
}
