//! Parts of generated answers that several routes share.

use poem_openapi::{Enum, Object};

use domain::answering::audit;
use domain::kernel::verdict;

/// The value of `analyzer` that lets the service choose the analyzer, as null does.
pub(crate) const AUTO_ANALYZER: &str = "auto";

/// A sentence of an answer with the result of its audit. The audit compares the numbers, names,
/// words and meaning of the sentence with those of the cited moments.
#[derive(Object)]
#[oai(rename = "AuditedSentence")]
pub(crate) struct AuditedSentenceBody {
    /// The sentence without its citations.
    sentence: String,
    /// The citations, as they appear in the answer.
    citations: Vec<String>,
    /// Ids of the cited moments, in the order of `citations`, for `GET /moments/{moment_id}`.
    moments: Vec<String>,
    /// How well the cited moments support the sentence. `unsupported` sentences are removed from
    /// the answer.
    verdict: VerdictBody,
}

#[derive(Enum)]
#[oai(rename_all = "lowercase")]
#[oai(rename = "Verdict")]
enum VerdictBody {
    Supported,
    Weak,
    Unsupported,
}

impl From<audit::AuditedSentence> for AuditedSentenceBody {
    fn from(s: audit::AuditedSentence) -> Self {
        let verdict = match s.verdict {
            verdict::Verdict::Supported => VerdictBody::Supported,
            verdict::Verdict::Weak => VerdictBody::Weak,
            verdict::Verdict::Unsupported => VerdictBody::Unsupported,
        };
        let moments = s.moments.iter().map(ToString::to_string).collect();
        Self { sentence: s.sentence, citations: s.citations, moments, verdict }
    }
}

/// Converts the audited sentences; returns `None` if there are none.
pub(crate) fn audited_sentences(
    audit: Vec<audit::AuditedSentence>,
) -> Option<Vec<AuditedSentenceBody>> {
    (!audit.is_empty()).then(|| audit.into_iter().map(Into::into).collect())
}
