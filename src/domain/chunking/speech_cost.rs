//! The cost of boundaries in speech: none between sentences, some between words, and most within a
//! word. A chunk that begins in the middle of a sentence cannot be understood on its own.

use std::collections::BTreeSet;

use ports::transcriber::Word;
use serde::{Deserialize, Serialize};

use crate::kernel::time::Span;
use crate::media::speech::sentences;

/// Cost of a boundary within a sentence, in votes: more than the vote of a short pause, but less
/// than that of a cut or a clear voice change.
const SENTENCE_COST: f64 = 0.15;

/// Cost of a boundary within a word, in votes.
const WORD_COST: f64 = 0.3;

/// Uncertainty of word times, in seconds.
const WORD_TOLERANCE: f64 = 0.08;

/// Maximum distance over which a candidate is moved to a sentence boundary, in seconds.
const MAX_SHIFT: f64 = 1.0;

/// Factor for the strength of a candidate that lies within a sentence and not near a sentence
/// boundary.
const WITHIN_SENTENCE_FACTOR: f32 = 0.5;

/// The time of a spoken word, and whether a sentence ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpokenWord {
    /// The word's span, with times in seconds from the start of the video.
    #[serde(flatten)]
    pub span: Span,
    /// Whether a sentence ends with this word or a pause follows it.
    pub last: bool,
}

/// Merges the spoken words of all channels, sorted by start time. The words of each channel must
/// already be sorted. The end of a sentence is ignored if it lies within a sentence on another
/// channel.
pub fn spoken_words(channels: &[Vec<Word>]) -> Vec<SpokenWord> {
    let by_channel: Vec<Vec<SpokenWord>> =
        channels.iter().map(|words| channel_words(words)).collect();
    if by_channel.len() == 1 {
        return by_channel.concat();
    }
    let sentences: Vec<Vec<Span>> = channels.iter().map(|words| sentence_spans(words)).collect();
    let within_other = |channel: usize, time: f64| {
        let others = sentences.iter().enumerate().filter(|(other, _)| *other != channel);
        others.into_iter().any(|(_, spans)| {
            let begun = spans.partition_point(|sentence| sentence.start < time);
            begun > 0 && time < spans[begun - 1].end
        })
    };
    let mut all: Vec<SpokenWord> = Vec::new();
    for (channel, words) in by_channel.into_iter().enumerate() {
        all.extend(words.into_iter().map(|word| SpokenWord {
            last: word.last && !within_other(channel, word.span.end),
            ..word
        }));
    }
    all.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    all
}

fn channel_words(words: &[Word]) -> Vec<SpokenWord> {
    let ends: BTreeSet<usize> = sentences(words).into_iter().map(|range| range.end).collect();
    let spoken_word = |(at, word): (usize, &Word)| SpokenWord {
        span: Span { start: word.start, end: word.end },
        last: ends.contains(&(at + 1)),
    };
    words.iter().enumerate().map(spoken_word).collect()
}

fn sentence_spans(words: &[Word]) -> Vec<Span> {
    let span = |range: std::ops::Range<usize>| Span {
        start: words[range.start].start,
        end: words[range.end - 1].end,
    };
    sentences(words).into_iter().map(span).collect()
}

/// The words that determine the cost of boundaries; empty if audio does not count.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpeechCost<'a>(pub &'a [SpokenWord]);

/// A gap between two words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gap {
    /// The midpoint of the gap, in seconds from the start of the video.
    pub(crate) time: f64,
    /// Cost of a boundary in the gap, in votes.
    pub(crate) cost: f64,
}

