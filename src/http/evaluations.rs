//! `/evaluations`: judged questions, and runs that measure how well they are answered.

mod runs;

use poem_openapi::param::Path;
use poem_openapi::{Object, OpenApi};

use super::auth::{Service, Token};
use super::body::{Accepted, Json};
use super::errors::{ApiError, Change, Failure, Listing, OfOne, Rerun, Search};
use super::jobs::JobStatus;
use super::query;
use super::values::shortest;
use crate::domain::Error;
use crate::domain::evaluation::{self, questions, run};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::time::Span;
use runs::{Run, RunList};

/// The routes of this section.
pub(super) struct EvaluationsApi(pub(super) Service);

#[OpenApi]
impl EvaluationsApi {
    /// Every evaluation, by name.
    #[oai(path = "/evaluations", method = "get", operation_id = "evaluations")]
    async fn evaluations(&self, token: Token) -> Result<Json<EvaluationList>, ApiError<Listing>> {
        let evaluations = self.0.of(&token).evaluations().await?;
        Ok(Json(EvaluationList { evaluations: evaluations.into_iter().map(Into::into).collect() }))
    }

    /// Keep judged questions under a name.
    ///
    /// They take the place of those that it has had; its runs stay. A judged moment whose video is not
    /// there, or that ends after its video, is refused.
    #[oai(path = "/evaluations/:name", method = "put", operation_id = "put_evaluation")]
    async fn put_evaluation(
        &self,
        token: Token,
        name: Path<String>,
        Json(request): Json<EvaluationRequest>,
    ) -> Result<Json<Evaluation>, ApiError<Search>> {
        let questions = request.questions.into_iter().map(questions::Question::try_from);
        let questions = questions.collect::<Result<_, _>>()?;
        Ok(Json(self.0.of(&token).put_evaluation(&name, questions).await?.into()))
    }

