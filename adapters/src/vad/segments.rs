//! Converts the speech probabilities of windows into spans. It applies hysteresis, minimum
//! durations of speech and pauses, and padding. Voice activity adapters call it for each window. It
//! stores spans, but no audio.

use ports::{decoder::SAMPLE_RATE, vad::SpeechSpan};

/// Rules for when speech begins and ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeechOptions {
    /// Minimum probability (0..1) of a window at which speech begins.
    pub threshold: f32,
    /// Minimum probability (0..1) of a window that continues speech; at most `threshold`.
    pub release_threshold: f32,
    /// Minimum duration of speech, in seconds.
    pub min_speech: f64,
    /// Minimum duration of a pause that ends speech, in seconds.
    pub min_silence: f64,
    /// Time to add before and after each span if there is room, in seconds.
    pub padding: f64,
}

impl Default for SpeechOptions {
    /// Returns the defaults of `[vad]`.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

/// The state of one stream. Positions are in samples.
pub(super) struct Segmenter {
    threshold: f32,
    release: f32,
    min_speech: u64,
    min_silence: u64,
    padding: u64,
    window: u64,
    position: u64,
    begun: Option<u64>,
    pause: Option<u64>,
    spans: Vec<(u64, u64)>,
}

impl Segmenter {
    pub(super) fn new(options: &SpeechOptions, window: usize) -> Self {
        let samples = |seconds: f64| (seconds.max(0.0) * f64::from(SAMPLE_RATE)) as u64;
        Self {
            threshold: options.threshold,
            release: options.release_threshold.min(options.threshold),
            min_speech: samples(options.min_speech),
            min_silence: samples(options.min_silence),
            padding: samples(options.padding),
            window: window as u64,
            position: 0,
            begun: None,
            pause: None,
            spans: Vec::new(),
        }
    }

    /// Adds the probability of the next window.
    pub(super) fn push(&mut self, probability: f32) {
        let at = self.position;
        self.position += self.window;
        if probability >= self.threshold {
            self.pause = None;
            self.begun.get_or_insert(at);
        } else if probability < self.release
            && let Some(begun) = self.begun
        {
            let pause = *self.pause.get_or_insert(at);
            if at - pause >= self.min_silence {
                self.keep(begun, pause);
                (self.begun, self.pause) = (None, None);
            }
        }
    }

    /// Ends a stream of `total` samples and returns its spans.
    pub(super) fn finish(mut self, total: u64) -> Vec<SpeechSpan> {
        if let Some(begun) = self.begun {
            self.keep(begun, total);
        }
        let seconds = |samples: u64| samples as f64 / f64::from(SAMPLE_RATE);
        let mut spans: Vec<SpeechSpan> = Vec::with_capacity(self.spans.len());
        let mut from = 0;
        for (i, (start, end)) in self.spans.iter().enumerate() {
            // If a pause is too short for full padding, both spans get half of it.
            let next = self.spans.get(i + 1).map(|s| s.0);
            let room = next.map_or(total.saturating_sub(*end), |next| (next - end) / 2);
            let begin = start.saturating_sub(self.padding).max(from);
            from = (*end + room.min(self.padding)).min(total);
            spans.push(SpeechSpan { start: seconds(begin), end: seconds(from) });
        }
        spans
    }

    fn keep(&mut self, start: u64, end: u64) {
        if end > start && end - start > self.min_speech {
            self.spans.push((start, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: usize = 512;

    fn spans(options: SpeechOptions, windows: &[(usize, f32)]) -> Vec<(u64, u64)> {
        let mut segmenter = Segmenter::new(&options, WINDOW);
        let mut total = 0;
        for (count, probability) in windows {
            for _ in 0..*count {
                segmenter.push(*probability);
                total += WINDOW as u64;
            }
        }
        let windows = |seconds: f64| (seconds * 16_000.0 / WINDOW as f64).round() as u64;
        segmenter.finish(total).iter().map(|s| (windows(s.start), windows(s.end))).collect()
    }

    const BARE: SpeechOptions = SpeechOptions {
        threshold: 0.5,
        release_threshold: 0.35,
        min_speech: 0.25,
        min_silence: 0.1,
        padding: 0.0,
    };

    #[test]
    fn speech_continues_over_doubt_and_short_pauses() {
        let windows = [(5, 0.1), (10, 0.9), (4, 0.4), (2, 0.1), (10, 0.8), (9, 0.0)];
        assert_eq!(spans(BARE, &windows), [(5, 31)]);
        let windows = [(5, 0.1), (10, 0.9), (5, 0.1), (10, 0.8)];
        assert_eq!(spans(BARE, &windows), [(5, 15), (20, 30)]);
    }

    #[test]
    fn short_bursts_and_doubt_are_not_speech() {
        assert_eq!(spans(BARE, &[(9, 0.1), (4, 0.9), (9, 0.1), (30, 0.45)]), []);
    }

    #[test]
    fn padding_shares_short_pauses() {
        let options = SpeechOptions { padding: 0.16, ..BARE };
        let windows = [(2, 0.1), (10, 0.9), (6, 0.1), (10, 0.8), (40, 0.0), (10, 0.9), (1, 0.0)];
        assert_eq!(spans(options, &windows), [(0, 15), (15, 33), (63, 79)]);
    }
}
