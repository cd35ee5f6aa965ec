//! Speaker embeddings with a network (x-vector, ResNet, ECAPA, CAM++ and similar) on ONNX Runtime.
//! The network's input is a Kaldi filterbank, as in the exports of WeSpeaker, 3D-Speaker and
//! pyannote.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use ort::value::TensorRef;
use ports::{ErrorKind, PortError, Result, decoder::SAMPLE_RATE, speaker::SpeakerEmbedder};

use super::filterbank::{BANDS, Convention, Filterbank, without_mean};
use crate::blocking;
use crate::onnx::{Inputs, Pool, Runtime, Threading, failed, unfit};

/// Minimum duration of a segment, in seconds. A shorter segment does not identify a voice.
const MIN_SECONDS: f64 = 0.3;
/// Maximum duration to embed, in seconds. Of a longer segment, only the middle is used, which
/// limits memory.
const MAX_SECONDS: f64 = 30.0;
/// Peak level below which audio counts as silence.
const SILENCE: f32 = 1e-3;

/// Options of [`XVectorEmbedder::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct XVectorOptions {
    /// A network that maps `[batch, frames, 80]` to `[batch, length]`. If `framework` in its
    /// metadata is `3d-speaker`, 3D-Speaker's filterbank is used; otherwise WeSpeaker's.
    pub model: PathBuf,
    /// Minimum cosine similarity (−1..1) of two segments of the same voice. It depends on the
    /// network.
    pub same_voice: f32,
    /// Numbers of threads and sessions of the network.
    pub threading: Threading,
}

/// The embedder. Clones are cheap.
#[derive(Clone)]
pub struct XVectorEmbedder {
    inner: Arc<Inner>,
    name: String,
    same_voice: f32,
}

struct Inner {
    pool: Pool,
    filterbank: Filterbank,
}

impl XVectorEmbedder {
    /// Opens the model and runs it on a second of audio, so that an unsuitable model fails here.
    /// *Blocks*.
    pub fn open(runtime: &Runtime, options: &XVectorOptions) -> Result<Self> {
        let pool = Pool::open(runtime, &options.model, options.threading, Inputs::Varied)?;
        let framework =
            pool.with(|session| Ok(session.metadata().map_err(failed)?.custom("framework")))?;
        let convention = match framework.as_deref() {
            Some("3d-speaker") => Convention::Povey,
            _ => Convention::Hamming,
        };
        let inner = Inner { pool, filterbank: Filterbank::new(convention) };
        let tick = |i: usize| if i.is_multiple_of(100) { 0.5 } else { 0.0 };
        let trial: Vec<f32> = (0..SAMPLE_RATE as usize).map(tick).collect();
        inner.vector(&trial).map_err(|e| unfit(&options.model, e))?;
        let name = options.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { inner: Arc::new(inner), name, same_voice: options.same_voice })
    }
}

impl Inner {
    fn vector(&self, samples: &[f32]) -> Result<Option<Vec<f32>>> {
        let longest = (MAX_SECONDS * f64::from(SAMPLE_RATE)) as usize;
        let beyond = samples.len().saturating_sub(longest) / 2;
        let samples = &samples[beyond..samples.len() - beyond];
        let shortest = (MIN_SECONDS * f64::from(SAMPLE_RATE)) as usize;
        if samples.len() < shortest || !samples.iter().any(|s| s.is_finite() && s.abs() > SILENCE) {
            return Ok(None);
        }
        let levels = without_mean(self.filterbank.levels(samples));
        let vector = self.pool.with(|session| {
            let shape = [1, levels.len() / BANDS, BANDS];
            let levels = TensorRef::from_array_view((shape, levels.as_slice())).map_err(failed)?;
            let outputs = session.run(ort::inputs![levels]).map_err(failed)?;
            let (shape, vector) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
            if shape.iter().product::<i64>() != shape.last().copied().unwrap_or(0) {
                let message = format!("a speaker model answers with one vector, not {shape:?}");
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
            Ok(vector.to_vec())
        })?;
        let norm = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        if !norm.is_finite() || norm <= 0.0 {
            let message = "the speaker model yields no direction; its file is damaged";
            return Err(PortError::new(ErrorKind::Corrupt, message));
        }
        Ok(Some(vector.iter().map(|v| v / norm).collect()))
    }
}

#[async_trait]
impl SpeakerEmbedder for XVectorEmbedder {
    fn model(&self) -> &str {
        &self.name
    }

    fn same_voice_threshold(&self) -> f32 {
        self.same_voice
    }

    async fn embed(&self, samples: &[f32]) -> Result<Option<Vec<f32>>> {
        let (inner, samples) = (Arc::clone(&self.inner), samples.to_vec());
        blocking::run(move || inner.vector(&samples)).await
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Case {
        seed: u32,
        seconds: f64,
        frames: usize,
        levels: Vec<Vec<f32>>,
        vector: Vec<f32>,
    }

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
    }

    fn cases() -> Vec<Case> {
        serde_json::from_slice(&std::fs::read(fixture("speaker_reference.json")).unwrap()).unwrap()
    }

    /// Generates the same noise as `scripts/fixtures/speaker.py`.
    fn noise(seed: u32, seconds: f64) -> Vec<f32> {
        let mut state = seed;
        let samples = (0..(seconds * 16_000.0) as i64).map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let swell = (i * i64::from(seed) % 16_000 - 8_000).abs() as f64;
            (f64::from(state >> 16) * swell / (65_536.0 * 8_000.0) - swell / 16_000.0) as f32
        });
        samples.collect()
    }

    #[test]
    fn filterbank_equals_kaldi() {
        let filterbank = Filterbank::new(Convention::Hamming);
        for case in cases() {
            let found = filterbank.levels(&noise(case.seed, case.seconds));
            assert_eq!(found.len(), case.frames * BANDS);
            for (frame, expected) in [0, 17, case.frames - 1].into_iter().zip(&case.levels) {
                for (found, expected) in found[frame * BANDS..].iter().zip(expected) {
                    assert!((found - expected).abs() < 2e-3, "{frame}: {found} {expected}");
                }
            }
        }
    }

    #[tokio::test]
    async fn vector_equals_the_reference() {
        let Some(library) = std::env::var_os("SHOTLOG_ONNXRUNTIME") else {
            eprintln!("skipped: SHOTLOG_ONNXRUNTIME is not set");
            return;
        };
        let runtime = Runtime::load(Path::new(&library)).unwrap();
        let options = XVectorOptions {
            model: fixture("speaker.onnx"),
            same_voice: 0.5,
            threading: Threading::default(),
        };
        let embedder = XVectorEmbedder::open(&runtime, &options).unwrap();
        assert_eq!((embedder.model(), embedder.same_voice_threshold()), ("speaker", 0.5));
        for case in cases() {
            let samples = noise(case.seed, case.seconds);
            let found = embedder.embed(&samples).await.unwrap().unwrap();
            for (found, expected) in found.iter().zip(&case.vector) {
                assert!((found - expected).abs() < 1e-4, "{found} {expected}");
            }
        }
        let options = XVectorOptions { model: fixture("detect_yolox.onnx"), ..options };
        let error = XVectorEmbedder::open(&runtime, &options).err().unwrap().to_string();
        assert!(error.contains("detect_yolox.onnx does not fit"), "{error}");
    }
}
