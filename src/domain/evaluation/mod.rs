//! How well searches and answers are, measured on questions whose right moments somebody has judged:
//! sets of questions, runs of configurations over them, what the runs come to.
//!
//! Judgements are spans of videos, so they hold however the videos are split when a run is made.

mod compare;
pub mod measures;
pub mod questions;
pub mod run;
mod store;

use std::sync::Arc;
use std::time::Duration;

use ports::records::RecordStore;
use ports::units::seconds;
use serde::{Deserialize, Serialize};

use crate::domain::answering::Answering;
use crate::domain::catalog::Catalog;
use crate::domain::kernel::ports::{Models, Stores};
use crate::domain::search::Search;

pub use compare::Comparison;
pub use store::{Evaluation, EvaluationSummary};

/// How much is kept and asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvaluationSettings {
    /// Evaluations that are kept.
    pub max_evaluations: usize,
    /// Questions of one evaluation.
    pub max_questions: usize,
    /// Judged moments of all questions of one evaluation.
    pub max_judgements: usize,
    /// Configurations of one run.
    pub max_configurations: usize,
    /// Runs that are kept of one evaluation; the oldest go first.
    pub max_runs: usize,
    /// Longest run, in the file seconds.
    #[serde(with = "seconds")]
    pub timeout: Duration,
}

impl Default for EvaluationSettings {
    fn default() -> Self {
        Self {
            max_evaluations: 100,
            max_questions: 200,
            max_judgements: 2000,
            max_configurations: 8,
            max_runs: 50,
            timeout: Duration::from_secs(1800),
        }
    }
}

/// Evaluations and their runs.
pub struct Evaluations {
    records: Arc<dyn RecordStore>,
    catalog: Arc<Catalog>,
    search: Arc<Search>,
    answering: Arc<Answering>,
    models: Models,
    settings: EvaluationSettings,
}

impl Evaluations {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: Arc<Catalog>,
        search: Arc<Search>,
        answering: Arc<Answering>,
        settings: EvaluationSettings,
    ) -> Self {
        Self {
            records: stores.records.clone(),
            catalog,
            search,
            answering,
            models: models.clone(),
            settings,
        }
    }
}
