//! `/evaluations`: judged questions, and runs that measure search and answers.

mod configuration;
mod runs;

use poem_openapi::param::Path;
use poem_openapi::{Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::{Accepted, Json};
use crate::http::wire::errors::{ApiError, ById, Change, Listing, Rerun, Search};
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::job_status::JobStatusBody;
use configuration::{ConfigurationBody, configurations};
use domain::Error;
use domain::evaluation::{self, questions, run};
use domain::kernel::moment::MomentId;
use domain::kernel::time::Span;
use runs::{RunBody, RunList};

/// The routes of this section.
pub(super) struct EvaluationsApi(pub(super) Service);

#[OpenApi]
impl EvaluationsApi {
    /// List evaluations.
    ///
    /// Evaluations are sorted by name.
    #[oai(path = "/evaluations", method = "get", operation_id = "evaluations")]
    async fn evaluations(
        &self,
        token: CallerToken,
    ) -> Result<Json<EvaluationList>, ApiError<Listing>> {
        let evaluations = self.0.scoped(&token).unrestricted()?.evaluations().await?;
        Ok(Json(EvaluationList { evaluations: evaluations.into_iter().map(Into::into).collect() }))
    }

    /// Create or replace an evaluation.
    ///
    /// Stores judged questions under a name. Previous questions are replaced; existing runs are
    /// kept. Judged moments are rejected if their video does not exist or if they end after the end
    /// of the video.
    #[oai(path = "/evaluations/:name", method = "put", operation_id = "put_evaluation")]
    async fn put_evaluation(
        &self,
        token: CallerToken,
        /// Name of the evaluation.
        name: Path<String>,
        Json(request): Json<EvaluationRequest>,
    ) -> Result<Json<EvaluationBody>, ApiError<Search>> {
        let questions = request.questions.into_iter().map(questions::EvaluationQuestion::try_from);
        let questions = questions.collect::<Result<_, _>>()?;
        let service = self.0.scoped(&token);
        let evaluations = service.unrestricted()?.for_write()?.evaluations();
        Ok(Json(evaluations.put(&name, questions).await?.into()))
    }

    /// Get an evaluation.
    ///
    /// The response includes the questions.
    #[oai(path = "/evaluations/:name", method = "get", operation_id = "evaluation")]
    async fn evaluation(
        &self,
        token: CallerToken,
        /// Name of the evaluation.
        name: Path<String>,
    ) -> Result<Json<EvaluationBody>, ApiError<ById>> {
        Ok(Json(self.0.scoped(&token).unrestricted()?.evaluation(&name).await?.into()))
    }

    /// Delete an evaluation and its runs.
    #[oai(path = "/evaluations/:name", method = "delete", operation_id = "delete_evaluation")]
    async fn delete_evaluation(
        &self,
        token: CallerToken,
        /// Name of the evaluation.
        name: Path<String>,
    ) -> Result<Json<DeletedEvaluation>, ApiError<Change>> {
        self.0.scoped(&token).unrestricted()?.for_write()?.evaluations().delete(&name).await?;
        Ok(Json(DeletedEvaluation { name: name.0, deleted: true }))
    }

    /// Run an evaluation.
    ///
    /// Starts a job that runs all questions and measures the results. The run and the job have the
    /// same id. If a configuration makes billed language model calls, `max_model_calls` must cover
    /// them; otherwise the request fails, and the error states the required number.
    #[oai(path = "/evaluations/:name/runs", method = "post", operation_id = "run_evaluation")]
    async fn run_evaluation(
        &self,
        token: CallerToken,
        /// Name of the evaluation.
        name: Path<String>,
        Json(request): Json<RunRequestBody>,
    ) -> Result<Accepted<RunAccepted>, ApiError<Rerun>> {
        let service = self.0.scoped(&token);
        let submission = service.unrestricted()?.for_write()?.submission();
        let (job, model_calls) = submission.evaluate(&name, request.into()).await?;
        let run_id = job.job_id.clone();
        Ok(Accepted(RunAccepted {
            job_id: job.job_id,
            run_id,
            status: job.status.into(),
            model_calls,
        }))
    }

    /// List the runs of an evaluation.
    ///
    /// Runs are listed newest first.
    #[oai(path = "/evaluations/:name/runs", method = "get", operation_id = "evaluation_runs")]
    async fn evaluation_runs(
        &self,
        token: CallerToken,
        /// Name of the evaluation.
        name: Path<String>,
    ) -> Result<Json<RunList>, ApiError<ById>> {
        let runs = self.0.scoped(&token).unrestricted()?.evaluation(&name).await?.runs;
        Ok(Json(RunList { runs: runs.into_iter().map(Into::into).collect() }))
    }

    /// Get a run.
    ///
    /// The response includes the results for each question. Two runs with the same questions,
    /// models and videos differ only in ids and times.
    #[oai(
        path = "/evaluations/:name/runs/:run_id",
        method = "get",
        operation_id = "evaluation_run"
    )]
    async fn evaluation_run(
        &self,
        token: CallerToken,
        /// Name of the evaluation.
        name: Path<String>,
        /// Id of the run.
        run_id: Path<String>,
    ) -> Result<Json<RunBody>, ApiError<ById>> {
        Ok(Json(self.0.scoped(&token).unrestricted()?.evaluation_run(&name, &run_id).await?.into()))
    }
}

