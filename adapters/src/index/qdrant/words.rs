//! BM25 as a sparse vector. A point stores the weight of each of its words, and the server
//! multiplies the weight by the inverse document frequency. Text is tokenized as in the embedded
//! index.

use std::collections::BTreeMap;

use crate::index::words;

/// The usual BM25 constants.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Assumed average text length in words. A sparse vector is built before the actual average is
/// known. Chunk descriptions and speech have a few dozen words.
const AVERAGE_WORDS: f32 = 40.0;

/// Placeholder for a word that is too long to index, so that phrases do not match across it.
const GAP: &str = "\u{b7}";

/// The words of a text, in order.
pub(super) struct WordSequence(Vec<(usize, String)>);

impl WordSequence {
    pub(super) fn new(text: &str) -> Self {
        Self(words::words(&mut words::analyzer(), text))
    }

    /// Returns the dimensions in ascending order and the BM25 weights without the IDF factor.
    /// Returns `None` if there are no words.
    pub(super) fn weights(&self) -> Option<(Vec<u32>, Vec<f32>)> {
        let mut times: BTreeMap<u32, f32> = BTreeMap::new();
        for (_, word) in &self.0 {
            *times.entry(dimension(word)).or_default() += 1.0;
        }
        let norm = K1 * (1.0 - B + B * self.0.len() as f32 / AVERAGE_WORDS);
        (!times.is_empty())
            .then(|| times.into_iter().map(|(d, n)| (d, n * (K1 + 1.0) / (n + norm))).unzip())
    }

    /// Returns the words joined by spaces, for phrase matching.
    pub(super) fn joined(&self) -> String {
        joined(&self.0)
    }
}

/// A parsed text query.
#[derive(Debug, PartialEq)]
pub(super) struct ParsedQuery {
    /// Single words. A text matches if it contains any of them.
    pub(super) words: Vec<String>,
    /// Phrases. A phrase matches if its words are adjacent in the text.
    pub(super) phrases: Vec<Phrase>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Phrase {
    pub(super) words: Vec<String>,
    pub(super) joined: String,
}

impl ParsedQuery {
    pub(super) fn parse(query: &str) -> Self {
        let clauses = words::clauses(&mut words::analyzer(), query);
        let mut parsed = Self { words: Vec::new(), phrases: Vec::new() };
        for clause in clauses {
            match clause.as_slice() {
                [(_, word)] => parsed.words.push(word.clone()),
                _ => parsed.phrases.push(Phrase {
                    joined: joined(&clause),
                    words: clause.into_iter().map(|(_, word)| word).collect(),
                }),
            }
        }
        parsed
    }
}

/// Returns a query's sparse vector, in which each word counts once.
pub(super) fn presence(words: &[String]) -> (Vec<u32>, Vec<f32>) {
    let dimensions: BTreeMap<u32, f32> = words.iter().map(|w| (dimension(w), 1.0)).collect();
    dimensions.into_iter().unzip()
}

fn joined(words: &[(usize, String)]) -> String {
    let mut parts = Vec::with_capacity(words.len());
    let mut next = words.first().map_or(0, |(at, _)| *at);
    for (at, word) in words {
        if *at > next {
            parts.push(GAP);
        }
        parts.push(word);
        next = at + 1;
    }
    parts.join(" ")
}

/// Returns the word's FNV-1a hash, which is the same on every instance and in every version.
fn dimension(word: &str) -> u32 {
    word.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_bm25() {
        let weight = |text: &str| WordSequence::new(text).weights().unwrap().1[0];
        assert!(weight("car car") > weight("car"));
        let long = format!("car {}", "car ".repeat(400));
        assert!(weight(&long) < K1 + 1.0, "saturates");
        assert_eq!(WordSequence::new(" ?! ").weights(), None);
    }

    #[test]
    fn phrases_are_separate_from_words() {
        let parsed = ParsedQuery::parse("\"Red cars\" bakery");
        assert_eq!(parsed.words, ["bakeri"]);
        assert_eq!(parsed.phrases[0].joined, "red car");
        let long = "x".repeat(100);
        assert_eq!(WordSequence::new(&format!("red {long} car")).joined(), "red \u{b7} car");
    }
}
