//! Evaluation runs. A run evaluates every question with every configuration. The searches and
//! answers run one at a time, so that the latencies are those of an otherwise idle service.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use ports::llm::Usage;
use ports::{ErrorKind, PortError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::compare::{Comparison, compare};
use super::measures::{
    CheckedAnswer, ConfigurationOutcome, JudgedHit, Metric, meets, ranking, round,
};
use super::questions::{EvaluationQuestion, Judgement, check_names};
use super::{Evaluation, Evaluations};
use crate::answering::Answering;
use crate::answering::ask;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::progress::{Progress, Stage};
use crate::kernel::time::now;
use crate::kernel::verdict::Verdict;
use crate::kernel::video::VideoId;
use crate::llm::budget::CallBudget;
use crate::search::filters::COLLECTIONS;
use crate::search::{LIKELY, PageStart, SearchRequest, SearchTarget};

/// A search configuration for a run. It consists of fields of a search request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The name of the configuration in the results.
    pub name: String,
    /// The search mode, `vector`, `text` or `hybrid`. `None` means `vector` for one analyzer and
    /// `hybrid` for all.
    pub mode: Option<String>,
    /// The analyzer whose output is searched, or `*`.
    pub analyzer: String,
    /// The vector field that is searched.
    pub field: String,
    /// Maximum number of hits, 1..=50.
    pub limit: u32,
    /// Minimum cosine similarity of a hit; less similar hits are dropped.
    pub score_threshold: Option<f32>,
    /// Minimum `p_present` of a hit, 0..1; less probable hits are dropped.
    pub min_p_present: Option<f32>,
    /// Whether a re-ranker scores the hits together with each question.
    #[serde(default)]
    pub rerank: bool,
    /// Whether each question is also sent to `/ask`, for which only `min_p_present` applies.
    pub ask: bool,
}

/// The parameters of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// The configurations. The first one is the baseline for comparisons.
    pub configurations: Vec<Configuration>,
    /// Maximum number of calls to a billed language model.
    pub max_model_calls: Option<u32>,
}

/// The results for one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationMetrics {
    /// The configuration that was run.
    pub configuration: Configuration,
    /// The mean of each metric over the questions that have it. A metric is absent if no question
    /// has it.
    pub metrics: BTreeMap<Metric, f64>,
    /// Response times.
    pub latency: Latency,
    /// Billed model calls and tokens.
    pub cost: BilledUsage,
}

/// Percentiles (nearest rank) of the search and answer times for one configuration, in
/// milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field is the percentile of its name")]
pub struct Latency {
    pub search_p50: Option<f64>,
    pub search_p95: Option<f64>,
    pub ask_p50: Option<f64>,
    pub ask_p95: Option<f64>,
}

/// Billed usage of the language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BilledUsage {
    /// Number of requests, including retries.
    pub model_calls: u32,
    /// Number of input tokens.
    pub input_tokens: u64,
    /// Number of output tokens.
    pub output_tokens: u64,
}

/// A run without its questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Id of the run and of its job.
    pub run_id: String,
    /// Start time: ISO 8601 with second precision, in UTC.
    pub created_at: String,
    /// Duration of the run, in seconds.
    pub seconds: f64,
    /// Revision of the questions. Runs with the same revision are comparable.
    pub revision: String,
    /// Name of the embedder's model.
    pub embedder: String,
    /// Name of the language model.
    pub language_model: String,
    /// The results, in the order of the request.
    pub configurations: Vec<ConfigurationMetrics>,
}

/// A judged moment that a run skipped because its video no longer exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostJudgement {
    /// Id of the question.
    pub question_id: String,
    /// The judged moment.
    pub moment_id: MomentId,
}

/// The outcomes of all configurations for one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionResult {
    /// Id of the question.
    pub id: String,
    /// Whether nothing answers the question.
    pub absent: bool,
    /// One outcome per configuration, in the order of the configurations.
    pub outcomes: Vec<ConfigurationOutcome>,
}

/// A run with its results per question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationRun {
    /// The summary shown in lists.
    pub summary: RunSummary,
    /// Judged moments whose videos no longer exist. Questions without any other judged moments were
    /// skipped.
    pub lost: Vec<LostJudgement>,
    /// Results per question, excluding skipped questions.
    pub questions: Vec<QuestionResult>,
    /// Comparisons of every other configuration with the first.
    pub comparisons: Vec<Comparison>,
}

