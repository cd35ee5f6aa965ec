//! The context of an answer: pieces of evidence from hits, aggregates and summary sections. Only
//! pieces that are worth reading and fit into the token budget are selected.

use std::collections::{BTreeMap, BTreeSet};

use ports::llm::{Passage, PassageKind, VideoSpan};
use text::{Quotations, sentences, word_overlap};

use crate::aggregation::AggregatorSpec;
use crate::aggregation::aggregators::summary;
use crate::analysis::TextStyle;
use crate::analysis::output::Statement;
use crate::answering::Answering;
use crate::answering::audit::CitedText;
use crate::answering::facts;
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::records::record::VideoRecord;
use crate::search::calibration::content_words;
use crate::search::{LIKELY, SearchResult};

/// Approximate number of characters per token in English.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Number of characters that a piece of evidence costs in addition to its text.
const HEADING_CHARS: usize = 70;

/// Maximum length of a piece of evidence, in bytes. Longer text is split so that a long chunk does
/// not crowd out everything else.
const MAX_PIECE_BYTES: usize = 2000;

/// A piece of text about a moment of a video.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) video_id: VideoId,
    pub(crate) span: Span,
    /// Further moments that show the same; only for facts.
    pub(crate) other_spans: Vec<Span>,
    /// The source: `chunks`, `sections`, `summary`, `facts` or an aggregator's id.
    pub(crate) source: &'static str,
    /// Index of the element within the source.
    pub(crate) element: u32,
    /// The kind of text.
    pub(crate) kind: PassageKind,
    /// The speaker; `None` if unknown.
    pub(crate) speaker: Option<String>,
    /// The topic of an aggregate's text; `None` for a chunk's text.
    pub(crate) topic: Option<String>,
    pub(crate) text: String,
    /// Probability of the search hit; `None` for text that no search found.
    pub(crate) p_present: Option<f32>,
}

/// The evidence about a moment from one source, which is used in full or not at all.
pub(crate) type EvidenceGroup = Vec<Evidence>;

impl Evidence {
    /// Returns the evidence from a search hit. The group that shares the most words with the
    /// question comes first. Speech turns and other statements are grouped separately.
    pub(crate) fn from_hit(hit: &SearchResult, question: &str) -> Vec<EvidenceGroup> {
        let whole = hit.span;
        let (turns, others): (Vec<&Statement>, Vec<&Statement>) = hit
            .statements
            .iter()
            .filter(|statement| statement.is_likely())
            .partition(|s| s.kind == PassageKind::Speech && s.span.is_some());
        let mut statements: Vec<Vec<Statement>> =
            vec![others.into_iter().cloned().collect(), merge_turns(&turns, whole)];
        let is_empty =
            statements.iter().flatten().all(|statement| statement.text.trim().is_empty());
        if is_empty && hit.statements.iter().all(Statement::is_likely) {
            statements = vec![vec![Statement::new(PassageKind::Prose, &hit.text)]];
        }
        let evidence = |statement: &Statement, text: String| Self {
            video_id: hit.video_id,
            span: statement.span.unwrap_or(whole),
            other_spans: Vec::new(),
            source: "chunks",
            element: hit.chunk_id.0,
            kind: statement.kind,
            speaker: statement.speaker.clone(),
            topic: None,
            text,
            // The probability before re-ranking is used, since the answer is re-ranked sentence by
            // sentence.
            p_present: Some(hit.p_found),
        };
        let mut found: Vec<EvidenceGroup> = Vec::new();
        for together in &statements {
            let all = together.iter().flat_map(|statement| {
                split_text(&statement.text).into_iter().map(|text| evidence(statement, text))
            });
            found.extend(group_pieces(all.collect()));
        }
        let words = content_words(question);
        let overlap = |group: &EvidenceGroup| {
            let texts: Vec<&str> = group.iter().map(|piece| piece.text.as_str()).collect();
            word_overlap(&words, &texts.join(" "))
        };
        found.sort_by(|a, b| overlap(b).total_cmp(&overlap(a)));
        found
    }

    pub(super) fn moment_id(&self) -> MomentId {
        MomentId::new(self.video_id, self.span)
    }

