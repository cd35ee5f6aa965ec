//! Level envelopes of the two channels of a stereo track, measured window by window, and the bleed
//! between the channels. Voices on separate channels alternate or, while both speak, rise and fall
//! independently. Music, ambience and a centred voice rise and fall on both channels together.

use ports::decoder::SAMPLE_RATE;

use crate::kernel::time::Span;

/// Number of samples per window. A window lasts 50 ms, which is less than a syllable.
const WINDOW: usize = SAMPLE_RATE as usize / 20;

/// Length of a window, in seconds.
const SECONDS: f64 = WINDOW as f64 / SAMPLE_RATE as f64;

/// Minimum level difference, in dB, at which only the louder channel has the voice. If microphones
/// have so much bleed that the difference is smaller, their channels do not count as separate.
const MIN_DIFFERENCE: f32 = 6.0;

/// Level, in dB relative to a channel's maximum, below which sound is a pause.
const AUDIBLE: f32 = -35.0;

/// Lowest level that is distinguished, in dB. How quiet a pause is does not matter.
const FLOOR: f32 = -45.0;

/// Number of loudest windows that determine a channel's level. They last half a second in total.
const LOUDEST_WINDOWS: usize = 10;

/// Maximum gain for bringing a channel to the level of the other channel, in dB.
const MAX_GAIN: f32 = 20.0;

/// Minimum number of windows in which a channel must have its own sound. They last about as long as
/// the word "Hello".
const MIN_OWN: usize = 8;

/// Minimum level by which a channel's own sound exceeds the bleed, in dB.
const MARGIN: f32 = 8.0;

/// The bleed is estimated as a quantile of the level differences in windows in which the other
/// channel is louder. The quantile is 1 divided by this value, so 4 means the lower quartile. It is
/// below the median, because the channel's own voice lies above the bleed.
const BLEED_QUANTILE: usize = 4;

/// If the envelopes correlate less than this value, the sounds are independent.
const INDEPENDENT: f64 = 0.3;

/// Maximum share of audible windows that may have similar levels on both channels if the envelopes
/// correlate.
const MAX_SIMULTANEOUS: f64 = 0.35;

/// If the samples correlate more than this value, both channels carry the same sound.
const COPY: f32 = 0.9;

/// Number of windows on either side over which bleed detection is smoothed.
const SMOOTHING: usize = 5;

/// Number of audible windows after which channels that hardly differ are considered identical. They
/// last ten minutes in total.
const IDENTICAL_WINDOWS: usize = 12_000;

/// The channels differ if each channel is clearly louder in at least one of this many audible
/// windows.
const MIN_APART_SHARE: usize = 100;

/// Minimum level of audible sound, in dB relative to full scale.
const AUDIBLE_DBFS: f32 = -50.0;

/// The measurements of a window.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// The level of each channel, in dB.
    levels: [f32; 2],
    /// Absolute correlation of the channels' samples, 0..1.
    correlation: f32,
}

/// The envelopes of two channels.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    windows: Vec<Window>,
    /// The energy of each channel in the incomplete window.
    energy: [f64; 2],
    /// The cross-correlation of the channels in the incomplete window.
    shared: f64,
    samples: usize,
    /// The number of audible windows.
    audible: usize,
    /// For each channel, the number of windows in which it is clearly louder.
    apart: [usize; 2],
}

/// Parameters that separate a channel's own voice from bleed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Separation {
    /// The reference level of each channel, in dB.
    full: [f32; 2],
    /// The bleed into each channel: its level minus that of the other channel, in dB.
    bleed: [f32; 2],
}

impl Envelope {
    /// Appends the same number of samples for each channel.
    pub(super) fn push(&mut self, [left, right]: [&[f32]; 2]) {
        for (left, right) in left.iter().zip(right) {
            let (left, right) = (f64::from(*left), f64::from(*right));
            self.energy[0] += left * left;
            self.energy[1] += right * right;
            self.shared += left * right;
            self.samples += 1;
            if self.samples == WINDOW {
                self.close_window();
            }
        }
    }

