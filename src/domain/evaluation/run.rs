//! A run: each configuration is asked each question, one after the other, so that times are those of a
//! service that has nothing else to do for it.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use ports::{ErrorKind, PortError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::compare::{Comparison, compare};
use super::measures::{CheckedAnswer, JudgedHit, Metric, Outcome, meets, ranking, rounded};
use super::questions::{Judgement, Question, check_names};
use super::{Evaluation, Evaluations};
use crate::domain::answering::Answering;
use crate::domain::answering::ask;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::progress::{Progress, Stage};
use crate::domain::kernel::time::now;
use crate::domain::kernel::verdict::Verdict;
use crate::domain::kernel::video::VideoId;
use crate::domain::llm::budget::Budget;
use crate::domain::search::filters::COLLECTIONS;
use crate::domain::search::{Detail, LIKELY, Query};

/// How searches of a run are made: as a search request says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Names it in the results.
    pub name: String,
    /// `vector`, `text` or `hybrid`; `None` is `vector` for one analyzer and `hybrid` for all.
    pub mode: Option<String>,
    /// Whose output is searched, or `*`.
    pub analyzer: String,
    /// Vector field.
    pub field: String,
    /// 1..=50.
    pub limit: u32,
    /// Hits with a lower cosine are dropped.
    pub score_threshold: Option<f32>,
    /// Hits that are less probably what was asked for are dropped, 0..1.
    pub min_p_present: Option<f32>,
    /// Whether hits are read together with each question before they are ranked.
    #[serde(default)]
    pub rerank: bool,
    /// Whether each question is put to `/ask` as well, which goes by `min_p_present` alone.
    pub ask: bool,
}

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// The first one is what the others are compared with.
    pub configurations: Vec<Configuration>,
    /// Most calls of a language model that bills them.
    pub max_model_calls: Option<u32>,
}

/// What one configuration came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// As it was asked for.
    pub configuration: Configuration,
    /// Those that any question has.
    pub metrics: BTreeMap<Metric, f64>,
    /// How long it took.
    pub latency: Latency,
    /// What it cost.
    pub cost: Cost,
}

/// Times of one configuration's searches and answers, milliseconds: percentiles by nearest rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field is the percentile of its name")]
pub struct Latency {
    pub search_p50: Option<f64>,
    pub search_p95: Option<f64>,
    pub ask_p50: Option<f64>,
    pub ask_p95: Option<f64>,
}

/// What a language model billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Requests, repetitions included.
    pub model_calls: u32,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// A run without its questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The id of the job that made it.
    pub run_id: String,
    /// When it began, ISO 8601, second precision, UTC.
    pub created_at: String,
    /// How long it took.
    pub seconds: f64,
    /// That of the questions: runs of one revision compare.
    pub revision: String,
    /// The embedder that searched.
    pub embedder: String,
    /// The language model that answered.
    pub language_model: String,
    /// In the order in which they were asked for.
    pub configurations: Vec<Measured>,
}

/// A judged moment that a run left out, since its video is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostJudgement {
    /// The question.
    pub question_id: String,
    /// The moment.
    pub moment_id: MomentId,
}

/// What every configuration gave for one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionResult {
    /// The question.
    pub id: String,
    /// Whether nothing answers it.
    pub absent: bool,
    /// In the order of the configurations.
    pub outcomes: Vec<Outcome>,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What its list shows.
    pub summary: RunSummary,
    /// A question with no other judged moment was not asked.
    pub lost: Vec<LostJudgement>,
    /// Those that were asked.
    pub questions: Vec<QuestionResult>,
    /// Every configuration against the first.
    pub comparisons: Vec<Comparison>,
}

/// What the job of a run yields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The evaluation's name.
    pub evaluation: String,
    /// Its run.
    pub run_id: String,
}

