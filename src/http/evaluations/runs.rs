//! What a run came to, as clients see it.

use std::collections::BTreeMap;

use poem_openapi::{Enum, Object};

use super::Configuration;
use crate::domain::evaluation::measures::{self, Metric};
use crate::domain::evaluation::{self, run};
use crate::http::values::shortest;

#[derive(Object)]
#[oai(rename = "EvaluationRunList")]
pub(super) struct RunList {
    pub(super) runs: Vec<RunSummary>,
}

#[derive(Object)]
#[oai(rename = "EvaluationRunSummary")]
pub(super) struct RunSummary {
    run_id: String,
    /// When it began, ISO 8601, second precision, UTC.
    created_at: String,
    /// How long it took.
    seconds: f64,
    /// That of the questions.
    revision: String,
    /// The embedder that searched.
    embedder: String,
    /// The language model that answered.
    language_model: String,
    /// What each came to, in the order in which they were asked for.
    configurations: Vec<ConfigurationResult>,
}

#[derive(Object)]
struct ConfigurationResult {
    configuration: Configuration,
    metrics: Metrics,
    latency: Latency,
    cost: ModelCost,
}

/// Means over the questions that have the metric; null where none has it. Four decimals. A hit and a
/// judged moment meet where both last at once.
#[derive(Object)]
#[oai(rename = "EvaluationMetrics")]
struct Metrics {
    /// Recall at k: of the judged moments, the share that one of the hits meets.
    #[oai(nullable)]
    recall: Option<f64>,
    /// Normalised discounted cumulative gain at k, gains 2^grade − 1, discount 1 / log2(rank + 1): going
    /// down the ranks, a hit gains by the best judged moment that it meets and no hit above has taken.
    #[oai(nullable)]
    ndcg: Option<f64>,
    /// 1 / rank of the first hit that meets a judged moment, 0 without one.
    #[oai(nullable)]
    reciprocal_rank: Option<f64>,
    /// Intersection over union in time of the best pair of a hit and a judged moment.
    #[oai(nullable)]
    overlap: Option<f64>,
    /// Of the hits of questions that have an answer, the share that meets a judged moment.
    #[oai(nullable)]
    judged: Option<f64>,
    /// Of the absent questions, the share that is told to be present.
    #[oai(nullable)]
    false_presence: Option<f64>,
    /// Of the other questions, the share that is told to be absent.
    #[oai(nullable)]
    false_absence: Option<f64>,
    /// Of the questions that have an answer, the share that `/ask` answers.
    #[oai(nullable)]
    answered: Option<f64>,
    /// Of the absent questions, the share that `/ask` answers.
    #[oai(nullable)]
    false_answer: Option<f64>,
    /// Of the sentences of an answer, those that were left out included, the share that the cited
    /// moments support.
    #[oai(nullable)]
    supported: Option<f64>,
}

/// Milliseconds within the service, by nearest rank.
#[derive(Object)]
#[oai(rename = "EvaluationLatency")]
struct Latency {
    #[oai(nullable)]
    search_p50: Option<f64>,
    #[oai(nullable)]
    search_p95: Option<f64>,
    #[oai(nullable)]
    ask_p50: Option<f64>,
    #[oai(nullable)]
    ask_p95: Option<f64>,
}

/// What a language model billed.
#[derive(Object)]
struct ModelCost {
    /// Requests, repetitions included.
    model_calls: u32,
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Object)]
#[oai(rename = "EvaluationRun")]
pub(super) struct Run {
    #[oai(flatten)]
    summary: RunSummary,
    /// Judged moments that were left out, since their video is gone. A question without another one was
    /// not asked.
    lost: Vec<LostJudgement>,
    questions: Vec<QuestionResult>,
    /// Each configuration against the first.
    compare: Vec<Comparison>,
}

#[derive(Object)]
struct LostJudgement {
    question_id: String,
    moment_id: String,
}

#[derive(Object)]
struct QuestionResult {
    id: String,
    absent: bool,
    /// What each configuration gave, by its name.
    results: BTreeMap<String, QuestionOutcome>,
}

