//! Speaker vectors without weights: mean and spread of the cepstrum and of the pitch, projected on
//! the directions that told a few known voices apart (linear discriminants). It stands in where no
//! network is configured.

use std::sync::Arc;

use async_trait::async_trait;
use ports::{Result, decoder::SAMPLE_RATE, speaker::SpeakerEmbedder};

use crate::vad::spectrum::Spectrum;

use super::timbre_constants::{CENTRE, PROJECTION};

/// The embedder. Give it 2 s to 3 s of one voice: shorter stretches say more about the words.
#[derive(Clone)]
pub struct TimbreEmbedder {
    bank: Arc<Bank>,
}

impl TimbreEmbedder {
    /// Found on the recordings that the directions were found on.
    const SAME_VOICE: f32 = 0.93;

    /// Needs no files.
    pub fn new() -> Self {
        Self { bank: Arc::new(Bank::new()) }
    }
}

impl Default for TimbreEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl SpeakerEmbedder for TimbreEmbedder {
    fn model(&self) -> &str {
        "timbre-1"
    }

    fn same_voice(&self) -> f32 {
        Self::SAME_VOICE
    }

    async fn embed(&self, samples: &[f32]) -> Result<Option<Vec<f32>>> {
        let bank = Arc::clone(&self.bank);
        let samples = samples.to_vec();
        crate::blocking::run(move || Ok(bank.features(&samples).and_then(|f| vector(&f)))).await
    }
}

const FRAME: usize = 512;
const HOP: usize = 160;
const BANDS: usize = 26;
/// Of the cepstrum, without the first, which is loudness.
const COEFFICIENTS: usize = 19;
const PITCH_FRAME: usize = 1024;
const PITCH_HOP: usize = 320;
/// Frames with a voice in them that a vector needs: 0.4 s.
const MIN_FRAMES: usize = 40;
const FEATURES: usize = 2 * COEFFICIENTS + 2;

/// Triangular filters on the mel scale and the cosines that make a cepstrum of them.
struct Bank {
    filters: Vec<Vec<(usize, f32)>>,
    cosines: Vec<[f32; BANDS]>,
}

impl Bank {
    fn new() -> Self {
        let mel = |hertz: f32| 2595.0 * (1.0 + hertz / 700.0).log10();
        let hertz = |mel: f32| 700.0 * (10_f32.powf(mel / 2595.0) - 1.0);
        let (low, high) = (mel(80.0), mel(7600.0));
        let point = |i: usize| {
            let mel = low + (high - low) * i as f32 / (BANDS + 1) as f32;
            hertz(mel) * FRAME as f32 / SAMPLE_RATE as f32
        };
        let filter = |band: usize| {
            let (left, middle, right) = (point(band), point(band + 1), point(band + 2));
            let weight = |k: usize| {
                let k = k as f32;
                ((k - left) / (middle - left)).min((right - k) / (right - middle))
            };
            (0..FRAME / 2 + 1).map(|k| (k, weight(k))).filter(|(_, w)| *w > 0.0).collect()
        };
        let cosine = |c: usize, band: usize| {
            let angle =
                std::f32::consts::PI * c as f32 * (2 * band + 1) as f32 / (2 * BANDS) as f32;
            angle.cos() * (2.0 / BANDS as f32).sqrt()
        };
        Self {
            filters: (0..BANDS).map(filter).collect(),
            cosines: (1..=COEFFICIENTS)
                .map(|c| std::array::from_fn(|band| cosine(c, band)))
                .collect(),
        }
    }

    /// Means and spreads of the cepstrum over the loud frames, then those of the pitch; `None`
    /// without enough of them.
    fn features(&self, samples: &[f32]) -> Option<[f32; FEATURES]> {
        let mut spectrum = Spectrum::new(FRAME, FRAME);
        let mut frames: Vec<(f32, [f32; COEFFICIENTS])> = Vec::new();
        for begin in (0..(samples.len() + 1).saturating_sub(FRAME)).step_by(HOP) {
            spectrum.power(&samples[begin..begin + FRAME], |power| {
                let energy = (power.iter().sum::<f32>() + 1e-10).ln();
                frames.push((energy, self.cepstrum(power)));
            });
        }
        let mut energies: Vec<f32> = frames.iter().map(|f| f.0).collect();
        energies.sort_by(f32::total_cmp);
        let peak = *energies.get(energies.len().saturating_sub(1) * 95 / 100)?;
        // −80 dB of a full-scale tone, and what is not a number.
        if peak.is_nan() || peak <= -8.0 {
            return None;
        }
        // Within 30 dB of the peaks.
        let floor = peak - 3.0 * std::f32::consts::LN_10;
        frames.retain(|f| f.0 > floor);
        if frames.len() < MIN_FRAMES {
            return None;
        }
        let mut features = [0.0; FEATURES];
        for c in 0..COEFFICIENTS {
            let (mean, spread) = mean_and_spread(frames.iter().map(|f| f.1[c]));
            features[c] = mean;
            features[COEFFICIENTS + c] = spread;
        }
        // Whispers have no pitch: they count as average there.
        let (pitch, spread) =
            pitch(samples).unwrap_or((CENTRE[FEATURES - 2], CENTRE[FEATURES - 1]));
        features[FEATURES - 2] = pitch;
        features[FEATURES - 1] = spread;
        Some(features)
    }

