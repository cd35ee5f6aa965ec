//! Detects pauses in audio, and measures the audio level of each second. The threshold for a pause
//! adapts to the noise floor and loudness around it, so that hum or hiss under speech does not hide
//! pauses, and soft music does not count as one long pause.

use std::collections::VecDeque;

use crate::chunking::signal::Candidate;

/// Length of a frame, in seconds. The level is measured for each frame.
const FRAME: f64 = 0.02;

/// Length of the window before a frame, in seconds. The window after it is half as long.
const WINDOW: f64 = 10.0;

/// Minimum length of a pause, in seconds. Gaps within words and before plosives are shorter.
const MIN_PAUSE: f64 = 0.25;

/// Length from which a pause has full strength, in seconds.
const FULL_PAUSE: f64 = 1.5;

/// Maximum length of a sound that does not end a pause (a click or a breath), in seconds.
const MAX_CLICK: f64 = 0.06;

/// Threshold for quiet frames: the level above the noise floor, as a share of the range between the
/// floor and loud parts. It is limited to [`QUIET_RANGE`].
const QUIET_SHARE: f32 = 0.3;

/// Minimum and maximum of the threshold for quiet frames, in dB above the noise floor.
const QUIET_RANGE: (f32, f32) = (3.0, 14.0);

/// Minimum range between the noise floor and loud parts, in dB. No pauses are detected in a smaller
/// range.
const MIN_RANGE: f32 = 10.0;

/// Level of digital silence, in dBFS.
pub const SILENT: f32 = -96.0;

/// Level in dBFS below which even the loud parts count as silence.
const INAUDIBLE: f32 = -60.0;

/// The result of the silence detector.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Silences {
    /// The centres of pauses, in chronological order. Longer pauses are stronger candidates.
    /// Silence at the beginning or end separates nothing, so it is omitted. An entirely silent
    /// track has no candidates.
    pub candidates: Vec<Candidate>,
    /// Root mean square level of each second, starting at time 0, in dBFS ([`SILENT`] to 0). The
    /// last value may cover less than a second.
    pub levels: Vec<f32>,
}

/// Detects pauses in a stream of samples.
pub struct SilenceDetector {
    rate: f64,
    frame_length: usize,
    /// Sum of squares and number of samples in the current frame.
    filling: (f64, usize),
    /// Levels of the frame to be judged and of the frames before and after it, in dBFS.
    window: Window,
    frames_judged: u64,
    pause: Option<SilentFrames>,
    /// Whether there has been any sound so far.
    had_sound: bool,
    candidates: Vec<Candidate>,
    second: (f64, usize),
    levels: Vec<f32>,
    /// Time of the first sample.
    start: Option<f64>,
}

struct SilentFrames {
    start: u64,
    /// Index of the frame after the last quiet one.
    end: u64,
}

impl SilenceDetector {
    /// Creates a detector for mono samples at `sample_rate` Hz.
    pub fn new(sample_rate: u32) -> Self {
        let rate = f64::from(sample_rate.max(1));
        Self {
            rate,
            frame_length: ((rate * FRAME) as usize).max(1),
            filling: (0.0, 0),
            window: Window::new(),
            frames_judged: 0,
            pause: None,
            had_sound: false,
            candidates: Vec::new(),
            second: (0.0, 0),
            levels: Vec::new(),
            start: None,
        }
    }

    /// Sets the time of the first sample, in seconds; the default is 0. Call this before the first
    /// push. The level is [`SILENT`] for all seconds before that time.
    pub fn starts_at(&mut self, time: f64) {
        if self.start.is_none() && time.is_finite() && time > 0.0 {
            self.start = Some(time);
            let whole = time.min(f64::from(u32::MAX)).floor();
            self.levels.resize(whole as usize, SILENT);
            self.second.1 = ((time - whole) * self.rate) as usize;
        }
    }

    /// Appends samples, each from −1 to 1.
    pub fn push(&mut self, samples: &[f32]) {
        self.start.get_or_insert(0.0);
        let mut rest = samples;
        while !rest.is_empty() {
            let second_left = (self.rate as usize).saturating_sub(self.second.1).max(1);
            let n = rest.len().min(self.frame_length - self.filling.1).min(second_left);
            let (now, later) = rest.split_at(n);
            let energy: f64 = now.iter().map(|&s| f64::from(s * s)).sum();
            self.filling = (self.filling.0 + energy, self.filling.1 + n);
            self.second = (self.second.0 + energy, self.second.1 + n);
            if self.filling.1 == self.frame_length {
                self.close_frame();
            }
            if self.second.1 >= self.rate as usize {
                self.close_second();
            }
            rest = later;
        }
    }

