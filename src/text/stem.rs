//! Stemming.

use std::collections::HashMap;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

use crate::plural;

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

/// Returns the irregular forms of a stem.
pub(crate) fn irregular_forms(stem: &str) -> &'static [&'static str] {
    FORMS.get(stem).map_or(&[][..], Vec::as_slice)
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
}
