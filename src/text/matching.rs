//! Word matching by stem.

use crate::stem::{irregular_forms, stem};
use crate::{Token, tokens};

/// Computes the share of `words`, 0..1, that occur in `text` in any form. Returns 0 if there are no
/// words. OCR text often lacks spaces, so a long word also counts if it occurs inside a longer one.
pub fn word_overlap(words: &[String], text: &str) -> f32 {
    if words.is_empty() {
        return 0.0;
    }
    let there = tokens(text);
    words.iter().filter(|word| occurs(word, &there)).count() as f32 / words.len() as f32
}

/// Whether a lower-case word occurs among `tokens` in any form. A long word also counts if it
/// occurs inside a token.
pub fn occurs(word: &str, tokens: &[Token<'_>]) -> bool {
    occurs_with_stem(word, &stem(word), tokens)
}

/// Does the same as [`occurs`], given the stem of the word.
pub(crate) fn occurs_with_stem(word: &str, stem: &str, tokens: &[Token<'_>]) -> bool {
    /// Minimum number of letters of a word that counts if it occurs inside a token.
    const LONG: usize = 5;
    let long = word.chars().count() >= LONG;
    let matcher = StemMatcher::new(stem);
    let inside = |t: &Token<'_>| long && t.lower.len() > word.len() && t.lower.contains(word);
    tokens.iter().any(|t| t.lower == word || matcher.matches(t) || inside(t))
}

/// Matches tokens against a stem.
pub(crate) struct StemMatcher<'a> {
    stem: &'a str,
    beginning: &'a [u8],
    /// The irregular forms with this stem.
    irregular: &'static [&'static str],
}

impl<'a> StemMatcher<'a> {
    pub(crate) fn new(stem: &'a str) -> Self {
        Self { stem, beginning: beginning(stem), irregular: irregular_forms(stem) }
    }

    /// Whether a token has the stem. Skips stemming for tokens with a different beginning.
    pub(crate) fn matches(&self, token: &Token<'_>) -> bool {
        let lower = token.lower.as_str();
        (lower.as_bytes().starts_with(self.beginning) && token.stem() == self.stem)
            || self.irregular.contains(&lower)
    }
}

/// The prefix that all regular forms of a stem share. The stemmer's rules change endings and at
/// most the last letter of the stem (`hoping` gives `hope`). For the shortest stems, the prefix is
/// the first letter (`dying` gives `die`).
fn beginning(stem: &str) -> &[u8] {
    let length = if stem.len() > 3 { stem.len() - 1 } else { 1 };
    stem.as_bytes().get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_forms_begin_like_their_stem() {
        let odd =
            "skis skies dying tying news yes hoping possibility happily gently electricity été 1st";
        let prose = [
            include_str!("../../README.md"),
            include_str!("../../docs/api.md"),
            include_str!("../../docs/production.md"),
            odd,
        ];
        let prose = prose.join(" ");
        let is_regular =
            |word: &&Token<'_>| !irregular_forms(word.stem()).contains(&word.lower.as_str());
        for word in tokens(&prose).iter().filter(is_regular) {
            assert!(word.lower.as_bytes().starts_with(beginning(word.stem())), "{}", word.lower);
        }
        let went = &tokens("went")[0];
        let is_form_of = |stem| StemMatcher::new(stem).matches(went);
        assert!(is_form_of("go") && !is_form_of("went") && !is_form_of("wear"));
    }

    #[test]
    fn word_overlap_ignores_endings_and_missing_spaces() {
        let words = |words: &[&str]| words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>();
        for (query, text, expected) in [
            (words(&["car"]), "2 × car, 1 × person", 1.0),
            (words(&["cars"]), "car", 1.0),
            (words(&["speed", "limit", "45"]), "SPEEDLIMIT45", 2.0 / 3.0),
            (words(&["north", "gate"]), "CAMERA 07 NORTH GATE", 1.0),
            (words(&["art"]), "cart, party", 0.0),
            (words(&["bottle", "wine"]), "three bottles", 0.5),
            (words(&[]), "it is what it is", 0.0),
        ] {
            let found = word_overlap(&query, text);
            assert!((found - expected).abs() < 1e-6, "{query:?} in {text}: {found}");
        }
    }
}
