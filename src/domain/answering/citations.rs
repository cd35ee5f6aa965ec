//! Writes citations, and quotes evidence with them.

use crate::answering::audit::AuditedSentence;
use crate::answering::context::Evidence;
use crate::answering::reading::EvidenceSentence;
use crate::kernel::time::Span;
use crate::kernel::verdict::Verdict;
use crate::kernel::video::VideoId;

/// The format of citations in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CitationForm {
    /// `[<video_id> <start>-<end>s]`, in `/query`.
    Seconds,
    /// `[<video_id> <start>-<end>]`, in `/ask`.
    Plain,
}

impl CitationForm {
    pub(super) fn cite(self, evidence: &Evidence) -> String {
        self.format(evidence.video_id, evidence.span)
    }

    /// Cites every moment of the evidence.
    pub(super) fn cite_all(self, evidence: &Evidence) -> impl Iterator<Item = String> {
        evidence.spans().map(move |span| self.format(evidence.video_id, span))
    }

    /// Formats the citation of a span of a video.
    pub(super) fn format(self, video_id: VideoId, Span { start, end }: Span) -> String {
        let unit = if self == Self::Seconds { "s" } else { "" };
        format!("[{video_id} {start}-{end}{unit}]")
    }
}

/// Turns a sentence of the evidence into a quotation in the answer to a question.
pub(super) fn quote(
    said: &EvidenceSentence<'_>,
    question: &str,
    form: CitationForm,
) -> AuditedSentence {
    let (sentence, evidence) = said.as_quotation(question);
    AuditedSentence {
        sentence,
        citations: vec![form.cite(evidence)],
        moments: vec![evidence.moment_id()],
        verdict: Verdict::Supported,
    }
}

/// Joins sentences, each with its citations.
pub(super) fn with_citations<'s>(
    sentences: impl IntoIterator<Item = &'s AuditedSentence>,
) -> String {
    let cited = |s: &AuditedSentence| {
        format!("{} {}", s.sentence, s.citations.join(" ")).trim_end().to_owned()
    };
    sentences.into_iter().map(cited).collect::<Vec<_>>().join(" ")
}