/// The result of a run's job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReference {
    /// The evaluation's name.
    pub evaluation: String,
    /// Id of the run.
    pub run_id: String,
}

impl Configuration {
    /// Builds the search for a question. Returns `Invalid` for an unknown mode or field.
    fn search(&self, question: &EvaluationQuestion) -> Result<SearchRequest> {
        Ok(SearchRequest {
            target: SearchTarget::parse(Some(question.text.clone()), None, None, None)?,
            analyzers: self.analyzer.clone().into(),
            field: self.field.parse()?,
            mode: self.mode.as_deref().map(str::parse).transpose()?,
            video_ids: question.video_ids.clone(),
            filters: filters(question),
            limit: self.limit,
            score_threshold: self.score_threshold,
            min_p_present: self.min_p_present,
            rerank: self.rerank,
            page: PageStart::First,
        })
    }

    fn question(&self, question: &EvaluationQuestion) -> ask::Question {
        ask::Question {
            question: question.text.clone(),
            video_ids: question.video_ids.clone(),
            analyzer: None,
            limit: ask::DEFAULT_LIMIT,
            min_p_present: self.min_p_present,
            filters: filters(question),
            moment_ids: None,
        }
    }
}

fn filters(question: &EvaluationQuestion) -> Map<String, serde_json::Value> {
    let collections = question.collections.iter();
    collections.map(|names| (COLLECTIONS.to_owned(), json!(names))).collect()
}

impl Evaluations {
    /// Returns the maximum number of billed model calls in a run, not counting retries. Returns
    /// `NotFound` for an unknown evaluation. Returns `Invalid` if a configuration is invalid or the
    /// run may exceed `max_model_calls`.
    pub async fn plan(&self, name: &str, request: &RunRequest) -> Result<u32> {
        let evaluation = self.get(name).await?;
        let configurations = &request.configurations;
        let max = self.settings.max_configurations;
        if configurations.is_empty() || configurations.len() > max {
            return Err(Error::Invalid(format!(
                "the run has {} configurations; give 1 to {max} (evaluation.max_configurations)",
                configurations.len()
            )));
        }
        check_names("configuration", configurations.iter().map(|c| c.name.as_str()))?;
        for configuration in configurations {
            self.search.check(&configuration.search(&evaluation.questions[0])?).await?;
        }
        self.check_model_calls(&evaluation, request)
    }

    fn check_model_calls(&self, evaluation: &Evaluation, request: &RunRequest) -> Result<u32> {
        let asking = request.configurations.iter().filter(|c| c.ask).count();
        let llm = &self.models.llm;
        let calls = if llm.is_billed() { (asking * evaluation.questions.len()) as u32 } else { 0 };
        let allowed = request.max_model_calls;
        if calls > allowed.unwrap_or(0) {
            let given = allowed.map_or("is not given".into(), |allowed| format!("is {allowed}"));
            return Err(Error::Invalid(format!(
                "the run makes up to {calls} calls of '{}', which are billed, one for each question to \
                 /ask with at most {} tokens of evidence; max_model_calls {given}: set it to {calls} \
                 to allow them",
                llm.model(),
                self.answering.evidence_tokens()
            )));
        }
        Ok(calls)
    }

    /// Executes and stores a run.
    pub(crate) async fn run(
        &self,
        name: &str,
        run_id: &str,
        request: &RunRequest,
        progress: &Progress,
    ) -> Result<RunReference> {
        let evaluation = self.get(name).await?;
        // The number of questions may have changed since the request.
        self.check_model_calls(&evaluation, request)?;
        let timeout = self.settings.timeout;
        let measured = progress.cancellable(self.measure(&evaluation, run_id, request, progress));
        let run = tokio::time::timeout(timeout, measured).await.map_err(|_| {
            let message = format!(
                "the run did not finish within {} s (evaluation.timeout); ask fewer questions, or fewer \
                 configurations at once",
                timeout.as_secs()
            );
            PortError::new(ErrorKind::Timeout, message)
        })??;
        self.save_run(name, run).await?;
        Ok(RunReference { evaluation: name.to_owned(), run_id: run_id.to_owned() })
    }

