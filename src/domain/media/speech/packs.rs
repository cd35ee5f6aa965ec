//! Packs of speech for recognition. A pack is at most as long as the recogniser's maximum input.
//! Packs are split at pauses and contain no long silence.

use ports::decoder::SAMPLE_RATE;
use ports::transcriber::Word;

use super::middle;
use crate::kernel::error::Result;
use crate::kernel::time::{Span, rounded};

/// Minimum length of pauses that are removed, in seconds. Shorter pauses are kept, because
/// recognisers work better with context.
const MIN_REMOVED_PAUSE: f64 = 2.0;

/// Margin before and after speech, in seconds. It is necessary because voice activity detection
/// starts late at soft beginnings and stops early at soft endings.
const MARGIN: f64 = 0.4;

/// Length of the quiet moment at which speech without pauses is split, in seconds.
const BREATH: f64 = 0.1;

/// Minimum pause between regions, in seconds. The word times that recognisers report are more
/// accurate than this.
const REGION_PAUSE: f64 = 1.0;

/// Minimum pause that cannot be within a word, in seconds.
const WORD_PAUSE: f64 = 0.5;

/// A word that spans a pause is assigned to the time before the pause only if the part before the
/// pause is more than this many times as long as the part after it. Recognisers tend to add pauses
/// to the following word.
const BEFORE_PAUSE: f64 = 2.0;

/// Spans of audio that are recognised together, in order and without overlaps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pack(pub(super) Vec<Span>);

impl Pack {
    /// Returns the span from the start of the first part to the end of the last.
    pub(super) fn whole(&self) -> Span {
        let start = self.0.first().map_or(0.0, |part| part.start);
        Span { start, end: self.0.last().map_or(start, |part| part.end) }
    }

    /// Returns the total length of the pack's audio, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.0.iter().map(Span::seconds).sum()
    }

    /// Converts word times from seconds in the pack's audio to seconds in the video. Each word
    /// stays within the part that contains its midpoint. Words are shortened so that they do not
    /// extend over pauses between `spans`, the video's voice activity.
    pub(super) fn to_video_time(&self, words: Vec<Word>, spans: &[Span]) -> Vec<Word> {
        let speech = self.speech(spans, WORD_PAUSE);
        let mut parts = Vec::with_capacity(self.0.len());
        let mut before = 0.0;
        for part in &self.0 {
            parts.push((before, part));
            before += part.seconds();
        }
        let place = |word: Word| {
            let middle = middle(&word);
            let after = parts.partition_point(|(before, _)| *before <= middle).max(1);
            let (before, part) = parts.get(after - 1)?;
            let at = |time: f64| (part.start + time - before).clamp(part.start, part.end);
            let (start, end) = (rounded(at(word.start)), rounded(at(word.end)));
            Some(without_pause(Word { start, end, ..word }, &speech))
        };
        words.into_iter().filter_map(place).collect()
    }

    /// Returns the regions of speech, separated by pauses of at least [`REGION_PAUSE`]. `spans` is
    /// the video's voice activity.
    pub(super) fn regions(&self, spans: &[Span]) -> Vec<Span> {
        self.speech(spans, REGION_PAUSE)
    }

    /// Returns the spans of speech. Pauses shorter than `pause` do not separate spans.
    fn speech(&self, spans: &[Span], pause: f64) -> Vec<Span> {
        let mut regions: Vec<Span> = Vec::new();
        for part in &self.0 {
            for span in spans.iter().filter(|span| span.overlap(part) > 0.0) {
                let (start, end) = (span.start.max(part.start), span.end.min(part.end));
                match regions.last_mut() {
                    Some(last) if start - last.end < pause => last.end = end,
                    _ => regions.push(Span { start, end }),
                }
            }
        }
        regions
    }

    /// Creates a pack from one region of this pack, adding margins.
    pub(super) fn around(&self, region: Span) -> Self {
        let holds = |part: &&Span| part.overlap(&region) > 0.0;
        let within = self.0.iter().rev().find(holds).copied().unwrap_or(region);
        let first = self.0.iter().find(holds).copied().unwrap_or(region);
        Self(vec![Span {
            start: (region.start - MARGIN).max(first.start),
            end: (region.end + MARGIN).min(within.end),
        }])
    }

    /// Returns the pack without the audio in `taken`.
    pub(super) fn without(&self, taken: Span) -> Self {
        let left = self.0.iter().flat_map(|part| {
            let before = Span { start: part.start, end: part.end.min(taken.start) };
            let after = Span { start: part.start.max(taken.end), end: part.end };
            [before, after]
        });
        Self(left.filter(|part| part.seconds() > 0.0).collect())
    }
}