    /// An evaluation with its questions.
    #[oai(path = "/evaluations/:name", method = "get", operation_id = "evaluation")]
    async fn evaluation(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Json<Evaluation>, ApiError<OfOne>> {
        Ok(Json(self.0.of(&token).evaluation(&name).await?.into()))
    }

    /// Remove an evaluation and its runs.
    #[oai(path = "/evaluations/:name", method = "delete", operation_id = "delete_evaluation")]
    async fn delete_evaluation(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Json<DeletedEvaluation>, ApiError<Change>> {
        self.0.of(&token).delete_evaluation(&name).await?;
        Ok(Json(DeletedEvaluation { name: name.0, deleted: true }))
    }

    /// Ask the questions, and measure what comes.
    ///
    /// It is a job, whose id is that of the run. Where the language model bills its calls and a
    /// configuration asks it, `max_model_calls` has to allow them; the error says how many there are.
    #[oai(path = "/evaluations/:name/runs", method = "post", operation_id = "run_evaluation")]
    async fn run_evaluation(
        &self,
        token: Token,
        name: Path<String>,
        Json(request): Json<RunRequest>,
    ) -> Result<Accepted<RunAccepted>, ApiError<Rerun>> {
        let (job, model_calls) = self.0.of(&token).evaluate(&name, request.into()).await?;
        let run_id = job.job_id.clone();
        Ok(Accepted(RunAccepted {
            job_id: job.job_id,
            run_id,
            status: job.status.into(),
            model_calls,
        }))
    }

    /// The runs of an evaluation, the newest first.
    #[oai(path = "/evaluations/:name/runs", method = "get", operation_id = "evaluation_runs")]
    async fn evaluation_runs(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Json<RunList>, ApiError<OfOne>> {
        let runs = self.0.of(&token).evaluation(&name).await?.runs;
        Ok(Json(RunList { runs: runs.into_iter().map(Into::into).collect() }))
    }

    /// A run with what each question came to.
    ///
    /// Two runs over the same questions, models and videos agree in everything but ids and times.
    #[oai(
        path = "/evaluations/:name/runs/:run_id",
        method = "get",
        operation_id = "evaluation_run"
    )]
    async fn evaluation_run(
        &self,
        token: Token,
        name: Path<String>,
        run_id: Path<String>,
    ) -> Result<Json<Run>, ApiError<OfOne>> {
        Ok(Json(self.0.of(&token).evaluation_run(&name, &run_id).await?.into()))
    }
}

#[derive(Object)]
struct EvaluationRequest {
    #[oai(validator(min_items = 1))]
    questions: Vec<JudgedQuestion>,
}

/// A question with the moments that answer it.
#[derive(Object)]
struct JudgedQuestion {
    /// Names it in the results.
    #[oai(validator(min_length = 1, max_length = 64))]
    id: String,
    /// What is asked, or looked for.
    #[oai(validator(min_length = 1, max_length = 2000))]
    text: String,
    /// The videos that are searched; all of them when left out.
    #[oai(skip_serializing_if_is_none)]
    video_ids: Option<Vec<String>>,
    /// The collections that are searched; all videos when left out.
    #[oai(skip_serializing_if_is_none)]
    collections: Option<Vec<String>>,
    /// The moments that answer it.
    #[oai(default)]
    relevant: Vec<Judgement>,
    /// Whether nothing answers it; then it has no relevant moments.
    #[oai(default)]
    absent: bool,
}

/// A moment that answers a question: its id, or else video, start and end.
#[derive(Object)]
struct Judgement {
    /// As hits and citations carry it.
    #[oai(skip_serializing_if_is_none)]
    moment_id: Option<String>,
    #[oai(skip_serializing_if_is_none)]
    video_id: Option<String>,
    /// When it begins, seconds of the video.
    #[oai(skip_serializing_if_is_none)]
    start: Option<f64>,
    /// When it ends, seconds of the video.
    #[oai(skip_serializing_if_is_none)]
    end: Option<f64>,
    /// How well it answers; 3 is best.
    #[oai(default = "one", validator(minimum(value = "1"), maximum(value = "3")))]
    grade: u8,
}

fn one() -> u8 {
    1
}

#[derive(Object)]
struct Evaluation {
    #[oai(flatten)]
    summary: EvaluationSummary,
    /// In the order in which they were given; each judged moment by its id.
    questions: Vec<JudgedQuestion>,
}

#[derive(Object)]
struct EvaluationSummary {
    name: String,
    /// ISO 8601, second precision, UTC.
    created_at: String,
    /// When its questions were last given, ISO 8601, second precision, UTC.
    updated_at: String,
    /// The same for the same questions: only runs over the same ones compare.
    revision: String,
    counts: EvaluationCounts,
}

#[derive(Object)]
struct EvaluationCounts {
    questions: u64,
    /// Questions that nothing answers.
    absent: u64,
    /// Judged moments of the others together.
    judgements: u64,
    /// Runs that are kept.
    runs: u64,
}

#[derive(Object)]
struct EvaluationList {
    evaluations: Vec<EvaluationSummary>,
}

#[derive(Object)]
struct DeletedEvaluation {
    name: String,
    deleted: bool,
}

#[derive(Object)]
#[oai(rename = "EvaluationRunRequest")]
struct RunRequest {
    /// How searches are made; the others are compared with the first. Left out: one, `default`, as
    /// `/query` searches where it is told nothing.
    #[oai(default = "configurations", validator(min_items = 1))]
    configurations: Vec<Configuration>,
    /// Most calls of a language model that bills them.
    #[oai(nullable)]
    max_model_calls: Option<u32>,
}

/// How questions are searched for: the fields are those of `/query`.
#[derive(Object)]
#[oai(rename = "SearchConfiguration")]
struct Configuration {
    /// Names it in the results.
    #[oai(default = "default_name", validator(min_length = 1, max_length = 64))]
    name: String,
    /// `vector`, `text` or `hybrid`; null is `vector` for one analyzer, `hybrid` for all.
    #[oai(nullable)]
    mode: Option<String>,
    /// Analyzer whose output is searched, or `*` for that of all.
    #[oai(default = "query::analyzer")]
    analyzer: String,
    /// Vector field.
    #[oai(default = "query::field")]
    field: String,
    /// Hits of each search: the k of the metrics.
    #[oai(default = "query::limit", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
    /// Hits with a lower `score` are dropped.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score_threshold: Option<f64>,
    /// Hits with a lower `p_present` are dropped, from `/ask` too; what reaches it is told to be
    /// present. Null: none is dropped, and 0.5 tells.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Whether the hits for a question are read together with it, as `/query` does with `rerank`.
    #[oai(default)]
    rerank: bool,
    /// Whether each question is put to `/ask` as well, which chooses its evidence by itself.
    #[oai(default)]
    ask: bool,
}

fn default_name() -> String {
    "default".into()
}

fn configurations() -> Vec<Configuration> {
    vec![Configuration {
        name: default_name(),
        mode: None,
        analyzer: query::analyzer(),
        field: query::field(),
        limit: query::limit(),
        score_threshold: None,
        min_p_present: None,
        rerank: false,
        ask: false,
    }]
}

#[derive(Object)]
#[oai(rename = "EvaluationRunAccepted")]
struct RunAccepted {
    job_id: String,
    /// That of its job: the run is there once the job is done.
    run_id: String,
    status: JobStatus,
    /// Most calls of a language model that bills them, repetitions aside.
    model_calls: u32,
}

impl TryFrom<JudgedQuestion> for questions::Question {
    type Error = Failure;

