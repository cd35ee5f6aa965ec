//! Results of evaluation runs.

use std::collections::BTreeMap;

use poem_openapi::{Enum, Object};

use super::configuration::ConfigurationBody;
use crate::http::wire::values::shortest;
use domain::evaluation::measures::{self, Metric};
use domain::evaluation::{self, run};

#[derive(Object)]
#[oai(rename = "EvaluationRunList")]
pub(super) struct RunList {
    /// The runs, newest first.
    pub(super) runs: Vec<RunSummaryBody>,
}

#[derive(Object)]
#[oai(rename = "EvaluationRunSummary")]
pub(super) struct RunSummaryBody {
    /// Id of the run.
    run_id: String,
    /// When the run started (ISO 8601, UTC, to the second).
    created_at: String,
    /// Duration of the run, in seconds.
    seconds: f64,
    /// Revision of the questions; only runs with the same revision are comparable.
    revision: String,
    /// Name of the embedder.
    embedder: String,
    /// Name of the language model.
    language_model: String,
    /// Results for each configuration, in the order of the request.
    configurations: Vec<ConfigurationResult>,
}

#[derive(Object)]
struct ConfigurationResult {
    configuration: ConfigurationBody,
    metrics: Metrics,
    latency: LatencyBody,
    cost: ModelCost,
}

/// Mean of each metric over the questions that have it, rounded to four decimals; null if no
/// question has it. A hit matches a judged moment if the two overlap in time.
#[derive(Object)]
#[oai(rename = "EvaluationMetrics")]
struct Metrics {
    /// Recall at k: fraction of the judged moments that are matched by a hit, from 0 to 1.
    #[oai(nullable)]
    recall: Option<f64>,
    /// Normalized discounted cumulative gain at k, from 0 to 1, with gain 2^grade − 1 and discount
    /// 1 / log2(rank + 1). Hits are processed in order of rank. Each hit counts for the judged
    /// moment with the highest grade among those that it matches and that no earlier hit has
    /// counted for.
    #[oai(nullable)]
    ndcg: Option<f64>,
    /// 1 / rank of the first hit that matches a judged moment; 0 if there is none.
    #[oai(nullable)]
    reciprocal_rank: Option<f64>,
    /// Highest temporal intersection over union of a hit and a judged moment, from 0 to 1.
    #[oai(nullable)]
    overlap: Option<f64>,
    /// Precision: fraction of the hits for answerable questions that match a judged moment, from 0
    /// to 1.
    #[oai(nullable)]
    judged: Option<f64>,
    /// Fraction of the absent questions that are reported as present, from 0 to 1.
    #[oai(nullable)]
    false_presence: Option<f64>,
    /// Fraction of the answerable questions that are reported as absent, from 0 to 1.
    #[oai(nullable)]
    false_absence: Option<f64>,
    /// Fraction of the answerable questions that `/ask` answers, from 0 to 1.
    #[oai(nullable)]
    answered: Option<f64>,
    /// Fraction of the absent questions that `/ask` answers, from 0 to 1.
    #[oai(nullable)]
    false_answer: Option<f64>,
    /// Fraction of an answer's sentences, including removed ones, that the cited moments support,
    /// from 0 to 1.
    #[oai(nullable)]
    supported: Option<f64>,
}

/// Latency within the service, in milliseconds; null if not measured. Percentiles are computed by
/// the nearest-rank method.
#[derive(Object)]
#[oai(rename = "EvaluationLatency")]
struct LatencyBody {
    /// Median search latency.
    #[oai(nullable)]
    search_p50: Option<f64>,
    /// 95th percentile of the search latency.
    #[oai(nullable)]
    search_p95: Option<f64>,
    /// Median latency of `/ask`.
    #[oai(nullable)]
    ask_p50: Option<f64>,
    /// 95th percentile of the `/ask` latency.
    #[oai(nullable)]
    ask_p95: Option<f64>,
}

/// Billed language model usage.
#[derive(Object)]
struct ModelCost {
    /// Number of requests, including retries.
    model_calls: u32,
    /// Number of input tokens.
    input_tokens: u64,
    /// Number of output tokens.
    output_tokens: u64,
}