impl Configuration {
    fn query(&self, question: &Question) -> Query {
        Query {
            text: question.text.clone(),
            mode: self.mode.clone(),
            video_ids: question.video_ids.clone(),
            analyzer: self.analyzer.clone(),
            field: self.field.clone(),
            limit: self.limit,
            score_threshold: self.score_threshold,
            min_p_present: self.min_p_present,
            rerank: self.rerank,
            synthesize: false,
            detail: Detail::Minimal.name().into(),
            filters: filters(question),
            ..Query::default()
        }
    }

    fn question(&self, question: &Question) -> ask::Question {
        ask::Question {
            question: question.text.clone(),
            video_ids: question.video_ids.clone(),
            analyzer: None,
            limit: ask::SEGMENTS,
            min_p_present: self.min_p_present,
            filters: filters(question),
            moment_ids: None,
        }
    }
}

fn filters(question: &Question) -> Map<String, serde_json::Value> {
    let collections = question.collections.iter();
    collections.map(|names| (COLLECTIONS.to_owned(), json!(names))).collect()
}

impl Evaluations {
    /// How many calls of a billed model a run makes at most, repetitions aside. `NotFound` where there
    /// is no such evaluation, `Invalid` for a configuration that this install does not know, and where
    /// the run would make more calls than it may.
    pub async fn plan(&self, name: &str, request: &RunRequest) -> Result<u32> {
        let evaluation = self.get(name).await?;
        let configurations = &request.configurations;
        let most = self.settings.max_configurations;
        if configurations.is_empty() || configurations.len() > most {
            return Err(Error::Invalid(format!(
                "the run has {} configurations; give 1 to {most} (evaluation.max_configurations)",
                configurations.len()
            )));
        }
        check_names("configuration", configurations.iter().map(|c| c.name.as_str()))?;
        for configuration in configurations {
            self.search.check(&configuration.query(&evaluation.questions[0])).await?;
        }
        self.affordable(&evaluation, request)
    }

