//! Synonyms and categories of visible things.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::matching::{StemMatcher, occurs_with_stem};
use crate::{stem, tokens};

/// Groups of synonyms. A detector's label is one word in a group, and a search may use any word in
/// it.
const NAMES: &[&[&str]] = &[
    &["person", "people", "pedestrian", "passerby", "human"],
    &["bicycle", "bike"],
    &["car", "automobile", "taxi", "cab"],
    &["motorcycle", "motorbike"],
    &["airplane", "aeroplane", "plane", "aircraft", "jet"],
    &["bus", "coach"],
    &["truck", "lorry"],
    &["boat", "ship", "vessel"],
    &["tv", "television", "telly"],
    &["couch", "sofa", "settee"],
    &["phone", "cellphone", "smartphone", "telephone", "mobile"],
    &["laptop", "computer", "notebook"],
    &["refrigerator", "fridge"],
    &["donut", "doughnut"],
    &["handbag", "purse"],
    &["backpack", "rucksack"],
    &["teddy", "plush"],
    &["cow", "cattle"],
    &["cup", "mug"],
];

/// Categories and their members.
const KINDS: &[(&str, &[&str])] = &[
    (
        "animal",
        &["bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"],
    ),
    ("vehicle", &["bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat"]),
    ("furniture", &["chair", "couch", "bed", "table", "bench"]),
    (
        "food",
        &["banana", "apple", "sandwich", "orange", "broccoli", "carrot", "pizza", "donut", "cake"],
    ),
    ("fruit", &["banana", "apple", "orange"]),
    ("pet", &["cat", "dog"]),
    ("traffic", &["car", "bus", "truck", "motorcycle"]),
];

/// For each word's stem, the stems of everything that the word may stand for.
static STANDS_FOR: LazyLock<HashMap<String, HashSet<String>>> = LazyLock::new(|| {
    let mut all: HashMap<String, HashSet<String>> = HashMap::new();
    let mut add = |word: &str, thing: &str| {
        all.entry(stem(word)).or_default().insert(stem(thing));
    };
    for names in NAMES {
        for name in *names {
            names.iter().for_each(|other| add(name, other));
        }
    }
    for (kind, things) in KINDS {
        for thing in *things {
            add(kind, thing);
            let names = NAMES.iter().filter(|names| names.contains(thing));
            names.flat_map(|names| *names).for_each(|name| add(kind, name));
        }
    }
    all
});

/// Whether a word is a synonym of a thing or the name of its category. Both are given as stems.
pub fn stands_for(word: &str, thing: &str) -> bool {
    STANDS_FOR.get(word).is_some_and(|things| things.contains(thing))
}

/// The share of `words`, 0..1, that `text` mentions. A word is mentioned if the word itself, a
/// synonym, or a member of the category that it names occurs. The share is 0 if there are no words.
pub fn thing_overlap(words: &[String], text: &str) -> f32 {
    if words.is_empty() {
        return 0.0;
    }
    let tokens = &tokens(text)[..];
    let stood_for = |stem: &str| {
        let mut things =
            STANDS_FOR.get(stem).into_iter().flatten().map(|thing| StemMatcher::new(thing));
        things.any(|thing| tokens.iter().any(|token| thing.matches(token)))
    };
    let named = |word: &&String| {
        let stem = stem(word);
        occurs_with_stem(word, &stem, tokens) || stood_for(&stem)
    };
    words.iter().filter(named).count() as f32 / words.len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_match_by_synonym_and_category() {
        for (word, text, expected) in [
            ("bikes", "2 bicycles, car", true),
            ("vehicles", "a lorry", true),
            ("television", "tv", true),
            ("dog", "an animal", false),
            ("car", "2 trucks", false),
            ("door", "doors", true),
        ] {
            let found = thing_overlap(&[word.to_owned()], text);
            assert_eq!(found == 1.0, expected, "{word}: {text}");
        }
        assert_eq!(thing_overlap(&[], "car"), 0.0);
        let words = ["car", "river"].map(str::to_owned);
        assert_eq!(thing_overlap(&words, "a taxi"), 0.5);
    }
}
