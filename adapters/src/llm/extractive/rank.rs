//! Ranks sentences by LexRank centrality (Erkan and Radev, 2004) and word weight, and selects them
//! by maximal marginal relevance (Carbonell and Goldstein, 1998).

use std::collections::HashMap;

use ports::llm::PassageKind;

use super::corpus::{Corpus, Sentence};

/// Scored sentences and their term vectors.
pub(super) struct Ranking {
    /// Indices of the ranked sentences in the corpus, in ascending order.
    chosen: Vec<usize>,
    scores: Vec<f64>,
    vectors: Vec<Vec<(usize, f64)>>,
    /// Index of each sentence's moment.
    places: Vec<usize>,
}

const DAMPING: f64 = 0.85;
const ROUNDS: usize = 30;
/// Weight of relevance in maximal marginal relevance. The similarity to sentences that are already
/// selected has the weight 1 − `LAMBDA`.
const LAMBDA: f64 = 0.7;
/// Maximum cosine similarity of two sentences. More similar sentences count as duplicates.
const MAX_SIMILARITY: f64 = 0.75;

/// Penalty for each sentence that is already selected from the same moment.
const CROWDING_PENALTY: f64 = 0.1;

/// How often stems occur in the candidate sentences.
#[derive(Default)]
struct StemCounts<'a> {
    occurrences: HashMap<&'a str, f64>,
    /// Number of sentences that contain the stem.
    sentences: HashMap<&'a str, f64>,
}

/// Ranks up to `max_sentences` distinct sentences that satisfy `include`.
pub(super) fn rank(
    corpus: &Corpus,
    max_sentences: usize,
    include: impl Fn(usize) -> bool,
) -> Ranking {
    let sentences = &corpus.sentences;
    let mut chosen = candidates(corpus, include);
    let counts = StemCounts::new(chosen.iter().map(|&at| &sentences[at]));
    let salience = chosen.iter().map(|&at| counts.salience(&sentences[at])).collect();
    let mut weights = normalize(salience);
    for (weight, &at) in weights.iter_mut().zip(&chosen) {
        *weight *= prior(corpus, at);
    }
    if chosen.len() > max_sentences {
        let slots = heaviest(&weights, max_sentences);
        weights = slots.iter().map(|&slot| weights[slot]).collect();
        chosen = slots.iter().map(|&slot| chosen[slot]).collect();
    }
    let chosen_sentences: Vec<&Sentence> = chosen.iter().map(|&at| &sentences[at]).collect();
    let vectors = counts.term_vectors(&chosen_sentences);
    let central = normalize(centrality(&vectors));
    let scores = chosen
        .iter()
        .enumerate()
        .map(|(slot, &at)| 0.5 * weights[slot] + 0.5 * central[slot] * prior(corpus, at))
        .collect();
    let places = chosen.iter().map(|&at| sentences[at].place).collect();
    Ranking { chosen, scores, vectors, places }
}

/// Returns the distinct sentences that satisfy `include`. Measured facts are included only if there
/// are few other sentences.
fn candidates(corpus: &Corpus, include: impl Fn(usize) -> bool) -> Vec<usize> {
    let sentences = &corpus.sentences;
    let mut chosen: Vec<usize> =
        (0..sentences.len()).filter(|&at| sentences[at].repeats.is_none() && include(at)).collect();
    let is_content = |at: &usize| !sentences[*at].is_scenery();
    if chosen.iter().filter(|at| is_content(at)).count() >= 2 {
        chosen.retain(is_content);
    }
    chosen
}

/// Returns the indices of the `count` largest weights, in ascending order.
fn heaviest(weights: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    order.truncate(count);
    order.sort_unstable();
    order
}

impl<'a> StemCounts<'a> {
    fn new(sentences: impl Iterator<Item = &'a Sentence>) -> Self {
        let mut counts = Self::default();
        for sentence in sentences {
            let mut stems: Vec<&str> = sentence.stems.iter().map(String::as_str).collect();
            stems.iter().for_each(|stem| *counts.occurrences.entry(stem).or_default() += 1.0);
            stems.sort_unstable();
            stems.dedup();
            stems.into_iter().for_each(|stem| *counts.sentences.entry(stem).or_default() += 1.0);
        }
        counts
    }

    /// Returns the weight of a sentence's words. It is a compromise between their sum, which
    /// favours long sentences, and their mean, which favours short ones.
    fn salience(&self, sentence: &Sentence) -> f64 {
        let stems = &sentence.stems;
        let frequency = |stem: &String| (1.0 + self.occurrences[stem.as_str()]).ln();
        let sum: f64 = stems.iter().map(frequency).sum();
        sum / (stems.len().max(1) as f64).sqrt()
    }

