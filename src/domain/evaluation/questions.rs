//! Judged questions, which include the moments that answer them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::EvaluationSettings;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;

/// A moment that answers a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// A span of video that answers the question.
    pub moment_id: MomentId,
    /// How well the moment answers the question, 1..=3.
    pub grade: u8,
}

/// A question with the moments that answer it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluationQuestion {
    /// Id of the question within its evaluation.
    pub id: String,
    /// The question or search text.
    pub text: String,
    /// Ids of the videos to search; `None` means all videos.
    pub video_ids: Option<Vec<String>>,
    /// Names of the collections to search; `None` means all collections.
    pub collections: Option<Vec<String>>,
    /// The moments that answer the question; empty if nothing does.
    pub relevant: Vec<Judgement>,
}

/// Maximum length of a question's id or a configuration's name, in characters.
pub const LONGEST_NAME: usize = 64;

/// Maximum length of a question, in characters.
pub const LONGEST_TEXT: usize = 2000;

/// The best grade.
pub const BEST_GRADE: u8 = 3;

/// Minimum length of a judged moment, in seconds. Times are rounded to milliseconds.
const SHORTEST: f64 = 0.01;

impl EvaluationQuestion {
    /// Whether nothing in the searched videos answers the question.
    pub fn is_absent(&self) -> bool {
        self.relevant.is_empty()
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Invalid(format!("question '{}' {what}", self.id)));
        if self.text.trim().is_empty() || self.text.chars().count() > LONGEST_TEXT {
            return wrong(format!("must have a text of 1 to {LONGEST_TEXT} characters"));
        }
        for (field, names) in [("video_ids", &self.video_ids), ("collections", &self.collections)] {
            if names.as_ref().is_some_and(Vec::is_empty) {
                return wrong(format!("has no {field}; omit the field to use all of them"));
            }
        }
        let mut judged = BTreeSet::new();
        for Judgement { moment_id, grade } in &self.relevant {
            if !(1..=BEST_GRADE).contains(grade) {
                return wrong(format!(
                    "grades '{moment_id}' {grade}; a grade is 1 to {BEST_GRADE}"
                ));
            }
            if moment_id.span().seconds() < SHORTEST {
                return wrong(format!("judges '{moment_id}', which is shorter than {SHORTEST} s"));
            }
            if !judged.insert(moment_id) {
                return wrong(format!("judges '{moment_id}' twice"));
            }
            let scope = self.video_ids.as_deref().unwrap_or_default();
            if !scope.is_empty() && !scope.contains(&moment_id.video_id().to_string()) {
                return wrong(format!("judges '{moment_id}', of a video that is not in video_ids"));
            }
        }
        Ok(())
    }
}

/// Checks questions. Returns `Invalid` if they contain a contradiction or if there are too many.
pub(super) fn check(questions: &[EvaluationQuestion], settings: &EvaluationSettings) -> Result<()> {
    let judgements: usize = questions.iter().map(|question| question.relevant.len()).sum();
    for (what, count, max, key) in [
        ("questions", questions.len(), settings.max_questions, "max_questions"),
        ("judged moments", judgements, settings.max_judgements, "max_judgements"),
    ] {
        if count > max {
            return Err(Error::Invalid(format!(
                "the evaluation has {count} {what}; evaluation.{key} is {max}"
            )));
        }
    }
    if questions.is_empty() {
        return Err(Error::Invalid("the evaluation has no questions; give at least one".into()));
    }
    check_names("question", questions.iter().map(|question| question.id.as_str()))?;
    questions.iter().try_for_each(EvaluationQuestion::check)
}

/// Checks names. Returns `Invalid` if a name is malformed or occurs twice.
pub(super) fn check_names<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut known = BTreeSet::new();
    for name in names {
        if name.trim().is_empty() || name.chars().count() > LONGEST_NAME {
            return Err(Error::Invalid(format!(
                "'{name}' is not a valid {what} name; a name has 1 to {LONGEST_NAME} characters"
            )));
        }
        if !known.insert(name) {
            return Err(Error::Invalid(format!(
                "the {what} '{name}' occurs twice; give each a different name"
            )));
        }
    }
    Ok(())
}
