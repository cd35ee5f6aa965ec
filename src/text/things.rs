//! Words for things that can be seen: other names of the same thing, and kinds of things.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::stem::{Sought, occurs_as};
use crate::{stem, tokens};

/// Names of one thing. Detectors know it by one of them, people by any.
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

/// A kind and what belongs to it.
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

/// By the stem of a word the stems of all that it may stand for.
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

/// Whether a word stands for a thing, both as stems: as another name of it, or as its kind.
pub fn stands_for(word: &str, thing: &str) -> bool {
    STANDS_FOR.get(word).is_some_and(|things| things.contains(thing))
}

/// Share of the words that occur in a text, by whatever name, or of which the text names a kind; 0
/// without words.
pub fn shared_things(words: &[String], text: &str) -> f32 {
    if words.is_empty() {
        return 0.0;
    }
    let there = &tokens(text)[..];
    let stood_for = |stem: &str| {
        let mut things = STANDS_FOR.get(stem).into_iter().flatten().map(|thing| Sought::of(thing));
        things.any(|thing| there.iter().any(|token| thing.is_of(token)))
    };
    let named = |word: &&String| {
        let stem = stem(word);
        occurs_as(word, &stem, there) || stood_for(&stem)
    };
    words.iter().filter(named).count() as f32 / words.len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_found_by_their_names_and_kinds() {
        for (word, text, expected) in [
            ("bikes", "2 bicycles, car", true),
            ("vehicles", "a lorry", true),
            ("television", "tv", true),
            ("dog", "an animal", false),
            ("car", "2 trucks", false),
            ("door", "doors", true),
        ] {
            let found = shared_things(&[word.to_owned()], text);
            assert_eq!(found == 1.0, expected, "{word}: {text}");
        }
        assert_eq!(shared_things(&[], "car"), 0.0);
        let words = ["car", "river"].map(str::to_owned);
        assert_eq!(shared_things(&words, "a taxi"), 0.5);
    }
}
