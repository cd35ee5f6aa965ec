//! Re-ranking: a cross-encoder scores each hit's text together with the question. An embedding is
//! computed without the question and shows what a text is about; a re-ranker judges whether the
//! text answers the question.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ports::llm::PassageKind;
use ports::reranker::Reranker;
use text::questions::{AnswerKind, asks_for_number, is_generic, is_question, topic};
use text::things::thing_overlap;
use text::{Quotations, is_stop_word, sentences, word_overlap, words};

use crate::kernel::error::{Error, Result};
use crate::search::calibration::content_words;
use crate::search::results::SearchResult;
use crate::search::retrieval::merge::either;

/// Logistic model of whether a text contains an answer: the intercept, the weight of the search's
/// log-odds and the weight of the re-ranker's log-odds. It was fitted so that as many development
/// questions of `make eval` as possible are answered, declined and separated correctly.
const MODEL: [f32; 3] = [0.6, 1.2, 1.0];

/// Search probabilities are clamped to keep at least this distance from 0 and 1, so that the
/// re-ranker can overrule any of them.
const MIN_SEARCH_PROBABILITY: f32 = 0.03;

/// Re-ranker scores are clamped to keep at least this distance from 0 and 1.
const MIN_RERANKER_PROBABILITY: f32 = 0.002;

/// Maximum length of on-screen text that is scored as a whole, in bytes.
const MAX_SCREEN_BYTES: usize = 400;

/// What a text must contain to answer a question.
pub(crate) struct AnswerCriteria {
    subject: Vec<String>,
    kind: AnswerKind,
    /// Whether a text must contain a word of the kind `kind` to be an answer.
    requires_kind: bool,
    /// Whether any statement about the subject is an answer.
    is_topic: bool,
}

impl AnswerCriteria {
    /// Derives the criteria from a question; returns `None` for a keyword search, and for a
    /// question about a video as a whole.
    pub(crate) fn from_question(question: &str) -> Option<Self> {
        if let Some(topic) = topic(question) {
            let subject = content_words(topic);
            return Some(Self {
                subject,
                kind: AnswerKind::Anything,
                requires_kind: false,
                is_topic: true,
            });
        }
        let mut subject = content_words(question);
        // The subject of `how many boats` is the boats.
        subject.retain(|word| !is_stop_word(word));
        if !is_question(question) || subject.iter().all(|word| is_generic(word)) {
            return None;
        }
        let question_words = words(question);
        let kind = AnswerKind::from_question(&question_words);
        let requires_kind = match kind {
            AnswerKind::Quantity => asks_for_number(&question_words),
            kind => kind.is_definite(),
        };
        Some(Self { subject, kind, requires_kind, is_topic: false })
    }

    /// Whether any statement about the subject is an answer, so that no text has to be scored.
    pub(crate) fn is_topic(&self) -> bool {
        self.is_topic
    }

    /// Whether a passage can be an answer at all. Numbers alone on screen, such as those of an axis,
    /// only answer a question that asks for a number.
    pub(crate) fn may_answer(&self, kind: PassageKind, text: &str) -> bool {
        match self.requires_kind {
            true => self.kind.occurs_in(&words(text)),
            false => !kind.is_on_screen() || has_word(text),
        }
    }

    /// The share of the subject's words that occur in `text`, 0..1.
    pub(crate) fn word_overlap(&self, text: &str) -> f32 {
        word_overlap(&self.subject, text)
    }

    /// The share of the subject's words that a list of detections names, also by a synonym or a kind
    /// of thing, 0..1.
    pub(crate) fn thing_overlap(&self, text: &str) -> f32 {
        thing_overlap(&self.subject, text)
    }
}

/// Whether a text has a word of letters, and not only numbers and abbreviations.
pub(crate) fn has_word(text: &str) -> bool {
    /// Minimum number of letters of a word.
    const LETTERS: usize = 3;
    words(text)
        .iter()
        .any(|word| word.lower.chars().filter(|c| c.is_alphabetic()).count() >= LETTERS)
}

/// Whether passages of this kind are natural language (speech, on-screen text, prose), which
/// re-rankers are trained on, rather than lists of detections.
pub(crate) fn is_language(kind: PassageKind) -> bool {
    matches!(kind, PassageKind::Speech | PassageKind::Prose) || kind.is_on_screen()
}

