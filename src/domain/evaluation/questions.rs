//! Judged questions: what is asked, and which moments are right.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::EvaluationSettings;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;

/// A moment that answers a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The moment.
    pub moment_id: MomentId,
    /// How well it does, 1..=3.
    pub grade: u8,
}

/// A question with the moments that answer it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Names it within its evaluation.
    pub id: String,
    /// What is asked, or looked for.
    pub text: String,
    /// The videos that are searched; `None` for all.
    pub video_ids: Option<Vec<String>>,
    /// The collections that are searched; `None` for all.
    pub collections: Option<Vec<String>>,
    /// The moments that answer it; none where nothing does.
    pub relevant: Vec<Judgement>,
}

/// Longest id of a question and name of a configuration, characters.
pub const LONGEST_NAME: usize = 64;

/// Longest question, characters.
pub const LONGEST_TEXT: usize = 2000;

/// Best grade.
pub const BEST_GRADE: u8 = 3;

/// Shortest judged moment, seconds: times are rounded to the millisecond.
const SHORTEST: f64 = 0.01;

impl Question {
    /// Whether nothing in its scope answers it.
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
                return wrong(format!("names no {field}; leave the field out to ask them all"));
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

/// `Invalid` where questions contradict themselves or are too many.
pub(super) fn check(questions: &[Question], settings: &EvaluationSettings) -> Result<()> {
    let judgements: usize = questions.iter().map(|question| question.relevant.len()).sum();
    for (what, count, most, key) in [
        ("questions", questions.len(), settings.max_questions, "max_questions"),
        ("judged moments", judgements, settings.max_judgements, "max_judgements"),
    ] {
        if count > most {
            return Err(Error::Invalid(format!(
                "the evaluation has {count} {what}; evaluation.{key} is {most}"
            )));
        }
    }
    if questions.is_empty() {
        return Err(Error::Invalid("the evaluation has no questions; give one at least".into()));
    }
    check_names("question", questions.iter().map(|question| question.id.as_str()))?;
    questions.iter().try_for_each(Question::check)
}

/// `Invalid` where a name is none, or two are alike.
pub(super) fn check_names<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut known = BTreeSet::new();
    for name in names {
        if name.trim().is_empty() || name.chars().count() > LONGEST_NAME {
            return Err(Error::Invalid(format!(
                "'{name}' names no {what}; a name has 1 to {LONGEST_NAME} characters"
            )));
        }
        if !known.insert(name) {
            return Err(Error::Invalid(format!(
                "there are two of the {what} '{name}'; give each a name of its own"
            )));
        }
    }
    Ok(())
}