#[derive(Object)]
#[oai(rename = "EvaluationRun")]
pub(super) struct RunBody {
    #[oai(flatten)]
    summary: RunSummaryBody,
    /// Judged moments that were skipped because their video was deleted. A question without any
    /// other judged moment is skipped too.
    lost: Vec<LostJudgementBody>,
    /// Results for each question.
    questions: Vec<QuestionResultBody>,
    /// Comparison of each configuration with the first.
    compare: Vec<ComparisonBody>,
}

#[derive(Object)]
#[oai(rename = "LostJudgement")]
struct LostJudgementBody {
    /// Id of the question.
    question_id: String,
    /// Id of the moment.
    moment_id: String,
}

#[derive(Object)]
#[oai(rename = "QuestionResult")]
struct QuestionResultBody {
    /// Id of the question.
    id: String,
    /// Whether no moment answers the question.
    absent: bool,
    /// Results for each configuration, by configuration name.
    results: BTreeMap<String, QuestionOutcome>,
}

#[derive(Object)]
struct QuestionOutcome {
    /// Hits, best match first.
    hits: Vec<JudgedHitBody>,
    /// Recall at k, from 0 to 1; omitted for absent questions.
    #[oai(skip_serializing_if_is_none)]
    recall: Option<f64>,
    /// Normalized discounted cumulative gain at k, from 0 to 1; omitted for absent questions.
    #[oai(skip_serializing_if_is_none)]
    ndcg: Option<f64>,
    /// 1 / rank of the first matching hit, or 0 if there is none; omitted for absent questions.
    #[oai(skip_serializing_if_is_none)]
    reciprocal_rank: Option<f64>,
    /// Highest temporal intersection over union of a hit and a judged moment, from 0 to 1; omitted
    /// for absent questions.
    #[oai(skip_serializing_if_is_none)]
    overlap: Option<f64>,
    /// Fraction of the hits that match a judged moment, from 0 to 1; omitted for absent questions
    /// and if there are no hits.
    #[oai(skip_serializing_if_is_none)]
    judged: Option<f64>,
    /// Whether the search reports a match as present.
    #[oai(rename = "told_present")]
    reported_present: bool,
    /// Audit of the answer; omitted if `/ask` was not called.
    #[oai(skip_serializing_if_is_none)]
    answer: Option<CheckedAnswerBody>,
    /// Search latency, in milliseconds.
    search_ms: f64,
    /// Latency of `/ask`, in milliseconds; omitted if `/ask` was not called.
    #[oai(skip_serializing_if_is_none)]
    ask_ms: Option<f64>,
}

#[derive(Object)]
#[oai(rename = "JudgedHit")]
struct JudgedHitBody {
    /// Id of the moment.
    moment_id: String,
    /// Probability (0 to 1) that the moment really contains what was searched for.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: f64,
    /// Highest grade among the judged moments that the hit matches; null if it matches none.
    #[oai(nullable)]
    grade: Option<u8>,
}

/// Audit of an answer's sentences.
#[derive(Object)]
#[oai(rename = "CheckedAnswer")]
struct CheckedAnswerBody {
    /// Whether the answer answers the question.
    answered: bool,
    /// Number of supported sentences.
    supported: u32,
    /// Number of weakly supported sentences.
    weak: u32,
    /// Number of unsupported sentences, which were removed.
    unsupported: u32,
    /// `TypeName: message` if generating the answer failed.
    #[oai(skip_serializing_if_is_none)]
    error: Option<String>,
}

#[derive(Enum)]
#[oai(rename = "EvaluationMetric", rename_all = "snake_case")]
enum MetricName {
    Recall,
    Ndcg,
    ReciprocalRank,
    Overlap,
    Judged,
    FalsePresence,
    FalseAbsence,
    Answered,
    FalseAnswer,
    Supported,
}

/// Difference between two configurations in one metric.
#[derive(Object)]
#[oai(rename = "Comparison")]
struct ComparisonBody {
    metric: MetricName,
    /// Name of the first configuration, whose value is subtracted.
    baseline: String,
    /// Name of the other configuration.
    configuration: String,
    /// Mean difference over the questions for which both configurations have the metric.
    difference: f64,
    /// Lower bound of the 95% confidence interval, computed by paired bootstrap.
    low: f64,
    /// Upper bound of the interval. The difference is significant if the interval excludes 0.
    high: f64,
    /// Number of questions for which both configurations have the metric.
    questions: u32,
}