/// Splits a passage into the texts to score: its sentences, or the whole passage if it is on-screen
/// text that is short enough.
pub(crate) fn split_for_scoring(kind: PassageKind, text: &str) -> Vec<&str> {
    if kind == PassageKind::Row || (kind == PassageKind::Screen && text.len() <= MAX_SCREEN_BYTES) {
        return vec![text];
    }
    sentences(text, Quotations::Whole)
}

/// A text from a hit that is to be scored.
struct Candidate {
    hit: usize,
    kind: PassageKind,
    text: String,
    priority: f32,
}

/// Re-ranks hits, if there is a re-ranker.
pub(super) struct HitReranker {
    pub(super) reranker: Option<Arc<dyn Reranker>>,
    /// Maximum number of texts scored per search.
    pub(super) max_texts: usize,
}

impl HitReranker {
    /// Re-ranks the hits for a question. Sets `p_present` to the probability that the hit contains
    /// an answer, and puts the most probable hit first. Does nothing for a keyword search or if
    /// there is no re-ranker. Leaves hits without natural-language text unchanged.
    pub(super) async fn rerank(&self, question: &str, hits: &mut [SearchResult]) -> Result<()> {
        let Some(reranker) = &self.reranker else { return Ok(()) };
        let Some(criteria) =
            AnswerCriteria::from_question(question).filter(|criteria| !criteria.is_topic())
        else {
            return Ok(());
        };
        let mut candidates: Vec<Candidate> =
            hits.iter().enumerate().flat_map(|(at, hit)| candidates(at, hit, &criteria)).collect();
        let mut surest: Vec<Option<f32>> = vec![None; hits.len()];
        for candidate in &candidates {
            surest[candidate.hit] = Some(0.0);
        }
        candidates.retain(|one| criteria.may_answer(one.kind, &one.text));
        candidates.sort_by(|a, b| b.priority.total_cmp(&a.priority));
        for left_out in candidates.iter().skip(self.max_texts) {
            surest[left_out.hit] = None;
        }
        candidates.truncate(self.max_texts);
        let texts: Vec<&str> = candidates.iter().map(|one| one.text.as_str()).collect();
        let scores = score_texts(reranker.as_ref(), question, &texts).await?;
        for (candidate, score) in candidates.iter().zip(scores) {
            let best = &mut surest[candidate.hit];
            *best = Some(best.map_or(score, |known| known.max(score)));
        }
        for (hit, surest) in hits.iter_mut().zip(surest) {
            let Some(surest) = surest else { continue };
            hit.p_present = combine_probabilities(hit.p_found, surest);
            if is_detected(hit, &criteria) {
                hit.p_present = hit.p_present.max(hit.p_found);
            }
            hit.p_present = either(hit.p_present, hit.p_seen);
        }
        hits.sort_by(|a, b| b.p_present.total_cmp(&a.p_present));
        Ok(())
    }
}

/// Computes, for each text, the probability that it answers the question. Each distinct text is
/// scored only once, since many moments share the same text.
pub(crate) async fn score_texts(
    reranker: &dyn Reranker,
    question: &str,
    texts: &[&str],
) -> Result<Vec<f32>> {
    let distinct: BTreeSet<&str> = texts.iter().copied().collect();
    let distinct: Vec<String> = distinct.into_iter().map(str::to_owned).collect();
    let scores = reranker.score(question, &distinct).await?;
    let scores: HashMap<&str, f32> = distinct.iter().map(String::as_str).zip(scores).collect();
    let score = |text: &&str| scores.get(text).copied();
    let scores: Option<Vec<f32>> = texts.iter().map(score).collect();
    scores.ok_or_else(|| Error::corrupt("the reranker has not scored every text"))
}

/// Whether a detector reports anything that the question asks about. What people say at that moment
/// cannot refute this.
fn is_detected(hit: &SearchResult, criteria: &AnswerCriteria) -> bool {
    let is_detection = |kind| matches!(kind, PassageKind::Objects | PassageKind::People);
    hit.statements.iter().any(|statement| {
        is_detection(statement.kind) && criteria.word_overlap(&statement.text) > 0.0
    })
}