    async fn measure(
        &self,
        evaluation: &Evaluation,
        run_id: &str,
        request: &RunRequest,
        progress: &Progress,
    ) -> Result<EvaluationRun> {
        let (created_at, started) = (now(), Instant::now());
        // Calibrate first, so that no measured search has to wait for it.
        self.search.calibrator.calibrate().await?;
        let (questions, lost) = self.with_existing_moments(&evaluation.questions).await?;
        let configurations = &request.configurations;
        let budget = CallBudget::new(&self.models, request.max_model_calls);
        let answering = self.answering.with_budget(&budget);
        let mut measured = Vec::new();
        let mut by_configuration = Vec::new();
        for (place, configuration) in configurations.iter().enumerate() {
            let report = |asked: usize| {
                let detail = json!({
                    "configuration": configuration.name,
                    "asked": place * questions.len() + asked,
                    "of": configurations.len() * questions.len(),
                });
                progress.stage(Stage::Evaluating, detail);
            };
            let before = budget.usage();
            let outcomes =
                self.outcomes(configuration, &questions, &answering, &budget, report).await?;
            measured.push(ConfigurationMetrics {
                metrics: metrics(&outcomes),
                latency: Latency::new(&outcomes),
                cost: BilledUsage::between(&before, &budget.usage()),
                configuration: configuration.clone(),
            });
            by_configuration.push(outcomes.into_iter());
        }
        let questions: Vec<QuestionResult> = questions
            .into_iter()
            .map(|question| QuestionResult {
                absent: question.is_absent(),
                outcomes: by_configuration.iter_mut().filter_map(Iterator::next).collect(),
                id: question.id,
            })
            .collect();
        let (questions, comparisons) = compare_in_background(questions).await?;
        let summary = RunSummary {
            run_id: run_id.to_owned(),
            created_at,
            seconds: round(started.elapsed().as_secs_f64()),
            revision: evaluation.revision.clone(),
            embedder: self.models.embedder.model().to_owned(),
            language_model: self.models.llm.model().to_owned(),
            configurations: measured,
        };
        Ok(EvaluationRun { summary, lost, questions, comparisons })
    }

    /// Removes judged moments whose videos no longer exist from the questions, and returns these
    /// moments. Drops a question if none of its judged moments are left, since its answer
    /// disappeared with the video.
    async fn with_existing_moments(
        &self,
        all: &[EvaluationQuestion],
    ) -> Result<(Vec<EvaluationQuestion>, Vec<LostJudgement>)> {
        let videos: HashSet<VideoId> = all
            .iter()
            .flat_map(|question| &question.relevant)
            .map(|judgement| judgement.moment_id.video_id())
            .collect();
        let videos: Vec<VideoId> = videos.into_iter().collect();
        let existing = self.listing.summaries(&videos).await?;
        let mut lost = Vec::new();
        let mut remaining = Vec::new();
        for question in all {
            let (relevant, gone): (Vec<Judgement>, Vec<Judgement>) = question
                .relevant
                .iter()
                .cloned()
                .partition(|judgement| existing.contains_key(&judgement.moment_id.video_id()));
            lost.extend(gone.into_iter().map(|judgement| LostJudgement {
                question_id: question.id.clone(),
                moment_id: judgement.moment_id,
            }));
            if question.is_absent() || !relevant.is_empty() {
                remaining.push(EvaluationQuestion { relevant, ..question.clone() });
            }
        }
        Ok((remaining, lost))
    }

    /// Computes one configuration's outcomes. Before each question, calls `report` with the number
    /// of finished questions.
    async fn outcomes(
        &self,
        configuration: &Configuration,
        questions: &[EvaluationQuestion],
        answering: &Answering,
        budget: &CallBudget,
        report: impl Fn(usize),
    ) -> Result<Vec<ConfigurationOutcome>> {
        let mut outcomes = Vec::with_capacity(questions.len());
        for question in questions {
            report(outcomes.len());
            outcomes.push(self.outcome(configuration, question, answering).await?);
            if budget.is_exhausted() {
                return Err(Error::BudgetExhausted(
                    "the model calls allowed by max_model_calls are used up, since some were \
                     retried; run again with more"
                        .into(),
                ));
            }
        }
        Ok(outcomes)
    }

