//! Which words are forms of one word.

use std::collections::HashMap;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

use crate::{Token, plural, tokens};

/// The stem of a lower-case word, equal for its forms: `cycling` and `cycles` are `cycl`, `women` is
/// `woman`, `saw` is `see`. By Snowball's English stemmer and a list of irregular forms; words of other
/// alphabets and of more than 40 bytes are their own stem.
pub fn stem(lower: &str) -> String {
    stem_with(&ALL, lower)
}

/// The stem as it was when the first vectors of stems were stored: [`stem()`], but without the
/// irregular forms that were listed since. It must not change; a word may only be added for `stem`.
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

/// A stem that tokens are compared with.
pub(crate) struct Sought<'a> {
    stem: &'a str,
    beginning: &'a [u8],
    /// The irregular forms with that stem.
    irregular: &'static [&'static str],
}

impl<'a> Sought<'a> {
    pub(crate) fn of(stem: &'a str) -> Self {
        let irregular = FORMS.get(stem).map_or(&[][..], Vec::as_slice);
        Self { stem, beginning: beginning(stem), irregular }
    }

    /// Whether it is the stem of a token. Of one that begins otherwise, it is not computed.
    pub(crate) fn is_of(&self, token: &Token<'_>) -> bool {
        let lower = token.lower.as_str();
        (lower.as_bytes().starts_with(self.beginning) && token.stem() == self.stem)
            || self.irregular.contains(&lower)
    }
}

/// What every word with that stem begins with, but for irregular forms: the rules are about endings, and put
/// another letter there at most (`hoping` is `hope`). Of the shortest it is the first letter (`dying` is
/// `die`).
fn beginning(stem: &str) -> &[u8] {
    let length = if stem.len() > 3 { stem.len() - 1 } else { 1 };
    stem.as_bytes().get(..length).unwrap_or_default()
}

/// Share of the words that occur in a text, endings aside; 0 without words. Text read off pictures
/// often lacks its spaces, so long words also count inside longer ones.
pub fn shared(words: &[String], text: &str) -> f32 {
    if words.is_empty() {
        return 0.0;
    }
    let there = tokens(text);
    words.iter().filter(|word| occurs(word, &there)).count() as f32 / words.len() as f32
}

/// Whether a lower-case word is among tokens, endings aside, or inside one of them when it is long.
pub fn occurs(word: &str, tokens: &[Token<'_>]) -> bool {
    occurs_as(word, &stem(word), tokens)
}

/// The same for a word with that stem.
pub(crate) fn occurs_as(word: &str, stem: &str, tokens: &[Token<'_>]) -> bool {
    /// Letters from which a word inside another is no accident.
    const LONG: usize = 5;
    let long = word.chars().count() >= LONG;
    let sought = Sought::of(stem);
    let inside = |t: &Token<'_>| long && t.lower.len() > word.len() && t.lower.contains(word);
    tokens.iter().any(|t| t.lower == word || sought.is_of(t) || inside(t))
}

/// Forms and their words, of those that stored vectors know.
static STORED: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let nouns = plural::IRREGULAR.iter().map(|(singular, plural)| (*plural, *singular));
    nouns.chain(VERBS.iter().copied()).collect()
});

/// All of them that are no other word as often.
static ALL: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let all = STORED.iter().map(|(k, v)| (*k, *v)).chain(MORE.iter().copied());
    all.filter(|(form, _)| !AMBIGUOUS.contains(form)).collect()
});

/// Of each stem the forms that are listed.
static FORMS: LazyLock<HashMap<String, Vec<&str>>> = LazyLock::new(|| {
    let mut forms: HashMap<String, Vec<&str>> = HashMap::new();
    for &form in ALL.keys() {
        forms.entry(stem(form)).or_default().push(form);
    }
    forms
});

/// Forms that stored vectors take for their verb, though in what is told of pictures they are mostly
/// another word: a side, a flower.
const AMBIGUOUS: &[&str] = &["left", "rose"];

/// Forms that the stemmer's rules do not reach.
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

/// Forms that stored vectors do not know.
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
    fn forms_of_a_word_share_their_stem() {
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
    fn what_is_not_listed_begins_as_its_stem_does() {
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
        let is_form_of = |stem| Sought::of(stem).is_of(went);
        assert!(is_form_of("go") && !is_form_of("went") && !is_form_of("wear"));
    }

    #[test]
    fn stored_stems_stay_as_they_are() {
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
    fn words_are_found_whatever_their_ending_and_spacing() {
        let words = |words: &[&str]| words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>();
        for (asked, text, expected) in [
            (words(&["car"]), "2 × car, 1 × person", 1.0),
            (words(&["cars"]), "car", 1.0),
            (words(&["speed", "limit", "45"]), "SPEEDLIMIT45", 2.0 / 3.0),
            (words(&["north", "gate"]), "CAMERA 07 NORTH GATE", 1.0),
            (words(&["art"]), "cart, party", 0.0),
            (words(&["bottle", "wine"]), "three bottles", 0.5),
            (words(&[]), "it is what it is", 0.0),
        ] {
            let found = shared(&asked, text);
            assert!((found - expected).abs() < 1e-6, "{asked:?} in {text}: {found}");
        }
    }
}