    /// Ends the stream and returns the result.
    pub fn finish(mut self) -> Silences {
        if self.second.1 > 0 && self.start.is_some() {
            self.close_second();
        }
        while let Some((level, threshold)) = self.window.judge(true) {
            self.decide(level, threshold);
        }
        // A pause that lasts until the end separates nothing, so it is dropped.
        Silences { candidates: self.candidates, levels: self.levels }
    }

    fn close_frame(&mut self) {
        let (energy, n) = std::mem::take(&mut self.filling);
        self.window.push(decibels(energy, n));
        while let Some((level, threshold)) = self.window.judge(false) {
            self.decide(level, threshold);
        }
    }

    fn close_second(&mut self) {
        let (energy, n) = std::mem::take(&mut self.second);
        self.levels.push(decibels(energy, n));
    }

    fn decide(&mut self, level: f32, threshold: Option<f32>) {
        let frame = self.frames_judged;
        self.frames_judged += 1;
        let clicks = (MAX_CLICK / FRAME) as u64;
        match (threshold.is_some_and(|t| level < t), &mut self.pause) {
            (true, Some(pause)) => pause.end = frame + 1,
            (true, none) => *none = Some(SilentFrames { start: frame, end: frame + 1 }),
            (false, Some(pause)) if frame - pause.end >= clicks => {
                let pause = self.pause.take();
                self.close_pause(pause);
                self.had_sound = true;
            }
            (false, Some(_)) => {}
            (false, None) => self.had_sound |= threshold.is_some(),
        }
    }

    fn close_pause(&mut self, pause: Option<SilentFrames>) {
        let Some(SilentFrames { start, end }) = pause else { return };
        let length = (end - start) as f64 * self.frame_length as f64 / self.rate;
        if !self.had_sound || length < MIN_PAUSE {
            return;
        }
        let centre = (start + end) as f64 / 2.0 * self.frame_length as f64 / self.rate;
        let strength = 0.2 + 0.8 * ((length - MIN_PAUSE) / (FULL_PAUSE - MIN_PAUSE)).min(1.0);
        self.candidates.push(Candidate {
            time: self.start.unwrap_or(0.0) + centre,
            strength: strength as f32,
        });
    }
}

/// Levels around the frame to be judged, with a histogram in whole decibels.
struct Window {
    levels: VecDeque<f32>,
    /// Index in `levels` of the next frame to be judged.
    next: usize,
    histogram: [u32; 97],
}

impl Window {
    const BEHIND: usize = (WINDOW / FRAME) as usize;
    const AHEAD: usize = Self::BEHIND / 2;

    fn new() -> Self {
        Self { levels: VecDeque::new(), next: 0, histogram: [0; 97] }
    }

    fn push(&mut self, level: f32) {
        self.levels.push_back(level);
        self.histogram[bin(level)] += 1;
    }

    /// Returns the level of the next frame, and the threshold below which the frame is quiet. There
    /// is no threshold if the window lacks contrast. Returns `None` until enough later frames are
    /// available, unless the stream has `ended`.
    fn judge(&mut self, ended: bool) -> Option<(f32, Option<f32>)> {
        if self.next >= self.levels.len()
            || (!ended && self.levels.len() - self.next <= Self::AHEAD)
        {
            return None;
        }
        let level = self.levels[self.next];
        let threshold = self.threshold();
        self.next += 1;
        while self.next > Self::BEHIND {
            if let Some(old) = self.levels.pop_front() {
                self.histogram[bin(old)] -= 1;
            }
            self.next -= 1;
        }
        Some((level, threshold))
    }

    fn threshold(&self) -> Option<f32> {
        let floor = self.percentile(0.05);
        let loud = self.percentile(0.9);
        // Sparse speech shows only in the loudest frames.
        let loud = loud.max(self.percentile(0.98) - 6.0);
        if loud < INAUDIBLE || loud - floor < MIN_RANGE {
            return None;
        }
        // Digital silence would put the floor below the noise of any room, so the range is limited.
        let floor = floor.max(loud - 45.0);
        let (min, max) = QUIET_RANGE;
        Some(floor + (QUIET_SHARE * (loud - floor)).clamp(min, max))
    }

