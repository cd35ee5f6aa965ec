//! Storage of evaluations. `evaluations/<name>/evaluation.json` contains the questions and the list
//! of runs. It is changed only by compare-and-swap. Each run is a separate document in the same
//! folder.

use ports::records::Precondition;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha1::{Digest, Sha1};

use super::Evaluations;
use super::questions::{EvaluationQuestion, check};
use super::run::{EvaluationRun, RunSummary};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::now;
use crate::library::moments::MissingMoment;
use crate::records::documents::{MAX_SWAP_ATTEMPTS, busy};

/// A named set of questions, and the runs that evaluated them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The name by which clients refer to the evaluation.
    pub name: String,
    /// Creation time: ISO 8601 with second precision, in UTC.
    pub created_at: String,
    /// Time at which the questions were last replaced: ISO 8601 with second precision, in UTC.
    pub updated_at: String,
    /// Hash of the questions. Runs with the same revision are comparable.
    pub revision: String,
    /// The questions, in the order of the request.
    pub questions: Vec<EvaluationQuestion>,
    /// The runs, newest first.
    pub runs: Vec<RunSummary>,
}

/// An evaluation without its questions and runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationSummary {
    /// The evaluation's name.
    pub name: String,
    /// Creation time: ISO 8601 with second precision, in UTC.
    pub created_at: String,
    /// Time at which the questions were last replaced: ISO 8601 with second precision, in UTC.
    pub updated_at: String,
    /// Hash of the questions.
    pub revision: String,
    /// Number of questions.
    pub questions: usize,
    /// Number of questions that nothing answers.
    pub absent: usize,
    /// Total number of judged moments.
    pub judgements: usize,
    /// Number of stored runs.
    pub runs: usize,
}

/// Maximum length of an evaluation's name, in bytes. Names are ASCII.
const MAX_NAME_BYTES: usize = 64;

/// Maximum number of unreadable moments reported in one error.
const MAX_REPORTED: usize = 5;

/// File name of an evaluation within its folder.
const DOCUMENT: &str = "evaluation.json";

impl Evaluation {
    /// Returns the evaluation without its questions and runs.
    pub fn summary(&self) -> EvaluationSummary {
        let Self { name, created_at, updated_at, revision, questions, runs } = self;
        EvaluationSummary {
            name: name.clone(),
            created_at: created_at.clone(),
            updated_at: updated_at.clone(),
            revision: revision.clone(),
            questions: questions.len(),
            absent: questions.iter().filter(|question| question.is_absent()).count(),
            judgements: questions.iter().map(|question| question.relevant.len()).sum(),
            runs: runs.len(),
        }
    }
}

impl Evaluations {
    /// Creates an evaluation. If an evaluation with that name exists, replaces its questions and
    /// keeps its runs. Returns `Invalid` if the name is malformed, if the questions contain a
    /// contradiction or are too many, or if a judged moment cannot be read.
    pub async fn put(&self, name: &str, questions: Vec<EvaluationQuestion>) -> Result<Evaluation> {
        if !is_name(name) {
            return Err(Error::Invalid(format!(
                "'{name}' is not a valid evaluation name; a name has at most {MAX_NAME_BYTES} of \
                 a to z, 0 to 9, - and _, and begins with a letter or digit"
            )));
        }
        self.readiness.check()?;
        check(&questions, &self.settings)?;
        self.check_moments(&questions).await?;
        let revision = revision(&questions)?;
        self.change(name, |found| {
            let now = now();
            let (created_at, runs) = match found {
                Some(found) => (found.created_at, found.runs),
                None => (now.clone(), Vec::new()),
            };
            Ok(Evaluation {
                name: name.to_owned(),
                created_at,
                updated_at: now,
                revision: revision.clone(),
                questions: questions.clone(),
                runs,
            })
        })
        .await
    }

    async fn check_moments(&self, questions: &[EvaluationQuestion]) -> Result<()> {
        let judged = questions.iter().flat_map(|question| &question.relevant);
        let missing = self.library.missing_moments(judged.map(|j| &j.moment_id)).await?;
        if missing.is_empty() {
            return Ok(());
        }
        let why = |missing: &MissingMoment| {
            let question = questions.iter().find(|question| {
                question.relevant.iter().any(|j| j.moment_id == missing.moment_id)
            });
            format!(
                "question '{}': {}",
                question.map_or("", |question| &question.id),
                missing.reason
            )
        };
        let reported: Vec<String> = missing.iter().take(MAX_REPORTED).map(why).collect();
        let more = match missing.len() - reported.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Err(Error::Invalid(reported.join("; ") + &more))
    }

    /// Reads the summaries of all evaluations, sorted by name.
    pub async fn list(&self) -> Result<Vec<EvaluationSummary>> {
        let mut evaluations = Vec::new();
        for name in self.names().await? {
            match self.find(&name).await {
                Ok(Some((_, evaluation))) => evaluations.push(evaluation.summary()),
                // The evaluation was deleted in the meantime.
                Ok(None) => {}
                Err(error) if error.is_corrupt() => tracing::warn!(%error, "not listed"),
                Err(error) => return Err(error),
            }
        }
        Ok(evaluations)
    }

