//! Groups the words in a video into utterances: whole sentences by one speaker. A chunk may end in
//! the middle of a sentence, but an utterance does not.

use std::ops::Range;

use ports::transcriber::Word;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FULL_STOPS, SEGMENT_PAUSE, Segment, SpeakerTurn, VoiceTurn, ends_sentence, push_word};
use crate::kernel::time::{Span, rounded};

/// A whole sentence by one speaker or, if the recogniser omits punctuation, the speech between two
/// pauses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utterance {
    /// Label of the speaker within the video, if diarization is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Start, in seconds from the start of the video.
    pub start: f64,
    /// End, in seconds from the start of the video.
    pub end: f64,
    /// The words, with punctuation.
    pub text: String,
    /// Mean confidence of the words, 0..1.
    pub confidence: f32,
    /// Pauses within the utterance, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
    /// Index of the channel if each channel has its own voice; otherwise 0.
    #[serde(skip)]
    pub(super) channel: usize,
    /// Indices of the words in their channel.
    #[serde(skip)]
    pub(super) words: Range<usize>,
}

/// A pause within an utterance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    /// Number of characters of the utterance's text before the pause.
    pub after: usize,
    /// Start, in seconds from the start of the video.
    pub start: f64,
    /// End, in seconds from the start of the video.
    pub end: f64,
}

/// Minimum pause that ends an utterance even without punctuation, in seconds.
const MAX_PAUSE: f64 = 3.0;

/// Maximum length of an utterance, in seconds. Longer utterances are split at their longest pause.
const MAX_UTTERANCE: f64 = 30.0;

/// A whole sentence is assigned to one speaker if at least this share of its words is by that
/// speaker. The edges of turns and words differ by some tenths of a second, which must not move
/// words to another speaker.
const SENTENCE_SHARE: f64 = 0.7;

impl From<&SpeakerTurn> for Utterance {
    fn from(turn: &SpeakerTurn) -> Self {
        Self {
            speaker: Some(turn.speaker.clone()),
            start: turn.start,
            end: turn.end,
            text: turn.text.clone(),
            confidence: 1.0,
            pauses: Vec::new(),
            channel: 0,
            words: 0..0,
        }
    }
}

impl From<&Segment> for Utterance {
    fn from(segment: &Segment) -> Self {
        Self {
            speaker: None,
            start: segment.start,
            end: segment.end,
            text: segment.text.clone(),
            confidence: segment.confidence,
            pauses: Vec::new(),
            channel: 0,
            words: 0..0,
        }
    }
}

impl Utterance {
    /// Returns the span of the utterance, in seconds from the start of the video.
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }

    /// Cuts the utterance to a range of its channel's `words`. Returns `None` if it has none of
    /// them.
    pub(super) fn cut(&self, words: &[Word], range: Range<usize>) -> Option<Self> {
        let range = self.words.start.max(range.start)..self.words.end.min(range.end);
        if range.is_empty() {
            return None;
        }
        if range == self.words {
            return Some(self.clone());
        }
        let excerpt = utterance(words, self.speaker.as_deref(), range);
        Some(Self { channel: self.channel, ..excerpt })
    }

    /// Returns the text between pauses, with the span of each piece.
    pub fn phrases(&self) -> Vec<(Span, String)> {
        let mut phrases = Vec::with_capacity(self.pauses.len() + 1);
        let mut letters = self.text.chars();
        let (mut start, mut read) = (self.start, 0);
        for pause in &self.pauses {
            let text: String = letters.by_ref().take(pause.after.saturating_sub(read)).collect();
            phrases.push((Span { start, end: pause.start }, text.trim().to_owned()));
            (start, read) = (pause.end, pause.after.max(read));
        }
        phrases.push((Span { start, end: self.end }, letters.as_str().trim().to_owned()));
        phrases
    }

    /// Copies the utterance without its speaker.
    pub fn unattributed(&self) -> Self {
        Self { speaker: None, ..self.clone() }
    }
}

/// Groups the words on a channel into utterances by one speaker each, according to the channel's
/// `turns`. Splits a sentence only if the speaker clearly changes within it.
pub(super) fn utterances(channel: usize, words: &[Word], turns: &[&VoiceTurn]) -> Vec<Utterance> {
    let spoken =
        sentences(words).into_iter().flat_map(|sentence| by_speaker(words, sentence, turns));
    let on_channel = |(speaker, range)| Utterance { channel, ..utterance(words, speaker, range) };
    spoken.map(on_channel).collect()
}