    async fn outcome(
        &self,
        configuration: &Configuration,
        question: &EvaluationQuestion,
        answering: &Answering,
    ) -> Result<ConfigurationOutcome> {
        let everything = Access::default();
        let started = Instant::now();
        let found = self.search.run(&everything, &configuration.search(question)?).await?;
        let search_ms = milliseconds(started);
        let judged = &question.relevant;
        let moments: Vec<&MomentId> = found.results.iter().map(|hit| &hit.moment_id).collect();
        let limit = configuration.limit as usize;
        let ranking = (!judged.is_empty()).then(|| ranking(&moments, judged, limit));
        let best = found.results.iter().map(|hit| hit.p_present).fold(0.0, f32::max);
        let grade = |hit: &MomentId| {
            let met = judged.iter().filter(|judgement| meets(hit, &judgement.moment_id));
            met.map(|judgement| judgement.grade).max()
        };
        let hits = found.results.iter().map(|hit| JudgedHit {
            moment_id: hit.moment_id.clone(),
            p_present: hit.p_present,
            grade: grade(&hit.moment_id),
        });
        let hits = hits.collect();
        let min_p_present = configuration.min_p_present.unwrap_or(LIKELY);
        let mut outcome = ConfigurationOutcome {
            configuration: configuration.name.clone(),
            hits,
            ranking,
            reported_present: best > 0.0 && best >= min_p_present,
            answer: None,
            search_ms,
            ask_ms: None,
        };
        if configuration.ask {
            let started = Instant::now();
            let answer = answering.ask(&everything, configuration.question(question)).await?;
            outcome.ask_ms = Some(milliseconds(started));
            outcome.answer = Some(CheckedAnswer::new(answer));
        }
        Ok(outcome)
    }
}

/// Compares the configurations without blocking other tasks.
async fn compare_in_background(
    questions: Vec<QuestionResult>,
) -> Result<(Vec<QuestionResult>, Vec<Comparison>)> {
    let comparing = tokio::task::spawn_blocking(move || {
        let outcomes: Vec<&[ConfigurationOutcome]> =
            questions.iter().map(|q| &q.outcomes[..]).collect();
        let comparisons = compare(&outcomes);
        (questions, comparisons)
    });
    comparing.await.map_err(|e| Error::corrupt(format!("comparing panicked: {e}")))
}

impl BilledUsage {
    fn between(before: &Usage, after: &Usage) -> Self {
        Self {
            model_calls: after.calls - before.calls,
            input_tokens: after.input_tokens - before.input_tokens,
            output_tokens: after.output_tokens - before.output_tokens,
        }
    }
}

impl CheckedAnswer {
    fn new(answer: ask::AskResponse) -> Self {
        let count = |verdict: Verdict| {
            answer.audit.iter().filter(|sentence| sentence.verdict == verdict).count() as u32
        };
        Self {
            answered: answer.answered == Some(true),
            supported: count(Verdict::Supported),
            weak: count(Verdict::Weak),
            unsupported: count(Verdict::Unsupported),
            error: answer.answer_error,
        }
    }
}

impl Latency {
    fn new(outcomes: &[ConfigurationOutcome]) -> Self {
        let searches: Vec<f64> = outcomes.iter().map(|outcome| outcome.search_ms).collect();
        let answers: Vec<f64> = outcomes.iter().filter_map(|outcome| outcome.ask_ms).collect();
        Self {
            search_p50: percentile(&searches, 50),
            search_p95: percentile(&searches, 95),
            ask_p50: percentile(&answers, 50),
            ask_p95: percentile(&answers, 95),
        }
    }
}

fn metrics(outcomes: &[ConfigurationOutcome]) -> BTreeMap<Metric, f64> {
    let mean = |metric: Metric| Some((metric, metric.mean(outcomes.iter())?));
    Metric::ALL.into_iter().filter_map(mean).collect()
}

/// Computes a percentile by nearest rank. Returns `None` if there are no values.
fn percentile(values: &[f64], percent: usize) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get((values.len() * percent).div_ceil(100).saturating_sub(1)).copied()
}

fn milliseconds(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1e4).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!((percentile(&values, 50), percentile(&values, 95)), (Some(10.0), Some(19.0)));
        assert_eq!((percentile(&[3.0], 95), percentile(&[], 50)), (Some(3.0), None));
    }
}