    /// The spans of all moments that it is about.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        std::iter::once(self.span).chain(self.other_spans.iter().copied())
    }

    pub(super) fn moment_ids(&self) -> impl Iterator<Item = MomentId> {
        self.spans().map(|span| MomentId::new(self.video_id, span))
    }

    /// The aggregator that was consulted because its results fit the question; `None` for chunks,
    /// sections, the summary and facts.
    pub(super) fn aggregate(&self) -> Option<&'static str> {
        let always_read = ["chunks", "sections", summary::ID, facts::SOURCE].contains(&self.source);
        (!always_read).then_some(self.source)
    }

    pub(super) fn style(&self) -> TextStyle {
        match self.kind {
            PassageKind::Prose | PassageKind::Scene => TextStyle::Prose,
            PassageKind::Speech => TextStyle::Speech,
            PassageKind::Screen | PassageKind::Row => TextStyle::Screen,
            PassageKind::Objects => TextStyle::Objects,
            PassageKind::People => TextStyle::People,
        }
    }

    pub(super) fn cited(&self) -> CitedText<'_> {
        CitedText { speaker: self.speaker.as_deref(), text: &self.text }
    }

    pub(super) fn passage(&self, id: String) -> Passage {
        let Span { start, end } = self.span;
        Passage {
            moment: Some(VideoSpan { video_id: Some(self.video_id), start, end }),
            speaker: self.speaker.clone(),
            topic: self.topic.clone(),
            ..Passage::new(id, self.kind, self.text.clone())
        }
    }

    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.video_id == other.video_id
            && self.span.start >= other.span.start
            && self.span.end <= other.span.end
    }
}

/// Groups consecutive pieces up to a total of [`MAX_PIECE_BYTES`].
fn group_pieces(pieces: Vec<Evidence>) -> Vec<EvidenceGroup> {
    let mut groups: Vec<EvidenceGroup> = Vec::new();
    let mut length = 0;
    for piece in pieces {
        length += piece.text.len() + 1;
        match groups.last_mut().filter(|_| length <= MAX_PIECE_BYTES) {
            Some(group) => group.push(piece),
            None => {
                length = piece.text.len();
                groups.push(vec![piece]);
            }
        }
    }
    groups
}

/// Merges a hit's consecutive utterances by the same speaker. If the speech is short, each merged
/// utterance is given the span of the whole chunk, extended to include all of the chunk's
/// utterances.
fn merge_turns(said: &[&Statement], chunk: Span) -> Vec<Statement> {
    let length: usize = said.iter().map(|statement| statement.text.len()).sum();
    let short = length <= MAX_PIECE_BYTES;
    let spans = || said.iter().filter_map(|statement| statement.span);
    let whole = Span {
        start: spans().map(|span| span.start).fold(chunk.start, f64::min),
        end: spans().map(|span| span.end).fold(chunk.end, f64::max),
    };
    let mut found: Vec<Statement> = Vec::new();
    for statement in said {
        let span = if short { Some(whole) } else { statement.span };
        let continues = |last: &&mut Statement| {
            last.speaker == statement.speaker
                && last.text.len() + statement.text.len() < MAX_PIECE_BYTES
        };
        match found.last_mut().filter(continues) {
            Some(last) => {
                last.span = last.span.zip(span).map(|(last, span)| Span { end: span.end, ..last });
                last.text.push('\n');
                last.text.push_str(&statement.text);
            }
            None => found.push(Statement { span, ..(*statement).clone() }),
        }
    }
    found
}

/// Splits text into pieces of at most [`MAX_PIECE_BYTES`], at sentence boundaries or, if necessary,
/// between words.
fn split_text(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let parts = sentences(text, Quotations::Whole).into_iter().flat_map(|sentence| -> Vec<&str> {
        if sentence.len() <= MAX_PIECE_BYTES {
            vec![sentence]
        } else {
            sentence.split_whitespace().collect()
        }
    });
    for part in parts {
        match found.last_mut().filter(|piece| piece.len() + part.len() < MAX_PIECE_BYTES) {
            Some(piece) => {
                piece.push(' ');
                piece.push_str(part);
            }
            None => found.push(part.to_owned()),
        }
    }
    found
}

/// The sources of an answer in one video.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerSources {
    /// Ids of the consulted aggregators.
    pub routed_to: Vec<String>,
    /// Number of elements used from each source, such as `sections` and `chunks`.
    pub counts: BTreeMap<String, u32>,
}