    fn cepstrum(&self, power: &[f32]) -> [f32; COEFFICIENTS] {
        let mut logs = [0.0; BANDS];
        for (log, filter) in logs.iter_mut().zip(&self.filters) {
            let energy: f32 = filter.iter().map(|(k, weight)| power[*k] * weight).sum();
            *log = (energy + 1e-10).ln();
        }
        std::array::from_fn(|c| logs.iter().zip(&self.cosines[c]).map(|(l, w)| l * w).sum())
    }
}

fn vector(features: &[f32; FEATURES]) -> Option<Vec<f32>> {
    let project = |axis: &[f32; FEATURES]| {
        let terms = features.iter().zip(&CENTRE).zip(axis);
        terms.map(|((feature, centre), weight)| (feature - centre) * weight).sum()
    };
    let mut vector: Vec<f32> = PROJECTION.iter().map(project).collect();
    let norm = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    if !norm.is_finite() || norm < 1e-6 {
        return None;
    }
    vector.iter_mut().for_each(|v| *v /= norm);
    Some(vector)
}

/// Median and spread of the logarithm of the pitch, in Hz, over voiced frames; `None` with too few.
fn pitch(samples: &[f32]) -> Option<(f32, f32)> {
    const SHORTEST: usize = SAMPLE_RATE as usize / 400;
    const LONGEST: usize = SAMPLE_RATE as usize / 65;
    let mut spectrum = Spectrum::new(PITCH_FRAME, 2 * PITCH_FRAME);
    let mut pitches = Vec::new();
    for begin in (0..(samples.len() + 1).saturating_sub(PITCH_FRAME)).step_by(PITCH_HOP) {
        spectrum.power(&samples[begin..begin + PITCH_FRAME], |_| ());
        let lags = spectrum.autocorrelation(0..PITCH_FRAME + 1)[..LONGEST].to_vec();
        if lags[0] / ((2 * PITCH_FRAME) as f32) < 1e-6 {
            continue;
        }
        let at = |lag: usize| lags[lag] / lags[0] / spectrum.of_window(lag);
        let highest = |lags: std::ops::Range<usize>| {
            lags.max_by(|a, b| at(*a).total_cmp(&at(*b)).then(b.cmp(a))).unwrap_or(SHORTEST)
        };
        let mut lag = highest(SHORTEST..LONGEST);
        let voicing = at(lag);
        // Multiples of the period fit as well: take the shortest that does.
        while let Some(shorter) = [3.0, 2.0].into_iter().find_map(|divisor| {
            let part = (lag as f32 / divisor).round() as usize;
            let near = (part >= SHORTEST + 2).then(|| highest(part - 2..part + 3))?;
            (at(near) > 0.9 * voicing).then_some(near)
        }) {
            lag = shorter;
        }
        if voicing > 0.6 {
            pitches.push((SAMPLE_RATE as f32 / lag as f32).ln());
        }
    }
    if pitches.len() <= 5 {
        return None;
    }
    pitches.sort_by(f32::total_cmp);
    let middle = pitches.len() / 2;
    let median = match pitches.len() % 2 {
        1 => pitches[middle],
        _ => (pitches[middle - 1] + pitches[middle]) / 2.0,
    };
    Some((median, mean_and_spread(pitches.iter().copied()).1))
}

fn mean_and_spread(values: impl Iterator<Item = f32> + Clone) -> (f32, f32) {
    let count = values.clone().count() as f32;
    let mean = values.clone().sum::<f32>() / count;
    let spread = (values.map(|v| (v - mean).powi(2)).sum::<f32>() / count).sqrt();
    (mean, spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pulses at a pitch through a resonance: a very simple voice.
    fn voice(hertz: f32, resonance: f32) -> Vec<f32> {
        let (mut y1, mut y2, mut phase) = (0.0, 0.0, 0.0);
        let turn = (std::f32::consts::TAU * resonance / SAMPLE_RATE as f32).cos();
        let sample = |_| {
            phase += hertz / SAMPLE_RATE as f32;
            let pulse = if phase >= 1.0 { 0.2 } else { 0.0 };
            phase -= phase.floor();
            let y = pulse + 2.0 * 0.97 * turn * y1 - 0.97 * 0.97 * y2;
            (y2, y1) = (y1, y);
            y
        };
        (0..32_000).map(sample).collect()
    }

    #[test]
    fn pitch_is_the_rate_of_the_pulses() {
        for hertz in [90.0_f32, 140.0, 220.0, 320.0] {
            let (median, spread) = pitch(&voice(hertz, 700.0)).unwrap();
            assert!((median.exp() / hertz - 1.0).abs() < 0.02, "{} for {hertz}", median.exp());
            assert!(spread < 0.1, "{spread} for {hertz}");
        }
        assert_eq!(pitch(&vec![0.0; 32_000]), None);
    }

    #[test]
    fn different_voices_lie_apart() {
        let bank = Bank::new();
        let embed =
            |hertz, resonance| vector(&bank.features(&voice(hertz, resonance)).unwrap()).unwrap();
        let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        let (low, near, high) = (embed(100.0, 600.0), embed(102.0, 610.0), embed(230.0, 1400.0));
        let (same, different) = (cosine(&low, &near), cosine(&low, &high));
        assert!(same > 0.99 && same > different, "{same} {different}");
    }
}
