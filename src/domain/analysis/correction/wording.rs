//! Replaces phrases in recognized words, which have times, and in plain text.

use ports::transcriber::Word;
use text::letters_and_digits;

use super::{Correction, TOLERANCE};
use crate::kernel::time::{Span, rounded};

/// A sequence of words, matched regardless of case and punctuation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PhrasePattern {
    words: Vec<String>,
    capital: bool,
    /// Whether the phrase includes the punctuation after its last word.
    punctuated: bool,
}

impl PhrasePattern {
    /// Creates a pattern from the words of `text`.
    pub(crate) fn new(text: &str) -> Self {
        let words = text.split_whitespace().map(letters_and_digits);
        Self {
            words: words.filter(|word| !word.is_empty()).collect(),
            capital: starts_capital(text),
            punctuated: text.trim_end().ends_with(|c: char| !c.is_alphanumeric()),
        }
    }

    /// Whether the pattern has no words.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the number of words at the start of `words` that the phrase matches, or `None` if
    /// `words` does not begin with the phrase. A token without letters or digits, such as a dash,
    /// belongs to the word before it.
    fn match_len(&self, words: &[&str]) -> Option<usize> {
        let mut expected = self.words.iter().peekable();
        let mut length = 0;
        for word in words {
            let Some(next) = expected.peek() else { break };
            let word = letters_and_digits(word);
            if word == **next {
                expected.next();
            } else if !word.is_empty() || length == 0 {
                return None;
            }
            length += 1;
        }
        (expected.peek().is_none() && length > 0).then_some(length)
    }

    /// Returns the words that replace a match. They keep the punctuation around the match, unless it is
    /// part of the phrase. They also keep its initial capital, unless the phrase itself is capitalized.
    fn replacement(&self, matched: &[&str], by: &str) -> Vec<String> {
        let mut words: Vec<String> = by.split_whitespace().map(str::to_owned).collect();
        let (Some(first), Some(last)) = (matched.first(), matched.last()) else { return words };
        let before: String = first.chars().take_while(|c| !c.is_alphanumeric()).collect();
        let after = last.trim_end_matches(|c: char| !c.is_alphanumeric());
        let after = &last[after.len()..];
        if let Some(word) = words.first_mut() {
            if starts_capital(first) && !self.capital && !starts_capital(word) {
                let mut letters = word.chars();
                *word = letters.next().map_or_else(String::new, |first| {
                    first.to_uppercase().chain(letters).collect()
                });
            }
            if word.starts_with(char::is_alphanumeric) {
                word.insert_str(0, &before);
            }
        }
        if !self.punctuated
            && let Some(word) = words.last_mut()
            && word.ends_with(char::is_alphanumeric)
        {
            word.push_str(after);
        }
        words
    }

    /// Replaces all matches in `text`; returns `None` if nothing matches.
    pub(crate) fn replace_in(&self, text: &str, by: &str) -> Option<String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (mut output, mut index, mut found): (Vec<String>, usize, bool) = (Vec::new(), 0, false);
        while index < words.len() {
            match self.match_len(&words[index..]) {
                Some(length) => {
                    output.extend(self.replacement(&words[index..index + length], by));
                    index += length;
                    found = true;
                }
                None => {
                    output.push(words[index].to_owned());
                    index += 1;
                }
            }
        }
        found.then(|| output.join(" "))
    }
}

fn starts_capital(text: &str) -> bool {
    text.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase)
}

/// Corrects recognized words and returns the spans of the matches. Each replacement has confidence
/// 1 and the time span of its match.
pub(super) fn apply(words: &mut Vec<Word>, correction: &Correction) -> Vec<Span> {
    let phrase = correction.phrase();
    let mut spans = Vec::new();
    let mut index = 0;
    while index < words.len() {
        let next = words[index..].iter().take(max_match_len(&phrase));
        let text: Vec<&str> = next.map(|word| word.text.as_str()).collect();
        let Some(length) = phrase.match_len(&text) else {
            index += 1;
            continue;
        };
        let matched = &words[index..index + length];
        let span = Span { start: matched[0].start, end: matched[length - 1].end };
        if !within(correction, span) {
            index += 1;
            continue;
        }
        let replacement = with_times(matched, phrase.replacement(&text[..length], &correction.to));
        let count = replacement.len();
        words.splice(index..index + length, replacement);
        spans.push(Span { start: rounded(span.start), end: rounded(span.end) });
        index += count;
    }
    spans
}

