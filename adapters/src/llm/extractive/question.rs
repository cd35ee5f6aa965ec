//! What a question is after: its words and their weight, and the kind of thing that answers it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::english::{is_stop_word, stem, words};

use super::document::Sentence;

/// A question, read.
pub(super) struct Question {
    /// Stems and their weight as words of a question.
    pub(super) terms: BTreeMap<String, f64>,
    /// Stems without which nothing is an answer: names and numbers.
    pub(super) required: BTreeSet<String>,
    pub(super) hint: Hint,
}

/// The kind of thing a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    Person,
    Time,
    Place,
    /// Without a number nothing is an answer.
    Quantity,
    /// Without a colour nothing is an answer.
    Colour,
    /// Without a year nothing is an answer.
    Year,
    Anything,
}

/// What a word counts that belongs to asking rather than to what is asked about.
const META_WEIGHT: f64 = 0.25;

/// Words of questions about videos that say little about what is looked for.
const META: &[&str] = &[
    "video",
    "videos",
    "clip",
    "clips",
    "footage",
    "film",
    "movie",
    "recording",
    "scene",
    "scenes",
    "show",
    "shows",
    "shown",
    "showing",
    "see",
    "seen",
    "visible",
    "talk",
    "talks",
    "talking",
    "talked",
    "speak",
    "speaks",
    "speaking",
    "spoken",
    "mention",
    "mentioned",
    "mentions",
    "tell",
    "tells",
    "told",
    "happen",
    "happens",
    "happening",
    "happened",
    "discuss",
    "discussed",
    "discusses",
    "describe",
    "described",
    "describes",
    "appear",
    "appears",
    "picture",
    "pictures",
    "image",
    "moment",
    "part",
    "color",
    "colour",
    "colors",
    "colours",
    "name",
    "named",
    "names",
    "called",
    "type",
    "kind",
    "sort",
    "number",
    "reason",
    "time",
    "place",
    "year",
    "person",
    "people",
    "someone",
    "anyone",
    "summary",
    "summarize",
    "summarise",
    "overview",
    "topic",
    "topics",
    "main",
    "text",
    "word",
    "words",
    "written",
    "write",
    "hear",
    "heard",
    "speech",
    "watch",
    "explain",
    "explains",
    "contain",
    "contains",
    "start",
    "starts",
    "begin",
    "begins",
    "end",
    "ends",
    "content",
    "subject",
    "point",
    "points",
    "screen",
    "during",
    "made",
    "beginning",
    "opening",
    "ending",
    "first",
    "last",
    "finally",
];

impl Question {
    pub(super) fn read(question: &str) -> Self {
        let all = words(question);
        let mut terms = BTreeMap::new();
        let mut required = BTreeSet::new();
        for (place, word) in all.iter().enumerate() {
            if is_stop_word(&word.lower) && !is_name(word.text, place) {
                continue;
            }
            let stem = stem(&word.lower);
            let meta = META.contains(&word.lower.as_str());
            let numeric = word.lower.chars().any(|c| c.is_ascii_digit());
            if numeric || (is_name(word.text, place) && !meta) {
                required.insert(stem.clone());
            }
            terms.insert(stem, if meta { META_WEIGHT } else { 1.0 });
        }
        let lower: Vec<&str> = all.iter().map(|word| word.lower.as_str()).collect();
        Self { terms, required, hint: Hint::read(&lower) }
    }

    /// Rarer words weigh more; one that occurs nowhere weighs most.
    pub(super) fn weights(&self, sentences: &[Sentence]) -> BTreeMap<String, f64> {
        let mut counts: HashMap<&str, f64> = HashMap::new();
        for sentence in sentences {
            let distinct: BTreeSet<&str> = sentence.stems.iter().map(String::as_str).collect();
            distinct.into_iter().for_each(|stem| *counts.entry(stem).or_default() += 1.0);
        }
        let total = sentences.len() as f64;
        self.terms
            .iter()
            .map(|(term, weight)| {
                let count = counts.get(term.as_str()).copied().unwrap_or(0.5);
                (term.clone(), weight * (1.0 + total / count).ln())
            })
            .collect()
    }
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse().is_ok_and(|year: u32| (1000..2100).contains(&year))
}

/// A capital inside a question marks a name.
fn is_name(text: &str, place: usize) -> bool {
    place > 0
        && text.starts_with(char::is_uppercase)
        && !matches!(text, "I" | "I'm" | "I've" | "I'll" | "I'd")
        && !is_stop_word(&text.to_lowercase())
}

