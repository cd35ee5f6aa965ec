//! Finds where the subject of a question occurs: in what is said, in the text on screen and among
//! the visible things.

use ports::transcriber::Word;
use text::plural::singulars;
use text::{Token, occurs, tokens};

use super::question::SubjectPhrase;
use crate::facts::matching::{PhraseMatcher, is_named};
use crate::facts::{Sighting, TimedLine, VideoFacts};
use crate::kernel::time::Span;
use crate::media::speech::Utterance;

/// Maximum pause between two utterances that mention a subject together, in seconds.
const MAX_PAUSE: f64 = 3.0;

/// Maximum time between the first readings of lines that appear together, in seconds.
const MAX_OFFSET: f64 = 0.5;

/// Minimum probability of a thing that is not stated.
pub(super) const MIN_PROBABILITY: f64 = 0.5;

/// Where a subject occurs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Occurrence {
    /// The time at which it begins, in seconds.
    pub(super) time: f64,
    /// The moment that shows it.
    pub(super) span: Span,
    pub(super) witness: Witness,
}

/// What shows an occurrence.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Witness {
    Speech { speaker: Option<String>, text: String, confidence: f32 },
    Screen { text: String, confidence: f64, possible: Span, likely: Span },
    Thing { label: String, probability: f64, is_stated: bool },
}

impl VideoFacts {
    /// Finds the utterances that mention a phrase, by one speaker or by any.
    pub(super) fn mentions(&self, phrase: &SubjectPhrase, by: Option<&str>) -> Vec<Occurrence> {
        let Some(speech) = &self.speech else { return Vec::new() };
        let content = phrase.content();
        let matcher = PhraseMatcher::new(&content, phrase.is_quoted);
        let is_by = |said: &&Utterance| by.is_none_or(|by| said.speaker.as_deref() == Some(by));
        let said: Vec<&Utterance> = speech.utterances.iter().filter(is_by).collect();
        let occurrences = |said: &[&Utterance]| -> Vec<Occurrence> {
            let (Some(first), Some(last)) = (said.first(), said.last()) else { return Vec::new() };
            let text: Vec<&str> = said.iter().map(|said| said.text.as_str()).collect();
            let text = text.join(" ");
            if !matcher.occurs_in(&text) {
                return Vec::new();
            }
            let span = Span { start: first.start, end: last.end };
            let witness = Witness::Speech {
                speaker: first.speaker.clone(),
                text,
                confidence: said.iter().map(|said| said.confidence).fold(1.0, f32::min),
            };
            let mut times = mention_times(phrase, &content, &speech.speech.words_in(span));
            if times.is_empty() {
                times.push(span.start);
            }
            let occurrence = |time| Occurrence { time, span, witness: witness.clone() };
            times.into_iter().map(occurrence).collect()
        };
        let alone: Vec<Occurrence> =
            said.iter().flat_map(|said| occurrences(std::slice::from_ref(said))).collect();
        if !alone.is_empty() || phrase.is_quoted || content.len() < 2 {
            return alone;
        }
        let is_pair = |pair: &&[&Utterance]| (pair[1].start - pair[0].end).abs() <= MAX_PAUSE;
        said.windows(2).filter(is_pair).flat_map(occurrences).collect()
    }