    /// Reads one evaluation.
    pub async fn get(&self, name: &str) -> Result<Evaluation> {
        let found = self.find(name).await?;
        found.map(|(_, evaluation)| evaluation).ok_or_else(|| unknown(name))
    }

    /// Deletes an evaluation and its runs, even if it is unreadable.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.readiness.check()?;
        if !is_name(name) || !self.names().await?.iter().any(|known| known == name) {
            return Err(unknown(name));
        }
        // The document is deleted first. Without it, the evaluation does not exist, even if runs
        // are left over.
        self.records.delete(&key(name)).await?;
        Ok(self.records.delete(&folder(name)).await?)
    }

    /// Reads one run of an evaluation.
    pub async fn get_run(&self, name: &str, run_id: &str) -> Result<EvaluationRun> {
        let evaluation = self.get(name).await?;
        let listed = evaluation.runs.iter().any(|run| run.run_id == run_id);
        let document = match listed {
            true => self.records.get(&run_key(name, run_id)).await?,
            false => None,
        };
        let document = document.ok_or_else(|| {
            Error::NotFound(format!(
                "evaluation '{name}' has no run '{run_id}'; one is there once its job, which has the \
                 same id, is done"
            ))
        })?;
        let read = |document| serde_json::from_value(document);
        read(document).map_err(|e| Error::corrupt(format!("the run '{run_id}' of '{name}': {e}")))
    }

    /// Stores a run, and deletes the oldest runs beyond the limit.
    pub(super) async fn save_run(&self, name: &str, run: EvaluationRun) -> Result<()> {
        let key = run_key(name, &run.summary.run_id);
        self.records.put(&key, &json(&run)?).await?;
        let mut old = Vec::new();
        let entered = self.change(name, |found| {
            let mut evaluation = found.ok_or_else(|| unknown(name))?;
            // A resumed job may have added the run already.
            evaluation.runs.retain(|known| known.run_id != run.summary.run_id);
            evaluation.runs.insert(0, run.summary.clone());
            let kept = evaluation.runs.len().min(self.settings.max_runs);
            old = evaluation.runs.split_off(kept);
            Ok(evaluation)
        });
        let entered = entered.await;
        if let Err(Error::NotFound(_)) = &entered {
            self.records.delete(&key).await?;
        }
        entered?;
        for run in old {
            self.records.delete(&run_key(name, &run.run_id)).await?;
        }
        Ok(())
    }

    /// Creates or replaces an evaluation with the result of `make`, by compare-and-swap.
    async fn change(
        &self,
        name: &str,
        mut make: impl FnMut(Option<Evaluation>) -> Result<Evaluation>,
    ) -> Result<Evaluation> {
        for _ in 0..MAX_SWAP_ATTEMPTS {
            let (stored, found) = match self.find(name).await? {
                Some((stored, found)) => (Some(stored), Some(found)),
                None => (None, None),
            };
            let is_new = found.is_none();
            let changed = make(found)?;
            let max = self.settings.max_evaluations;
            if is_new && self.names().await?.len() >= max {
                return Err(Error::Invalid(format!(
                    "there are {max} evaluations already (evaluation.max_evaluations); delete one"
                )));
            }
            let expected = Precondition::from(stored.as_ref());
            let document = json(&changed)?;
            if self.records.compare_and_swap(&key(name), expected, &document).await? {
                return Ok(changed);
            }
        }
        Err(busy(&format!("evaluation '{name}' is")))
    }

    async fn names(&self) -> Result<Vec<String>> {
        Ok(self.records.children("evaluations/").await?)
    }

    async fn find(&self, name: &str) -> Result<Option<(Value, Evaluation)>> {
        if !is_name(name) {
            return Ok(None);
        }
        let Some(stored) = self.records.get(&key(name)).await? else { return Ok(None) };
        let evaluation = Evaluation::deserialize(&stored)
            .map_err(|e| Error::corrupt(format!("the evaluation '{name}': {e}")))?;
        Ok(Some((stored, evaluation)))
    }
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    name.len() <= MAX_NAME_BYTES
        && name.bytes().next().is_some_and(plain)
        && name.bytes().all(|b| plain(b) || b == b'-' || b == b'_')
}

fn unknown(name: &str) -> Error {
    Error::NotFound(format!("unknown evaluation '{name}'; GET /evaluations lists them"))
}

fn folder(name: &str) -> String {
    format!("evaluations/{name}/")
}

fn key(name: &str) -> String {
    format!("evaluations/{name}/{DOCUMENT}")
}

fn run_key(name: &str, run_id: &str) -> String {
    format!("evaluations/{name}/runs/{run_id}.json")
}

fn json<T: Serialize>(document: &T) -> Result<Value> {
    serde_json::to_value(document)
        .map_err(|e| Error::corrupt(format!("cannot store an evaluation: {e}")))
}

/// Computes a short hash of the questions.
fn revision(questions: &[EvaluationQuestion]) -> Result<String> {
    let text = json(&questions)?.to_string();
    Ok(Sha1::digest(text.as_bytes()).iter().take(8).map(|b| format!("{b:02x}")).collect())
}