    /// Returns a unit vector per sentence. Its components are term frequency × inverse sentence
    /// frequency.
    fn term_vectors(&self, sentences: &[&Sentence]) -> Vec<Vec<(usize, f64)>> {
        let total = sentences.len() as f64;
        let mut terms: HashMap<&str, usize> = HashMap::new();
        let mut vectors = Vec::with_capacity(sentences.len());
        for sentence in sentences {
            let mut tf: HashMap<usize, f64> = HashMap::new();
            for stem in &sentence.stems {
                let next = terms.len();
                let term = *terms.entry(stem).or_insert(next);
                *tf.entry(term).or_default() += (1.0 + total / self.sentences[stem.as_str()]).ln();
            }
            vectors.push(unit(tf));
        }
        vectors
    }
}

impl Ranking {
    /// Returns up to `count` sentences, most informative first. They contain no duplicates and are
    /// spread over many moments.
    pub(super) fn best(&self, count: usize) -> Vec<usize> {
        let mut best: Vec<usize> = Vec::new();
        let mut nearest = vec![0.0_f64; self.chosen.len()];
        let mut taken: HashMap<usize, f64> = HashMap::new();
        while best.len() < count {
            let next = (0..self.chosen.len())
                .filter(|slot| !best.contains(slot) && nearest[*slot] < MAX_SIMILARITY)
                .map(|slot| {
                    let crowd =
                        CROWDING_PENALTY * taken.get(&self.places[slot]).copied().unwrap_or(0.0);
                    let novelty = (1.0 - LAMBDA) * nearest[slot];
                    (slot, LAMBDA * self.scores[slot] - novelty - crowd)
                })
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let Some((slot, _)) = next else { break };
            for (other, near) in nearest.iter_mut().enumerate() {
                *near = near.max(cosine(&self.vectors[slot], &self.vectors[other]));
            }
            *taken.entry(self.places[slot]).or_default() += 1.0;
            best.push(slot);
        }
        best.into_iter().map(|slot| self.chosen[slot]).collect()
    }
}

/// Returns a sentence's prior weight, based on its kind, length and position.
fn prior(corpus: &Corpus, at: usize) -> f64 {
    let sentence: &Sentence = &corpus.sentences[at];
    let kind = match sentence.kind {
        PassageKind::Prose | PassageKind::Speech => 1.0,
        PassageKind::Screen | PassageKind::Row => 0.65,
        PassageKind::Objects => 0.6,
        PassageKind::Scene | PassageKind::People => 0.45,
    };
    let length = match sentence.length {
        // On-screen text is usually short.
        _ if sentence.kind.is_on_screen() => 1.0,
        0..=2 => 0.2,
        3..=5 => 0.6,
        6..=30 => 1.0,
        more => 30.0 / more as f64,
    };
    let opens = at == 0 || corpus.sentences[at - 1].place != sentence.place;
    let outer = sentence.place == 0 || sentence.place + 1 == corpus.places;
    let question = if sentence.text.ends_with('?') { 0.7 } else { 1.0 };
    // Misrecognised words are worse than no words.
    let likely = (1.0 - 3.0 * sentence.doubt).max(0.05);
    kind * length * question * likely * (1.0 + f64::from(opens) * 0.15 + f64::from(outer) * 0.1)
}

fn centrality(vectors: &[Vec<(usize, f64)>]) -> Vec<f64> {
    let n = vectors.len();
    if n == 0 {
        return Vec::new();
    }
    let mut similarity = vec![0.0_f64; n * n];
    for a in 0..n {
        for b in a + 1..n {
            let cosine = cosine(&vectors[a], &vectors[b]);
            similarity[a * n + b] = cosine;
            similarity[b * n + a] = cosine;
        }
    }
    let degrees: Vec<f64> = similarity.chunks_exact(n).map(|row| row.iter().sum()).collect();
    let mut rank = vec![1.0 / n as f64; n];
    for _ in 0..ROUNDS {
        let mut next = vec![(1.0 - DAMPING) / n as f64; n];
        for (from, row) in similarity.chunks_exact(n).enumerate() {
            if degrees[from] > 0.0 {
                let share = DAMPING * rank[from] / degrees[from];
                next.iter_mut().zip(row).for_each(|(next, weight)| *next += share * weight);
            }
        }
        rank = next;
    }
    rank
}

fn normalize(mut values: Vec<f64>) -> Vec<f64> {
    let max = values.iter().copied().fold(0.0_f64, f64::max);
    if max > 0.0 {
        values.iter_mut().for_each(|value| *value /= max);
    }
    values
}

fn unit(weights: HashMap<usize, f64>) -> Vec<(usize, f64)> {
    let mut vector: Vec<(usize, f64)> = weights.into_iter().collect();
    vector.sort_unstable_by_key(|&(term, _)| term);
    let norm = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|(_, weight)| *weight /= norm);
    vector
}

/// Returns the cosine of two unit vectors, each sorted by term.
fn cosine(a: &[(usize, f64)], b: &[(usize, f64)]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.0.cmp(&y.0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += x.1 * y.1;
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    sum
}