impl From<run::RunSummary> for RunSummaryBody {
    fn from(run: run::RunSummary) -> Self {
        Self {
            run_id: run.run_id,
            created_at: run.created_at,
            seconds: run.seconds,
            revision: run.revision,
            embedder: run.embedder,
            language_model: run.language_model,
            configurations: run.configurations.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<run::ConfigurationMetrics> for ConfigurationResult {
    fn from(measured: run::ConfigurationMetrics) -> Self {
        let run::ConfigurationMetrics { configuration, metrics, latency, cost } = measured;
        let value = |metric: Metric| metrics.get(&metric).copied();
        Self {
            configuration: configuration.into(),
            metrics: Metrics {
                recall: value(Metric::Recall),
                ndcg: value(Metric::Ndcg),
                reciprocal_rank: value(Metric::ReciprocalRank),
                overlap: value(Metric::Overlap),
                judged: value(Metric::Judged),
                false_presence: value(Metric::FalsePresence),
                false_absence: value(Metric::FalseAbsence),
                answered: value(Metric::Answered),
                false_answer: value(Metric::FalseAnswer),
                supported: value(Metric::Supported),
            },
            latency: LatencyBody {
                search_p50: latency.search_p50,
                search_p95: latency.search_p95,
                ask_p50: latency.ask_p50,
                ask_p95: latency.ask_p95,
            },
            cost: ModelCost {
                model_calls: cost.model_calls,
                input_tokens: cost.input_tokens,
                output_tokens: cost.output_tokens,
            },
        }
    }
}

impl From<run::EvaluationRun> for RunBody {
    fn from(run: run::EvaluationRun) -> Self {
        let lost = run.lost.into_iter().map(|lost| LostJudgementBody {
            question_id: lost.question_id,
            moment_id: lost.moment_id.to_string(),
        });
        Self {
            summary: run.summary.into(),
            lost: lost.collect(),
            questions: run.questions.into_iter().map(Into::into).collect(),
            compare: run.comparisons.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<run::QuestionResult> for QuestionResultBody {
    fn from(result: run::QuestionResult) -> Self {
        let results = result.outcomes.into_iter();
        let results = results.map(|outcome| (outcome.configuration.clone(), outcome.into()));
        Self { id: result.id, absent: result.absent, results: results.collect() }
    }
}

impl From<measures::ConfigurationOutcome> for QuestionOutcome {
    fn from(outcome: measures::ConfigurationOutcome) -> Self {
        let ranking = outcome.ranking;
        let hits = outcome.hits.into_iter().map(|hit| JudgedHitBody {
            moment_id: hit.moment_id.to_string(),
            p_present: shortest(hit.p_present).clamp(0.0, 1.0),
            grade: hit.grade,
        });
        Self {
            hits: hits.collect(),
            recall: ranking.map(|ranking| ranking.recall),
            ndcg: ranking.map(|ranking| ranking.ndcg),
            reciprocal_rank: ranking.map(|ranking| ranking.reciprocal_rank),
            overlap: ranking.map(|ranking| ranking.overlap),
            judged: ranking.and_then(|ranking| ranking.judged),
            reported_present: outcome.reported_present,
            answer: outcome.answer.map(Into::into),
            search_ms: outcome.search_ms,
            ask_ms: outcome.ask_ms,
        }
    }
}

impl From<measures::CheckedAnswer> for CheckedAnswerBody {
    fn from(answer: measures::CheckedAnswer) -> Self {
        let measures::CheckedAnswer { answered, supported, weak, unsupported, error } = answer;
        Self { answered, supported, weak, unsupported, error }
    }
}

impl From<evaluation::Comparison> for ComparisonBody {
    fn from(comparison: evaluation::Comparison) -> Self {
        Self {
            metric: match comparison.metric {
                Metric::Recall => MetricName::Recall,
                Metric::Ndcg => MetricName::Ndcg,
                Metric::ReciprocalRank => MetricName::ReciprocalRank,
                Metric::Overlap => MetricName::Overlap,
                Metric::Judged => MetricName::Judged,
                Metric::FalsePresence => MetricName::FalsePresence,
                Metric::FalseAbsence => MetricName::FalseAbsence,
                Metric::Answered => MetricName::Answered,
                Metric::FalseAnswer => MetricName::FalseAnswer,
                Metric::Supported => MetricName::Supported,
            },
            baseline: comparison.baseline,
            configuration: comparison.configuration,
            difference: comparison.difference,
            low: comparison.low,
            high: comparison.high,
            questions: comparison.questions,
        }
    }
}
