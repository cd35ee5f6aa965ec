//! Analyses a question: finds its terms, their weights and the expected kind of answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use text::numbers::is_amount;
use text::questions::{AnswerKind, asks_for_number, is_generic, relative_times};
use text::{is_stop_word, stem, words};

use super::corpus::Sentence;

/// The terms of a question, and what the question asks for.
pub(super) struct QuestionTerms {
    /// Stems of the question's words, with their weights.
    pub(super) terms: BTreeMap<String, f64>,
    /// Stems that an answer must contain: names and numbers.
    pub(super) required: BTreeSet<String>,
    pub(super) asks_for: AnswerKind,
    /// Whether the question asks how many or how much.
    pub(super) asks_for_number: bool,
    /// Relative times in the question, such as `last year`.
    pub(super) times: Vec<String>,
}

/// Weight of a generic word in a question.
const GENERIC_WEIGHT: f64 = 0.25;

impl QuestionTerms {
    pub(super) fn parse(question: &str) -> Self {
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
            asks_for: AnswerKind::from_question(&all),
            asks_for_number: asks_for_number(&all),
            times: relative_times(&all),
        }
    }

    /// Returns the weight of each term by inverse document frequency. Terms that occur in no
    /// sentence have the highest weight.
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

    /// Returns whether a sentence mentions the same relative times as the question.
    pub(super) fn matches_times(&self, sentence: &str) -> bool {
        if self.times.is_empty() {
            return true;
        }
        let mentioned = relative_times(&words(sentence));
        self.times.iter().all(|time| mentioned.contains(time))
    }
}

/// Returns whether a word is a name. A name is capitalised although it is not the first word of the
/// question.
fn is_name(text: &str, place: usize) -> bool {
    place > 0
        && text.starts_with(char::is_uppercase)
        && !matches!(text, "I" | "I'm" | "I've" | "I'll" | "I'd")
        && !is_stop_word(&text.to_lowercase())
}

/// Returns the score factor for a sentence. The factor is higher if the sentence has the expected
/// kind of answer. Returns `None` if the sentence cannot be the answer.
pub(super) fn bonus(kind: AnswerKind, sentence: &str) -> Option<f64> {
    const FITS: f64 = 1.15;
    let fits = kind.occurs_in(&words(sentence));
    match kind {
        AnswerKind::Anything => Some(1.0),
        // Only a sentence with a number, a colour or a year, respectively, can be the answer.
        AnswerKind::Quantity | AnswerKind::Colour | AnswerKind::Year => fits.then_some(1.0),
        AnswerKind::Person | AnswerKind::Time | AnswerKind::Place => {
            Some(if fits { FITS } else { 1.0 })
        }
    }
}

/// Returns whether a number in the sentence counts one of the terms, as in `4 red cars`.
pub(super) fn counts_term(sentence: &str, terms: &BTreeMap<String, f64>) -> bool {
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