    fn close_window(&mut self) {
        let level = |energy: f64| 10.0 * (energy / WINDOW as f64).max(1e-12).log10() as f32;
        let product = (self.energy[0] * self.energy[1]).sqrt();
        let correlation = (self.shared.abs() / product.max(f64::MIN_POSITIVE)) as f32;
        let levels = self.energy.map(level);
        self.windows.push(Window { levels, correlation });
        let [left, right] = levels;
        if left.max(right) > AUDIBLE_DBFS {
            self.audible += 1;
            self.apart[0] += usize::from(left - right >= MIN_DIFFERENCE);
            self.apart[1] += usize::from(right - left >= MIN_DIFFERENCE);
        }
        (self.energy, self.shared, self.samples) = ([0.0; 2], 0.0, 0);
    }

    /// Whether so much audio was identical on both channels that they cannot have separate voices.
    pub(super) fn is_identical(&self) -> bool {
        let rarer = self.apart[0].min(self.apart[1]);
        self.audible >= IDENTICAL_WINDOWS && rarer * MIN_APART_SHARE < self.audible
    }

    /// Determines the parameters that separate the channels' voices within `speech`. The times in
    /// `speech` are in seconds from the first window. Returns `None` if the channels share a voice.
    pub(super) fn separate_voices(&self, speech: &[Span]) -> Option<Separation> {
        let loudest = [0, 1].map(|channel| {
            let mut levels: Vec<f32> = self.windows.iter().map(|w| w.levels[channel]).collect();
            levels.sort_by(|a, b| b.total_cmp(a));
            levels.get(LOUDEST_WINDOWS - 1).copied().unwrap_or(f32::NEG_INFINITY)
        });
        let louder = loudest[0].max(loudest[1]);
        // A lower level comes from either a quieter speaker or less microphone gain: try both.
        let speaks_lower = self.separate_at([louder; 2], speech);
        let is_set_lower = self.separate_at(loudest.map(|own| own.max(louder - MAX_GAIN)), speech);
        let found = [speaks_lower, is_set_lower].into_iter().flatten();
        // If both separations are equally good, the first one is used.
        let best = found.reduce(|best, next| if best.1 >= next.1 { best } else { next });
        best.map(|(separation, _)| separation)
    }

    /// Tries to separate the voices with the reference levels `full`. Also counts the windows in
    /// which each channel has its own sound, and returns the smaller of the two counts.
    fn separate_at(&self, full: [f32; 2], speech: &[Span]) -> Option<(Separation, usize)> {
        let spoken: Vec<Window> =
            self.within(speech).map(|window| window.normalised(full)).collect();
        let separation = Separation { full, bleed: [bleed(&spoken, 0)?, bleed(&spoken, 1)?] };
        let own = |channel| spoken.iter().filter(|w| w.has_own(channel, separation)).count();
        let own = own(0).min(own(1));
        let audible = spoken.iter().filter(|w| w.levels[0].max(w.levels[1]) > AUDIBLE).count();
        let together = spoken.iter().filter(|w| w.is_simultaneous()).count();
        let is_apart = together as f64 <= MAX_SIMULTANEOUS * audible as f64;
        let is_separate = own >= MIN_OWN && (is_apart || correlation(&spoken) < INDEPENDENT);
        is_separate.then_some((separation, own))
    }

    /// Whether a channel has its own sound within its speech for at least the length of a word.
    pub(super) fn has_own(&self, channel: usize, by: Separation, speech: &[Span]) -> bool {
        let windows = self.within(speech).map(|window| window.normalised(by.full));
        windows.filter(|window| window.has_own(channel, by)).count() >= MIN_OWN
    }

    /// Returns the spans in which a channel has only bleed, in order, with times in seconds from
    /// the first window.
    pub(super) fn bleeding(&self, channel: usize, by: Separation) -> Vec<Span> {
        let is_bleed = |window: &Window| window.normalised(by.full).is_bleed(channel, by);
        let flags: Vec<bool> = self.windows.iter().map(is_bleed).collect();
        let mut spans: Vec<Span> = Vec::new();
        for at in 0..flags.len() {
            let around = &flags[at.saturating_sub(SMOOTHING)..flags.len().min(at + SMOOTHING + 1)];
            if around.iter().filter(|flag| **flag).count() * 2 <= around.len() {
                continue;
            }
            let (start, end) = (at as f64 * SECONDS, (at + 1) as f64 * SECONDS);
            match spans.last_mut() {
                Some(last) if start - last.end < SECONDS / 2.0 => last.end = end,
                _ => spans.push(Span { start, end }),
            }
        }
        spans
    }

