//! The evidence of one video for a question: supporting segments, routed aggregates and summary sections.

use std::collections::BTreeSet;

use ports::llm::PassageKind;

use crate::aggregation::AggregatorSpec;
use crate::aggregation::aggregators::summary;
use crate::answering::answer::{Evidence, EvidenceGroup};
use crate::answering::ask::AnswerSources;
use crate::catalog::record::VideoRecord;
use crate::kernel::time::Span;
use crate::search::SearchResult;

/// The evidence of one video for one question.
pub(super) struct VideoContext<'a> {
    pub(super) record: &'a VideoRecord,
    pub(super) results: Vec<SearchResult>,
    /// Hits of the other analyzers, such as speech if the segments are visual descriptions.
    pub(super) companion_hits: Vec<SearchResult>,
    pub(super) routed_to: Vec<String>,
    pub(super) routed: Vec<(&'static AggregatorSpec, Vec<(Span, String)>)>,
    pub(super) summary: Vec<(Span, String)>,
    pub(super) sections: Vec<(Span, String)>,
}

impl<'a> VideoContext<'a> {
    pub(super) fn new(record: &'a VideoRecord) -> Self {
        Self {
            record,
            results: Vec::new(),
            companion_hits: Vec::new(),
            routed_to: Vec::new(),
            routed: Vec::new(),
            summary: Vec::new(),
            sections: Vec::new(),
        }
    }

    pub(super) fn hits(&self) -> impl Iterator<Item = &SearchResult> {
        self.results.iter().chain(&self.companion_hits)
    }

    pub(super) fn best_score(&self) -> f32 {
        self.hits().map(|hit| hit.p_present).fold(0.0, f32::max)
    }

    /// All evidence, interleaved: the best group of each source before the second best of any, retrieved
    /// segments first.
    pub(super) fn evidence(&self, question: &str) -> Vec<EvidenceGroup> {
        let from_hits = |hits: &[SearchResult]| {
            interleave(hits.iter().map(|hit| Evidence::from_hit(hit, question)).collect())
        };
        let aggregates = self
            .routed
            .iter()
            // The topic shows the model what the aggregate is about.
            .map(|(spec, pieces)| (spec.id, spec.answers, pieces))
            .chain([
                ("sections", "section", &self.sections),
                (summary::ID, summary::ID, &self.summary),
            ]);
        let mut sources = vec![from_hits(&self.results), from_hits(&self.companion_hits)];
        for (source, topic, pieces) in aggregates {
            let of_source = (0..).zip(pieces).filter(|(_, (_, text))| !text.is_empty());
            let of_source = of_source.map(|(element, (span, text))| {
                vec![Evidence {
                    video_id: self.record.video_id,
                    span: *span,
                    source,
                    element,
                    kind: PassageKind::Prose,
                    speaker: None,
                    topic: Some(topic.to_owned()),
                    text: text.clone(),
                    p_present: None,
                }]
            });
            sources.push(of_source.collect());
        }
        let mut evidence: Vec<EvidenceGroup> = Vec::new();
        for group in interleave(sources) {
            // The summary may also be a routed aggregate.
            let content = |group: &EvidenceGroup| -> Vec<(String, Span, Option<String>)> {
                group.iter().map(|e| (e.text.clone(), e.span, e.speaker.clone())).collect()
            };
            if !evidence.iter().any(|known| content(known) == content(&group)) {
                evidence.push(group);
            }
        }
        evidence
    }

    /// The sources of this video that are in the context of the answer.
    pub(super) fn sources(&self, kept: &[&Evidence]) -> AnswerSources {
        let of_video = kept.iter().filter(|e| e.video_id == self.record.video_id);
        let used: BTreeSet<(&str, u32)> = of_video.map(|e| (e.source, e.element)).collect();
        let all = ["chunks", "sections", summary::ID];
        let all = all.into_iter().chain(self.routed.iter().map(|(spec, _)| spec.id));
        let count = |source: &str| used.iter().filter(|(of, _)| *of == source).count() as u32;
        let counts = all.map(|source| (source.to_owned(), count(source))).collect();
        AnswerSources { routed_to: self.routed_to.clone(), counts }
    }
}

/// Interleaves lists: the first element of every list, then the second of every list, and so on.
pub(super) fn interleave<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut merged = Vec::new();
    loop {
        let before = merged.len();
        merged.extend(lists.iter_mut().filter_map(Iterator::next));
        if merged.len() == before {
            return merged;
        }
    }
}
