//! Honest scores: what a cosine means, measured against searches for things that are not there.
//!
//! A cosine by itself says little: short generic queries score high against everything, and the best
//! of many points scores higher than the best of few. So every score is standardised twice: by the
//! query, against a bank of unrelated passages, and by the field, against the best scores that a bank
//! of unrelated queries reaches in this very index. Words of the query that are really in the text
//! are evidence of their own.

use std::collections::HashMap;
use std::time::Instant;

use ports::index::{Filter, VectorQuery};
use text::questions::is_asking;
use text::{is_function_word, shared, tokens};

use crate::domain::analysis;
use crate::domain::analysis::hit::HitDocument;
use crate::domain::kernel::error::Result;
use crate::domain::search::Search;

/// Queries for things that most footage does not show, one per line.
const PROBES: &str = include_str!("calibration/probes.txt");

/// Passages about nothing in particular, one per line.
const PASSAGES: &str = include_str!("calibration/passages.txt");

/// The logistic model of presence: intercept, weight of the standard score, weight of the share of the
/// query's words that are in the text. Chosen by hand and checked on the questions of
/// `examples/retrieval.json`, where p is above 0.5 for all that is there and for 3 of 30 absent things.
const MODEL: [f32; 3] = [-2.2, 1.1, 4.0];

/// Spread of the null where too little is stored to measure one.
const LEAST_SPREAD: f32 = 0.02;

/// Scores of absent things in one field.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Null {
    /// Points that it was measured over.
    points: u64,
    measured: Instant,
    /// Median and spread of the best cosines.
    raw: (f32, f32),
    /// The same of best cosines less their query's mean over the passages.
    adjusted: (f32, f32),
}

/// The embedded banks.
struct Bank {
    /// Each with its mean cosine over the passages.
    probes: Vec<(Vec<f32>, f32)>,
    passages: Vec<Vec<f32>>,
}

/// The nulls measured so far, by vector field.
#[derive(Default)]
pub(crate) struct NullDistributions {
    bank: tokio::sync::OnceCell<Bank>,
    measured: tokio::sync::Mutex<HashMap<String, Null>>,
}

/// What turns a query's cosines into probabilities.
pub(crate) struct Presence {
    null: Option<Null>,
    generic: f32,
    words: Vec<String>,
}

impl Search {
    /// For hits of one query in one field.
    pub(crate) async fn presence(
        &self,
        text: &str,
        field: &str,
        vector: &[f32],
    ) -> Result<Presence> {
        let null = self.null(field).await?;
        let generic = generic(&self.bank().await?.passages, vector);
        Ok(Presence { null, generic, words: content_words(text) })
    }

    /// Field to the cosine below which a hit is more likely chance than content; only fields in
    /// which something is stored.
    pub(crate) async fn recommended_thresholds(&self) -> Result<Vec<(String, f32)>> {
        let mut thresholds = Vec::new();
        for (field, _) in analysis::VECTOR_FIELDS {
            if let Some(null) = self.null(field).await? {
                let (median, spread) = null.raw;
                let threshold =
                    (median + self.settings.threshold_deviations * spread).clamp(0.0, 1.0);
                thresholds.push(((*field).to_owned(), (threshold * 1000.0).round() / 1000.0));
            }
        }
        Ok(thresholds)
    }

    async fn bank(&self) -> Result<&Bank> {
        self.nulls
            .bank
            .get_or_try_init(|| async {
                let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
                let passages = self.models.embedder.embed(&lines(PASSAGES)).await?;
                let probes = self.models.embedder.embed(&lines(PROBES)).await?;
                let probes = probes
                    .into_iter()
                    .map(|probe| {
                        let mean = generic(&passages, &probe);
                        (probe, mean)
                    })
                    .collect();
                Ok(Bank { probes, passages })
            })
            .await
    }