    fn affordable(&self, evaluation: &Evaluation, request: &RunRequest) -> Result<u32> {
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

    /// Makes a run and keeps it.
    pub(crate) async fn run(
        &self,
        name: &str,
        run_id: &str,
        request: &RunRequest,
        progress: &Progress,
    ) -> Result<Evaluated> {
        let evaluation = self.get(name).await?;
        // It may have more questions by now.
        self.affordable(&evaluation, request)?;
        let timeout = self.settings.timeout;
        let measured = progress.cancellable(self.measure(&evaluation, run_id, request, progress));
        let run = tokio::time::timeout(timeout, measured).await.map_err(|_| {
            let message = format!(
                "the run did not end within {} s (evaluation.timeout); ask fewer questions, or fewer \
                 configurations at once",
                timeout.as_secs()
            );
            PortError::new(ErrorKind::Timeout, message)
        })??;
        self.keep(name, run).await?;
        Ok(Evaluated { evaluation: name.to_owned(), run_id: run_id.to_owned() })
    }

    async fn measure(
        &self,
        evaluation: &Evaluation,
        run_id: &str,
        request: &RunRequest,
        progress: &Progress,
    ) -> Result<Run> {
        let (created_at, started) = (now(), Instant::now());
        // No search waits for it.
        self.search.calibrate().await?;
        let (questions, lost) = self.present(&evaluation.questions).await?;
        let configurations = &request.configurations;
        let budget = Budget::open(&self.models, request.max_model_calls);
        let answering = self.answering.on_account(&budget);
        let (total, mut asked) = (questions.len() * configurations.len(), 0);
        let mut measured = Vec::new();
        let mut by_configuration = Vec::new();
        for configuration in configurations {
            let before = budget.usage();
            let mut outcomes = Vec::with_capacity(questions.len());
            for question in &questions {
                let detail = json!({
                    "configuration": configuration.name, "asked": asked, "of": total,
                });
                progress.stage(Stage::Evaluating, detail);
                outcomes.push(self.outcome(configuration, question, &answering).await?);
                if budget.is_exhausted() {
                    return Err(Error::BudgetExhausted(
                        "the model calls that were allowed (max_model_calls) are used up, since some \
                         had to be repeated; run again with more"
                            .into(),
                    ));
                }
                asked += 1;
            }
            let spent = budget.usage();
            measured.push(Measured {
                metrics: metrics(&outcomes),
                latency: Latency::of(&outcomes),
                cost: Cost {
                    model_calls: spent.calls - before.calls,
                    input_tokens: spent.input_tokens - before.input_tokens,
                    output_tokens: spent.output_tokens - before.output_tokens,
                },
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
        let (questions, comparisons) = tokio::task::spawn_blocking(move || {
            let outcomes: Vec<&[Outcome]> = questions.iter().map(|q| &q.outcomes[..]).collect();
            let comparisons = compare(&outcomes);
            (questions, comparisons)
        })
        .await
        .map_err(|e| Error::corrupt(format!("comparing panicked: {e}")))?;
        let summary = RunSummary {
            run_id: run_id.to_owned(),
            created_at,
            seconds: rounded(started.elapsed().as_secs_f64()),
            revision: evaluation.revision.clone(),
            embedder: self.models.embedder.model().to_owned(),
            language_model: self.models.llm.model().to_owned(),
            configurations: measured,
        };
        Ok(Run { summary, lost, questions, comparisons })
    }

    /// The questions with what is judged of videos that are there, and what is judged of others. One
    /// that nothing is left of has an answer that is gone with its video: it is not asked.
    async fn present(&self, all: &[Question]) -> Result<(Vec<Question>, Vec<LostJudgement>)> {
        let videos: HashSet<VideoId> = all
            .iter()
            .flat_map(|question| &question.relevant)
            .map(|judgement| judgement.moment_id.video_id())
            .collect();
        let videos: Vec<VideoId> = videos.into_iter().collect();
        let there = self.catalog.listed(&videos).await?;
        let mut lost = Vec::new();
        let mut left = Vec::new();
        for question in all {
            let (relevant, gone): (Vec<Judgement>, Vec<Judgement>) = question
                .relevant
                .iter()
                .cloned()
                .partition(|judgement| there.contains_key(&judgement.moment_id.video_id()));
            lost.extend(gone.into_iter().map(|judgement| LostJudgement {
                question_id: question.id.clone(),
                moment_id: judgement.moment_id,
            }));
            if question.is_absent() || !relevant.is_empty() {
                left.push(Question { relevant, ..question.clone() });
            }
        }
        Ok((left, lost))
    }

    async fn outcome(
        &self,
        configuration: &Configuration,
        question: &Question,
        answering: &Answering,
    ) -> Result<Outcome> {
        let everything = Access::default();
        let started = Instant::now();
        let found = self.search.query(&everything, &configuration.query(question)).await?;
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
        let least = configuration.min_p_present.unwrap_or(LIKELY);
        let mut outcome = Outcome {
            configuration: configuration.name.clone(),
            hits,
            ranking,
            told_present: best > 0.0 && best >= least,
            answer: None,
            search_ms,
            ask_ms: None,
        };
        if configuration.ask {
            let started = Instant::now();
            let answer = answering.ask(&everything, configuration.question(question)).await?;
            outcome.ask_ms = Some(milliseconds(started));
            outcome.answer = Some(CheckedAnswer::of(answer));
        }
        Ok(outcome)
    }
}

impl CheckedAnswer {
    fn of(answer: ask::AskResponse) -> Self {
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
    fn of(outcomes: &[Outcome]) -> Self {
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

fn metrics(outcomes: &[Outcome]) -> BTreeMap<Metric, f64> {
    let of = |metric: Metric| Some((metric, metric.mean(outcomes.iter())?));
    Metric::ALL.into_iter().filter_map(of).collect()
}

/// By nearest rank.
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
    fn percentiles_are_values_that_there_are() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!((percentile(&values, 50), percentile(&values, 95)), (Some(10.0), Some(19.0)));
        assert_eq!((percentile(&[3.0], 95), percentile(&[], 50)), (Some(3.0), None));
    }
}
