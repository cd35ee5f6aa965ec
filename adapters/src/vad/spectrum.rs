//! Windowed Fourier transforms of audio, and the autocorrelation for detecting voicing and pitch.
//! The spectral detector uses them for each frame.

use std::sync::Arc;

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex, num_complex::Complex};

/// Transforms frames of a fixed size, zero-padded to `padded` points.
pub(super) struct Spectrum {
    window: Vec<f32>,
    forward: Arc<dyn RealToComplex<f32>>,
    inverse: Arc<dyn ComplexToReal<f32>>,
    padded: Vec<f32>,
    bins: Vec<Complex<f32>>,
    /// Autocorrelation of the window function. It is 1 at lag 0.
    window_autocorrelation: Vec<f32>,
}

impl Spectrum {
    /// Plans transforms of frames of `size` samples. `padded` must be even and at least `size`.
    pub(super) fn new(size: usize, padded: usize) -> Self {
        let mut planner = RealFftPlanner::new();
        let turn = std::f32::consts::TAU / size as f32;
        let window = (0..size).map(|i| 0.5 - 0.5 * (i as f32 * turn).cos()).collect();
        let forward = planner.plan_fft_forward(padded);
        let inverse = planner.plan_fft_inverse(padded);
        let bins = forward.make_output_vec();
        let mut this = Self {
            window,
            forward,
            inverse,
            padded: vec![0.0; padded],
            bins,
            window_autocorrelation: vec![],
        };
        this.power(&vec![1.0; size], |_| ());
        this.window_autocorrelation = this.autocorrelation(0..padded / 2 + 1).to_vec();
        let whole = this.window_autocorrelation[0];
        this.window_autocorrelation.iter_mut().for_each(|v| *v /= whole);
        this
    }

    /// Computes the power of each bin of a frame and passes it to `read`.
    pub(super) fn power(&mut self, frame: &[f32], mut read: impl FnMut(&[f32])) {
        self.padded.fill(0.0);
        for ((slot, sample), weight) in self.padded.iter_mut().zip(frame).zip(&self.window) {
            *slot = sample * weight;
        }
        // This fails only for lengths other than the planned length.
        let _ = self.forward.process(&mut self.padded, &mut self.bins);
        let power: Vec<f32> = self.bins.iter().map(|b| b.norm_sqr()).collect();
        read(&power);
    }

    /// Returns the autocorrelation by lag of the last frame that was passed to [`Self::power`],
    /// restricted to the bins in `band`. It is not normalized, so the value at lag 0 is `padded`
    /// times the energy.
    pub(super) fn autocorrelation(&mut self, band: std::ops::Range<usize>) -> &[f32] {
        for (i, bin) in self.bins.iter_mut().enumerate() {
            let power = if band.contains(&i) { bin.norm_sqr() } else { 0.0 };
            *bin = Complex::new(power, 0.0);
        }
        let _ = self.inverse.process(&mut self.bins, &mut self.padded);
        &self.padded[..self.padded.len() / 2]
    }

    /// Returns the autocorrelation of the window function at `lag`.
    pub(super) fn window_autocorrelation(&self, lag: usize) -> f32 {
        self.window_autocorrelation[lag]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tone_has_one_peak_and_its_period_in_the_autocorrelation() {
        let mut spectrum = Spectrum::new(512, 1024);
        let tone: Vec<f32> =
            (0..512).map(|i| (i as f32 * std::f32::consts::TAU / 64.0).sin()).collect();
        let mut loudest = 0;
        spectrum.power(&tone, |power| {
            loudest = (0..power.len()).max_by(|a, b| power[*a].total_cmp(&power[*b])).unwrap_or(0);
        });
        assert_eq!(loudest, 1024 / 64);
        let lags = spectrum.autocorrelation(0..513).to_vec();
        let at = |lag: usize| lags[lag] / lags[0] / spectrum.window_autocorrelation(lag);
        assert!((at(64) - 1.0).abs() < 0.02, "{}", at(64));
        assert!((at(32) + 1.0).abs() < 0.02, "{}", at(32));
    }
}