impl AnswerSources {
    /// Adds the number of elements used from another source, unless there are none.
    pub(super) fn add(&mut self, source: &str, count: u32) {
        if count > 0 {
            self.counts.insert(source.to_owned(), count);
        }
    }
}

/// One video's evidence for one question.
pub(super) struct VideoContext<'a> {
    pub(super) record: &'a VideoRecord,
    pub(super) results: Vec<SearchResult>,
    /// Hits from the other analyzers, such as speech if the segments are visual descriptions.
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

    /// Interleaves all evidence. The best group from each source comes before the second-best group
    /// from any source. Retrieved segments come first.
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
                    other_spans: Vec::new(),
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
            // The summary may also be a routed aggregate, so duplicates are skipped.
            let content = |group: &EvidenceGroup| -> Vec<(String, Span, Option<String>)> {
                group.iter().map(|e| (e.text.clone(), e.span, e.speaker.clone())).collect()
            };
            if !evidence.iter().any(|known| content(known) == content(&group)) {
                evidence.push(group);
            }
        }
        evidence
    }

    /// Returns the sources in this video that are in the answer's context.
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

impl Answering {
    /// Selects the evidence that fits into the token budget. In `evidence`, the most relevant group
    /// comes first. The returned pieces are grouped by video and sorted by time.
    pub(crate) fn context<'a>(&self, evidence: &'a [EvidenceGroup]) -> Vec<&'a Evidence> {
        let budget = self.answer_tokens as usize * CHARACTERS_PER_TOKEN;
        let prompt_budget = self.llm.context_tokens() * CHARACTERS_PER_TOKEN;
        let (mut used, mut prompt_used) = (0, 0);
        let mut kept: Vec<&Evidence> = Vec::new();
        for group in evidence {
            let text: usize = group.iter().map(|piece| piece.text.len()).sum();
            let heading = HEADING_CHARS + group[0].topic.as_ref().map_or(0, String::len);
            // The prompt has a heading for each piece.
            let (cost, prompt) = (text + heading, text + group.len() * heading);
            if kept.is_empty() || (used + cost <= budget && prompt_used + prompt <= prompt_budget) {
                (used, prompt_used) = (used + cost, prompt_used + prompt);
                kept.extend(group);
            }
        }
        let mut videos: Vec<VideoId> = Vec::new();
        for piece in &kept {
            if !videos.contains(&piece.video_id) {
                videos.push(piece.video_id);
            }
        }
        let place = |piece: &Evidence| videos.iter().position(|video| *video == piece.video_id);
        kept.sort_by(|a, b| {
            let times =
                a.span.start.total_cmp(&b.span.start).then(a.span.end.total_cmp(&b.span.end));
            place(a).cmp(&place(b)).then(times)
        });
        kept
    }
}

/// Interleaves lists: takes the first element of every list, then the second element of every list,
/// and so on.
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

/// Selects the evidence that is worth reading, with that of the best video first. Removes contexts
/// without any evidence.
pub(super) fn select_evidence(
    contexts: &mut Vec<VideoContext<'_>>,
    question: &str,
) -> Vec<EvidenceGroup> {
    let mut per_video: Vec<Vec<EvidenceGroup>> =
        contexts.iter().map(|context| context.evidence(question)).collect();
    let mut usable = per_video.iter().map(|evidence| !evidence.is_empty());
    contexts.retain(|_| usable.next().unwrap_or(false));
    per_video.retain(|evidence| !evidence.is_empty());
    let probabilities: Vec<f32> = contexts.iter().map(VideoContext::best_score).collect();
    let min_probability =
        min_worthwhile_probability(probabilities.iter().copied().fold(0.0, f32::max));
    for (groups, best) in per_video.iter_mut().zip(probabilities) {
        drop_improbable(groups, best, min_probability);
    }
    // The best group from every video comes before the second-best group from any video.
    interleave(per_video)
}

/// Returns the minimum probability of evidence that is worth reading, given the best probability.
/// If some evidence is likely, improbable evidence would only mislead.
pub(super) fn min_worthwhile_probability(best: f32) -> f32 {
    /// Minimum probability of the evidence, as a share of the best probability.
    const MIN_SHARE: f32 = 0.2;
    if best >= LIKELY { MIN_SHARE * best } else { 0.0 }
}