/// Restricts a word that extends over a pause to one side of the pause. `speech` consists of spans
/// that are separated by pauses.
fn without_pause(word: Word, speech: &[Span]) -> Word {
    let whole = Span { start: word.start, end: word.end };
    let mut own: Option<Span> = None;
    for piece in speech.iter().filter(|piece| piece.overlap(&whole) > 0.0) {
        let before = own.map_or(0.0, |own| own.overlap(&whole));
        if before <= BEFORE_PAUSE * piece.overlap(&whole) {
            own = Some(*piece);
        }
    }
    let Some(own) = own else { return word };
    // The edges of voice activity are accurate only to within the margin.
    let start = if own.start - word.start > MARGIN { own.start } else { word.start };
    let end = if word.end - own.end > MARGIN { own.end } else { word.end };
    Word { start, end, ..word }
}

/// Groups speech into packs of at most `max` seconds. Margins are added to the spans, and short
/// pauses are kept. Longer speech is split between its spans. If it has no pause, it is split at
/// the time that `cut` returns for an interval.
pub(super) fn packs(
    spans: &[Span],
    max: f64,
    cut: impl Fn(f64, f64) -> Result<f64>,
) -> Result<Vec<Pack>> {
    let max = max.max(1.0 + 2.0 * MARGIN);
    let mut pieces: Vec<Span> = Vec::new();
    for span in spans {
        let mut rest = *span;
        while rest.seconds() > max - 2.0 * MARGIN {
            let longest = max - 2.0 * MARGIN;
            let end = cut(rest.start + 0.6 * longest, rest.start + longest)?;
            pieces.push(Span { start: rest.start, end });
            rest.start = end;
        }
        pieces.push(rest);
    }
    // A margin takes up at most half of a pause, so that nothing is recognised twice.
    let before = [f64::NEG_INFINITY].into_iter().chain(pieces.iter().map(|s| s.end));
    let after = pieces.iter().skip(1).map(|s| s.start).chain([f64::INFINITY]);
    let mut packs: Vec<Pack> = Vec::new();
    for (piece, (before, after)) in pieces.iter().zip(before.zip(after)) {
        let start = (piece.start - MARGIN).max((before + piece.start) / 2.0).max(0.0);
        let part = Span { start, end: (piece.end + MARGIN).min((piece.end + after) / 2.0) };
        if let Some(pack) = packs.last_mut() {
            let last = pack.whole().end;
            let joined = if part.start - last < MIN_REMOVED_PAUSE {
                part.end - last
            } else {
                part.seconds()
            };
            if pack.seconds() + joined <= max {
                match pack.0.last_mut() {
                    Some(open) if part.start - last < MIN_REMOVED_PAUSE => open.end = part.end,
                    _ => pack.0.push(part),
                }
                continue;
            }
        }
        packs.push(Pack(vec![part]));
    }
    Ok(packs)
}