    fn try_from(question: JudgedQuestion) -> Result<Self, Failure> {
        let JudgedQuestion { id, text, video_ids, collections, relevant, absent } = question;
        if absent != relevant.is_empty() {
            let what = if absent { "both relevant moments and absent" } else { "neither" };
            return Err(Failure::unprocessable(format!(
                "question '{id}' has {what}; give the relevant moments, or absent: true where nothing \
                 answers it"
            )));
        }
        let judgement = |judgement: Judgement| {
            let grade = judgement.grade;
            let moment_id = judgement.moment_id().map_err(|why| {
                Failure::unprocessable(format!("question '{id}' judges a moment that {why}"))
            })?;
            Ok::<_, Failure>(questions::Judgement { moment_id, grade })
        };
        let relevant = relevant.into_iter().map(judgement).collect::<Result<_, _>>()?;
        Ok(Self { id, text, video_ids, collections, relevant })
    }
}

impl Judgement {
    /// What it judges, or what is wrong with it.
    fn moment_id(self) -> Result<MomentId, String> {
        match (self.moment_id, self.video_id, self.start, self.end) {
            (Some(id), None, None, None) => {
                id.parse().map_err(|error: Error| format!("has an id that is none: {error}"))
            }
            (None, Some(video_id), Some(start), Some(end)) => {
                let Ok(id) = video_id.parse() else {
                    return Err(format!(
                        "has the video_id '{video_id}'; one is 16 hexadecimal digits"
                    ));
                };
                if !(start >= 0.0 && start < end && end.is_finite()) {
                    return Err(format!(
                        "goes from {start} to {end}; its end comes after its start"
                    ));
                }
                Ok(MomentId::new(id, Span { start, end }))
            }
            _ => Err("is not named; give moment_id, or else video_id, start and end".into()),
        }
    }
}

impl From<evaluation::EvaluationSummary> for EvaluationSummary {
    fn from(of: evaluation::EvaluationSummary) -> Self {
        Self {
            counts: EvaluationCounts {
                questions: of.questions as u64,
                absent: of.absent as u64,
                judgements: of.judgements as u64,
                runs: of.runs as u64,
            },
            name: of.name,
            created_at: of.created_at,
            updated_at: of.updated_at,
            revision: of.revision,
        }
    }
}

impl From<evaluation::Evaluation> for Evaluation {
    fn from(of: evaluation::Evaluation) -> Self {
        Self {
            summary: of.summary().into(),
            questions: of.questions.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<questions::Question> for JudgedQuestion {
    fn from(question: questions::Question) -> Self {
        let relevant = question.relevant.iter().map(|judgement| Judgement {
            moment_id: Some(judgement.moment_id.to_string()),
            video_id: None,
            start: None,
            end: None,
            grade: judgement.grade,
        });
        Self {
            relevant: relevant.collect(),
            absent: question.is_absent(),
            id: question.id,
            text: question.text,
            video_ids: question.video_ids,
            collections: question.collections,
        }
    }
}

impl From<RunRequest> for run::RunRequest {
    fn from(request: RunRequest) -> Self {
        Self {
            configurations: request.configurations.into_iter().map(Into::into).collect(),
            max_model_calls: request.max_model_calls,
        }
    }
}

impl From<Configuration> for run::Configuration {
    fn from(c: Configuration) -> Self {
        Self {
            name: c.name,
            mode: c.mode,
            analyzer: c.analyzer,
            field: c.field,
            limit: c.limit,
            score_threshold: c.score_threshold.map(|threshold| threshold as f32),
            min_p_present: c.min_p_present.map(|least| least as f32),
            rerank: c.rerank,
            ask: c.ask,
        }
    }
}

impl From<run::Configuration> for Configuration {
    fn from(c: run::Configuration) -> Self {
        Self {
            name: c.name,
            mode: c.mode,
            analyzer: c.analyzer,
            field: c.field,
            limit: c.limit,
            score_threshold: c.score_threshold.map(shortest),
            min_p_present: c.min_p_present.map(shortest),
            rerank: c.rerank,
            ask: c.ask,
        }
    }
}