    fn percentile(&self, share: f32) -> f32 {
        let rank = (self.levels.len() as f32 * share) as u32;
        let mut seen = 0;
        for (i, &n) in self.histogram.iter().enumerate() {
            seen += n;
            if seen > rank {
                return i as f32 - 96.0;
            }
        }
        0.0
    }
}

fn bin(level: f32) -> usize {
    (level - SILENT).round().clamp(0.0, 96.0) as usize
}

fn decibels(energy: f64, samples: usize) -> f32 {
    let mean = energy / samples.max(1) as f64;
    if mean > 0.0 { ((10.0 * mean.log10()) as f32).clamp(SILENT, 0.0) } else { SILENT }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 16_000;

    /// Passes spans of noise, given as (seconds, amplitude), to a detector; the noise is the same
    /// on every run.
    fn listen(spans: &[(f64, f32)]) -> Silences {
        let mut detector = SilenceDetector::new(RATE);
        let mut state = 1u32;
        for &(seconds, amplitude) in spans {
            let samples: Vec<f32> = (0..(seconds * f64::from(RATE)) as usize)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    amplitude * ((state >> 8) as f32 / (1 << 23) as f32 - 1.0)
                })
                .collect();
            // Odd block sizes, like those from decoders.
            for block in samples.chunks(1013) {
                detector.push(block);
            }
        }
        detector.finish()
    }

    #[test]
    fn pauses_have_their_centre_and_strength_by_length() {
        for floor in [0.0, 0.003] {
            let candidates =
                listen(&[(3.0, 0.3), (0.5, floor), (3.0, 0.3), (1.2, floor), (2.0, 0.2)])
                    .candidates;
            assert_eq!(candidates.len(), 2, "floor {floor}: {candidates:?}");
            assert!((candidates[0].time - 3.25).abs() < 0.05, "{candidates:?}");
            assert!((candidates[1].time - 7.1).abs() < 0.05, "{candidates:?}");
            assert!(candidates[0].strength < candidates[1].strength, "{candidates:?}");
        }
    }

    #[test]
    fn steady_sounds_and_silence_have_no_pauses() {
        let cases: [(&str, &[(f64, f32)]); 6] = [
            ("digital silence", &[(20.0, 0.0)]),
            ("room noise", &[(20.0, 0.0005)]),
            ("steady sound", &[(20.0, 0.3)]),
            ("gaps within words", &[(1.0, 0.3), (0.1, 0.0), (1.0, 0.3), (0.1, 0.0), (1.0, 0.3)]),
            ("silence before and after", &[(3.0, 0.0), (2.0, 0.3), (3.0, 0.0)]),
            ("nothing", &[]),
        ];
        for (name, spans) in cases {
            assert_eq!(listen(spans).candidates, [], "{name}");
        }
    }

    #[test]
    fn clicks_do_not_end_pauses() {
        let candidates =
            listen(&[(3.0, 0.3), (0.5, 0.0), (0.04, 0.3), (0.5, 0.0), (3.0, 0.3)]).candidates;
        assert_eq!(candidates.len(), 1, "{candidates:?}");
        assert!((candidates[0].time - 3.52).abs() < 0.05, "{candidates:?}");
    }

    #[test]
    fn levels_are_in_decibels_of_full_scale() {
        let mut detector = SilenceDetector::new(RATE);
        detector.push(&vec![0.1; RATE as usize]);
        detector.push(&vec![0.0; RATE as usize]);
        detector.push(&vec![1.0; RATE as usize / 2]);
        let levels = detector.finish().levels;
        assert_eq!(levels.len(), 3);
        assert!((levels[0] + 20.0).abs() < 0.01 && levels[1] == SILENT && levels[2] == 0.0);
    }

    #[test]
    fn late_audio_keeps_its_times() {
        let mut detector = SilenceDetector::new(RATE);
        detector.starts_at(2.5);
        for amplitude in [0.3f32, 0.0, 0.3] {
            let sign = |i: usize| if i.is_multiple_of(2) { amplitude } else { -amplitude };
            detector.push(&(0..RATE as usize).map(sign).collect::<Vec<_>>());
        }
        let silences = detector.finish();
        assert_eq!(silences.levels.len(), 6, "{:?}", silences.levels);
        assert_eq!(silences.levels[..2], [SILENT; 2]);
        assert!((silences.candidates[0].time - 4.0).abs() < 0.05, "{:?}", silences.candidates);
    }
}