    /// Returns the windows whose midpoint lies within one of the spans.
    fn within(&self, spans: &[Span]) -> impl Iterator<Item = Window> {
        let place =
            |time: f64| ((time / SECONDS).round().max(0.0) as usize).min(self.windows.len());
        spans.iter().flat_map(move |span| {
            let (first, last) = (place(span.start), place(span.end));
            self.windows[first..last.max(first)].iter().copied()
        })
    }
}

impl Window {
    /// Returns the window with its levels relative to the reference levels `full`, but at least
    /// [`FLOOR`].
    fn normalised(self, full: [f32; 2]) -> Self {
        let levels = [0, 1].map(|channel| (self.levels[channel] - full[channel]).max(FLOOR));
        Self { levels, ..self }
    }

    /// Whether a channel has its own sound, louder than the bleed.
    fn has_own(&self, channel: usize, Separation { bleed, .. }: Separation) -> bool {
        let (own, other) = (self.levels[channel], self.levels[1 - channel]);
        own > AUDIBLE && own > other + bleed[channel] + MARGIN && !self.is_copy(channel)
    }

    /// Whether a channel's sound is only bleed.
    fn is_bleed(&self, channel: usize, Separation { bleed, .. }: Separation) -> bool {
        let (own, other) = (self.levels[channel], self.levels[1 - channel]);
        let is_explained = own <= other + bleed[channel] + MARGIN;
        let is_heard = bleed[channel] > AUDIBLE;
        self.is_copy(channel) || (other > AUDIBLE && is_heard && is_explained)
    }

    /// Whether a channel is a copy of the other channel, which is at least as loud. If both are
    /// equally loud, the right channel counts as the copy.
    fn is_copy(&self, channel: usize) -> bool {
        const SAME_LEVEL: f32 = 1.0;
        let louder = self.levels[1 - channel] - self.levels[channel];
        let least = if channel == 0 { SAME_LEVEL } else { -SAME_LEVEL };
        self.correlation > COPY && self.levels[1 - channel] > AUDIBLE && louder > least
    }

    /// Whether both channels are audible at similar levels.
    fn is_simultaneous(&self) -> bool {
        let [left, right] = self.levels;
        left.min(right) > AUDIBLE && (left - right).abs() < MIN_DIFFERENCE
    }
}

/// Measures the bleed into a channel while the other channel is clearly louder. Returns `None` if
/// the other channel is never clearly louder.
fn bleed(windows: &[Window], channel: usize) -> Option<f32> {
    let mut differences: Vec<f32> = windows
        .iter()
        .filter(|w| w.levels[1 - channel] > AUDIBLE)
        .map(|w| w.levels[channel] - w.levels[1 - channel])
        .filter(|difference| *difference <= -MIN_DIFFERENCE)
        .collect();
    differences.sort_by(f32::total_cmp);
    differences.get(differences.len() / BLEED_QUANTILE).copied()
}

/// Returns the correlation of the channels' levels, −1..1, or 0 if the level of a channel is
/// constant.
fn correlation(windows: &[Window]) -> f64 {
    let count = windows.len().max(1) as f64;
    let mean =
        |channel: usize| windows.iter().map(|w| f64::from(w.levels[channel])).sum::<f64>() / count;
    let means = [mean(0), mean(1)];
    let (mut squares, mut product) = ([0.0; 2], 0.0);
    for window in windows {
        let [left, right] = [0, 1].map(|i| f64::from(window.levels[i]) - means[i]);
        squares[0] += left * left;
        squares[1] += right * right;
        product += left * right;
    }
    product / (squares[0] * squares[1]).sqrt().max(f64::MIN_POSITIVE)
}
