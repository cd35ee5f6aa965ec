//! Calibration turns cosines into the probability that something is present.
//!
//! A raw cosine says little: short generic queries score high against everything, and each kind of
//! text (a list of objects, a line of screen text, a spoken sentence) has a different score range.
//! Every score is therefore standardized twice. To account for the query, its score is compared
//! with its scores for all reference texts. To account for the kind of text, the score is compared
//! with the best scores that unrelated queries reach among reference texts of that kind. Query
//! words that occur in the text are additional evidence.
//!
//! The reference texts are part of the service, so a calibration depends only on the embedder. It
//! is measured once, in the background, does not drift as videos are ingested, and adds no cost to
//! searches.

use std::collections::BTreeMap;

use ports::embedder::Embedder;
use ports::image_embedder::MatchModel;
use text::questions::is_query_filler;
use text::things::thing_overlap;
use text::{is_function_word, tokens};
use tokio::sync::OnceCell;

use crate::analysis::{self, Analyzers, TextStyle, VISUAL};
use crate::indexing::point::PointDocument;
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::vector::{dot, sum};

/// Queries for things that rarely occur in footage, one per line.
const PROBES: &str = include_str!("probes.txt");

/// Reference texts on unrelated subjects, one per line.
const PASSAGES: [(TextStyle, &str); 6] = [
    (TextStyle::Prose, include_str!("passages/prose.txt")),
    (TextStyle::Speech, include_str!("passages/speech.txt")),
    (TextStyle::Screen, include_str!("passages/screen.txt")),
    (TextStyle::Objects, include_str!("passages/objects.txt")),
    (TextStyle::People, include_str!("passages/people.txt")),
    (TextStyle::Actions, include_str!("passages/actions.txt")),
];

/// Logistic model of whether something is present: the intercept, the weight of the standard score,
/// and the weight of the share of the query's words that occur in the text. The model was fitted to
/// 168 development questions of `make eval`. It separates as many as possible of the 98 questions
/// about something present from the 70 questions about something absent.
const MODEL: [f32; 3] = [-2.7, 0.8, 4.5];

/// The probability above which something is more likely to be present than absent.
pub(crate) const LIKELY: f32 = 0.5;

/// The smallest spread to assume, in case an embedder gives all reference texts the same score.
const MIN_SPREAD: f32 = 0.02;

/// The null distribution: the best scores that unrelated queries reach among texts of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NullDistribution {
    /// Median and spread of the cosines.
    raw: (f32, f32),
    /// Median and spread of the cosines after subtracting the query's mean cosine over all texts.
    adjusted: (f32, f32),
}

/// The calibration of one embedder.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Calibration {
    /// The mean vector of all reference texts.
    mean: Vec<f32>,
    nulls: BTreeMap<TextStyle, NullDistribution>,
}

/// Estimates presence probabilities from one query's cosines.
pub(crate) struct PresenceEstimator<'a> {
    calibration: &'a Calibration,
    generic: f32,
    words: Vec<String>,
    /// How cosines with images become probabilities; `None` if there is no image embedder.
    images: Option<MatchModel>,
}

impl Calibration {
    /// Measures a calibration by embedding the reference texts and queries.
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
            NullDistribution {
                raw: location_and_spread(raw),
                adjusted: location_and_spread(adjusted),
            }
        };
        let nulls = by_style.iter().map(|(style, texts)| (*style, null(texts))).collect();
        Ok(Self { mean, nulls })
    }

    /// The cosine above which text in this style is unlikely to match by chance. It lies
    /// `deviations` standard deviations above the median of the best scores that unrelated queries
    /// reach.
    fn threshold(&self, style: TextStyle, deviations: f32) -> Option<f32> {
        let (median, spread) = self.nulls.get(&style)?.raw;
        let threshold = (median + deviations * spread).clamp(0.0, 1.0);
        Some((threshold * 1000.0).round() / 1000.0)
    }
}

/// For each analyzer and vector field, the cosine below which a hit is probably due to chance.
pub type Thresholds = Vec<(String, Vec<(String, f32)>)>;

/// Calibrates the scores of one embedder.
pub(crate) struct Calibrator {
    models: Models,
    analyzers: Analyzers,
    /// How far a recommended threshold lies above the median of the best scores that unrelated
    /// queries reach, in standard deviations.
    threshold_deviations: f32,
    /// Measured once, in the background.
    calibration: OnceCell<Calibration>,
}

impl Calibrator {
    pub(super) fn new(models: Models, analyzers: Analyzers, threshold_deviations: f32) -> Self {
        Self { models, analyzers, threshold_deviations, calibration: OnceCell::new() }
    }

    /// Measures the calibration ahead of the first search, and lets the image embedder prepare what
    /// it needs for texts.
    pub(crate) async fn calibrate(&self) -> Result<()> {
        self.calibration().await?;
        if let Some(images) = &self.models.image_embedder {
            images.embed_texts(&["a photo".to_owned()]).await?;
        }
        Ok(())
    }

    /// Returns the calibration, which is measured on first use.
    async fn calibration(&self) -> Result<&Calibration> {
        self.calibration
            .get_or_try_init(|| Calibration::measure(self.models.embedder.as_ref()))
            .await
    }