fn utterance(words: &[Word], speaker: Option<&str>, range: Range<usize>) -> Utterance {
    let own = &words[range.clone()];
    let (mut text, mut pauses) = (String::new(), Vec::new());
    for (at, word) in own.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).map(|before| &own[before])
            && word.start - before.end >= SEGMENT_PAUSE
        {
            let (start, end) = (rounded(before.end), rounded(word.start));
            pauses.push(Pause { after: text.chars().count(), start, end });
        }
        push_word(&mut text, &word.text);
    }
    let end = own.iter().map(|word| word.end).fold(f64::NEG_INFINITY, f64::max);
    Utterance {
        speaker: speaker.map(str::to_owned),
        start: rounded(own.first().map_or(0.0, |word| word.start)),
        end: rounded(end),
        text,
        confidence: own.iter().map(|word| word.confidence).sum::<f32>() / own.len().max(1) as f32,
        pauses,
        channel: 0,
        words: range,
    }
}

/// Returns the ranges of words that form sentences.
pub(crate) fn sentences(words: &[Word]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut start, mut text) = (0, String::new());
    for (at, word) in words.iter().enumerate() {
        let ends = at > start && {
            let silent = pause_before(words, at);
            // If a pause lies within a sentence, the next word begins in lower case.
            let breaks = silent >= SEGMENT_PAUSE && !word.text.starts_with(char::is_lowercase);
            breaks || silent >= MAX_PAUSE || ends_sentence(&text, &word.text)
        };
        if ends {
            found.push(start..at);
            (start, text) = (at, String::new());
        }
        push_word(&mut text, &word.text);
    }
    if start < words.len() {
        found.push(start..words.len());
    }
    let whole = found.into_iter().flat_map(|sentence| between_pauses(words, sentence));
    whole.flat_map(|sentence| split_long(words, sentence)).collect()
}

/// Returns the pause before a word, in seconds.
fn pause_before(words: &[Word], at: usize) -> f64 {
    words[at].start - words[at - 1].end
}

/// Returns the whole sentence if it ends with punctuation. Otherwise splits it at its pauses, since
/// recognisers may omit punctuation.
fn between_pauses(words: &[Word], sentence: Range<usize>) -> Vec<Range<usize>> {
    if words[sentence.end - 1].text.ends_with(FULL_STOPS) {
        return vec![sentence];
    }
    let pauses = (sentence.start + 1..sentence.end)
        .filter(|at| pause_before(words, *at) >= SEGMENT_PAUSE)
        .chain([sentence.end]);
    let mut start = sentence.start;
    pauses.map(|end| std::mem::replace(&mut start, end)..end).collect()
}

/// Splits a sentence into parts of at most [`MAX_UTTERANCE`].
fn split_long(words: &[Word], sentence: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = vec![sentence];
    let mut done = Vec::new();
    while let Some(part) = parts.pop() {
        let seconds = words[part.end - 1].end - words[part.start].start;
        let pause = |at: &usize| pause_before(words, *at);
        let longest = (part.start + 1..part.end).max_by(|a, b| pause(a).total_cmp(&pause(b)));
        match longest.filter(|_| seconds > MAX_UTTERANCE) {
            Some(at) => parts.extend([at..part.end, part.start..at]),
            None => done.push(part),
        }
    }
    done
}

/// Assigns a sentence to the speaker who says nearly all of it. If there is no such speaker, splits
/// the sentence by speaker.
fn by_speaker<'a>(
    words: &[Word],
    sentence: Range<usize>,
    turns: &[&'a VoiceTurn],
) -> Vec<(Option<&'a str>, Range<usize>)> {
    let (first, last) = (&words[sentence.start], &words[sentence.end - 1]);
    let near = |turn: &&'a VoiceTurn| {
        turn.span.start <= last.end + MAX_PAUSE && turn.span.end >= first.start - MAX_PAUSE
    };
    let near: Vec<&VoiceTurn> = turns.iter().copied().filter(near).collect();
    let speaker = |word: &Word| {
        let nearest =
            near.iter().min_by(|a, b| distance(a.span, word).total_cmp(&distance(b.span, word)))?;
        Some(nearest.speaker.as_str())
    };
    let speakers: Vec<Option<&str>> = words[sentence.clone()].iter().map(speaker).collect();
    let mut counts: Vec<(Option<&str>, usize)> = Vec::new();
    for speaker in &speakers {
        match counts.iter_mut().find(|(known, _)| known == speaker) {
            Some((_, count)) => *count += 1,
            None => counts.push((*speaker, 1)),
        }
    }
    let majority = counts.into_iter().max_by_key(|(_, count)| *count);
    if let Some((speaker, count)) = majority
        && count as f64 >= SENTENCE_SHARE * speakers.len() as f64
    {
        return vec![(speaker, sentence)];
    }
    let mut at = sentence.start;
    let runs = speakers.chunk_by(|a, b| a == b).map(|run| {
        let range = at..at + run.len();
        at = range.end;
        (run[0], range)
    });
    runs.collect()
}