/// The maximum number of words that a match can span, including dashes between the words.
fn max_match_len(phrase: &PhrasePattern) -> usize {
    2 * phrase.words.len()
}

/// Whether the midpoint of a match lies within the correction's span.
fn within(correction: &Correction, matched: Span) -> bool {
    correction.span.is_none_or(|own| {
        let middle = (matched.start + matched.end) / 2.0;
        own.start - TOLERANCE <= middle && middle <= own.end + TOLERANCE
    })
}

/// Assigns the times of the old words to the new ones: one to one if the counts are equal,
/// otherwise evenly spaced.
fn with_times(old: &[Word], new: Vec<String>) -> Vec<Word> {
    let (start, end) = (old[0].start, old[old.len() - 1].end);
    let (same_count, step) = (new.len() == old.len(), (end - start) / new.len().max(1) as f64);
    let word = |(index, text): (usize, String)| {
        let (start, end) = match same_count {
            true => (old[index].start, old[index].end),
            false => (start + step * index as f64, start + step * (index + 1) as f64),
        };
        Word { text, start, end, confidence: 1.0 }
    };
    new.into_iter().enumerate().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::correction::CorrectionKind;

    fn correction(from: &str, to: &str, span: Option<Span>) -> Correction {
        Correction {
            id: "c1".into(),
            kind: CorrectionKind::Words,
            from: from.into(),
            to: to.into(),
            span,
            created_at: String::new(),
            speaker_spans: Vec::new(),
            person_locations: Vec::new(),
            places: 0,
            spans: Vec::new(),
        }
    }

    fn words(text: &str) -> Vec<Word> {
        let word = |(index, text): (usize, &str)| Word {
            text: text.into(),
            start: index as f64,
            end: index as f64 + 0.8,
            confidence: 0.4,
        };
        text.split(' ').enumerate().map(word).collect()
    }

    #[test]
    fn replace_in_keeps_punctuation_and_capitals() {
        for (text, from, to, expected) in [
            ("The web, he said.", "web", "Webb", Some("The Webb, he said.")),
            ("\"Web\" is a name.", "web", "Webb", Some("\"Webb\" is a name.")),
            ("Saw it. Saw that.", "saw", "see", Some("See it. See that.")),
            ("james - web!", "James Web", "James Webb", Some("James Webb!")),
            ("a cobweb", "web", "Webb", None),
            ("one two three", "two", "", Some("one three")),
            ("colour", "Colour?", "color", Some("color")),
            ("And so it begins!", "begins!", "BEGINS", Some("And so it BEGINS")),
            ("And so it begins!", "begins", "BEGINS", Some("And so it BEGINS!")),
            ("in two words", "two words", "2 or 3 words.", Some("in 2 or 3 words.")),
        ] {
            let replaced = PhrasePattern::new(from).replace_in(text, to);
            assert_eq!(replaced.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn replaced_words_keep_their_times_and_become_certain() {
        let mut recognized = words("the web of web telescopes");
        let spans = apply(&mut recognized, &correction("web", "Webb", None));
        assert_eq!(spans, [1.0, 3.0].map(|start| Span { start, end: start + 0.8 }));
        let text = |recognized: &[Word]| {
            recognized.iter().map(|w| w.text.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(&recognized), "the Webb of Webb telescopes");
        assert_eq!(
            (recognized[1].start, recognized[1].confidence, recognized[2].confidence),
            (1.0, 1.0, 0.4)
        );

        let mut recognized = words("the web of web telescopes");
        let only = Some(Span { start: 2.5, end: 4.0 });
        assert_eq!(apply(&mut recognized, &correction("web", "James Webb", only)).len(), 1);
        assert_eq!(text(&recognized), "the web of James Webb telescopes");
        assert_eq!((recognized[3].end, recognized[4].start, recognized[4].end), (3.4, 3.4, 3.8));

        assert_eq!(apply(&mut recognized, &correction("of James", "", None)).len(), 1);
        assert_eq!(text(&recognized), "the web Webb telescopes");
        assert_eq!(apply(&mut recognized, &correction("nobody", "x", None)), []);
    }
}
