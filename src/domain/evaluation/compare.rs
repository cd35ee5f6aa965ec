//! Whether two configurations differ: per metric the mean difference over the questions that both have
//! it for, and how sure that is.

use serde::{Deserialize, Serialize};

use super::measures::{Metric, Outcome, rounded};

/// The difference of two configurations by one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is compared.
    pub metric: Metric,
    /// The configuration that is subtracted.
    pub baseline: String,
    /// The configuration that it is subtracted from.
    pub configuration: String,
    /// Mean over the questions.
    pub difference: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Questions that both have the metric for.
    pub questions: u32,
}

/// Samples of an interval.
const SAMPLES: usize = 2000;

/// Part of the samples beyond each end of an interval.
const TAIL: f64 = 0.025;

/// Where the random numbers begin: the same questions give the same interval.
const SEED: u64 = 0x5107;

/// Every configuration against the first, by every metric that both have. `questions` has for each
/// question the outcome of each configuration, in their order.
pub(super) fn compare(questions: &[&[Outcome]]) -> Vec<Comparison> {
    let configurations = questions.first().map_or(0, |outcomes| outcomes.len());
    let mut comparisons = Vec::new();
    for other in 1..configurations {
        for metric in Metric::ALL {
            let differences: Vec<f64> = questions
                .iter()
                .filter_map(|of| Some(metric.of(&of[other])? - metric.of(&of[0])?))
                .collect();
            if differences.is_empty() {
                continue;
            }
            let (low, high) = interval(&differences);
            comparisons.push(Comparison {
                metric,
                baseline: questions[0][0].configuration.clone(),
                configuration: questions[0][other].configuration.clone(),
                difference: rounded(mean(&differences)),
                low,
                high,
                questions: differences.len() as u32,
            });
        }
    }
    comparisons
}

/// The paired bootstrap's percentile interval of a mean (Efron and Tibshirani, An Introduction to the
/// Bootstrap, 1993, chapter 13): means of as many differences, drawn with replacement.
fn interval(differences: &[f64]) -> (f64, f64) {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut means: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let drawn = differences.iter().map(|_| differences[random.usize(..differences.len())]);
            drawn.sum::<f64>() / differences.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let beyond = (SAMPLES as f64 * TAIL) as usize;
    (rounded(means[beyond]), rounded(means[SAMPLES - 1 - beyond]))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_tells_a_difference_from_chance() {
        let better: Vec<f64> = (0..40).map(|i| if i % 4 == 0 { 1.0 } else { 0.0 }).collect();
        let (low, high) = interval(&better);
        assert!(low > 0.1 && low < 0.25 && high > 0.25 && high < 0.45, "{low} {high}");
        assert_eq!(interval(&better), (low, high), "the same each time");
        let chance: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let (low, high) = interval(&chance);
        assert!(low < -0.2 && high > 0.2, "{low} {high}");
        assert_eq!(interval(&[0.5]), (0.5, 0.5));
    }
}