/// Splits a hit into the texts to score: each sentence alone, and each pair of consecutive spoken
/// sentences.
fn candidates(at: usize, hit: &SearchResult, criteria: &AnswerCriteria) -> Vec<Candidate> {
    let statements = hit.statements.iter().filter(|s| s.is_likely() && is_language(s.kind));
    let mut speech: Vec<&str> = Vec::new();
    let mut texts: Vec<(PassageKind, String)> = Vec::new();
    for statement in statements {
        let parts = split_for_scoring(statement.kind, &statement.text);
        match statement.kind {
            PassageKind::Speech => speech.extend(parts),
            kind => texts.extend(parts.into_iter().map(|part| (kind, part.to_owned()))),
        }
    }
    let said = speech.iter().map(|&said| said.to_owned());
    let said: Vec<String> = said.chain(speech.windows(2).map(|two| two.join(" "))).collect();
    texts.extend(said.into_iter().map(|text| (PassageKind::Speech, text)));
    let mut known = HashSet::new();
    texts.retain(|(_, text)| !text.trim().is_empty() && known.insert(text.clone()));
    let priority = |text: &str| criteria.word_overlap(text) + hit.p_present;
    let candidate = |(kind, text): (PassageKind, String)| Candidate {
        hit: at,
        kind,
        priority: priority(&text),
        text,
    };
    texts.into_iter().map(candidate).collect()
}

/// Combines `found`, the probability from the search, with `read`, the probability from the
/// re-ranker, into the probability that a moment contains an answer.
pub(crate) fn combine_probabilities(found: f32, read: f32) -> f32 {
    let [intercept, by_search, by_reading] = MODEL;
    let odds = |p: f32, min: f32| {
        let p = p.clamp(min, 1.0 - min);
        (p / (1.0 - p)).ln()
    };
    let logit = intercept
        + by_search * odds(found, MIN_SEARCH_PROBABILITY)
        + by_reading * odds(read, MIN_RERANKER_PROBABILITY);
    1.0 / (1.0 + (-logit).exp())
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use parking_lot::Mutex;

    use super::*;

    /// Scores texts by their length and records them.
    #[derive(Default)]
    struct Reader(Mutex<Vec<String>>);

    #[async_trait]
    impl Reranker for Reader {
        fn model(&self) -> &str {
            "length"
        }

        async fn score(&self, _: &str, texts: &[String]) -> ports::Result<Vec<f32>> {
            self.0.lock().extend_from_slice(texts);
            Ok(texts.iter().map(|text| text.len() as f32).collect())
        }
    }

    #[tokio::test]
    async fn each_distinct_text_is_scored_once() {
        let reader = Reader::default();
        let scores =
            score_texts(&reader, "Who?", &["Rosa.", "He.", "Rosa."]).await.expect("scores");
        assert_eq!(scores, [5.0, 3.0, 5.0]);
        assert_eq!(*reader.0.lock(), ["He.", "Rosa."]);
    }

    #[test]
    fn only_questions_with_a_specific_subject_have_answer_criteria() {
        assert!(AnswerCriteria::from_question("a red boat").is_none());
        assert!(AnswerCriteria::from_question("What is this video about?").is_none());
        assert!(AnswerCriteria::from_question("How many people are there?").is_none());
        let criteria =
            AnswerCriteria::from_question("How many boats are there?").expect("a question");
        let said = PassageKind::Speech;
        assert!(criteria.may_answer(said, "Twelve boats."));
        assert!(!criteria.may_answer(said, "Boats, far away."));
        let criteria =
            AnswerCriteria::from_question("What does she say about her boat?").expect("a question");
        assert!(
            criteria.is_topic() && criteria.word_overlap("A boat.") > criteria.word_overlap("She.")
        );
        let criteria = AnswerCriteria::from_question("Who owns the boat?").expect("a question");
        assert!(criteria.may_answer(said, "It rains.") && criteria.word_overlap("Her boat.") > 0.0);
        let read = PassageKind::Screen;
        assert!(criteria.may_answer(read, "ROSA") && !criteria.may_answer(read, "20 10 5-"));
    }

    #[test]
    fn on_screen_text_is_scored_as_one_text() {
        let text = "DEPARTURES. Platform 4. Delayed.";
        assert_eq!(split_for_scoring(PassageKind::Screen, text), [text]);
        assert_eq!(split_for_scoring(PassageKind::Speech, text).len(), 3);
    }

    #[test]
    fn reranking_raises_and_lowers_the_search_probability() {
        assert!(combine_probabilities(0.5, 0.9) > 0.5 && combine_probabilities(0.5, 0.1) < 0.5);
        assert!(combine_probabilities(0.9, 0.5) > combine_probabilities(0.2, 0.5));
        assert!(combine_probabilities(1.0, 1.0) < 1.0 && combine_probabilities(0.0, 0.0) > 0.0);
        assert!(
            combine_probabilities(1.0, 0.0) < 0.5,
            "a confident re-ranker overrules a confident search"
        );
    }
}
