//! Compares configurations. For each metric, computes the mean difference and its confidence
//! interval, over the questions that have the metric for both configurations.

use serde::{Deserialize, Serialize};

use super::measures::{ConfigurationOutcome, Metric, round};

/// The difference in one metric between two configurations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The compared metric.
    pub metric: Metric,
    /// The configuration that serves as the baseline. Its value is subtracted.
    pub baseline: String,
    /// The configuration that is compared with the baseline.
    pub configuration: String,
    /// Mean difference over the questions.
    pub difference: f64,
    /// Lower end of the 95 % confidence interval of the difference.
    pub low: f64,
    /// Upper end of the 95 % confidence interval of the difference.
    pub high: f64,
    /// Number of questions that have the metric for both configurations.
    pub questions: u32,
}

/// Number of bootstrap samples per interval.
const RESAMPLES: usize = 2000;

/// Share of the samples that lie beyond each end of an interval.
const TAIL: f64 = 0.025;

/// Seed for the random numbers. It is fixed so that the same questions yield the same interval.
const SEED: u64 = 0x5107;

/// Compares every configuration with the first in every metric that both have. `questions` contains
/// the outcomes of the configurations, in order, for each question.
pub(super) fn compare(questions: &[&[ConfigurationOutcome]]) -> Vec<Comparison> {
    let configurations = questions.first().map_or(0, |outcomes| outcomes.len());
    let mut comparisons = Vec::new();
    for other in 1..configurations {
        for metric in Metric::ALL {
            let differences: Vec<f64> = questions
                .iter()
                .filter_map(|outcomes| {
                    Some(metric.value(&outcomes[other])? - metric.value(&outcomes[0])?)
                })
                .collect();
            if differences.is_empty() {
                continue;
            }
            let (low, high) = interval(&differences);
            comparisons.push(Comparison {
                metric,
                baseline: questions[0][0].configuration.clone(),
                configuration: questions[0][other].configuration.clone(),
                difference: round(mean(&differences)),
                low,
                high,
                questions: differences.len() as u32,
            });
        }
    }
    comparisons
}

/// Computes the 95 % percentile interval of a mean with the paired bootstrap (Efron and Tibshirani,
/// An Introduction to the Bootstrap, 1993, chapter 13). The interval is taken from the distribution
/// of the means of resampled differences.
fn interval(differences: &[f64]) -> (f64, f64) {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = differences.iter().map(|_| differences[random.usize(..differences.len())]);
            drawn.sum::<f64>() / differences.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let beyond = (RESAMPLES as f64 * TAIL) as usize;
    (round(means[beyond]), round(means[RESAMPLES - 1 - beyond]))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_separates_a_difference_from_chance() {
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
