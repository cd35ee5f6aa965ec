//! Voice activity detection without a model, based on the level above noise, voicing, and the
//! rhythm of syllables. It is the fallback if no network is available. It mistakes rhythmic music
//! for speech.

use ports::{
    Result,
    decoder::SAMPLE_RATE,
    vad::{SpeechSpan, VoiceActivityDetector, VoiceActivitySession},
};

use super::{
    segments::{Segmenter, SpeechOptions},
    spectrum::Spectrum,
};

const FRAME: usize = 512;
const HOP: usize = 256;
const POINTS: usize = 1024;

/// A detector that finds speech with rules on the spectrum.
pub struct SpectralVoiceActivity {
    speech: SpeechOptions,
}

impl SpectralVoiceActivity {
    /// Creates a detector with custom rules for when speech begins and ends.
    pub fn new(speech: SpeechOptions) -> Self {
        Self { speech }
    }
}

impl Default for SpectralVoiceActivity {
    fn default() -> Self {
        // These durations are longer than for a network, because level and voicing drop within
        // words.
        Self::new(SpeechOptions { min_speech: 0.3, min_silence: 0.3, ..SpeechOptions::default() })
    }
}

impl VoiceActivityDetector for SpectralVoiceActivity {
    fn model(&self) -> &str {
        "spectral"
    }

    fn begin(&self) -> Result<Box<dyn VoiceActivitySession>> {
        Ok(Box::new(Stream {
            speech: self.speech,
            spectrum: Spectrum::new(FRAME, POINTS),
            pending: Vec::with_capacity(FRAME + HOP),
            levels: Vec::new(),
            voicings: Vec::new(),
            total: 0,
        }))
    }
}

/// One stream of samples. It stores two bytes per 16 ms, which is 450 kB per hour.
struct Stream {
    speech: SpeechOptions,
    spectrum: Spectrum,
    pending: Vec<f32>,
    /// Power of each frame between 150 Hz and 3800 Hz, packed by [`Level`].
    levels: Vec<u8>,
    /// Highest autocorrelation of each frame at the lags of a voice's pitch. 255 stands for 1.25.
    voicings: Vec<u8>,
    total: u64,
}