impl Hint {
    fn read(lower: &[&str]) -> Self {
        const MEASURES: &[&str] =
            &["many", "much", "old", "tall", "far", "high", "fast", "long", "deep", "heavy"];
        for (at, word) in lower.iter().enumerate() {
            match *word {
                "colour" | "color" | "colours" | "colors" => return Self::Colour,
                "who" | "whom" | "whose" => return Self::Person,
                "when" => return Self::Time,
                "year" | "years" if at < 3 => return Self::Year,
                "where" => return Self::Place,
                "how" if lower.get(at + 1).is_some_and(|next| MEASURES.contains(next)) => {
                    return Self::Quantity;
                }
                _ => {}
            }
        }
        Self::Anything
    }

    /// How well a sentence fits what is asked for; `None` when it cannot be the answer.
    pub(super) fn bonus(self, sentence: &str) -> Option<f64> {
        const FITS: f64 = 1.15;
        let all = words(sentence);
        let any = |list: &[&str]| all.iter().any(|word| list.contains(&word.lower.as_str()));
        let named = all.iter().skip(1).any(|word| word.is_capitalised() && word.lower != "i");
        let numbered = all.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()))
            || any(NUMBERS);
        let fits = match self {
            Self::Anything => return Some(1.0),
            Self::Quantity => return numbered.then_some(1.0),
            Self::Colour => return any(COLOURS).then_some(1.0),
            Self::Year => return all.iter().any(|word| is_year(&word.lower)).then_some(1.0),
            Self::Person => named || any(PERSONS),
            Self::Time => numbered || any(TIMES),
            Self::Place => any(PLACES),
        };
        Some(if fits { FITS } else { 1.0 })
    }
}

/// Whether a number stands right before one of the terms, as in `4 red cars`.
pub(super) fn counts(sentence: &str, terms: &BTreeMap<String, f64>) -> bool {
    const NEAR: usize = 2;
    let all = words(sentence);
    let is_number =
        |lower: &str| lower.starts_with(|c: char| c.is_ascii_digit()) || NUMBERS.contains(&lower);
    all.iter().enumerate().any(|(at, word)| {
        terms.contains_key(&stem(&word.lower))
            && all[at.saturating_sub(NEAR)..at].iter().any(|before| {
                let between = &sentence[before.start..word.start];
                is_number(&before.lower) && !between.contains([',', ';', '(', ')'])
            })
    })
}

const NUMBERS: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "fifteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "hundreds",
    "thousand",
    "thousands",
    "million",
    "millions",
    "billion",
    "billions",
    "dozen",
    "dozens",
    "half",
    "quarter",
    "none",
    "no",
    "several",
    "single",
    "couple",
    "pair",
    "both",
];
const COLOURS: &[&str] = &[
    "red",
    "orange",
    "yellow",
    "green",
    "blue",
    "purple",
    "pink",
    "brown",
    "black",
    "white",
    "grey",
    "gray",
    "violet",
    "turquoise",
    "beige",
    "gold",
    "silver",
];
const PERSONS: &[&str] = &[
    "man",
    "men",
    "woman",
    "women",
    "boy",
    "girl",
    "child",
    "children",
    "people",
    "person",
    "he",
    "she",
    "they",
    "speaker",
    "player",
    "worker",
    "driver",
    "president",
    "doctor",
    "teacher",
    "host",
    "crowd",
    "team",
    "i",
    "we",
];
const TIMES: &[&str] = &[
    "today",
    "tomorrow",
    "yesterday",
    "morning",
    "afternoon",
    "evening",
    "night",
    "noon",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "year",
    "years",
    "month",
    "week",
    "hour",
    "minute",
    "second",
    "century",
    "spring",
    "summer",
    "autumn",
    "winter",
    "after",
    "before",
    "when",
    "while",
    "until",
    "then",
];
const PLACES: &[&str] = &[
    "in", "at", "on", "inside", "outside", "near", "under", "over", "behind", "between", "beside",
    "from", "into", "onto", "through", "across", "along", "around", "above", "below", "here",
    "there",
];

/// What a general word stands for among the things that detectors name.
const GENERAL: &[(&str, &[&str])] = &[
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
];

/// Whether one of the stems is what a general term stands for, as a dog is an animal.
pub(super) fn is_kind_of(term: &str, stems: &[String]) -> bool {
    let of = GENERAL.iter().filter(|(general, _)| stem(general) == term);
    of.flat_map(|(_, things)| *things).any(|thing| stems.contains(&stem(thing)))
}
