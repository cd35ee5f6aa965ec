//! How loud the two channels of a stereo track are, window by window, and what of one is heard on the
//! other. Voices that have a channel each take turns or, while both speak, rise and fall independently;
//! music, ambience and a voice between the loudspeakers rise and fall on both channels together.

use ports::decoder::SAMPLE_RATE;

use crate::domain::kernel::time::Span;

/// Samples of a window: 50 ms, less than a syllable.
const WINDOW: usize = SAMPLE_RATE as usize / 20;

/// Length of a window, seconds.
const SECONDS: f64 = WINDOW as f64 / SAMPLE_RATE as f64;

/// A channel that is this much louder than the other has the voice alone, dB: microphones that hear each
/// other's voice with less difference are no channels of their own.
const APART: f32 = 6.0;

/// Sound of a channel this far below its loudest is a pause, dB.
const AUDIBLE: f32 = -35.0;

/// Lower levels count as this, dB: how deep a pause is says nothing.
const FLOOR: f32 = -45.0;

/// Windows by the loudest of which the level of a channel is measured: half a second.
const LOUDEST: usize = 10;

/// A channel is raised to the level of the other by no more than this, dB.
const MAX_GAIN: f32 = 20.0;

/// Windows in which a channel has a sound of its own, at least: the length of "Hello".
const MIN_OWN: usize = 8;

/// How much louder than what it hears of the other a channel is where it has a sound of its own, dB.
const MARGIN: f32 = 8.0;

/// What a channel hears of the other is this quantile of the differences while the other is louder: below
/// the median, because its own voice lies above.
const BLEED_QUANTILE: usize = 4;

/// Envelopes that correlate less are those of independent sounds.
const INDEPENDENT: f64 = 0.3;

/// Of envelopes that correlate, the share of audible windows in which both channels may be as loud.
const MAX_TOGETHER: f64 = 0.35;

/// Channels whose samples correlate more in a window have the same sound.
const COPY: f32 = 0.9;

/// Windows before and after one that decide with it whether it is bleed.
const SMOOTHING: usize = 5;

/// Audible windows after which channels that never differ are taken for alike: ten minutes.
const PATIENCE: usize = 12_000;

/// Of those, the part in which either channel is louder where they differ.
const MIN_APART: usize = 100;

/// Where full scale is 0 dB, what is heard at all.
const AUDIBLE_DBFS: f32 = -50.0;

/// The channels within a window.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// Level of each channel, dB.
    levels: [f32; 2],
    /// How far the samples of the channels correlate, whatever their sign, 0..1.
    likeness: f32,
}

/// The envelopes of two channels.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    windows: Vec<Window>,
    /// Energy of each channel and what they share, of the window that is not full.
    energy: [f64; 2],
    shared: f64,
    samples: usize,
    /// Windows in which something is heard, and in which either channel is clearly louder.
    audible: usize,
    apart: [usize; 2],
}

/// How to tell a channel's own voice from what it hears of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Separation {
    /// The level that each channel is measured by, dB.
    full: [f32; 2],
    /// What each hears of the other, as its level less that of the other, dB.
    bleed: [f32; 2],
}