impl VoiceActivitySession for Stream {
    fn push(&mut self, samples: &[f32]) -> Result<()> {
        self.total += samples.len() as u64;
        for block in samples.chunks(HOP) {
            self.pending.extend(block.iter().map(|s| if s.is_finite() { *s } else { 0.0 }));
            while self.pending.len() >= FRAME {
                self.frame();
                self.pending.drain(..HOP);
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<SpeechSpan>> {
        let mut segmenter = Segmenter::new(&self.speech, HOP);
        let Some(threshold) = self.threshold() else { return Ok(Vec::new()) };
        // The audio is processed in blocks, so that this memory does not grow with its length.
        for begin in (0..self.levels.len()).step_by(BLOCK) {
            let end = (begin + BLOCK).min(self.levels.len());
            for probability in self.probabilities(begin..end, threshold) {
                segmenter.push(probability);
            }
        }
        Ok(segmenter.finish(self.total))
    }
}

const BLOCK: usize = 16_384;
/// Number of frames that smoothing reads beyond each end of a block.
const MARGIN: usize = 160;

/// Values in dB that determine the level threshold for speech. The threshold is `ABOVE_NOISE` above
/// the quietest tenth of the frames, but always between `BELOW_PEAK` and `CLOSE_TO_PEAK` below the
/// loudest twentieth. The values were tuned on the clips with labelled speech.
const ABOVE_NOISE: f32 = 9.0;
const BELOW_PEAK: f32 = 35.0;
const CLOSE_TO_PEAK: f32 = 16.0;
/// Peak level, in dB, below which audio is silence.
const SILENCE: f32 = -35.0;
const VOICED: f32 = 0.45;
/// Minimum level change between syllables, in dB. Held notes and steady noise stay below it.
const RHYTHM: f32 = 3.2;

impl Stream {
    fn frame(&mut self) {
        let bin = |hertz: usize| hertz * POINTS / SAMPLE_RATE as usize;
        let mut level = 0.0;
        self.spectrum.power(&self.pending[..FRAME], |power| {
            level = power[bin(150)..=bin(3800)].iter().sum();
        });
        let lags = self.spectrum.autocorrelation(bin(80)..bin(2000) + 1);
        let whole = lags[0] + 1e-6;
        let best = (40..230).map(|lag| (lag, lags[lag] / whole)).collect::<Vec<_>>();
        let voicing = best
            .into_iter()
            .map(|(lag, value)| value / (self.spectrum.window_autocorrelation(lag) + 1e-3))
            .fold(0.0, f32::max);
        self.levels.push(Level::pack(10.0 * (level + 1e-9_f32).log10()));
        self.voicings.push((voicing * 204.0).clamp(0.0, 255.0) as u8);
    }

    /// Returns the minimum level of speech and the peak level, in dB. Returns `None` for silence.
    fn threshold(&self) -> Option<(f32, f32)> {
        let mut counts = [0_usize; 256];
        for level in &self.levels {
            counts[usize::from(*level)] += 1;
        }
        let percentile = |share: f64| {
            let rank = (self.levels.len() as f64 * share) as usize;
            let mut seen = 0;
            let at = counts.iter().position(|count| {
                seen += count;
                seen > rank
            });
            Level::unpack(at.unwrap_or(255) as u8)
        };
        let (noise, peak) = (percentile(0.1), percentile(0.95));
        let threshold = (noise + ABOVE_NOISE).max(peak - BELOW_PEAK).min(peak - CLOSE_TO_PEAK);
        (!self.levels.is_empty() && peak > SILENCE).then_some((threshold, peak))
    }

    fn probabilities(
        &self,
        frames: std::ops::Range<usize>,
        (threshold, peak): (f32, f32),
    ) -> Vec<f32> {
        let begin = frames.start.saturating_sub(MARGIN);
        let end = (frames.end + MARGIN).min(self.levels.len());
        let levels: Vec<f32> = self.levels[begin..end].iter().map(|l| Level::unpack(*l)).collect();
        let voicings: Vec<f32> =
            self.voicings[begin..end].iter().map(|v| f32::from(*v) / 204.0).collect();

        let audible: Vec<f32> = levels.iter().map(|l| l.max(peak - 40.0)).collect();
        let (fast, slow) = (smooth(&audible, 2), smooth(&audible, 15));
        let moved: Vec<f32> = fast.iter().zip(&slow).map(|(f, s)| (f - s).powi(2)).collect();
        let rhythm = smooth(&moved, 47);
        let voiced = smooth(&voicings, 7);

        let likely: Vec<f32> = (0..levels.len())
            .map(|i| {
                let loud = logistic((levels[i] - threshold) / 2.0);
                let voice = logistic((voiced[i] - VOICED) / 0.06);
                let syllables = logistic((rhythm[i].sqrt() - RHYTHM) / 0.3);
                loud * (0.2 + 0.8 * voice) * syllables
            })
            .collect();
        smooth(&likely, 2)[frames.start - begin..frames.end - begin].to_vec()
    }
}

/// Packs a level into a byte. The range is −90 dB to 69 dB, in steps of ⅝ dB.
struct Level;

impl Level {
    fn pack(decibels: f32) -> u8 {
        ((decibels + 90.0) * 1.6).round().clamp(0.0, 255.0) as u8
    }

    fn unpack(packed: u8) -> f32 {
        f32::from(packed) / 1.6 - 90.0
    }
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Computes the moving average over `reach` values on either side. At the ends, fewer values are
/// averaged.
fn smooth(values: &[f32], reach: usize) -> Vec<f32> {
    let mut sums = Vec::with_capacity(values.len() + 1);
    sums.push(0.0_f64);
    for value in values {
        sums.push(sums[sums.len() - 1] + f64::from(*value));
    }
    (0..values.len())
        .map(|i| {
            let (from, to) = (i.saturating_sub(reach), (i + reach + 1).min(values.len()));
            ((sums[to] - sums[from]) / (to - from) as f64) as f32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_uses_what_is_there() {
        assert_eq!(smooth(&[0.0, 3.0, 6.0], 1), [1.5, 3.0, 4.5]);
        assert_eq!(smooth(&[], 3), [0.0_f32; 0]);
    }

    #[test]
    fn levels_survive_packing() {
        for level in [-90.0, -35.0, 0.0, 40.0] {
            assert!((Level::unpack(Level::pack(level)) - level).abs() < 0.35);
        }
    }
}
