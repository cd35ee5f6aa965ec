//! Splits text into words with their positions, and determines whether capitalisation is
//! meaningful.

use std::ops::Range;

/// A word. It consists of letters and digits, and of inner apostrophes, hyphens and full stops.
pub(super) struct WordToken {
    pub(super) range: Range<usize>,
    pub(super) lower: String,
    /// Whether the word begins with a capital letter.
    pub(super) capital: bool,
    /// Whether the word has two or more letters and all of them are capitals.
    pub(super) shouted: bool,
    /// Whether only spaces separate the word from the previous word.
    pub(super) joined: bool,
    /// Whether the word begins a sentence. If so, its capital letter is not significant.
    pub(super) first: bool,
}

pub(super) struct WordTokens {
    pub(super) words: Vec<WordToken>,
    /// Whether capitalisation is significant because the text has both upper and lower case.
    pub(super) cased: bool,
}

impl WordTokens {
    pub(super) fn new(text: &str) -> Self {
        let mut words: Vec<WordToken> = Vec::new();
        for range in ranges(text) {
            let raw = &text[range.clone()];
            let gap = &text[words.last().map_or(0, |w| w.range.end)..range.start];
            let first = words.is_empty()
                || gap.contains(['.', '!', '?', ':', ';', '\n', '"', '“', '•', '|']);
            let letters = raw.chars().filter(|c| c.is_alphabetic()).count();
            words.push(WordToken {
                lower: raw.to_lowercase(),
                capital: raw.starts_with(char::is_uppercase),
                shouted: letters >= 2 && !raw.contains(char::is_lowercase),
                joined: !words.is_empty() && !gap.is_empty() && gap.chars().all(|c| c == ' '),
                first,
                range,
            });
        }
        let lower = words.iter().filter(|w| !w.capital && w.lower.starts_with(char::is_alphabetic));
        let cased =
            words.iter().any(|w| w.capital) && lower.count() > 0 || mostly_title_case(&words);
        Self { words, cased }
    }

    /// Returns whether the words that begin at `start` equal `phrase` and only spaces separate
    /// them.
    pub(super) fn spell(&self, start: usize, phrase: &[String]) -> bool {
        let Some(words) = self.words.get(start..start + phrase.len()) else { return false };
        words.iter().zip(phrase).all(|(w, p)| w.lower == *p) && words[1..].iter().all(|w| w.joined)
    }

    /// Returns the byte range of a range of words.
    pub(super) fn bytes(&self, words: Range<usize>) -> Range<usize> {
        self.words[words.start].range.start..self.words[words.end - 1].range.end
    }
}

/// Returns whether the words form a short caption such as `John Smith`. Such captions have no
/// lower-case word, but are not entirely in capitals.
fn mostly_title_case(words: &[WordToken]) -> bool {
    words.iter().any(|w| w.capital && !w.shouted && w.lower.chars().count() > 1)
}

fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let inside = c.is_alphanumeric()
            || c == '&' && start.is_none() && next == Some(' ')
            || start.is_some()
                && matches!(c, '\'' | '’' | '-' | '.' | '&')
                && next.is_some_and(char::is_alphanumeric);
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(begin)) => {
                ranges.push(begin..at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(begin) = start {
        ranges.push(begin..text.len());
    }
    ranges
        .into_iter()
        .map(|r| without_possessive(text, r))
        .map(|r| with_full_stop(text, r))
        .collect()
}

/// Removes a possessive ending, so that `NASA's` becomes `NASA`.
fn without_possessive(text: &str, range: Range<usize>) -> Range<usize> {
    let word = &text[range.clone()];
    let bare = ["'s", "’s", "'S"].iter().find_map(|s| word.strip_suffix(s)).unwrap_or(word);
    range.start..range.start + bare.len()
}

/// Includes the full stop of `U.S.` and `Inc.`, but not that of a sentence.
fn with_full_stop(text: &str, range: Range<usize>) -> Range<usize> {
    let word = text[range.clone()].to_ascii_lowercase();
    let initial = word.chars().count() == 1 && text[range.clone()].starts_with(char::is_uppercase);
    let dotted = word.len() >= 3 && word.split('.').all(|part| part.chars().count() == 1);
    let abbreviation = ABBREVIATIONS.contains(&word.as_str()) || dotted || initial;
    let end = range.end + usize::from(abbreviation && text[range.end..].starts_with('.'));
    range.start..end
}

const ABBREVIATIONS: [&str; 18] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "mt", "inc", "corp", "ltd", "co", "bros", "sen", "rep",
    "gov", "gen", "capt", "d.c",
];
