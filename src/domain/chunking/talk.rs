//! Where talk may be parted: between sentences rather than between words, and hardly within one. A
//! chunk that begins in the middle of a sentence cannot be understood by itself.

use std::collections::BTreeSet;

use ports::transcriber::Word;
use serde::{Deserialize, Serialize};

use crate::domain::kernel::time::Span;
use crate::domain::media::speech::sentences;

/// What a boundary within a sentence costs, in votes: more than a short pause speaks for it, less
/// than a cut or a clear change of voice.
const WITHIN_SENTENCE: f64 = 0.15;

/// What a boundary within a word costs, in votes.
const WITHIN_WORD: f64 = 0.3;

/// Words are known to begin and end this exactly, seconds.
const EDGE: f64 = 0.08;

/// What was found so far (seconds) from the end of a sentence belongs there.
const NEAR_END: f64 = 1.0;

/// What remains of a candidate within a sentence and not near its ends.
const TORN: f32 = 0.5;

/// When a word is said, and whether a sentence ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpokenWord {
    /// Seconds of the video.
    #[serde(flatten)]
    pub span: Span,
    /// Whether a sentence ends with it, or a pause follows.
    pub last: bool,
}

/// When words are said and sentences end, in order of start; the words of each channel are so too. Where
/// one channel's sentence ends within another's, no sentence ends.
pub fn spoken(channels: &[Vec<Word>]) -> Vec<SpokenWord> {
    let all: Vec<Vec<SpokenWord>> = channels.iter().map(|words| on_channel(words)).collect();
    if all.len() == 1 {
        return all.concat();
    }
    let whole: Vec<Vec<Span>> = channels.iter().map(|words| sentence_spans(words)).collect();
    let within_other = |channel: usize, time: f64| {
        let others = whole.iter().enumerate().filter(|(other, _)| *other != channel);
        others.into_iter().any(|(_, sentences)| {
            let begun = sentences.partition_point(|sentence| sentence.start < time);
            begun > 0 && time < sentences[begun - 1].end
        })
    };
    let mut spoken: Vec<SpokenWord> = Vec::new();
    for (channel, words) in all.into_iter().enumerate() {
        spoken.extend(words.into_iter().map(|word| SpokenWord {
            last: word.last && !within_other(channel, word.span.end),
            ..word
        }));
    }
    spoken.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    spoken
}

fn on_channel(words: &[Word]) -> Vec<SpokenWord> {
    let ends: BTreeSet<usize> = sentences(words).into_iter().map(|range| range.end).collect();
    let spoken = |(at, word): (usize, &Word)| SpokenWord {
        span: Span { start: word.start, end: word.end },
        last: ends.contains(&(at + 1)),
    };
    words.iter().enumerate().map(spoken).collect()
}

fn sentence_spans(words: &[Word]) -> Vec<Span> {
    let span = |range: std::ops::Range<usize>| Span {
        start: words[range.start].start,
        end: words[range.end - 1].end,
    };
    sentences(words).into_iter().map(span).collect()
}

/// The words that a split minds; none where sound has no part in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Talk<'a>(pub &'a [SpokenWord]);

/// A place between two words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gap {
    /// Its middle, seconds.
    pub(crate) time: f64,
    /// What a boundary there costs, in votes.
    pub(crate) cost: f64,
}

