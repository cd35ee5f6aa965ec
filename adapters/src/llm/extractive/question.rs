//! What a question is after: its words and their weight, and the kind of thing that answers it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use text::numbers::is_amount;
use text::questions::{AnswerKind, asks_for_number, is_generic, times_told};
use text::{is_stop_word, stem, words};

use super::document::Sentence;

/// A question, read.
pub(super) struct Question {
    /// Stems and their weight as words of a question.
    pub(super) terms: BTreeMap<String, f64>,
    /// Stems without which nothing is an answer: names and numbers.
    pub(super) required: BTreeSet<String>,
    pub(super) asks_for: AnswerKind,
    /// Whether it asks how many or how much there is.
    pub(super) asks_for_number: bool,
    /// The times that it is about, in words: `last year`.
    pub(super) times: Vec<String>,
}

/// What a word counts that belongs to asking rather than to what is asked about.
const GENERIC_WEIGHT: f64 = 0.25;

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
            let generic = is_generic(&word.lower);
            let numeric = word.lower.chars().any(|c| c.is_ascii_digit());
            if numeric || (is_name(word.text, place) && !generic) {
                required.insert(stem.clone());
            }
            terms.insert(stem, if generic { GENERIC_WEIGHT } else { 1.0 });
        }
        Self {
            terms,
            required,
            asks_for: AnswerKind::asked_for(&all),
            asks_for_number: asks_for_number(&all),
            times: times_told(&all),
        }
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

    /// Whether a sentence tells of the same times.
    pub(super) fn is_of_time(&self, sentence: &str) -> bool {
        if self.times.is_empty() {
            return true;
        }
        let told = times_told(&words(sentence));
        self.times.iter().all(|time| told.contains(time))
    }
}

/// A capital inside a question marks a name.
fn is_name(text: &str, place: usize) -> bool {
    place > 0
        && text.starts_with(char::is_uppercase)
        && !matches!(text, "I" | "I'm" | "I've" | "I'll" | "I'd")
        && !is_stop_word(&text.to_lowercase())
}

/// How well a sentence fits what is asked for; `None` when it cannot be the answer.
pub(super) fn bonus(kind: AnswerKind, sentence: &str) -> Option<f64> {
    const FITS: f64 = 1.15;
    let fits = kind.is_in(&words(sentence));
    match kind {
        AnswerKind::Anything => Some(1.0),
        // Without a number, a colour or a year nothing is an answer.
        AnswerKind::Quantity | AnswerKind::Colour | AnswerKind::Year => fits.then_some(1.0),
        AnswerKind::Person | AnswerKind::Time | AnswerKind::Place => {
            Some(if fits { FITS } else { 1.0 })
        }
    }
}

/// Whether a number stands right before one of the terms, as in `4 red cars`.
pub(super) fn counts(sentence: &str, terms: &BTreeMap<String, f64>) -> bool {
    const NEAR: usize = 2;
    let all = words(sentence);
    all.iter().enumerate().any(|(at, word)| {
        terms.contains_key(&stem(&word.lower))
            && all[at.saturating_sub(NEAR)..at].iter().any(|before| {
                let between = &sentence[before.start..word.start];
                is_amount(&before.lower) && !between.contains([',', ';', '(', ')'])
            })
    })
}