impl Envelope {
    /// Adds as many samples of each channel.
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
        let likeness = (self.shared.abs() / product.max(f64::MIN_POSITIVE)) as f32;
        let levels = self.energy.map(level);
        self.windows.push(Window { levels, likeness });
        let [left, right] = levels;
        if left.max(right) > AUDIBLE_DBFS {
            self.audible += 1;
            self.apart[0] += usize::from(left - right >= APART);
            self.apart[1] += usize::from(right - left >= APART);
        }
        (self.energy, self.shared, self.samples) = ([0.0; 2], 0.0, 0);
    }

    /// Whether so much was heard of channels that do not differ that no voice is expected on either alone.
    pub(super) fn is_alike(&self) -> bool {
        let rarer = self.apart[0].min(self.apart[1]);
        self.audible >= PATIENCE && rarer * MIN_APART < self.audible
    }

    /// How to tell the voices of the channels apart where each has its own within `speech`, which is in
    /// seconds from the first window; `None` where they share one.
    pub(super) fn separate_voices(&self, speech: &[Span]) -> Option<Separation> {
        let loudest = [0, 1].map(|channel| {
            let mut levels: Vec<f32> = self.windows.iter().map(|w| w.levels[channel]).collect();
            levels.sort_by(|a, b| b.total_cmp(a));
            levels.get(LOUDEST - 1).copied().unwrap_or(f32::NEG_INFINITY)
        });
        let louder = loudest[0].max(loudest[1]);
        // Either somebody speaks lower, or a microphone is set lower: the level says not which.
        let speaks_lower = self.separate_at([louder; 2], speech);
        let is_set_lower = self.separate_at(loudest.map(|own| own.max(louder - MAX_GAIN)), speech);
        let found = [speaks_lower, is_set_lower].into_iter().flatten();
        // Of equals the first.
        let best = found.reduce(|best, next| if best.1 >= next.1 { best } else { next });
        best.map(|(separation, _)| separation)
    }

    /// Tries levels to measure the channels by; with the windows of the channel that has fewer of its own.
    fn separate_at(&self, full: [f32; 2], speech: &[Span]) -> Option<(Separation, usize)> {
        let spoken: Vec<Window> = self.within(speech).map(|window| window.measured(full)).collect();
        let separation = Separation { full, bleed: [bleed(&spoken, 0)?, bleed(&spoken, 1)?] };
        let own = |channel| spoken.iter().filter(|w| w.has_own(channel, separation)).count();
        let own = own(0).min(own(1));
        let audible = spoken.iter().filter(|w| w.levels[0].max(w.levels[1]) > AUDIBLE).count();
        let together = spoken.iter().filter(|w| w.is_together()).count();
        let is_apart = together as f64 <= MAX_TOGETHER * audible as f64;
        let is_separate = own >= MIN_OWN && (is_apart || correlation(&spoken) < INDEPENDENT);
        is_separate.then_some((separation, own))
    }

    /// Whether a channel has a sound of its own within its speech, for long enough to be a word.
    pub(super) fn has_own(&self, channel: usize, by: Separation, speech: &[Span]) -> bool {
        let windows = self.within(speech).map(|window| window.measured(by.full));
        windows.filter(|window| window.has_own(channel, by)).count() >= MIN_OWN
    }

    /// Where a channel has nothing but what it hears of the other, in order, seconds from the first window.
    pub(super) fn bleeding(&self, channel: usize, by: Separation) -> Vec<Span> {
        let is_bleed = |window: &Window| window.measured(by.full).is_bleed(channel, by);
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

    /// The windows whose middle lies within the spans.
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
    /// With levels measured by those given, and no lower than the floor.
    fn measured(self, full: [f32; 2]) -> Self {
        let levels = [0, 1].map(|channel| (self.levels[channel] - full[channel]).max(FLOOR));
        Self { levels, ..self }
    }

    /// Whether the sound of a channel is louder than what it hears of the other.
    fn has_own(&self, channel: usize, Separation { bleed, .. }: Separation) -> bool {
        let (own, other) = (self.levels[channel], self.levels[1 - channel]);
        own > AUDIBLE && own > other + bleed[channel] + MARGIN && !self.is_copy(channel)
    }

    /// Whether the sound of a channel is what it hears of the other.
    fn is_bleed(&self, channel: usize, Separation { bleed, .. }: Separation) -> bool {
        let (own, other) = (self.levels[channel], self.levels[1 - channel]);
        let is_explained = own <= other + bleed[channel] + MARGIN;
        let is_heard = bleed[channel] > AUDIBLE;
        self.is_copy(channel) || (other > AUDIBLE && is_heard && is_explained)
    }

    /// Whether a channel repeats the other, which is as loud; of two that are, the right one does.
    fn is_copy(&self, channel: usize) -> bool {
        const SAME_LEVEL: f32 = 1.0;
        let louder = self.levels[1 - channel] - self.levels[channel];
        let least = if channel == 0 { SAME_LEVEL } else { -SAME_LEVEL };
        self.likeness > COPY && self.levels[1 - channel] > AUDIBLE && louder > least
    }

    /// Whether both channels are heard, neither clearly louder.
    fn is_together(&self) -> bool {
        let [left, right] = self.levels;
        left.min(right) > AUDIBLE && (left - right).abs() < APART
    }
}

/// What a channel hears of the other while that is clearly louder; `None` where it hardly ever is.
fn bleed(windows: &[Window], channel: usize) -> Option<f32> {
    let mut heard: Vec<f32> = windows
        .iter()
        .filter(|w| w.levels[1 - channel] > AUDIBLE)
        .map(|w| w.levels[channel] - w.levels[1 - channel])
        .filter(|difference| *difference <= -APART)
        .collect();
    heard.sort_by(f32::total_cmp);
    heard.get(heard.len() / BLEED_QUANTILE).copied()
}

/// Correlation of the channels' levels, −1..1; 0 where one does not change.
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