#[derive(Object)]
struct QuestionOutcome {
    /// Best first.
    hits: Vec<JudgedHit>,
    /// Absent where the question is.
    #[oai(skip_serializing_if_is_none)]
    recall: Option<f64>,
    #[oai(skip_serializing_if_is_none)]
    ndcg: Option<f64>,
    #[oai(skip_serializing_if_is_none)]
    reciprocal_rank: Option<f64>,
    #[oai(skip_serializing_if_is_none)]
    overlap: Option<f64>,
    /// Absent without hits too.
    #[oai(skip_serializing_if_is_none)]
    judged: Option<f64>,
    /// Whether what is asked for is told to be present.
    told_present: bool,
    /// Where `/ask` was asked.
    #[oai(skip_serializing_if_is_none)]
    answer: Option<CheckedAnswer>,
    /// How long the search took, milliseconds.
    search_ms: f64,
    /// How long the answer took, milliseconds.
    #[oai(skip_serializing_if_is_none)]
    ask_ms: Option<f64>,
}

#[derive(Object)]
struct JudgedHit {
    moment_id: String,
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: f64,
    /// Best grade of the judged moments that it meets; null where it meets none.
    #[oai(nullable)]
    grade: Option<u8>,
}

/// How the sentences of an answer were checked.
#[derive(Object)]
struct CheckedAnswer {
    /// Whether it answers the question.
    answered: bool,
    supported: u32,
    weak: u32,
    /// Those that the answer has not.
    unsupported: u32,
    /// `TypeName: message` where writing it failed.
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

/// The difference of two configurations by one metric.
#[derive(Object)]
struct Comparison {
    metric: MetricName,
    /// The configuration that is subtracted, which is the first.
    baseline: String,
    /// The configuration that it is subtracted from.
    configuration: String,
    /// Mean over the questions that both have the metric for.
    difference: f64,
    /// Lower end of its 95 % interval, by paired bootstrap.
    low: f64,
    /// Upper end of that interval: where it does not hold 0, the difference is no chance.
    high: f64,
    /// How many those questions are.
    questions: u32,
}

impl From<run::RunSummary> for RunSummary {
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

impl From<run::Measured> for ConfigurationResult {
    fn from(measured: run::Measured) -> Self {
        let run::Measured { configuration, metrics, latency, cost } = measured;
        let of = |metric: Metric| metrics.get(&metric).copied();
        Self {
            configuration: configuration.into(),
            metrics: Metrics {
                recall: of(Metric::Recall),
                ndcg: of(Metric::Ndcg),
                reciprocal_rank: of(Metric::ReciprocalRank),
                overlap: of(Metric::Overlap),
                judged: of(Metric::Judged),
                false_presence: of(Metric::FalsePresence),
                false_absence: of(Metric::FalseAbsence),
                answered: of(Metric::Answered),
                false_answer: of(Metric::FalseAnswer),
                supported: of(Metric::Supported),
            },
            latency: Latency {
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

impl From<run::Run> for Run {
    fn from(run: run::Run) -> Self {
        let lost = run.lost.into_iter().map(|lost| LostJudgement {
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

impl From<run::QuestionResult> for QuestionResult {
    fn from(result: run::QuestionResult) -> Self {
        let results = result.outcomes.into_iter();
        let results = results.map(|outcome| (outcome.configuration.clone(), outcome.into()));
        Self { id: result.id, absent: result.absent, results: results.collect() }
    }
}

impl From<measures::Outcome> for QuestionOutcome {
    fn from(outcome: measures::Outcome) -> Self {
        let ranking = outcome.ranking;
        let hits = outcome.hits.into_iter().map(|hit| JudgedHit {
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
            told_present: outcome.told_present,
            answer: outcome.answer.map(Into::into),
            search_ms: outcome.search_ms,
            ask_ms: outcome.ask_ms,
        }
    }
}

impl From<measures::CheckedAnswer> for CheckedAnswer {
    fn from(answer: measures::CheckedAnswer) -> Self {
        let measures::CheckedAnswer { answered, supported, weak, unsupported, error } = answer;
        Self { answered, supported, weak, unsupported, error }
    }
}

impl From<evaluation::Comparison> for Comparison {
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