#[derive(Object)]
struct EvaluationRequest {
    /// The judged questions.
    #[oai(validator(min_items = 1))]
    questions: Vec<JudgedQuestion>,
}

/// A question with the moments that answer it.
#[derive(Object)]
struct JudgedQuestion {
    /// Id of the question, used in the results; 1 to 64 characters.
    #[oai(validator(min_length = 1, max_length = 64))]
    id: String,
    /// The question or search text, 1 to 2000 characters.
    #[oai(validator(min_length = 1, max_length = 2000))]
    text: String,
    /// Ids of the videos to search. Default: all.
    #[oai(skip_serializing_if_is_none)]
    video_ids: Option<Vec<String>>,
    /// Collections to search. Default: all videos.
    #[oai(skip_serializing_if_is_none)]
    collections: Option<Vec<String>>,
    /// Moments that answer the question.
    #[oai(default)]
    relevant: Vec<JudgementBody>,
    /// Whether no moment answers the question; if true, `relevant` must be empty. Default: false.
    #[oai(default)]
    absent: bool,
}

/// A moment that answers a question, given either by `moment_id` or by `video_id`, `start` and
/// `end`.
#[derive(Object)]
#[oai(rename = "Judgement")]
struct JudgementBody {
    /// Id of the moment, as in hits and citations.
    #[oai(skip_serializing_if_is_none)]
    moment_id: Option<String>,
    /// Id of the video, instead of `moment_id`.
    #[oai(skip_serializing_if_is_none)]
    video_id: Option<String>,
    /// Start of the moment, in seconds from the start of the video.
    #[oai(skip_serializing_if_is_none)]
    start: Option<f64>,
    /// End of the moment, in seconds from the start of the video.
    #[oai(skip_serializing_if_is_none)]
    end: Option<f64>,
    /// Relevance grade from 1 to 3, where 3 is the most relevant. Default: 1.
    #[oai(default = "one", validator(minimum(value = "1"), maximum(value = "3")))]
    grade: u8,
}

fn one() -> u8 {
    1
}

#[derive(Object)]
#[oai(rename = "Evaluation")]
struct EvaluationBody {
    #[oai(flatten)]
    summary: EvaluationSummaryBody,
    /// The questions in the order in which they were stored; each judged moment is given by its id.
    questions: Vec<JudgedQuestion>,
}

#[derive(Object)]
#[oai(rename = "EvaluationSummary")]
struct EvaluationSummaryBody {
    /// Name of the evaluation.
    name: String,
    /// Creation time (ISO 8601, UTC, to the second).
    created_at: String,
    /// When the questions were last replaced (ISO 8601, UTC, to the second).
    updated_at: String,
    /// Hash of the questions. Only runs with the same revision are comparable.
    revision: String,
    counts: EvaluationCounts,
}

