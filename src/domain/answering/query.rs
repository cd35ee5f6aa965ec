//! Searches with an optional answer over the hits.

use ports::llm::TokenSink;

use super::answer::{Attempt, CitationForm, Evidence, Told};
use super::audit::AuditedSentence;
use crate::domain::answering::Answering;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::Result;
use crate::domain::search::{Detail, Diagnostics, Found, Place, Query, Ranked, SearchResult};

/// The answer to a [`Query`].
#[derive(Debug, Clone, PartialEq)]
pub struct QueryResponse {
    /// The search text; empty where there was none.
    pub query: String,
    /// Whose output was searched; [`EVERY_ANALYZER`](crate::domain::search::EVERY_ANALYZER) where it
    /// was that of all.
    pub analyzer: String,
    /// Vector field.
    pub field: String,
    /// How much of each hit the client asked for.
    pub detail: Detail,
    /// `None` when not asked for or nothing matched.
    pub answer: Option<String>,
    /// Whether that answers the search; `None` where there is no answer.
    pub answered: Option<bool>,
    /// How far the cited moments bear out each sentence, those that were left out included.
    pub audit: Vec<AuditedSentence>,
    /// `TypeName: message`, where an answer was asked for and writing it failed.
    pub answer_error: Option<String>,
    /// What the results are ranked by.
    pub ranked: Ranked,
    /// Best first.
    pub results: Vec<SearchResult>,
    /// The place after each of them.
    pub places: Vec<Place>,
    /// Whether there may be more after the last.
    pub more: bool,
    /// Why there are no results; `None` when there are.
    pub diagnostics: Option<Diagnostics>,
}

impl Answering {
    /// Searches what a caller sees, and answers over the hits where that is asked for. `Invalid` for an unknown
    /// analyzer, field, detail or filter key.
    pub async fn query(&self, access: &Access, query: Query) -> Result<QueryResponse> {
        let found = self.search.query(access, &query).await?;
        let Found { detail, ranked, results, places, more, diagnostics } = found;
        // What is told of a search is told with its first page.
        let first = matches!(query.page, None | Some(Place::First));
        let asked = query.synthesize && !query.text.is_empty() && first;
        let answer = if asked && !results.is_empty() {
            let evidence: Vec<Told> =
                results.iter().flat_map(|hit| Evidence::of_hit(hit, &query.text)).collect();
            let context = self.context(&evidence);
            let form = CitationForm::Seconds;
            self.attempt_answer(&query.text, &context, form, TokenSink::default()).await
        } else {
            Attempt::default()
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
            ranked,
            results,
            places,
            more,
            diagnostics,
        })
    }
}