    /// Creates the estimator for one query's cosines.
    pub(crate) async fn presence(
        &self,
        text: &str,
        vector: &[f32],
    ) -> Result<PresenceEstimator<'_>> {
        let calibration = self.calibration().await?;
        let generic = dot(&calibration.mean, vector);
        let images = self.models.image_embedder.as_ref().map(|images| images.match_model());
        Ok(PresenceEstimator { calibration, generic, words: content_words(text), images })
    }

    /// The recommended thresholds for the registered analyzers. Does not wait for the calibration:
    /// until it has been measured, the result is empty.
    pub(crate) fn recommended_thresholds(&self) -> Thresholds {
        let Some(calibration) = self.calibration.get() else { return Vec::new() };
        let deviations = self.threshold_deviations;
        let images = self.models.image_embedder.as_ref().map(|images| images.match_model());
        let field_thresholds = |whole: TextStyle| {
            let fields = analysis::VECTOR_FIELDS.iter().filter_map(|(field, _)| {
                let threshold =
                    calibration.threshold(TextStyle::for_field(field, whole), deviations)?;
                Some(((*field).to_owned(), threshold))
            });
            let visual = images.map(|images| (VISUAL.to_owned(), images.cosine(LIKELY)));
            fields.chain(visual).collect()
        };
        let registered = self.analyzers.registered(&self.models);
        registered
            .iter()
            .map(|a| (a.spec().id.to_owned(), field_thresholds(a.spec().style)))
            .collect()
    }
}

impl PresenceEstimator<'_> {
    /// The probability, 0..1, that a moment contains what was searched for. For an image, it depends
    /// on the cosine alone. For a text, it is the probability that the text is about the search
    /// subject, times the certainty of the detections involved.
    pub(crate) fn hit_probability(
        &self,
        field: &str,
        style: TextStyle,
        cosine: f32,
        hit: &PointDocument,
    ) -> f32 {
        if field == VISUAL {
            return self.images.map_or(0.0, |images| images.probability(cosine));
        }
        let style = TextStyle::for_field(field, style);
        self.probability(style, cosine, &hit.text) * hit.certainty(&self.words)
    }

    /// The probability, 0..1, that `text` is about what was searched for.
    pub(crate) fn probability(&self, style: TextStyle, cosine: f32, text: &str) -> f32 {
        let [intercept, by_meaning, by_words] = MODEL;
        let standard = self.calibration.nulls.get(&style).map_or(0.0, |null| {
            let (median, spread) = null.adjusted;
            ((cosine - self.generic - median) / spread).clamp(-4.0, 6.0)
        });
        let logit = intercept + by_meaning * standard + by_words * thing_overlap(&self.words, text);
        1.0 / (1.0 + (-logit).exp())
    }
}

/// The mean of `vectors`. Its dot product with a query vector is the query's mean cosine with these
/// vectors.
fn mean(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut mean = sum(vectors);
    mean.iter_mut().for_each(|x| *x /= vectors.len() as f32);
    mean
}

/// Computes the median and the standard deviation. The standard deviation is derived from the
/// median absolute deviation, so that a few queries that happen to be near a reference text do not
/// distort it.
fn location_and_spread(mut values: Vec<f32>) -> (f32, f32) {
    let middle = |values: &mut Vec<f32>| {
        values.sort_by(f32::total_cmp);
        values[values.len() / 2]
    };
    let median = middle(&mut values);
    let mut deviations: Vec<f32> = values.iter().map(|v| (v - median).abs()).collect();
    // For normally distributed values, the factor 1.4826 yields the standard deviation.
    (median, (1.4826 * middle(&mut deviations)).max(MIN_SPREAD))
}

/// The distinct words that carry a query's subject, in lower case.
pub(crate) fn content_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for token in tokens(text) {
        let word = token.lower;
        let is_filler = is_function_word(&word) || is_query_filler(&word);
        if !is_filler && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_words_omit_function_and_question_words() {
        for (query, expected) in [
            ("find the moment with a red car", vec!["red", "car"]),
            ("what is it?", vec![]),
            ("cars, cars and NASA's bus", vec!["cars", "nasa", "bus"]),
        ] {
            assert_eq!(content_words(query), expected);
        }
    }

    #[test]
    fn null_distribution_is_robust_to_outliers() {
        let mut values: Vec<f32> = (0..40).map(|i| 0.1 + 0.002 * i as f32).collect();
        let clean = location_and_spread(values.clone());
        values.extend([0.9, 0.95]);
        let (median, spread) = location_and_spread(values);
        assert!((median - clean.0).abs() < 0.01 && (spread - clean.1).abs() < 0.01);
    }

    #[test]
    fn presence_rises_with_cosine_and_word_overlap() {
        let null = NullDistribution { raw: (0.2, 0.05), adjusted: (0.15, 0.05) };
        let nulls = BTreeMap::from([(TextStyle::Prose, null)]);
        let calibration = Calibration { mean: Vec::new(), nulls };
        let presence = PresenceEstimator {
            calibration: &calibration,
            generic: 0.05,
            words: vec!["lake".into()],
            images: None,
        };
        let p = |cosine, text| presence.probability(TextStyle::Prose, cosine, text);
        assert!(p(0.2, "A wall.") < 0.2, "no better than chance");
        assert!(p(0.5, "A wall.") > 0.8, "six deviations above chance");
        assert!(p(0.2, "A lake.") > p(0.2, "A wall.") && p(0.3, "A wall.") > p(0.2, "A wall."));
        assert_eq!(calibration.threshold(TextStyle::Prose, 3.0), Some(0.35));
        assert_eq!(calibration.threshold(TextStyle::Speech, 3.0), None);
    }

    #[test]
    fn every_text_style_has_reference_texts() {
        for (style, text) in PASSAGES {
            assert!(text.lines().count() >= 16, "{style:?}");
            assert!(text.lines().all(|line| !line.trim().is_empty()), "{style:?}");
        }
    }
}
