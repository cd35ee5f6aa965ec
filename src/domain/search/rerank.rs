//! Hits read together with the question that they were found for. A vector, made without knowing of the
//! question, tells what a text is about; whether it answers is told by reading both.

use std::collections::{BTreeSet, HashMap, HashSet};

use ports::llm::PassageKind;
use ports::reranker::Reranker;
use text::questions::{AnswerKind, asks_for_number, is_generic, is_question, topic};
use text::{Quotations, is_stop_word, sentences, shared, words};

use crate::domain::kernel::error::{Error, Result};
use crate::domain::search::calibration::content_words;
use crate::domain::search::{Search, SearchResult};

/// The logistic model of an answer being in a text: intercept, weight of the log-odds that its moment is about
/// what is asked, weight of those that a reranker gives it. Those that answer rightly, deny and tell apart
/// the most of the development questions of `make eval`.
const MODEL: [f32; 3] = [0.6, 1.2, 1.0];

/// Least probability of a search, and least that it is wrong: whatever it finds may be refuted.
const LEAST_FOUND: f32 = 0.03;

/// The same of a reranker.
const LEAST_READ: f32 = 0.002;

/// Longest text on screen that is read at once, characters.
const LONGEST_SCREEN: usize = 400;

/// What a question looks for in a text.
pub(crate) struct Wanted {
    about: Vec<String>,
    kind: AnswerKind,
    /// Whether no text answers without a word of that kind.
    must_have: bool,
    /// Whether all that is said about something answers.
    is_topic: bool,
}

impl Wanted {
    /// `None` of a search by a few words, and of a question about a video as a whole.
    pub(crate) fn by(question: &str) -> Option<Self> {
        if let Some(topic) = topic(question) {
            let about = content_words(topic);
            return Some(Self {
                about,
                kind: AnswerKind::Anything,
                must_have: false,
                is_topic: true,
            });
        }
        let mut about = content_words(question);
        // Of `how many boats`, boats.
        about.retain(|word| !is_stop_word(word));
        if !is_question(question) || about.iter().all(|word| is_generic(word)) {
            return None;
        }
        let asked = words(question);
        let kind = AnswerKind::asked_for(&asked);
        let must_have = match kind {
            AnswerKind::Quantity => asks_for_number(&asked),
            kind => kind.is_definite(),
        };
        Some(Self { about, kind, must_have, is_topic: false })
    }

    /// Whether all that is said about something answers: what is about it need not be read.
    pub(crate) fn is_topic(&self) -> bool {
        self.is_topic
    }

    /// Whether a text may answer at all.
    pub(crate) fn may_be_in(&self, text: &str) -> bool {
        !self.must_have || self.kind.is_in(&words(text))
    }

    /// Share of the words in question that are in a text, 0..1.
    pub(crate) fn shared_with(&self, text: &str) -> f32 {
        shared(&self.about, text)
    }
}

/// Whether a kind of passage is language that was said, read or written, as a reranker has learnt to read
/// it: no list of what detectors saw.
pub(crate) fn is_language(kind: PassageKind) -> bool {
    matches!(kind, PassageKind::Speech | PassageKind::Screen | PassageKind::Prose)
}

/// What of a passage is read at once: a sentence, or all that stands on screen together.
pub(crate) fn read_at_once(kind: PassageKind, text: &str) -> Vec<&str> {
    if kind == PassageKind::Screen && text.len() <= LONGEST_SCREEN {
        return vec![text];
    }
    sentences(text, Quotations::Whole)
}

/// A text of a hit.
struct Candidate {
    hit: usize,
    text: String,
    likely: f32,
}

impl Search {
    /// Reads the hits for a question together with it: their probabilities become those of an answer being
    /// there, and the most probable comes first. Nothing changes without a reranker, for a search by a few
    /// words, and of hits that tell nothing in language.
    pub(super) async fn rerank(&self, question: &str, hits: &mut [SearchResult]) -> Result<()> {
        let Some(reranker) = &self.models.reranker else { return Ok(()) };
        let Some(wanted) = Wanted::by(question).filter(|wanted| !wanted.is_topic()) else {
            return Ok(());
        };
        let mut candidates: Vec<Candidate> =
            hits.iter().enumerate().flat_map(|(at, hit)| candidates(at, hit, &wanted)).collect();
        let mut surest: Vec<Option<f32>> = vec![None; hits.len()];
        for candidate in &candidates {
            surest[candidate.hit] = Some(0.0);
        }
        candidates.retain(|candidate| wanted.may_be_in(&candidate.text));
        candidates.sort_by(|a, b| b.likely.total_cmp(&a.likely));
        for left_out in candidates.iter().skip(self.settings.rerank_texts) {
            surest[left_out.hit] = None;
        }
        candidates.truncate(self.settings.rerank_texts);
        let texts: Vec<&str> = candidates.iter().map(|one| one.text.as_str()).collect();
        let scores = read(reranker.as_ref(), question, &texts).await?;
        for (candidate, score) in candidates.iter().zip(scores) {
            let of_hit = &mut surest[candidate.hit];
            *of_hit = Some(of_hit.map_or(score, |known| known.max(score)));
        }
        for (hit, surest) in hits.iter_mut().zip(surest) {
            let Some(surest) = surest else { continue };
            hit.p_present = presence(hit.p_found, surest);
            if is_seen(hit, &wanted) {
                hit.p_present = hit.p_present.max(hit.p_found);
            }
        }
        hits.sort_by(|a, b| b.p_present.total_cmp(&a.p_present));
        Ok(())
    }
}