    /// Finds the lines on screen that contain a phrase. If no line contains all of it, lines that
    /// are visible together may.
    pub(super) fn on_screen(&self, phrase: &SubjectPhrase) -> Vec<Occurrence> {
        let lines = self.lines.as_deref().unwrap_or_default();
        let content = phrase.written();
        let matcher = PhraseMatcher::new(&content, phrase.is_quoted);
        let shown = |line: &TimedLine, text: String| Occurrence {
            time: line.span.start,
            span: line.span,
            witness: Witness::Screen {
                text,
                confidence: line.confidence,
                possible: line.possible,
                likely: line.likely(),
            },
        };
        let alone: Vec<Occurrence> = lines
            .iter()
            .filter(|line| matcher.shows(&line.text))
            .map(|line| shown(line, line.text.clone()))
            .collect();
        if !alone.is_empty() || content.len() < 2 {
            return alone;
        }
        let has = |line: &TimedLine, word: &String| occurs(word, &tokens(&line.text));
        let any = |line: &&TimedLine| content.iter().any(|word| has(line, word));
        let partial: Vec<&TimedLine> = lines.iter().filter(any).collect();
        let mut found: Vec<Occurrence> = Vec::new();
        for first in &partial {
            let is_open = found.last().is_some_and(|last| first.span.start <= last.span.end);
            let is_together = |line: &&&TimedLine| {
                line.span.start <= first.span.end + MAX_OFFSET && line.span.end >= first.span.start
            };
            let together: Vec<&TimedLine> = partial.iter().filter(is_together).copied().collect();
            if !is_open && content.iter().all(|word| together.iter().any(|line| has(line, word))) {
                let text: Vec<&str> = together.iter().map(|line| line.text.as_str()).collect();
                found.push(shown(first, text.join("; ")));
            }
        }
        found
    }

    /// Finds the visible things that a noun names.
    pub(super) fn sightings(&self, noun: &str) -> Vec<&Sighting> {
        let names = singulars(noun);
        let things = self.things.iter().flatten();
        things.filter(|s| names.iter().any(|name| is_named(&s.label, name))).collect()
    }

    /// Finds the visible things that a noun names, as occurrences. A thing that is only probable
    /// counts if none is stated, and improbable things do not count.
    pub(super) fn visible(&self, noun: &str) -> Vec<Occurrence> {
        let sightings = self.sightings(noun);
        let any_stated = sightings.iter().any(|sighting| sighting.is_stated);
        let is_likely = |s: &&Sighting| s.is_stated || s.probability >= MIN_PROBABILITY;
        let kept = sightings.into_iter().filter(|s| s.is_stated == any_stated).filter(is_likely);
        kept.map(Occurrence::from).collect()
    }

    /// Finds something that is on screen: text, or a thing of that name.
    pub(super) fn shown(&self, phrase: &SubjectPhrase) -> Vec<Occurrence> {
        if !phrase.is_text() {
            let visible = self.visible(&phrase.noun());
            if !visible.is_empty() {
                return visible;
            }
        }
        self.on_screen(phrase)
    }
}

impl From<&Sighting> for Occurrence {
    fn from(sighting: &Sighting) -> Self {
        let Sighting { label, span, probability, is_stated, .. } = sighting.clone();
        let witness = Witness::Thing { label, probability, is_stated };
        Self { time: span.start, span, witness }
    }
}

/// The times at which a phrase is mentioned in words that contain it. A single word or a quoted
/// phrase may be mentioned several times; of others, the shortest part that contains all words is
/// the mention.
fn mention_times(phrase: &SubjectPhrase, content: &[String], words: &[&Word]) -> Vec<f64> {
    let spoken: Vec<(f64, Token<'_>)> = words
        .iter()
        .flat_map(|word| tokens(&word.text).into_iter().map(|token| (word.start, token)))
        .collect();
    let is = |word: &String, at: usize| match phrase.is_quoted {
        true => spoken[at].1.lower == *word,
        false => occurs(word, std::slice::from_ref(&spoken[at].1)),
    };
    if phrase.is_quoted || content.len() == 1 {
        let ends = spoken.len().saturating_sub(content.len().max(1) - 1);
        let begins = |at: &usize| content.iter().zip(*at..).all(|(word, at)| is(word, at));
        return (0..ends).filter(begins).map(|at| spoken[at].0).collect();
    }
    let length = |first: usize| {
        let last = |word: &String| (first..spoken.len()).find(|at| is(word, *at));
        content.iter().map(last).try_fold(first, |end, last| Some(end.max(last?)))
    };
    let starts = (0..spoken.len()).filter(|at| content.iter().any(|word| is(word, *at)));
    let parts = starts.filter_map(|first| Some((length(first)? - first, first)));
    parts.min().map(|(_, first)| spoken[first].0).into_iter().collect()
}