impl SpeechCost<'_> {
    /// Whether there are no words.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the cost of a boundary at `time`, in votes.
    pub(crate) fn cost(&self, time: f64) -> f64 {
        let Some(before) = self.words_before(time).checked_sub(1) else { return 0.0 };
        let Span { start, end } = self.0[before].span;
        if time <= start + WORD_TOLERANCE {
            before.checked_sub(1).map_or(0.0, |earlier| self.cost_after(earlier))
        } else if time < end - WORD_TOLERANCE {
            WORD_COST
        } else {
            self.cost_after(before)
        }
    }

    /// Returns gaps between words, in chronological order. Includes every gap between sentences.
    /// Includes a gap within a sentence only if it is at least `min_distance` seconds after the
    /// previous returned gap.
    pub(crate) fn gaps(&self, min_distance: f64) -> impl Iterator<Item = Gap> {
        let mut last = f64::NEG_INFINITY;
        (1..self.0.len())
            .map(|after| Gap { time: self.gap(after), cost: self.cost_after(after - 1) })
            .filter(move |gap| {
                let included = gap.cost == 0.0 || gap.time - last >= min_distance;
                last = if included { gap.time } else { last };
                included
            })
    }

    /// Adjusts an audio candidate within a sentence: moves it to the nearest sentence boundary if
    /// one is close, and reduces its strength otherwise.
    pub(crate) fn adjust(&self, time: f64, strength: f32) -> (f64, f32) {
        if self.cost(time) == 0.0 {
            return (time, strength);
        }
        let near = |gap: &f64| (gap - time).abs() <= MAX_SHIFT;
        let ends = |after: &usize| self.0[after - 1].last;
        let words_before = self.words_before(time);
        let later = (words_before..self.0.len()).filter(ends).map(|after| self.gap(after)).next();
        let earlier = (1..words_before).rev().filter(ends).map(|after| self.gap(after)).next();
        let nearest = [later, earlier]
            .into_iter()
            .flatten()
            .filter(near)
            .min_by(|a, b| (a - time).abs().total_cmp(&(b - time).abs()));
        nearest.map_or((time, strength * WITHIN_SENTENCE_FACTOR), |gap| (gap, strength))
    }

    /// Returns the number of words that have begun by `time`.
    fn words_before(&self, time: f64) -> usize {
        self.0.partition_point(|word| word.span.start <= time)
    }

    /// Returns the midpoint of the gap before the word with index `after`.
    fn gap(&self, after: usize) -> f64 {
        f64::midpoint(self.0[after - 1].span.end, self.0[after].span.start)
    }

    fn cost_after(&self, word: usize) -> f64 {
        if self.0[word].last { 0.0 } else { SENTENCE_COST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds words that last 0.4 s, followed by a gap of 0.1 s, or of 0.5 s after each sentence.
    fn words_of(text: &str) -> Vec<SpokenWord> {
        let mut time = 0.0;
        let word = |text: &str| {
            let start = time;
            time += if text.ends_with('.') { 0.9 } else { 0.5 };
            Word { text: text.into(), start, end: start + 0.4, confidence: 1.0 }
        };
        spoken_words(&[text.split(' ').map(word).collect()])
    }

    #[test]
    fn boundaries_cost_most_within_words() {
        let words = words_of("the dog barks. a cat sleeps.");
        let speech = SpeechCost(&words);
        assert_eq!(speech.cost(0.2), WORD_COST);
        assert_eq!(speech.cost(0.45), SENTENCE_COST);
        assert_eq!(speech.cost(0.52), SENTENCE_COST);
        assert_eq!(speech.cost(1.6), 0.0);
        assert_eq!(speech.cost(1.91), 0.0);
        assert_eq!(speech.cost(9.0), 0.0);
        assert_eq!(SpeechCost::default().cost(0.2), 0.0);
        let free: Vec<f64> = speech.gaps(100.0).skip(1).map(|gap| gap.time).collect();
        assert!(free.len() == 1 && (free[0] - 1.65).abs() < 1e-9, "{free:?}");
        assert_eq!(speech.gaps(0.0).count(), words.len() - 1);
    }

    #[test]
    fn candidates_within_sentences_are_moved_or_weakened() {
        let words = words_of("he. one two three four five six seven. she.");
        let speech = SpeechCost(&words);
        let (time, strength) = speech.adjust(3.9, 0.8);
        assert!((time - 4.55).abs() < 1e-9 && strength == 0.8, "{time} {strength}");
        let (time, strength) = speech.adjust(1.2, 0.8);
        assert!((time - 0.65).abs() < 1e-9 && strength == 0.8, "{time} {strength}");
        assert_eq!(speech.adjust(2.5, 0.8), (2.5, 0.4));
        assert_eq!(speech.adjust(0.6, 0.8), (0.6, 0.8));
    }
}