/// Drops evidence less probable than `min_probability`, except evidence that directly follows a
/// probable moment. `best` is the probability assumed for evidence that no search found.
fn drop_improbable(groups: &mut Vec<EvidenceGroup>, best: f32, min_probability: f32) {
    /// Maximum gap between the end of a probable moment and evidence that directly follows it, in
    /// seconds. The gap may be negative, since a sentence may begin before its chunk.
    const MAX_GAP: f64 = 10.0;
    let likely = |pieces: &EvidenceGroup| pieces[0].p_present.unwrap_or(best) >= min_probability;
    let hits = |pieces: &&EvidenceGroup| pieces[0].p_present.is_some() && likely(pieces);
    let ends: Vec<f64> = groups.iter().filter(hits).map(|pieces| pieces[0].span.end).collect();
    groups.retain(|pieces| {
        let start = pieces[0].span.start;
        let follows = || ends.iter().any(|end| (start - end).abs() <= MAX_GAP);
        likely(pieces) || (pieces[0].p_present.is_some() && follows())
    });
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a piece of evidence from speech.
    pub(in crate::answering) fn piece(start: f64, end: f64, text: &str) -> Evidence {
        Evidence {
            video_id: "00ff00ff00ff00ff".parse().expect("an id"),
            span: Span { start, end },
            other_spans: Vec::new(),
            source: "chunks",
            element: 0,
            kind: PassageKind::Speech,
            speaker: None,
            topic: None,
            text: text.into(),
            p_present: None,
        }
    }

    #[test]
    fn turns_of_different_speakers_are_not_merged() {
        let turn = |speaker: &str, start: f64, text: &str| Statement {
            speaker: Some(speaker.into()),
            span: Some(Span { start, end: start + 5.0 }),
            ..Statement::new(PassageKind::Speech, text)
        };
        let chunk = Span { start: 2.0, end: 12.0 };
        let merged = |turns: &[Statement]| -> Vec<(Option<String>, Option<Span>, usize)> {
            let merged = merge_turns(&turns.iter().collect::<Vec<_>>(), chunk);
            merged.into_iter().map(|s| (s.speaker, s.span, s.text.lines().count())).collect()
        };
        let span = |start, end| Some(Span { start, end });
        let short = [turn("S1", 0.0, "Hello."), turn("S1", 5.0, "So."), turn("S2", 10.0, "Yes.")];
        let (first, second) = (Some("S1".to_owned()), Some("S2".to_owned()));
        let whole = span(0.0, 15.0);
        assert_eq!(merged(&short), [(first.clone(), whole, 2), (second, whole, 1)]);
        let long = "And then we went on. ".repeat(60);
        let long = [turn("S1", 0.0, "Hello."), turn("S1", 5.0, &long), turn("S1", 10.0, &long)];
        assert_eq!(
            merged(&long),
            [(first.clone(), span(0.0, 10.0), 2), (first, span(10.0, 15.0), 1)]
        );
    }

    #[test]
    fn short_pieces_are_grouped() {
        let long = "word ".repeat(MAX_PIECE_BYTES / 5 - 10);
        let groups = |texts: &[&str]| -> Vec<usize> {
            let pieces = texts.iter().map(|text| piece(0.0, 5.0, text)).collect();
            group_pieces(pieces).iter().map(Vec::len).collect()
        };
        assert_eq!(groups(&["A bright picture.", "A dog is in view.", "EXIT"]), [3]);
        assert_eq!(groups(&["A bright picture.", &long, &long, "EXIT"]), [2, 2]);
        assert_eq!(groups(&[]), [0; 0]);
    }

    #[test]
    fn split_text_loses_nothing() {
        let text = "One sentence of several words. ".repeat(200);
        let found = split_text(&text);
        assert!(found.len() > 2 && found.iter().all(|piece| piece.len() <= MAX_PIECE_BYTES));
        assert_eq!(found.join(" "), text.trim());
        let endless = "word ".repeat(1000);
        assert_eq!(split_text(&endless).join(" "), endless.trim());
        assert_eq!(split_text(""), [] as [&str; 0]);
    }
}