/// Returns the distance from a word's midpoint to a span, in seconds. The distance is negative if
/// the midpoint lies within the span.
pub(super) fn distance(span: Span, word: &Word) -> f64 {
    let middle = (word.start + word.end) / 2.0;
    (span.start - middle).max(middle - span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds words that last 0.4 s each; `…` is a pause of one second.
    fn words(text: &str) -> Vec<Word> {
        let mut time = 0.0;
        let mut words = Vec::new();
        for part in text.split(' ') {
            if part == "…" {
                time += 1.0;
                continue;
            }
            words.push(Word { text: part.into(), start: time, end: time + 0.4, confidence: 0.5 });
            time += 0.4;
        }
        words
    }

    fn texts(text: &str, turns: &[VoiceTurn]) -> Vec<String> {
        let found = utterances(0, &words(text), &turns.iter().collect::<Vec<_>>());
        let label = |u: &Utterance| u.speaker.as_ref().map_or(String::new(), |s| format!("{s}: "));
        found.iter().map(|u| format!("{}{}", label(u), u.text)).collect()
    }

    #[test]
    fn sentences_end_with_punctuation_or_long_pauses() {
        for (text, expected) in [
            ("This is … the telescope. It is big.", vec!["This is the telescope.", "It is big."]),
            (
                "Mr. Quilter left. He … … … … came back.",
                vec!["Mr. Quilter left.", "He", "came back."],
            ),
            ("Ask not … What you", vec!["Ask not", "What you"]),
            ("We came. We saw … And then", vec!["We came.", "We saw", "And then"]),
            ("good morning … hello there", vec!["good morning", "hello there"]),
            (
                "breathe in … breathe out … Now rest.",
                vec!["breathe in", "breathe out", "Now rest."],
            ),
        ] {
            assert_eq!(texts(text, &[]), expected, "{text}");
        }
        assert_eq!(utterances(0, &[], &[]), []);
    }

    #[test]
    fn phrases_are_separated_by_pauses() {
        let found = utterances(0, &words("Ask nöt … what your … country can."), &[]);
        let phrases: Vec<(f64, f64, String)> = found[0]
            .phrases()
            .into_iter()
            .map(|(span, text)| (rounded(span.start), rounded(span.end), text))
            .collect();
        let expected = [(0.0, 0.8, "Ask nöt"), (1.8, 2.6, "what your"), (3.6, 4.4, "country can.")];
        assert_eq!(phrases, expected.map(|(start, end, text)| (start, end, text.to_owned())));
        assert_eq!(found[0].pauses.len(), 2);
        let plain = utterances(0, &words("No pause."), &[]);
        assert_eq!(plain[0].phrases(), [(plain[0].span(), "No pause.".to_owned())]);
    }

    #[test]
    fn utterances_are_cut_to_words() {
        let words = words("who let the dogs out?");
        let found = utterances(0, &words, &[]);
        let cut = |range| found[0].cut(&words, range).map(|excerpt| excerpt.text);
        assert_eq!(cut(1..3).as_deref(), Some("let the"));
        assert_eq!(cut(3..9).as_deref(), Some("dogs out?"));
        assert_eq!(cut(0..9).as_deref(), Some("who let the dogs out?"));
        assert_eq!(cut(5..9), None);
    }

    #[test]
    fn long_utterances_are_split_at_their_longest_pause() {
        let mut endless = words(&vec!["la"; 100].join(" "));
        endless[60..]
            .iter_mut()
            .for_each(|word| (word.start, word.end) = (word.start + 0.3, word.end + 0.3));
        let found = utterances(0, &endless, &[]);
        assert_eq!(found.iter().map(|u| u.words.clone()).collect::<Vec<_>>(), [0..60, 60..100]);
    }

    #[test]
    fn sentences_are_split_only_at_clear_speaker_changes() {
        let turns = |change: f64| -> Vec<VoiceTurn> {
            let turn = |speaker: &str, start, end| VoiceTurn {
                speaker: speaker.into(),
                span: Span { start, end },
                channel: None,
            };
            vec![turn("S1", 0.0, change), turn("S2", change, 3.0)]
        };
        let text = "who let the dogs out tonight? me.";
        assert_eq!(texts(text, &turns(2.1)), ["S1: who let the dogs out tonight?", "S2: me."]);
        assert_eq!(
            texts(text, &turns(1.2)),
            ["S1: who let the", "S2: dogs out tonight?", "S2: me."]
        );
    }
}
