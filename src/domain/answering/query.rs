//! Searches with an optional answer over the hits.

use ports::llm::TokenSink;

use super::answer::{AnswerAttempt, CitationForm, Evidence, EvidenceGroup};
use super::audit::AuditedSentence;
use crate::answering::Answering;
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::search::{Detail, Diagnostics, PageStart, Query, ScoreKind, SearchPage, SearchResult};

/// The answer to a [`Query`].
#[derive(Debug, Clone, PartialEq)]
pub struct QueryResponse {
    /// The search text; empty if there was none.
    pub query: String,
    /// The analyzer whose output was searched, or [`ALL_ANALYZERS`](crate::search::ALL_ANALYZERS).
    pub analyzer: String,
    /// Vector field.
    pub field: String,
    /// The requested detail level.
    pub detail: Detail,
    /// The answer; `None` if not requested or if nothing matched.
    pub answer: Option<String>,
    /// Whether the text answers the question; `None` without an answer.
    pub answered: Option<bool>,
    /// The citation audit of each sentence, including omitted ones.
    pub audit: Vec<AuditedSentence>,
    /// `TypeName: message` if writing the answer failed.
    pub answer_error: Option<String>,
    /// Which scores the results have.
    pub score_kind: ScoreKind,
    /// Best first.
    pub results: Vec<SearchResult>,
    /// Where the page after each result begins.
    pub next_pages: Vec<PageStart>,
    /// Whether there may be results after the last one.
    pub more: bool,
    /// Why there are no results; `None` if there are results.
    pub diagnostics: Option<Diagnostics>,
}

impl Answering {
    /// Searches within what the caller can see, and writes an answer over the hits if requested. `Invalid`
    /// for an unknown analyzer, field, detail or filter.
    pub async fn query(&self, access: &Access, query: Query) -> Result<QueryResponse> {
        let found = self.search.query(access, &query).await?;
        let SearchPage { detail, score_kind, results, next_pages, more, diagnostics } = found;
        // Only the first page has an answer.
        let is_first_page = matches!(query.page, None | Some(PageStart::First));
        let wants_answer = query.synthesize && !query.text.is_empty() && is_first_page;
        let answer = if wants_answer && !results.is_empty() {
            let evidence: Vec<EvidenceGroup> =
                results.iter().flat_map(|hit| Evidence::from_hit(hit, &query.text)).collect();
            let context = self.context(&evidence);
            let form = CitationForm::Seconds;
            self.attempt_answer(&query.text, &context, form, TokenSink::default()).await
        } else {
            AnswerAttempt::default()
        };
        Ok(QueryResponse {
            query: query.text,
            analyzer: query.analyzer,
            field: query.field,
            detail,
            answered: answer.text.is_some().then_some(answer.answered),
            answer: answer.text,
            audit: answer.audit,
            answer_error: answer.error,
            score_kind,
            results,
            next_pages,
            more,
            diagnostics,
        })
    }
}
