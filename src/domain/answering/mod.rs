//! Answers with citations, written from search hits (`/query`) or for questions about videos
//! (`/ask`).

pub(crate) mod answer;
pub mod ask;
pub mod audit;
mod citations;
mod consult;
mod context;
pub mod evidence;
mod facts;
mod named;
pub mod query;
mod question;
mod reading;
mod refusal;
mod retrieve;
mod rows;

use std::sync::Arc;

use ports::embedder::Embedder;
use ports::llm::LanguageModel;
use tokio::sync::OnceCell;

use crate::aggregation::Aggregators;
use crate::analysis::Analyzers;
use crate::answering::ask::AskSettings;
use crate::catalog::Catalog;
use crate::intervals::IntervalFilter;
use crate::kernel::ports::Models;
use crate::library::Library;
use crate::listing::Listing;
use crate::llm::budget::CallBudget;
use crate::records::Records;
use crate::records::extractors::ExtractorStore;
use crate::search::Search;

/// The answering service.
#[derive(Clone)]
pub struct Answering {
    records: Arc<Records>,
    listing: Arc<Listing>,
    intervals: Arc<IntervalFilter>,
    library: Arc<Library>,
    extractors: Arc<ExtractorStore>,
    analyzers: Analyzers,
    aggregators: Aggregators,
    search: Arc<Search>,
    embedder: Arc<dyn Embedder>,
    llm: Arc<dyn LanguageModel>,
    models: Models,
    /// Maximum number of tokens of evidence for an answer.
    answer_tokens: u32,
    /// Maximum number of supporting segments for an answer, over all videos.
    max_segments: usize,
    /// Maximum number of chunks whose stored facts are read for an answer.
    max_fact_chunks: u32,
    /// Maximum number of concurrent searches.
    concurrency: usize,
    /// Embeddings of the descriptions that say which questions each aggregate answers.
    routes: OnceCell<Vec<Vec<f32>>>,
}

impl Answering {
    pub(crate) fn new(
        models: &Models,
        catalog: &Catalog,
        search: Arc<Search>,
        settings: &AskSettings,
        concurrency: usize,
    ) -> Self {
        Self {
            records: catalog.records.clone(),
            listing: catalog.listing.clone(),
            intervals: catalog.intervals.clone(),
            library: catalog.library.clone(),
            extractors: catalog.extractors.clone(),
            analyzers: catalog.analyzers.clone(),
            aggregators: catalog.aggregators.clone(),
            search,
            embedder: models.embedder.clone(),
            llm: models.llm.clone(),
            models: models.clone(),
            answer_tokens: settings.context_tokens,
            max_segments: settings.max_segments,
            max_fact_chunks: settings.max_fact_chunks,
            concurrency,
            routes: OnceCell::new(),
        }
    }

    /// Creates the same service, with its model calls counted against a budget.
    pub(crate) fn with_budget(&self, budget: &CallBudget) -> Self {
        let models = budget.models.clone();
        Self { llm: models.llm.clone(), models, ..self.clone() }
    }

    /// Maximum number of tokens of evidence for an answer.
    pub(crate) fn evidence_tokens(&self) -> u32 {
        self.answer_tokens
    }
}
