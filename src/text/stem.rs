//! Stemming, and word matching by stem.

use std::collections::HashMap;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

use crate::{Token, plural, tokens};

/// The stem of a lower-case word, which is the same for all forms of the word: `cycling` and
/// `cycles` give `cycl`, `women` gives `woman`, `saw` gives `see`. Uses Snowball's English stemmer
/// and a list of irregular forms. Words in other alphabets and words longer than 40 bytes are
/// returned unchanged.
pub fn stem(lower: &str) -> String {
    stem_with(&ALL, lower)
}

/// The stem for stored vectors, which is [`stem()`] without the irregular forms in `MORE`. Its
/// results must not change, so new irregular forms go into `MORE` only.
pub fn stored_stem(lower: &str) -> String {
    stem_with(&STORED, lower)
}

fn stem_with(irregular: &HashMap<&str, &str>, lower: &str) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));
    if lower.len() > 40 || !lower.is_ascii() {
        return lower.to_owned();
    }
    ENGLISH.stem(irregular.get(lower).copied().unwrap_or(lower)).into_owned()
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
        let irregular = FORMS.get(stem).map_or(&[][..], Vec::as_slice);
        Self { stem, beginning: beginning(stem), irregular }
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

/// Irregular forms used for stored vectors, with their base words.
static STORED: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let nouns = plural::IRREGULAR.iter().map(|(singular, plural)| (*plural, *singular));
    nouns.chain(VERBS.iter().copied()).collect()
});

/// All irregular forms except ambiguous ones.
static ALL: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let all = STORED.iter().map(|(k, v)| (*k, *v)).chain(MORE.iter().copied());
    all.filter(|(form, _)| !AMBIGUOUS.contains(form)).collect()
});

/// The irregular forms of each stem.
static FORMS: LazyLock<HashMap<String, Vec<&str>>> = LazyLock::new(|| {
    let mut forms: HashMap<String, Vec<&str>> = HashMap::new();
    for &form in ALL.keys() {
        forms.entry(stem(form)).or_default().push(form);
    }
    forms
});

/// Forms that stored vectors treat as verbs, although in image descriptions they mostly mean
/// something else: a side or a flower.
const AMBIGUOUS: &[&str] = &["left", "rose"];

/// Irregular verb forms, which the stemmer's rules do not handle.
const VERBS: &[(&str, &str)] = &[
    ("ran", "run"),
    ("went", "go"),
    ("gone", "go"),
    ("said", "say"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("told", "tell"),
    ("drove", "drive"),
    ("driven", "drive"),
    ("rode", "ride"),
    ("ridden", "ride"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("fell", "fall"),
    ("fallen", "fall"),
    ("rose", "rise"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("held", "hold"),
    ("took", "take"),
    ("taken", "take"),
    ("gave", "give"),
    ("given", "give"),
    ("sat", "sit"),
    ("stood", "stand"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("built", "build"),
    ("bought", "buy"),
    ("brought", "bring"),
    ("made", "make"),
    ("wrote", "write"),
    ("written", "write"),
    ("began", "begin"),
    ("begun", "begin"),
    ("left", "leave"),
    ("ate", "eat"),
    ("eaten", "eat"),
    ("swam", "swim"),
    ("sang", "sing"),
    ("sung", "sing"),
    ("thought", "think"),
    ("won", "win"),
    ("lost", "lose"),
    ("met", "meet"),
    ("paid", "pay"),
    ("sold", "sell"),
    ("shown", "show"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("caught", "catch"),
];

/// Irregular forms not used for stored vectors.
const MORE: &[(&str, &str)] = &[
    ("came", "come"),
    ("saw", "see"),
    ("seen", "see"),
    ("led", "lead"),
    ("lay", "lie"),
    ("knew", "know"),
    ("known", "know"),
    ("buses", "bus"),
    ("gases", "gas"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (a, b) in [
            ("cars", "car"),
            ("cycling", "cycles"),
            ("opened", "opens"),
            ("running", "runs"),
            ("ran", "running"),
            ("stopped", "stop"),
            ("falling", "falls"),
            ("cities", "city"),
            ("buses", "bus"),
            ("people", "persons"),
            ("women", "woman"),
            ("kids", "kid"),
            ("wore", "wears"),
            ("said", "says"),
            ("seen", "sees"),
            ("dying", "died"),
            ("lying", "lies"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} and {b}");
        }
        for (a, b) in [
            ("art", "cart"),
            ("bus", "but"),
            ("university", "meeting"),
            ("baker", "bakery"),
            ("left", "leaves"),
            ("rose", "rises"),
        ] {
            assert_ne!(stem(a), stem(b), "{a} and {b}");
        }
    }

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
        for word in tokens(&prose).iter().filter(|word| !ALL.contains_key(&*word.lower)) {
            assert!(word.lower.as_bytes().starts_with(beginning(word.stem())), "{}", word.lower);
        }
        let went = &tokens("went")[0];
        let is_form_of = |stem| StemMatcher::new(stem).matches(went);
        assert!(is_form_of("go") && !is_form_of("went") && !is_form_of("wear"));
    }

    #[test]
    fn stored_stems_do_not_change() {
        for (word, expected) in [
            ("saw", "saw"),
            ("seen", "seen"),
            ("knew", "knew"),
            ("buses", "buse"),
            ("kids", "kid"),
            ("says", "say"),
            ("knives", "knife"),
            ("people", "person"),
            ("left", "leav"),
            ("cycling", "cycl"),
            ("été", "été"),
        ] {
            assert_eq!(stored_stem(word), expected);
        }
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
