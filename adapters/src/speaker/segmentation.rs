//! Speaker segmentation with pyannote's segmentation 3.0 network on ONNX Runtime.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use ort::value::TensorRef;
use ports::speaker::{SpeakerSegmentation, WindowActivity};
use ports::{ErrorKind, PortError, Result, decoder::SAMPLE_RATE};

use crate::blocking;
use crate::onnx::{Inputs, Pool, Runtime, Threading, failed, unfit};

/// The window length in samples that the network was trained with, which is 10 s.
const WINDOW: usize = 10 * SAMPLE_RATE as usize;

/// Hop size and receptive field of a frame, in samples.
const STEP: usize = 270;
const RECEPTIVE_FIELD: usize = 991;

/// Maximum number of speakers per window, and the speakers of each powerset class: nobody, one
/// speaker, or two speakers at once.
const SPEAKERS: usize = 3;
const CLASSES: [u8; 7] = [0b000, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110];

/// Options of [`PyannoteSegmentation::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct PyannoteOptions {
    /// A network that maps `[batch, 1, samples]` to `[batch, frames, 7]`.
    pub model: PathBuf,
    /// Numbers of threads and sessions of the network.
    pub threading: Threading,
}

/// The segmentation model. Clones are cheap.
#[derive(Clone)]
pub struct PyannoteSegmentation {
    pool: Arc<Pool>,
    name: String,
}

impl PyannoteSegmentation {
    /// Opens the model and runs it on silence, so that an unsuitable model fails here.
    /// *Blocks*.
    pub fn open(runtime: &Runtime, options: &PyannoteOptions) -> Result<Self> {
        let pool = Pool::open(runtime, &options.model, options.threading, Inputs::FixedSize)?;
        classes(&pool, &[vec![0.0; WINDOW]]).map_err(|e| unfit(&options.model, e))?;
        let name = options.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { pool: Arc::new(pool), name })
    }
}

/// Returns the set of active speakers in each frame of each window. *Blocks*.
fn classes(pool: &Pool, windows: &[Vec<f32>]) -> Result<Vec<Vec<u8>>> {
    let (count, samples) = (windows.len(), windows.concat());
    pool.with(|session| {
        let shape = [count, 1, WINDOW];
        let samples = TensorRef::from_array_view((shape, samples.as_slice())).map_err(failed)?;
        let outputs = session.run(ort::inputs![samples]).map_err(failed)?;
        let (shape, classes) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
        let expected = [count as i64, frames() as i64, CLASSES.len() as i64];
        if **shape != expected {
            let message = format!("speaker segmentation yields {expected:?}, not {shape:?}");
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        let likeliest = |frame: &[f32]| {
            let best = frame.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            best.map_or(0, |(class, _)| CLASSES[class])
        };
        let window = |classes: &[f32]| classes.chunks_exact(CLASSES.len()).map(likeliest).collect();
        Ok(classes.chunks_exact(frames() * CLASSES.len()).map(window).collect())
    })
}

/// Returns the number of frames per window.
fn frames() -> usize {
    (WINDOW - RECEPTIVE_FIELD) / STEP + 1
}

#[async_trait]
impl SpeakerSegmentation for PyannoteSegmentation {
    fn model(&self) -> &str {
        &self.name
    }

    fn window(&self) -> usize {
        WINDOW
    }

    fn max_speakers(&self) -> usize {
        SPEAKERS
    }

    async fn segment(&self, windows: Vec<Vec<f32>>) -> Result<Vec<WindowActivity>> {
        if let Some(long) = windows.iter().find(|samples| samples.len() > WINDOW) {
            let message =
                format!("a window has at most {WINDOW} samples, these are {}", long.len());
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        let clean = |s: f32| if s.is_finite() { s.clamp(-1.0, 1.0) } else { 0.0 };
        let window = |samples: Vec<f32>| {
            let mut window: Vec<f32> = samples.into_iter().map(clean).collect();
            window.resize(WINDOW, 0.0);
            window
        };
        let windows: Vec<Vec<f32>> = windows.into_iter().map(window).collect();
        // Digital silence cannot be normalized.
        let sounds = |window: &Vec<f32>| window.iter().any(|s| *s != 0.0);
        let sounding: Vec<bool> = windows.iter().map(sounds).collect();
        let audible: Vec<Vec<f32>> = windows.into_iter().filter(sounds).collect();
        let pool = Arc::clone(&self.pool);
        let mut audible = if audible.is_empty() {
            Vec::new()
        } else {
            blocking::run(move || classes(&pool, &audible)).await?
        }
        .into_iter();
        let rate = f64::from(SAMPLE_RATE);
        let activity = |sounds: bool| {
            let audible = if sounds { audible.next() } else { None };
            let frames = audible.unwrap_or_else(|| vec![0; frames()]);
            WindowActivity {
                first: RECEPTIVE_FIELD as f64 / 2.0 / rate,
                step: STEP as f64 / rate,
                frames,
            }
        };
        Ok(sounding.into_iter().map(activity).collect())
    }
}
