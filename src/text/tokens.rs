//! Splits text into words and tokens with their positions.

use std::sync::OnceLock;

use crate::stem;

/// A word or number in text.
#[derive(Debug, Clone)]
pub struct Token<'a> {
    /// The text as written.
    pub text: &'a str,
    /// The text in lower case, without a possessive ending.
    pub lower: String,
    /// Byte offset of `text`.
    pub start: usize,
    stem: OnceLock<String>,
}

impl<'a> Token<'a> {
    fn new(text: &'a str, start: usize, end: usize) -> Self {
        let text = &text[start..end];
        let mut lower = text.to_lowercase();
        if lower.contains('’') {
            lower = lower.replace('’', "'");
        }
        if let Some(owner) = lower.strip_suffix("'s") {
            lower.truncate(owner.len());
        }
        Self { text, lower, start, stem: OnceLock::new() }
    }

    /// The [`stem()`] of the token, computed once.
    pub fn stem(&self) -> &str {
        self.stem.get_or_init(|| stem(&self.lower))
    }

    /// Whether the token begins with a capital letter.
    pub fn is_capitalised(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// Whether the token has at least two letters and all of them are capitals.
    pub fn is_all_caps(&self) -> bool {
        self.text.chars().filter(|c| c.is_alphabetic()).count() > 1
            && self.text.chars().all(|c| !c.is_lowercase())
    }
}

/// Splits prose into words. A compound is one word (`long-term`, `AT&T`), but a label or a clock
/// time is several words.
///
/// A word consists of letters and digits, apostrophes between them, and full stops or commas
/// between digits (`o'clock`, `12.5`, `1,000`). Each ideograph or kana is a word. Stored vectors
/// are computed from these words, so the rules must not change.
pub fn words(text: &str) -> Vec<Token<'_>> {
    split(text, |previous, c, next| match c {
        '-' => previous.is_alphanumeric() && next.is_alphanumeric(),
        '&' => previous.is_uppercase() && next.is_uppercase(),
        _ => false,
    })
}

/// Splits text into tokens for matching. This is like [`words`], except that a label or a clock
/// time is one token (`SPEAKER_00`, `1:30`) and a compound is several tokens, so that `twenty-five`
/// is recognised as a number.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    split(text, |previous, c, next| match c {
        '_' => previous.is_alphanumeric() && next.is_alphanumeric(),
        ':' => previous.is_ascii_digit() && next.is_ascii_digit(),
        _ => false,
    })
}

/// Splits `text` into tokens. `joins` decides whether a character between two neighbours belongs
/// inside a token.
fn split(text: &str, joins: impl Fn(char, char, char) -> bool) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    let mut previous = ' ';
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |&(_, c)| c);
        let continues = start.is_some()
            && match c {
                '\'' | '’' => previous.is_alphanumeric() && next.is_alphanumeric(),
                '.' | ',' => previous.is_ascii_digit() && next.is_ascii_digit(),
                _ => is_mark(c) || joins(previous, c, next),
            };
        if is_ideograph(c) {
            if let Some(start) = start.take() {
                found.push(Token::new(text, start, at));
            }
            found.push(Token::new(text, at, at + c.len_utf8()));
        } else if c.is_alphanumeric() || continues {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            found.push(Token::new(text, start, at));
        }
        previous = c;
    }
    if let Some(start) = start {
        found.push(Token::new(text, start, text.len()));
    }
    found
}

/// Whether a character is a combining mark, which continues a word in Devanagari, Arabic and
/// decomposed Latin.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036F | 0x0900..=0x0DFF | 0x064B..=0x065F | 0x200C..=0x200D)
}

fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2FA1F)
}

/// The letters and digits of a line, in lower case. The result is the same for OCR readings that
/// differ only in spacing, case or punctuation.
pub fn letters_and_digits(line: &str) -> String {
    line.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_tokens_split_by_their_rules() {
        for (text, as_words, as_tokens) in [
            ("It's 12.5 km, o'clock!", "it 12.5 km o'clock", "it 12.5 km o'clock"),
            (
                "A long-term AT&T deal -- 1,200 people’s",
                "a long-term at&t deal 1,200 people",
                "a long term at t deal 1,200 people",
            ),
            ("SPEAKER_00 at 1:30, don't", "speaker 00 at 1 30 don't", "speaker_00 at 1:30 don't"),
            ("naïve Žluťoučký 東京 kůň", "naïve žluťoučký 東 京 kůň", "naïve žluťoučký 東 京 kůň"),
            ("हिन्दी", "हिन्दी", "हिन्दी"),
            (" \u{0} --- … _ : ", "", ""),
        ] {
            let lower = |tokens: Vec<Token<'_>>| {
                tokens.into_iter().map(|token| token.lower).collect::<Vec<_>>().join(" ")
            };
            assert_eq!(lower(words(text)), as_words, "{text}");
            assert_eq!(lower(tokens(text)), as_tokens, "{text}");
        }
    }

    #[test]
    fn offsets_point_at_the_text() {
        let text = "«Été» 🚲 rides";
        for word in words(text) {
            assert!(text[word.start..].starts_with(word.text));
        }
    }

    #[test]
    fn capitalisation_is_recognised() {
        for (text, capitalised, shouted) in [
            ("NASA", true, true),
            ("Paris", true, false),
            ("I", true, false),
            ("dog", false, false),
        ] {
            let found = words(text);
            assert_eq!((found[0].is_capitalised(), found[0].is_all_caps()), (capitalised, shouted));
        }
    }

    #[test]
    fn readings_of_one_line_share_letters_and_digits() {
        for line in ["SPEED LIMIT 45", "Speed-limit: 45", "speedlimit45"] {
            assert_eq!(letters_and_digits(line), "speedlimit45");
        }
        assert_eq!(letters_and_digits("~ !"), "");
    }
}
