//! Consults the aggregates of the videos that are most likely to answer a question. These are the
//! summary and the aggregates whose description is similar to the question.

use futures::{StreamExt, TryStreamExt, stream};

use super::context::VideoContext;
use crate::aggregation::AggregatorSpec;
use crate::aggregation::aggregators::summary::{self, VideoSummary};
use crate::aggregation::result::result_of;
use crate::answering::Answering;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::vector::dot;
use crate::search::SearchResult;

/// Minimum standard score (z-score) of an aggregate's similarity to a question. Aggregates below
/// this value are not consulted.
const MIN_DEVIATIONS: f64 = 1.0;

/// Maximum number of aggregates consulted per question.
const MAX_ROUTED: usize = 3;

/// Maximum number of summary sections used as evidence.
const MAX_SECTIONS: usize = 3;

/// Number of tokens of evidence reserved per video. Aggregates are read only for the most probable
/// videos, as many as fit into the token budget.
const TOKENS_PER_VIDEO: u32 = 300;

impl Answering {
    /// Adds aggregates to the contexts, which are sorted by probability.
    pub(super) async fn consult_aggregates(
        &self,
        contexts: &mut [VideoContext<'_>],
        vector: &[f32],
    ) -> Result<()> {
        let routed = self.route(vector).await?;
        let consulted = contexts
            .iter_mut()
            .take(self.max_consulted_videos())
            .map(|context| self.consult(context, &routed));
        let consulted: Vec<_> = consulted.collect();
        let concurrency = self.concurrency.max(1);
        stream::iter(consulted).buffer_unordered(concurrency).try_collect::<()>().await
    }

    /// Maximum number of videos whose aggregates and facts are read.
    pub(super) fn max_consulted_videos(&self) -> usize {
        (self.answer_tokens / TOKENS_PER_VIDEO).max(1) as usize
    }

    /// Routes a question to the aggregators whose descriptions stand out as similar to it.
    async fn route(&self, vector: &[f32]) -> Result<Vec<&'static AggregatorSpec>> {
        let specs: Vec<&'static AggregatorSpec> = self.aggregators.specs().collect();
        let descriptions = self
            .routes
            .get_or_try_init(|| async {
                let texts: Vec<String> = specs.iter().map(|spec| spec.answers.to_owned()).collect();
                Ok::<_, Error>(self.embedder.embed(&texts).await?)
            })
            .await?;
        let scores: Vec<f64> = descriptions.iter().map(|d| f64::from(dot(d, vector))).collect();
        Ok(outliers(&scores).into_iter().map(|i| specs[i]).collect())
    }

    /// Adds the routed aggregates, the summary, and the summary sections that contain the most
    /// probable hits. Skips unreadable aggregates.
    async fn consult(
        &self,
        context: &mut VideoContext<'_>,
        routed: &[&'static AggregatorSpec],
    ) -> Result<()> {
        match self.read_aggregates(context, routed).await {
            Err(error) if error.is_corrupt() => Ok(()),
            consulted => consulted,
        }
    }

    async fn read_aggregates(
        &self,
        context: &mut VideoContext<'_>,
        routed: &[&'static AggregatorSpec],
    ) -> Result<()> {
        let record = context.record;
        let whole = Span { start: 0.0, end: record.duration };
        for spec in routed {
            if record.aggregates.contains_key(spec.id) {
                let result = self.records.aggregate_result(record, spec.id).await?;
                context.routed_to.push(spec.id.into());
                context.routed.push((*spec, result.evidence(whole)));
            }
        }
        if record.aggregates.contains_key(summary::ID) {
            let summary = self.records.aggregate_result(record, summary::ID).await?;
            context.summary = summary.evidence(whole);
            if let Some(digest) =
                result_of::<VideoSummary>(summary.as_ref()).filter(|d| d.depth > 1)
            {
                let hits: Vec<(Span, f32)> = context.hits().map(span_and_probability).collect();
                context.sections = nearest_sections(digest.section_summaries(), &hits);
            }
        }
        Ok(())
    }
}

fn span_and_probability(hit: &SearchResult) -> (Span, f32) {
    (hit.span, hit.p_present)
}

/// Returns the sections that contain the most probable segments. This requires no embedding, no
/// matter how many sections there are.
fn nearest_sections(
    mut sections: Vec<(Span, String)>,
    hits: &[(Span, f32)],
) -> Vec<(Span, String)> {
    let best_within = |section: &Span| {
        let within = hits.iter().filter(|(hit, _)| hit.overlap(section) > 0.0);
        within.map(|(_, p_present)| *p_present).fold(0.0, f32::max)
    };
    sections.sort_by(|(a, _), (b, _)| best_within(b).total_cmp(&best_within(a)));
    sections.truncate(MAX_SECTIONS);
    sections
}

/// Returns the indices of scores with a standard score of at least [`MIN_DEVIATIONS`], best first.
fn outliers(scores: &[f64]) -> Vec<usize> {
    let count = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let deviation = (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / count).sqrt();
    let mut chosen: Vec<usize> = (0..scores.len())
        .filter(|&i| deviation > 1e-9 && (scores[i] - mean) / deviation >= MIN_DEVIATIONS)
        .collect();
    chosen.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    chosen.truncate(MAX_ROUTED);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_sections_contain_the_most_probable_segments() {
        let span = |start: u32| Span { start: start.into(), end: f64::from(start) + 10.0 };
        let sections: Vec<(Span, String)> =
            (0..5).map(|i| (span(i * 10), format!("section {i}"))).collect();
        let nearest = |hits: &[(Span, f32)]| -> Vec<String> {
            let nearest = nearest_sections(sections.clone(), hits);
            nearest.into_iter().map(|(_, text)| text).collect()
        };
        let hits = [(span(10), 0.2), (span(40), 0.9), (span(42), 0.4), (span(20), 0.5)];
        assert_eq!(nearest(&hits), ["section 4", "section 2", "section 1"]);
        assert_eq!(nearest(&[]), ["section 0", "section 1", "section 2"]);
    }

    #[test]
    fn outliers_are_relative_to_the_average() {
        for (scores, expected) in [
            (vec![0.1, 0.1, 0.1, 0.5, 0.1], vec![3]),
            (vec![0.7, 0.7, 0.7, 0.9, 0.7], vec![3]),
            (vec![0.2, 0.2, 0.2], vec![]),
            (vec![], vec![]),
            (vec![0.0, 0.0, 0.0, 0.0, 0.8, 0.9], vec![5, 4]),
        ] {
            assert_eq!(outliers(&scores), expected, "{scores:?}");
        }
    }
}