impl Talk<'_> {
    /// Whether nothing is said.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a boundary at a time costs, in votes.
    pub(crate) fn cost(&self, time: f64) -> f64 {
        let Some(before) = self.begun(time).checked_sub(1) else { return 0.0 };
        let Span { start, end } = self.0[before].span;
        if time <= start + EDGE {
            before.checked_sub(1).map_or(0.0, |earlier| self.cost_after(earlier))
        } else if time < end - EDGE {
            WITHIN_WORD
        } else {
            self.cost_after(before)
        }
    }

    /// The places between sentences, and between words within them where that is `apart` seconds
    /// from the last place, in order.
    pub(crate) fn gaps(&self, apart: f64) -> impl Iterator<Item = Gap> {
        let mut last = f64::NEG_INFINITY;
        (1..self.0.len())
            .map(|after| Gap { time: self.gap(after), cost: self.cost_after(after - 1) })
            .filter(move |gap| {
                let kept = gap.cost == 0.0 || gap.time - last >= apart;
                last = if kept { gap.time } else { last };
                kept
            })
    }

    /// Where a candidate that was heard within a sentence belongs: at the sentence's end or its
    /// beginning if one is near, else where it is with less strength.
    pub(crate) fn settle(&self, time: f64, strength: f32) -> (f64, f32) {
        if self.cost(time) == 0.0 {
            return (time, strength);
        }
        let near = |gap: &f64| (gap - time).abs() <= NEAR_END;
        let ends = |after: &usize| self.0[after - 1].last;
        let begun = self.begun(time);
        let later = (begun..self.0.len()).filter(ends).map(|after| self.gap(after)).next();
        let earlier = (1..begun).rev().filter(ends).map(|after| self.gap(after)).next();
        let nearest = [later, earlier]
            .into_iter()
            .flatten()
            .filter(near)
            .min_by(|a, b| (a - time).abs().total_cmp(&(b - time).abs()));
        nearest.map_or((time, strength * TORN), |gap| (gap, strength))
    }

    /// How many words have begun.
    fn begun(&self, time: f64) -> usize {
        self.0.partition_point(|word| word.span.start <= time)
    }

    /// The middle between a word and the one before it.
    fn gap(&self, after: usize) -> f64 {
        f64::midpoint(self.0[after - 1].span.end, self.0[after].span.start)
    }

    fn cost_after(&self, word: usize) -> f64 {
        if self.0[word].last { 0.0 } else { WITHIN_SENTENCE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of 0.4 s with 0.1 s between them, and 0.5 s after each sentence.
    fn said(text: &str) -> Vec<SpokenWord> {
        let mut time = 0.0;
        let word = |text: &str| {
            let start = time;
            time += if text.ends_with('.') { 0.9 } else { 0.5 };
            Word { text: text.into(), start, end: start + 0.4, confidence: 1.0 }
        };
        spoken(&[text.split(' ').map(word).collect()])
    }

    #[test]
    fn a_boundary_costs_most_within_a_word_and_nothing_between_sentences() {
        let words = said("the dog barks. a cat sleeps.");
        let talk = Talk(&words);
        assert_eq!(talk.cost(0.2), WITHIN_WORD);
        assert_eq!(talk.cost(0.45), WITHIN_SENTENCE);
        assert_eq!(talk.cost(0.52), WITHIN_SENTENCE);
        assert_eq!(talk.cost(1.6), 0.0);
        assert_eq!(talk.cost(1.91), 0.0);
        assert_eq!(talk.cost(9.0), 0.0);
        assert_eq!(Talk::default().cost(0.2), 0.0);
        let free: Vec<f64> = talk.gaps(100.0).skip(1).map(|gap| gap.time).collect();
        assert!(free.len() == 1 && (free[0] - 1.65).abs() < 1e-9, "{free:?}");
        assert_eq!(talk.gaps(0.0).count(), words.len() - 1);
    }

    #[test]
    fn what_is_heard_within_a_sentence_settles_at_its_end_or_counts_less() {
        let words = said("he. one two three four five six seven. she.");
        let talk = Talk(&words);
        let (time, strength) = talk.settle(3.9, 0.8);
        assert!((time - 4.55).abs() < 1e-9 && strength == 0.8, "{time} {strength}");
        let (time, strength) = talk.settle(1.2, 0.8);
        assert!((time - 0.65).abs() < 1e-9 && strength == 0.8, "{time} {strength}");
        assert_eq!(talk.settle(2.5, 0.8), (2.5, 0.4));
        assert_eq!(talk.settle(0.6, 0.8), (0.6, 0.8));
    }
}
