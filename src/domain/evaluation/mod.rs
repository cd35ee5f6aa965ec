//! Evaluates the quality of searches and answers. Stores judged questions, evaluates them with
//! several search configurations in a run, and computes the resulting metrics.
//!
//! Judgements are spans of videos. They therefore stay valid regardless of how the videos are
//! divided into chunks when a run takes place.

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

use crate::answering::Answering;
use crate::catalog::Catalog;
use crate::kernel::ports::{Models, Stores};
use crate::library::Library;
use crate::listing::Listing;
use crate::records::readiness::StoreReadiness;
use crate::search::Search;

pub use compare::Comparison;
pub use store::{Evaluation, EvaluationSummary};

/// Limits for evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvaluationSettings {
    /// Maximum number of evaluations.
    pub max_evaluations: usize,
    /// Maximum number of questions per evaluation.
    pub max_questions: usize,
    /// Maximum number of judged moments per evaluation, over all questions.
    pub max_judgements: usize,
    /// Maximum number of configurations per run.
    pub max_configurations: usize,
    /// Maximum number of runs kept per evaluation. The oldest runs are deleted.
    pub max_runs: usize,
    /// Maximum duration of a run. Given in seconds in the configuration file.
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

/// The evaluation service.
pub struct Evaluations {
    records: Arc<dyn RecordStore>,
    listing: Arc<Listing>,
    library: Arc<Library>,
    readiness: Arc<StoreReadiness>,
    search: Arc<Search>,
    answering: Arc<Answering>,
    models: Models,
    settings: EvaluationSettings,
}

impl Evaluations {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: &Catalog,
        search: Arc<Search>,
        answering: Arc<Answering>,
        settings: EvaluationSettings,
    ) -> Self {
        Self {
            records: stores.records.clone(),
            listing: catalog.listing.clone(),
            library: catalog.library.clone(),
            readiness: catalog.readiness.clone(),
            search,
            answering,
            models: models.clone(),
            settings,
        }
    }
}