/// Returns the midpoint of the quietest moment, in seconds after the first sample.
pub(super) fn quietest(samples: &[f32]) -> Option<f64> {
    let length = (BREATH * f64::from(SAMPLE_RATE)) as usize;
    let energy = |moment: &[f32]| moment.iter().map(|s| s * s).sum::<f32>();
    let moments = samples.windows(length).step_by(length / 2).enumerate();
    let (place, _) = moments.min_by(|a, b| energy(a.1).total_cmp(&energy(b.1)))?;
    Some((place * (length / 2) + length / 2) as f64 / f64::from(SAMPLE_RATE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: f64, end: f64) -> Span {
        Span { start, end }
    }

    fn times(packs: Vec<Pack>) -> Vec<Vec<(f64, f64)>> {
        let part = |part: &Span| (rounded(part.start), rounded(part.end));
        packs.iter().map(|pack| pack.0.iter().map(part).collect()).collect()
    }

    #[test]
    fn speech_is_packed_without_long_silence() {
        let spans = [span(0.2, 2.0), span(2.5, 4.0), span(20.0, 22.0), span(30.0, 34.0)];
        let never = |_, _| panic!("nothing is too long");
        assert_eq!(
            times(packs(&spans, 10.0, never).expect("packs")),
            [vec![(0.0, 4.4), (19.6, 22.4)], vec![(29.6, 34.4)]]
        );
        assert!(packs(&[], 10.0, never).expect("none").is_empty());
    }

    #[test]
    fn long_speech_is_split_without_overlap() {
        let spans = [span(20.0, 45.0), span(45.1, 46.0)];
        let found = packs(&spans, 10.0, |from, _| Ok(from + 1.0)).expect("packs");
        assert!(found.iter().all(|pack| pack.seconds() <= 10.0), "{found:?}");
        let parts: Vec<Span> = found.iter().flat_map(|pack| pack.0.clone()).collect();
        assert_eq!((parts[0].start, parts[parts.len() - 1].end), (19.6, 46.4));
        assert!(parts.windows(2).all(|pair| pair[0].end <= pair[1].start), "{parts:?}");
        let gaps: f64 = parts.windows(2).map(|pair| pair[1].start - pair[0].end).sum();
        assert!(gaps < 0.01, "nothing is left out: {parts:?}");
    }

    #[test]
    fn word_times_are_converted_to_the_video() {
        let pack = Pack(vec![span(1.0, 3.0), span(10.0, 12.0)]);
        let word = |start, end| Word { text: "w".into(), start, end, confidence: 1.0 };
        let words = vec![word(0.0, 0.5), word(1.8, 2.1), word(1.9, 2.4), word(3.5, 9.0)];
        let words: Vec<_> =
            pack.to_video_time(words, &[]).iter().map(|w| (w.start, w.end)).collect();
        assert_eq!(words, [(1.0, 1.5), (2.8, 3.0), (10.0, 10.4), (11.5, 12.0)]);
        assert!(Pack(Vec::new()).to_video_time(vec![word(0.0, 1.0)], &[]).is_empty());
    }

    #[test]
    fn the_quietest_moment_is_found() {
        let mut samples = vec![0.5; SAMPLE_RATE as usize];
        samples[8000..9600].fill(0.01);
        let found = quietest(&samples).expect("a moment");
        assert!((found - 0.55).abs() < 0.03, "{found}");
        assert_eq!(quietest(&[]), None);
    }

    #[test]
    fn regions_are_separated_by_pauses() {
        let spans = [span(1.0, 1.5), span(1.8, 3.0), span(5.0, 6.0), span(20.0, 21.0)];
        let pack = Pack(vec![span(0.6, 6.4), span(19.6, 21.4)]);
        assert_eq!(pack.regions(&spans), [span(1.0, 3.0), span(5.0, 6.0), span(20.0, 21.0)]);
        assert_eq!(pack.around(span(5.0, 6.0)), Pack(vec![span(4.6, 6.4)]));
        assert_eq!(pack.around(span(1.0, 3.0)), Pack(vec![span(0.6, 3.4)]));
        assert_eq!(
            pack.without(span(4.6, 21.4)),
            Pack(vec![span(0.6, 4.6)]),
            "nothing is left of the last part"
        );
    }

    #[test]
    fn words_do_not_extend_over_pauses() {
        let speech = [span(0.0, 2.3), span(2.4, 2.5), span(4.2, 5.3), span(7.2, 9.4)];
        let pack = Pack(vec![span(0.0, 10.0)]);
        for ((start, end), expected) in [
            ((2.1, 4.6), (4.2, 4.6)),
            ((5.2, 7.4), (7.2, 7.4)),
            ((4.7, 7.3), (4.7, 5.3)),
            ((5.4, 7.5), (7.2, 7.5)),
            ((1.0, 2.8), (1.0, 2.8)),
            ((6.0, 6.5), (6.0, 6.5)),
        ] {
            let word = Word { text: "w".into(), start, end, confidence: 1.0 };
            let word = &pack.to_video_time(vec![word], &speech)[0];
            assert_eq!((word.start, word.end), expected, "{start} to {end}");
        }
    }
}
