//! Searches that can also return an answer written from the hits.

use ports::llm::TokenSink;

use super::answer::AnswerAttempt;
use super::audit::AuditedSentence;
use super::citations::CitationForm;
use super::context::{Evidence, EvidenceGroup};
use crate::answering::Answering;
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::search::{PageStart, SearchPage, SearchRequest, SearchTarget};

/// A page of hits, and an answer based on them.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryResponse {
    /// The page of hits.
    pub page: SearchPage,
    /// The answer; `None` if it was not requested or if nothing matched.
    pub answer: Option<String>,
    /// Whether `answer` answers the question; `None` if there is no answer.
    pub answered: Option<bool>,
    /// The citation audit of each sentence, including omitted ones.
    pub audit: Vec<AuditedSentence>,
    /// `TypeName: message` if writing the answer failed.
    pub answer_error: Option<String>,
}

impl Answering {
    /// Searches the videos that the caller can see. If `synthesize` is set, also writes an answer
    /// from the hits on the first page of a text search. Returns `Invalid` for an unknown analyzer
    /// or filter.
    pub async fn query(
        &self,
        access: &Access,
        request: &SearchRequest,
        synthesize: bool,
    ) -> Result<QueryResponse> {
        let page = self.search.run(access, request).await?;
        let answer = match &request.target {
            SearchTarget::Text(text)
                if synthesize && request.page == PageStart::First && !page.results.is_empty() =>
            {
                let evidence: Vec<EvidenceGroup> =
                    page.results.iter().flat_map(|hit| Evidence::from_hit(hit, text)).collect();
                let context = self.context(&evidence);
                self.attempt_answer(text, &context, CitationForm::Seconds, TokenSink::default())
                    .await
            }
            _ => AnswerAttempt::default(),
        };
        Ok(QueryResponse {
            page,
            answered: answer.text.is_some().then_some(answer.answered),
            answer: answer.text,
            audit: answer.audit,
            answer_error: answer.error,
        })
    }
}
