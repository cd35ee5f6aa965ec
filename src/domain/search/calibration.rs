//! Honest scores: what a cosine means, measured against texts and questions that have nothing to do
//! with each other.
//!
//! A cosine by itself says little: short generic queries score high against everything, and one kind of
//! text (a list of objects, a line on screen, a sentence of speech) scores differently from another. So
//! every score is standardised twice: by the query, against all reference texts, and by the kind of
//! text, against the best scores that unrelated queries reach among reference texts of that kind.
//! Words of the query that are really in the text are evidence of their own.
//!
//! The references are part of the service, so what they give belongs to the embedder alone: it is
//! measured once, in the background, and neither wanders with what is ingested nor costs a search.

use std::collections::BTreeMap;

use ports::embedder::Embedder;
use text::questions::is_asking;
use text::things::shared_things;
use text::{is_function_word, tokens};

use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::{self, TextStyle};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::vector::{dot, sum};
use crate::domain::search::Search;

/// Queries for things that most footage does not show, one per line.
const PROBES: &str = include_str!("calibration/probes.txt");

/// Texts about nothing in particular, one per line.
const PASSAGES: [(TextStyle, &str); 6] = [
    (TextStyle::Prose, include_str!("calibration/passages/prose.txt")),
    (TextStyle::Speech, include_str!("calibration/passages/speech.txt")),
    (TextStyle::Screen, include_str!("calibration/passages/screen.txt")),
    (TextStyle::Objects, include_str!("calibration/passages/objects.txt")),
    (TextStyle::People, include_str!("calibration/passages/people.txt")),
    (TextStyle::Actions, include_str!("calibration/passages/actions.txt")),
];

/// The logistic model of presence: intercept, weight of the standard score, weight of the share of the
/// query's words that are in the text. Those that tell the most of the development questions of
/// `make eval` apart: 98 about something that is there, 70 about something that is not.
const MODEL: [f32; 3] = [-2.7, 0.8, 4.5];

/// The probability from which something is more probably there than not.
pub(crate) const LIKELY: f32 = 0.5;

/// Least spread: of an embedder that gives all references the same score.
const LEAST_SPREAD: f32 = 0.02;

/// Best scores of unrelated queries among texts of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Null {
    /// Median and spread of the cosines.
    raw: (f32, f32),
    /// The same of cosines less their query's mean over all texts.
    adjusted: (f32, f32),
}

/// What one embedder's scores are measured against.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct References {
    /// The mean of all texts.
    mean: Vec<f32>,
    nulls: BTreeMap<TextStyle, Null>,
}

/// What turns a query's cosines into probabilities.
pub(crate) struct Presence<'a> {
    references: &'a References,
    generic: f32,
    words: Vec<String>,
}

impl References {
    /// Embeds the references: once per embedder.
    pub(crate) async fn measure(embedder: &dyn Embedder) -> Result<Self> {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let probes = embedder.embed(&lines(PROBES)).await?;
        let mut by_style = BTreeMap::new();
        for (style, text) in PASSAGES {
            by_style.insert(style, embedder.embed(&lines(text)).await?);
        }
        let passages: Vec<Vec<f32>> = by_style.values().flatten().cloned().collect();
        let mean = mean(&passages);
        let generic: Vec<f32> = probes.iter().map(|probe| dot(&mean, probe)).collect();
        let null = |texts: &Vec<Vec<f32>>| {
            let best = |probe: &Vec<f32>| {
                texts.iter().map(|text| dot(text, probe)).fold(f32::NEG_INFINITY, f32::max)
            };
            let raw: Vec<f32> = probes.iter().map(best).collect();
            let adjusted = raw.iter().zip(&generic).map(|(best, mean)| best - mean).collect();
            Null { raw: location_and_spread(raw), adjusted: location_and_spread(adjusted) }
        };
        let nulls = by_style.iter().map(|(style, texts)| (*style, null(texts))).collect();
        Ok(Self { mean, nulls })
    }

    /// Cosine above which a text of a kind is rather content than chance: so many deviations above
    /// the median best score of unrelated texts.
    fn threshold(&self, style: TextStyle, deviations: f32) -> Option<f32> {
        let (median, spread) = self.nulls.get(&style)?.raw;
        let threshold = (median + deviations * spread).clamp(0.0, 1.0);
        Some((threshold * 1000.0).round() / 1000.0)
    }
}

