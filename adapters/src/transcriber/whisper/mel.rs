//! Whisper's front end, which computes log-mel spectrograms of 30 s of audio. The values equal
//! those of the reference.

use std::sync::Arc;

use ports::decoder::SAMPLE_RATE;
use realfft::{RealFftPlanner, RealToComplex};

/// Number of samples per window. A window lasts 30 s and is padded with silence.
pub(super) const WINDOW: usize = 30 * SAMPLE_RATE as usize;
/// Number of columns in a spectrogram.
pub(super) const FRAMES: usize = WINDOW / HOP;
const HOP: usize = 160;
const SIZE: usize = 400;

/// Computes spectrograms with a given number of mel bands.
pub(super) struct MelSpectrogram {
    transform: Arc<dyn RealToComplex<f64>>,
    /// Periodic Hann window.
    window: Vec<f64>,
    /// For each band, the first Fourier bin and the weights that begin at this bin.
    bands: Vec<(usize, Vec<f64>)>,
}

impl MelSpectrogram {
    pub(super) fn new(bands: usize) -> Self {
        let turn = std::f64::consts::TAU / SIZE as f64;
        Self {
            transform: RealFftPlanner::new().plan_fft_forward(SIZE),
            window: (0..SIZE).map(|i| 0.5 - 0.5 * (i as f64 * turn).cos()).collect(),
            bands: slaney(bands),
        }
    }

    /// Computes the spectrogram of at most [`WINDOW`] samples. Returns bands × [`FRAMES`] values,
    /// row by row.
    pub(super) fn compute(&self, samples: &[f32]) -> Vec<f32> {
        let bands = self.bands.len();
        let mut levels = vec![-10.0_f64; bands * FRAMES];
        let mut frame = self.transform.make_input_vec();
        let mut bins = self.transform.make_output_vec();
        let mut power = vec![0.0; bins.len()];
        let mut loudest = -10.0_f64;
        for t in 0..FRAMES {
            // At each end, half a frame of samples is mirrored, without repeating the outermost
            // sample.
            let first = (t * HOP) as isize - SIZE as isize / 2;
            for (i, slot) in frame.iter_mut().enumerate() {
                let at = (first + i as isize).unsigned_abs();
                let at = if at < WINDOW { at } else { 2 * WINDOW - 2 - at };
                let sample = samples.get(at).copied().filter(|s| s.is_finite()).unwrap_or(0.0);
                *slot = f64::from(sample) * self.window[i];
            }
            if frame.iter().all(|s| *s == 0.0) {
                continue;
            }
            // This fails only for lengths other than the planned length.
            let _ = self.transform.process(&mut frame, &mut bins);
            power.iter_mut().zip(&bins).for_each(|(power, bin)| *power = bin.norm_sqr());
            for (band, (from, weights)) in self.bands.iter().enumerate() {
                let energy: f64 = weights.iter().zip(&power[*from..]).map(|(w, p)| w * p).sum();
                let level = energy.max(1e-10).log10();
                loudest = loudest.max(level);
                levels[band * FRAMES + t] = level;
            }
        }
        levels.into_iter().map(|level| ((level.max(loudest - 8.0) + 4.0) / 4.0) as f32).collect()
    }
}

/// Returns triangular filters of equal area on Slaney's mel scale from 0 Hz to 8 kHz, as in
/// librosa.
fn slaney(bands: usize) -> Vec<(usize, Vec<f64>)> {
    const LINEAR: f64 = 200.0 / 3.0;
    let step = 6.4_f64.ln() / 27.0;
    let to_hertz = |mel: f64| match mel {
        mel if mel < 15.0 => mel * LINEAR,
        mel => 1000.0 * ((mel - 15.0) * step).exp(),
    };
    let nyquist = f64::from(SAMPLE_RATE) / 2.0;
    let top = 15.0 + (nyquist / 1000.0).ln() / step;
    let edges: Vec<f64> =
        (0..bands + 2).map(|i| to_hertz(top * i as f64 / (bands + 1) as f64)).collect();
    let bins = SIZE / 2 + 1;
    let hertz = |bin: usize| nyquist * bin as f64 / (bins - 1) as f64;
    edges
        .windows(3)
        .map(|edge| {
            let weight = |bin: usize| {
                let rising = (hertz(bin) - edge[0]) / (edge[1] - edge[0]);
                let falling = (edge[2] - hertz(bin)) / (edge[2] - edge[1]);
                rising.min(falling).max(0.0) * 2.0 / (edge[2] - edge[0])
            };
            let from = (0..bins).find(|bin| weight(*bin) > 0.0).unwrap_or(0);
            (from, (from..bins).map(weight).take_while(|w| *w > 0.0).collect())
        })
        .collect()
}
