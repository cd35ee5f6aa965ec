//! Kaldi's log mel filterbank, which is the input of speaker networks.

use std::sync::Arc;

use ports::decoder::SAMPLE_RATE;
use realfft::{RealFftPlanner, RealToComplex};

/// Number of mel bands per frame.
pub(super) const BANDS: usize = 80;
/// Length of a frame in samples, 25 ms. A frame begins every 10 ms.
const FRAME: usize = 400;
const HOP: usize = 160;
const POINTS: usize = 512;

/// Subtracts the mean of each band, which removes the microphone's frequency response.
pub(super) fn without_mean(mut levels: Vec<f32>) -> Vec<f32> {
    let frames = levels.len() / BANDS;
    let mut means = [0.0_f64; BANDS];
    for frame in levels.chunks_exact(BANDS) {
        means.iter_mut().zip(frame).for_each(|(mean, level)| *mean += f64::from(*level));
    }
    for frame in levels.chunks_exact_mut(BANDS) {
        for (level, mean) in frame.iter_mut().zip(means) {
            *level -= (mean / frames as f64) as f32;
        }
    }
    levels
}

/// The window function and sample scale that a network was trained with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Convention {
    /// Povey window and samples within ±1. These are torchaudio's defaults, which 3D-Speaker uses.
    Povey,
    /// Hamming window and 16-bit sample values, which WeSpeaker uses.
    Hamming,
}

/// Kaldi's log mel filterbank without dither and energy, for whole frames only.
pub(super) struct Filterbank {
    full_scale: f32,
    transform: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    /// For each band, the first Fourier bin and the weights that begin at this bin.
    bands: Vec<(usize, Vec<f32>)>,
}

impl Filterbank {
    pub(super) fn new(convention: Convention) -> Self {
        let mel = |hertz: f64| 1127.0 * (1.0 + hertz / 700.0).ln();
        let (low, high) = (mel(20.0), mel(f64::from(SAMPLE_RATE) / 2.0));
        let edge = |i: usize| low + (high - low) * i as f64 / (BANDS + 1) as f64;
        let bands = (0..BANDS).map(|band| {
            let (left, centre, right) = (edge(band), edge(band + 1), edge(band + 2));
            let weight = |bin: usize| {
                let at = mel(bin as f64 * f64::from(SAMPLE_RATE) / POINTS as f64);
                ((at - left) / (centre - left)).min((right - at) / (right - centre)).max(0.0)
            };
            // The last bin, at half the sample rate, does not belong to any band.
            let bins = 0..POINTS / 2;
            let from = bins.clone().find(|bin| weight(*bin) > 0.0).unwrap_or(0);
            let weights = (from..bins.end).map(|bin| weight(bin) as f32);
            (from, weights.take_while(|weight| *weight > 0.0).collect())
        });
        let turn = std::f64::consts::TAU / (FRAME - 1) as f64;
        let window = |i: usize| {
            let cosine = (i as f64 * turn).cos();
            match convention {
                Convention::Povey => (0.5 - 0.5 * cosine).powf(0.85) as f32,
                Convention::Hamming => (0.54 - 0.46 * cosine) as f32,
            }
        };
        Self {
            full_scale: if convention == Convention::Hamming { 32_768.0 } else { 1.0 },
            transform: RealFftPlanner::new().plan_fft_forward(POINTS),
            window: (0..FRAME).map(window).collect(),
            bands: bands.collect(),
        }
    }

    /// Returns the band levels, frame by frame.
    pub(super) fn levels(&self, samples: &[f32]) -> Vec<f32> {
        const PRE_EMPHASIS: f32 = 0.97;
        let mut frame = [0.0_f32; FRAME];
        let mut padded = self.transform.make_input_vec();
        let mut bins = self.transform.make_output_vec();
        let mut power = vec![0.0_f32; bins.len()];
        let mut levels = Vec::with_capacity(samples.len() / HOP * BANDS);
        for samples in samples.windows(FRAME).step_by(HOP) {
            for (slot, sample) in frame.iter_mut().zip(samples) {
                *slot = if sample.is_finite() {
                    sample.clamp(-1.0, 1.0) * self.full_scale
                } else {
                    0.0
                };
            }
            let mean = frame.iter().sum::<f32>() / FRAME as f32;
            padded.fill(0.0);
            let mut before = frame[0] - mean;
            for ((slot, sample), weight) in padded.iter_mut().zip(&frame).zip(&self.window) {
                let sample = sample - mean;
                *slot = (sample - PRE_EMPHASIS * before) * weight;
                before = sample;
            }
            // This fails only for lengths other than the planned length.
            let _ = self.transform.process(&mut padded, &mut bins);
            power.iter_mut().zip(&bins).for_each(|(power, bin)| *power = bin.norm_sqr());
            levels.extend(self.bands.iter().map(|(from, weights)| {
                let energy: f32 = weights.iter().zip(&power[*from..]).map(|(w, p)| w * p).sum();
                energy.max(f32::EPSILON).ln()
            }));
        }
        levels
    }
}