#[derive(Object)]
struct EvaluationCounts {
    /// Number of questions.
    questions: u64,
    /// Number of questions that no moment answers.
    absent: u64,
    /// Number of judged moments in all questions.
    judgements: u64,
    /// Number of stored runs.
    runs: u64,
}

#[derive(Object)]
struct EvaluationList {
    /// The evaluations, sorted by name.
    evaluations: Vec<EvaluationSummaryBody>,
}

#[derive(Object)]
struct DeletedEvaluation {
    /// Name of the evaluation.
    name: String,
    /// Always true.
    deleted: bool,
}

#[derive(Object)]
#[oai(rename = "EvaluationRunRequest")]
struct RunRequestBody {
    /// Search configurations to run; each is compared with the first one. Default: a single
    /// configuration named `default`, with the defaults of `/query`.
    #[oai(default = "configurations", validator(min_items = 1))]
    configurations: Vec<ConfigurationBody>,
    /// Maximum number of billed language model calls. Null: none are allowed.
    #[oai(nullable)]
    max_model_calls: Option<u32>,
}

#[derive(Object)]
#[oai(rename = "EvaluationRunAccepted")]
struct RunAccepted {
    /// Id of the job, for `GET /jobs/{job_id}`.
    job_id: String,
    /// Id of the run, equal to `job_id`. The run exists once the job is done.
    run_id: String,
    status: JobStatusBody,
    /// Maximum number of billed language model calls that the run can make, not counting retries.
    model_calls: u32,
}

impl TryFrom<JudgedQuestion> for questions::EvaluationQuestion {
    type Error = HttpFailure;

    fn try_from(question: JudgedQuestion) -> Result<Self, HttpFailure> {
        let JudgedQuestion { id, text, video_ids, collections, relevant, absent } = question;
        if absent != relevant.is_empty() {
            let what = if absent { "both relevant moments and absent" } else { "neither" };
            return Err(HttpFailure::unprocessable(format!(
                "question '{id}' has {what}; give the relevant moments, or absent: true where nothing \
                 answers it"
            )));
        }
        let judgement = |judgement: JudgementBody| {
            let grade = judgement.grade;
            let moment_id = judgement.moment_id().map_err(|reason| {
                HttpFailure::unprocessable(format!("question '{id}' judges a moment that {reason}"))
            })?;
            Ok::<_, HttpFailure>(questions::Judgement { moment_id, grade })
        };
        let relevant = relevant.into_iter().map(judgement).collect::<Result<_, _>>()?;
        Ok(Self { id, text, video_ids, collections, relevant })
    }
}

impl JudgementBody {
    /// Returns the id of the judged moment, or what is wrong with the judgement.
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

impl From<evaluation::EvaluationSummary> for EvaluationSummaryBody {
    fn from(summary: evaluation::EvaluationSummary) -> Self {
        Self {
            counts: EvaluationCounts {
                questions: summary.questions as u64,
                absent: summary.absent as u64,
                judgements: summary.judgements as u64,
                runs: summary.runs as u64,
            },
            name: summary.name,
            created_at: summary.created_at,
            updated_at: summary.updated_at,
            revision: summary.revision,
        }
    }
}

impl From<evaluation::Evaluation> for EvaluationBody {
    fn from(evaluation: evaluation::Evaluation) -> Self {
        Self {
            summary: evaluation.summary().into(),
            questions: evaluation.questions.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<questions::EvaluationQuestion> for JudgedQuestion {
    fn from(question: questions::EvaluationQuestion) -> Self {
        let relevant = question.relevant.iter().map(|judgement| JudgementBody {
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

impl From<RunRequestBody> for run::RunRequest {
    fn from(request: RunRequestBody) -> Self {
        Self {
            configurations: request.configurations.into_iter().map(Into::into).collect(),
            max_model_calls: request.max_model_calls,
        }
    }
}
