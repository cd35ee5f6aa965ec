//! Voice activity detection with the Silero network (v5 and v6 exports, 16 kHz) on ONNX Runtime.

use std::{collections::VecDeque, path::PathBuf, sync::Arc};

use ort::value::TensorRef;
use ports::{
    Result,
    decoder::SAMPLE_RATE,
    vad::{SpeechSpan, VoiceActivityDetector, VoiceActivitySession},
};

use super::segments::{Segmenter, SpeechOptions};
use crate::onnx::{Inputs, Pool, Runtime, Threading, failed, unfit};

/// Number of new samples per inference. The network also receives the `CONTEXT` samples before
/// them.
const WINDOW: usize = 512;
const CONTEXT: usize = 64;
const STATE: usize = 2 * 128;

/// Options of [`Silero::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct SileroOptions {
    /// The model file, for example `silero_vad_16k_op15.onnx`.
    pub model: PathBuf,
    /// Rules for when speech begins and ends.
    pub speech: SpeechOptions,
    /// Numbers of threads and sessions. One thread is enough for this small network.
    pub threading: Threading,
}

/// The detector. Its streams share only the model. Clones are cheap.
#[derive(Clone)]
pub struct Silero {
    pool: Arc<Pool>,
    name: String,
    speech: SpeechOptions,
}

impl Silero {
    /// Opens the model and runs it on silence, so that an unsuitable model fails here.
    /// *Blocks*.
    pub fn open(runtime: &Runtime, options: &SileroOptions) -> Result<Self> {
        let pool =
            Arc::new(Pool::open(runtime, &options.model, options.threading, Inputs::FixedSize)?);
        let mut stream = Stream::new(Arc::clone(&pool), &options.speech);
        stream.push(&[0.0; WINDOW]).map_err(|e| unfit(&options.model, e))?;
        let stem = options.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { pool, name: stem, speech: options.speech })
    }
}

impl VoiceActivityDetector for Silero {
    fn model(&self) -> &str {
        &self.name
    }

    fn begin(&self) -> Result<Box<dyn VoiceActivitySession>> {
        Ok(Box::new(Stream::new(Arc::clone(&self.pool), &self.speech)))
    }
}

struct Stream {
    pool: Arc<Pool>,
    segmenter: Segmenter,
    /// The context, followed by the samples of the current window.
    input: Vec<f32>,
    state: Vec<f32>,
    pending: VecDeque<f32>,
    total: u64,
}

impl Stream {
    fn new(pool: Arc<Pool>, speech: &SpeechOptions) -> Self {
        Self {
            pool,
            segmenter: Segmenter::new(speech, WINDOW),
            input: vec![0.0; CONTEXT + WINDOW],
            state: vec![0.0; STATE],
            pending: VecDeque::new(),
            total: 0,
        }
    }

    fn infer(&mut self) -> Result<()> {
        self.input.copy_within(WINDOW.., 0);
        for (slot, sample) in self.input[CONTEXT..].iter_mut().zip(self.pending.drain(..WINDOW)) {
            *slot = if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 };
        }
        let (input, state) = (&self.input, &mut self.state);
        let probability = self.pool.with(|session| {
            let rate = [i64::from(SAMPLE_RATE)];
            let samples = TensorRef::from_array_view(([1, CONTEXT + WINDOW], input.as_slice()));
            let before = TensorRef::from_array_view(([2_usize, 1, 128], state.as_slice()));
            let rate = TensorRef::from_array_view(([0_usize; 0], rate.as_slice()));
            let inputs = ort::inputs![
                "input" => samples.map_err(failed)?,
                "state" => before.map_err(failed)?,
                "sr" => rate.map_err(failed)?,
            ];
            let outputs = session.run(inputs).map_err(failed)?;
            let (_, probability) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
            let (_, after) = outputs[1].try_extract_tensor::<f32>().map_err(failed)?;
            let mismatch = || {
                let message = "a voice activity model needs one probability and a state of 256";
                ports::PortError::new(ports::ErrorKind::Invalid, message)
            };
            if after.len() != STATE {
                return Err(mismatch());
            }
            let probability = probability.first().copied().ok_or_else(mismatch)?;
            Ok((probability, after.to_vec()))
        });
        let (probability, after) = probability?;
        self.state = after;
        self.segmenter.push(probability);
        Ok(())
    }
}

impl VoiceActivitySession for Stream {
    fn push(&mut self, samples: &[f32]) -> Result<()> {
        // Processes one window at a time, so that a long block is not copied as a whole.
        for block in samples.chunks(WINDOW) {
            self.pending.extend(block);
            self.total += block.len() as u64;
            while self.pending.len() >= WINDOW {
                self.infer()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<SpeechSpan>> {
        if !self.pending.is_empty() {
            self.pending.resize(WINDOW, 0.0);
            self.infer()?;
        }
        Ok(self.segmenter.finish(self.total))
    }
}