    /// The null of a field, measured anew when the index has grown or shrunk or time has passed: one
    /// search per probe. `None` where nothing is stored.
    async fn null(&self, field: &str) -> Result<Option<Null>> {
        let points = self.index.count(&Filter::default()).await?;
        // Held while measuring, so that a burst of searches measures once.
        let mut measured = self.nulls.measured.lock().await;
        if let Some(null) = measured.get(field)
            && null.points == points
            && null.measured.elapsed() < self.settings.null_age
        {
            return Ok(Some(*null));
        }
        let (mut raw, mut adjusted) = (Vec::new(), Vec::new());
        let probes = self.bank().await?.probes.iter().take(self.settings.null_probes);
        for (vector, generic) in probes {
            let query = VectorQuery {
                field: field.to_owned(),
                vector: vector.clone(),
                filter: Filter::default(),
                limit: 1,
                threshold: None,
            };
            let best = self.index.search(query).await?;
            let Some(hit) = best.first() else { break };
            raw.push(hit.score);
            adjusted.push(hit.score - generic);
        }
        if raw.is_empty() {
            measured.remove(field);
            return Ok(None);
        }
        let null = Null {
            points,
            measured: Instant::now(),
            raw: location_and_spread(raw),
            adjusted: location_and_spread(adjusted),
        };
        measured.insert(field.to_owned(), null);
        Ok(Some(null))
    }
}

impl Presence {
    /// How probable it is that the content is really in this hit, 0..1.
    pub(crate) fn probability(&self, cosine: f32, document: &HitDocument) -> f32 {
        let [intercept, by_meaning, by_words] = MODEL;
        let standard = self.null.map_or(0.0, |null| {
            let (median, spread) = null.adjusted;
            ((cosine - self.generic - median) / spread).clamp(-4.0, 6.0)
        });
        let logit =
            intercept + by_meaning * standard + by_words * shared(&self.words, &document.text);
        1.0 / (1.0 + (-logit).exp())
    }
}

/// Mean cosine of a query over unrelated passages.
fn generic(passages: &[Vec<f32>], query: &[f32]) -> f32 {
    let cosine = |p: &Vec<f32>| p.iter().zip(query).map(|(a, b)| a * b).sum::<f32>();
    passages.iter().map(cosine).sum::<f32>() / passages.len().max(1) as f32
}

/// Median and standard deviation, the latter from the median absolute deviation: a few probes whose
/// subject happens to be in the footage must not count.
fn location_and_spread(mut values: Vec<f32>) -> (f32, f32) {
    let middle = |values: &mut Vec<f32>| {
        values.sort_by(f32::total_cmp);
        values[values.len() / 2]
    };
    let median = middle(&mut values);
    let mut away: Vec<f32> = values.iter().map(|v| (v - median).abs()).collect();
    // 1.4826 makes it the standard deviation where the values are normal.
    (median, (1.4826 * middle(&mut away)).max(LEAST_SPREAD))
}

/// The words of a query that carry its subject, lower case, once each.
pub(crate) fn content_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for token in tokens(text) {
        let word = token.lower;
        let plain = is_function_word(&word) || is_asking(&word);
        if !plain && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_of_a_query_is_what_is_left_without_asking() {
        for (query, expected) in [
            ("find the moment with a red car", vec!["red", "car"]),
            ("what is it?", vec![]),
            ("cars, cars and NASA's bus", vec!["cars", "nasa", "bus"]),
        ] {
            assert_eq!(content_words(query), expected);
        }
    }

    #[test]
    fn a_null_ignores_probes_that_happen_to_be_there() {
        let mut values: Vec<f32> = (0..40).map(|i| 0.1 + 0.002 * i as f32).collect();
        let clean = location_and_spread(values.clone());
        values.extend([0.9, 0.95]);
        let (median, spread) = location_and_spread(values);
        assert!((median - clean.0).abs() < 0.01 && (spread - clean.1).abs() < 0.01);
    }

    #[test]
    fn presence_rises_with_the_score_and_with_words() {
        let null =
            Null { points: 1, measured: Instant::now(), raw: (0.2, 0.05), adjusted: (0.15, 0.05) };
        let presence = Presence { null: Some(null), generic: 0.05, words: vec!["lake".into()] };
        let with = HitDocument { text: "A lake.".into(), ..HitDocument::default() };
        let without = HitDocument { text: "A wall.".into(), ..HitDocument::default() };
        let p = |score, document| presence.probability(score, document);
        assert!(p(0.2, &without) < 0.2, "no better than chance");
        assert!(p(0.5, &without) > 0.8, "six deviations above chance");
        assert!(p(0.2, &with) > p(0.2, &without) && p(0.3, &without) > p(0.2, &without));
    }
}
