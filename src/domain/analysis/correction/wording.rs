//! Replacing words: in what was recognised, each with its time, and in texts.

use ports::transcriber::Word;
use text::letters_and_digits;

use super::{Correction, ROOM};
use crate::domain::kernel::time::{Span, rounded};

/// Words that are looked for one after the other, whatever their case and punctuation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    words: Vec<String>,
    capital: bool,
}

impl Phrase {
    /// The words of a text.
    pub(crate) fn new(text: &str) -> Self {
        let words = text.split_whitespace().map(letters_and_digits);
        Self {
            words: words.filter(|word| !word.is_empty()).collect(),
            capital: starts_capital(text),
        }
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether it stands at the beginning of these words, and of how many of them it is then. What has
    /// neither letter nor digit, as a dash, belongs to the word before it.
    fn begins(&self, words: &[&str]) -> Option<usize> {
        let mut looked_for = self.words.iter().peekable();
        let mut length = 0;
        for word in words {
            let Some(next) = looked_for.peek() else { break };
            let word = letters_and_digits(word);
            if word == **next {
                looked_for.next();
            } else if !word.is_empty() || length == 0 {
                return None;
            }
            length += 1;
        }
        (looked_for.peek().is_none() && length > 0).then_some(length)
    }

    /// What stands in the place of these words: with the punctuation around them, and a capital
    /// where they have one that the phrase has not.
    fn replacement(&self, replaced: &[&str], by: &str) -> Vec<String> {
        let mut words: Vec<String> = by.split_whitespace().map(str::to_owned).collect();
        let (Some(first), Some(last)) = (replaced.first(), replaced.last()) else { return words };
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
        if let Some(word) = words.last_mut()
            && word.ends_with(char::is_alphanumeric)
        {
            word.push_str(after);
        }
        words
    }

    /// A text with it replaced wherever it stands; nothing where it does not.
    pub(crate) fn replaced(&self, text: &str, by: &str) -> Option<String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (mut kept, mut at, mut found): (Vec<String>, usize, bool) = (Vec::new(), 0, false);
        while at < words.len() {
            match self.begins(&words[at..]) {
                Some(length) => {
                    kept.extend(self.replacement(&words[at..at + length], by));
                    at += length;
                    found = true;
                }
                None => {
                    kept.push(words[at].to_owned());
                    at += 1;
                }
            }
        }
        found.then(|| kept.join(" "))
    }
}

fn starts_capital(text: &str) -> bool {
    text.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase)
}

/// Corrects recognised words, and tells when those were said. What replaces them is certain, and takes
/// the time that they took.
pub(super) fn correct(words: &mut Vec<Word>, correction: &Correction) -> Vec<Span> {
    let phrase = correction.phrase();
    let mut places = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let text: Vec<&str> =
            words[at..].iter().take(most(&phrase)).map(|word| word.text.as_str()).collect();
        let Some(length) = phrase.begins(&text) else {
            at += 1;
            continue;
        };
        let said = &words[at..at + length];
        let span = Span { start: said[0].start, end: said[length - 1].end };
        if !within(correction, span) {
            at += 1;
            continue;
        }
        let fresh = timed(said, phrase.replacement(&text[..length], &correction.to));
        let count = fresh.len();
        words.splice(at..at + length, fresh);
        places.push(Span { start: rounded(span.start), end: rounded(span.end) });
        at += count;
    }
    places
}

/// Words that have to be looked at to know whether a phrase begins there: dashes may stand between.
fn most(phrase: &Phrase) -> usize {
    2 * phrase.words.len()
}

/// Whether words are said in the time of a correction: more of them than not.
fn within(correction: &Correction, said: Span) -> bool {
    correction.span.is_none_or(|own| {
        let middle = (said.start + said.end) / 2.0;
        own.start - ROOM <= middle && middle <= own.end + ROOM
    })
}

/// New words in the time of old ones: as many, word for word; else evenly.
fn timed(old: &[Word], new: Vec<String>) -> Vec<Word> {
    let (start, end) = (old[0].start, old[old.len() - 1].end);
    let (as_many, step) = (new.len() == old.len(), (end - start) / new.len().max(1) as f64);
    let word = |(at, text): (usize, String)| {
        let (start, end) = match as_many {
            true => (old[at].start, old[at].end),
            false => (start + step * at as f64, start + step * (at + 1) as f64),
        };
        Word { text, start, end, confidence: 1.0 }
    };
    new.into_iter().enumerate().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::analysis::correction::Corrected;

    fn correction(from: &str, to: &str, span: Option<Span>) -> Correction {
        Correction {
            id: "c1".into(),
            of: Corrected::Words,
            from: from.into(),
            to: to.into(),
            span,
            created_at: String::new(),
            spoken: Vec::new(),
            seen: Vec::new(),
            places: 0,
            spans: Vec::new(),
        }
    }

    fn words(text: &str) -> Vec<Word> {
        let word = |(at, text): (usize, &str)| Word {
            text: text.into(),
            start: at as f64,
            end: at as f64 + 0.8,
            confidence: 0.4,
        };
        text.split(' ').enumerate().map(word).collect()
    }

    #[test]
    fn a_phrase_keeps_the_punctuation_and_the_capital_around_it() {
        for (text, from, to, expected) in [
            ("The web, he said.", "web", "Webb", Some("The Webb, he said.")),
            ("\"Web\" is a name.", "web", "Webb", Some("\"Webb\" is a name.")),
            ("Saw it. Saw that.", "saw", "see", Some("See it. See that.")),
            ("james - web!", "James Web", "James Webb", Some("James Webb!")),
            ("a cobweb", "web", "Webb", None),
            ("one two three", "two", "", Some("one three")),
            ("colour", "Colour?", "color", Some("color")),
            ("in two words", "two words", "2 or 3 words.", Some("in 2 or 3 words.")),
        ] {
            let found = Phrase::new(from).replaced(text, to);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn words_keep_their_times_and_become_certain() {
        let mut said = words("the web of web telescopes");
        let places = correct(&mut said, &correction("web", "Webb", None));
        assert_eq!(places, [1.0, 3.0].map(|start| Span { start, end: start + 0.8 }));
        let text =
            |said: &[Word]| said.iter().map(|w| w.text.clone()).collect::<Vec<_>>().join(" ");
        assert_eq!(text(&said), "the Webb of Webb telescopes");
        assert_eq!((said[1].start, said[1].confidence, said[2].confidence), (1.0, 1.0, 0.4));

        let mut said = words("the web of web telescopes");
        let only = Some(Span { start: 2.5, end: 4.0 });
        assert_eq!(correct(&mut said, &correction("web", "James Webb", only)).len(), 1);
        assert_eq!(text(&said), "the web of James Webb telescopes");
        assert_eq!((said[3].end, said[4].start, said[4].end), (3.4, 3.4, 3.8));

        assert_eq!(correct(&mut said, &correction("of James", "", None)).len(), 1);
        assert_eq!(text(&said), "the web Webb telescopes");
        assert_eq!(correct(&mut said, &correction("nobody", "x", None)), []);
    }
}