/// Analyzer to vector field to the cosine below which a hit is more likely chance than content.
pub type Thresholds = Vec<(String, Vec<(String, f32)>)>;

impl Search {
    /// Measures what scores are measured against, so that no search has to.
    pub async fn calibrate(&self) -> Result<()> {
        self.references().await.map(|_| ())
    }

    /// What scores are measured against; measures it where that was not done yet.
    pub(crate) async fn references(&self) -> Result<&References> {
        self.references.get_or_try_init(|| References::measure(self.models.embedder.as_ref())).await
    }

    /// For the cosines of one query.
    pub(crate) async fn presence(&self, text: &str, vector: &[f32]) -> Result<Presence<'_>> {
        let references = self.references().await?;
        let generic = dot(&references.mean, vector);
        Ok(Presence { references, generic, words: content_words(text) })
    }

    /// Thresholds of the registered analyzers; empty until they are measured, which is never waited
    /// for.
    pub fn recommended_thresholds(&self) -> Thresholds {
        let Some(references) = self.references.get() else { return Vec::new() };
        let deviations = self.settings.threshold_deviations;
        let of = |whole: TextStyle| {
            let fields = analysis::VECTOR_FIELDS.iter().filter_map(|(field, _)| {
                let threshold =
                    references.threshold(TextStyle::of_field(field, whole), deviations)?;
                Some(((*field).to_owned(), threshold))
            });
            fields.collect()
        };
        let registered = self.catalog.analyzers.registered(&self.models);
        registered.iter().map(|a| (a.spec().id.to_owned(), of(a.spec().style))).collect()
    }
}

impl Presence<'_> {
    /// How probable it is that what is searched for is really in a moment, 0..1: that the text is about
    /// it, and that what detectors have found of it is there.
    pub(crate) fn of_hit(&self, style: TextStyle, cosine: f32, hit: &HitDocument) -> f32 {
        self.probability(style, cosine, &hit.text) * hit.certainty(&self.words)
    }

    /// How probable it is that what is searched for is really in a text, 0..1.
    pub(crate) fn probability(&self, style: TextStyle, cosine: f32, text: &str) -> f32 {
        let [intercept, by_meaning, by_words] = MODEL;
        let standard = self.references.nulls.get(&style).map_or(0.0, |null| {
            let (median, spread) = null.adjusted;
            ((cosine - self.generic - median) / spread).clamp(-4.0, 6.0)
        });
        let logit = intercept + by_meaning * standard + by_words * shared_things(&self.words, text);
        1.0 / (1.0 + (-logit).exp())
    }
}

/// The mean of vectors: its product with a query is the query's mean cosine over them.
fn mean(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut mean = sum(vectors);
    mean.iter_mut().for_each(|x| *x /= vectors.len() as f32);
    mean
}

/// Median and standard deviation, the latter from the median absolute deviation: a few probes that
/// happen to be near a reference must not count.
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
        let null = Null { raw: (0.2, 0.05), adjusted: (0.15, 0.05) };
        let nulls = BTreeMap::from([(TextStyle::Prose, null)]);
        let references = References { mean: Vec::new(), nulls };
        let presence =
            Presence { references: &references, generic: 0.05, words: vec!["lake".into()] };
        let p = |cosine, text| presence.probability(TextStyle::Prose, cosine, text);
        assert!(p(0.2, "A wall.") < 0.2, "no better than chance");
        assert!(p(0.5, "A wall.") > 0.8, "six deviations above chance");
        assert!(p(0.2, "A lake.") > p(0.2, "A wall.") && p(0.3, "A wall.") > p(0.2, "A wall."));
        assert_eq!(references.threshold(TextStyle::Prose, 3.0), Some(0.35));
        assert_eq!(references.threshold(TextStyle::Speech, 3.0), None);
    }

    #[test]
    fn every_kind_of_text_has_references() {
        for (style, text) in PASSAGES {
            assert!(text.lines().count() >= 16, "{style:?}");
            assert!(text.lines().all(|line| !line.trim().is_empty()), "{style:?}");
        }
    }
}