/// How probable it is that each text answers a question. Many moments are told alike: no text is read twice.
pub(crate) async fn read(
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

/// Whether anything of what is asked about was seen there, which nothing that is said can refute.
fn is_seen(hit: &SearchResult, wanted: &Wanted) -> bool {
    let seen = |kind| matches!(kind, PassageKind::Objects | PassageKind::People);
    hit.statements.iter().any(|told| seen(told.kind) && wanted.shared_with(&told.text) > 0.0)
}

/// What of a hit is read: each sentence alone, and what is said with what is said right after it.
fn candidates(at: usize, hit: &SearchResult, wanted: &Wanted) -> Vec<Candidate> {
    let told = hit.statements.iter().filter(|told| told.is_likely() && is_language(told.kind));
    let mut speech: Vec<&str> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for statement in told {
        let parts = read_at_once(statement.kind, &statement.text);
        match statement.kind {
            PassageKind::Speech => speech.extend(parts),
            _ => texts.extend(parts.into_iter().map(str::to_owned)),
        }
    }
    texts.extend(speech.iter().map(|&said| said.to_owned()));
    texts.extend(speech.windows(2).map(|two| two.join(" ")));
    let mut known = HashSet::new();
    texts.retain(|text| !text.trim().is_empty() && known.insert(text.clone()));
    let likely = |text: &str| wanted.shared_with(text) + hit.p_present;
    texts.into_iter().map(|text| Candidate { hit: at, likely: likely(&text), text }).collect()
}

/// How probable it is that an answer is there: by what a search tells of the moment, and by what a reranker
/// has read.
pub(crate) fn presence(found: f32, read: f32) -> f32 {
    let [intercept, by_search, by_reading] = MODEL;
    let odds = |p: f32, least: f32| {
        let p = p.clamp(least, 1.0 - least);
        (p / (1.0 - p)).ln()
    };
    let logit =
        intercept + by_search * odds(found, LEAST_FOUND) + by_reading * odds(read, LEAST_READ);
    1.0 / (1.0 + (-logit).exp())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;

    use super::*;

    /// Scores texts by their length, and keeps them.
    #[derive(Default)]
    struct Reader(Mutex<Vec<String>>);

    #[async_trait]
    impl Reranker for Reader {
        fn model(&self) -> &str {
            "length"
        }

        async fn score(&self, _: &str, texts: &[String]) -> ports::Result<Vec<f32>> {
            self.0.lock().expect("unpoisoned").extend_from_slice(texts);
            Ok(texts.iter().map(|text| text.len() as f32).collect())
        }
    }

    #[tokio::test]
    async fn no_text_is_read_twice() {
        let reader = Reader::default();
        let scores = read(&reader, "Who?", &["Rosa.", "He.", "Rosa."]).await.expect("scores");
        assert_eq!(scores, [5.0, 3.0, 5.0]);
        assert_eq!(*reader.0.lock().expect("unpoisoned"), ["He.", "Rosa."]);
    }

    #[test]
    fn only_questions_about_something_in_particular_are_read_for() {
        assert!(Wanted::by("a red boat").is_none());
        assert!(Wanted::by("What is this video about?").is_none());
        assert!(Wanted::by("How many people are there?").is_none());
        let wanted = Wanted::by("How many boats are there?").expect("a question");
        assert!(wanted.may_be_in("Twelve boats.") && !wanted.may_be_in("Boats, far away."));
        let wanted = Wanted::by("What does she say about her boat?").expect("a question");
        assert!(wanted.is_topic() && wanted.shared_with("A boat.") > wanted.shared_with("She."));
        let wanted = Wanted::by("Who owns the boat?").expect("a question");
        assert!(wanted.may_be_in("It rains.") && wanted.shared_with("Her boat.") > 0.0);
    }

    #[test]
    fn what_is_on_screen_together_is_read_at_once() {
        let text = "DEPARTURES. Platform 4. Delayed.";
        assert_eq!(read_at_once(PassageKind::Screen, text), [text]);
        assert_eq!(read_at_once(PassageKind::Speech, text).len(), 3);
    }

    #[test]
    fn reading_raises_and_lowers_what_a_search_tells() {
        assert!(presence(0.5, 0.9) > 0.5 && presence(0.5, 0.1) < 0.5);
        assert!(presence(0.9, 0.5) > presence(0.2, 0.5));
        assert!(presence(1.0, 1.0) < 1.0 && presence(0.0, 0.0) > 0.0);
        assert!(presence(1.0, 0.0) < 0.5, "the surest find is refuted by who is sure");
    }
}
