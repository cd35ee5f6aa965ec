//! Scores the evidence for a question sentence by sentence, to find the sentences that answer the
//! question and the sentence nearest to it.

mod asked;

use std::collections::{BTreeSet, HashMap, HashSet};

use ports::llm::PassageKind;
use text::questions::{AnswerKind, is_question};
use text::{tokens, words};

use crate::answering::Answering;
use crate::answering::answer::attributed::attributed_to;
use crate::answering::context::Evidence;
use crate::answering::rows::{keep_best_rows, relevant_cells, row_score};
use crate::kernel::error::{Error, Result};
use crate::kernel::vector::dot;
use crate::search::rerank::{self, AnswerCriteria, split_for_scoring};
pub(super) use asked::quotes_question;
use asked::{is_conversation, share_of_question};

/// Maximum number of sentences that are compared with a question that has no answer. The sentences
/// come from the most probable moments.
const MAX_COMPARED: usize = 32;

/// Of the compared sentences, this many of the most probable ones are also compared together with
/// the sentence that follows.
const MAX_CONTINUED: usize = 8;

/// Maximum number of sentences that the re-ranker scores for a question. The most probable
/// sentences are chosen.
const MAX_SCORED: usize = 24;

/// Search probability assumed for text that no search has found, such as a summary.
const UNKNOWN_PROBABILITY: f32 = 0.5;

/// Maximum pause between a sentence and its continuation, in seconds.
const MAX_PAUSE: f64 = 3.0;

/// Minimum number of words for an utterance to be evidence on its own.
const MIN_WORDS: usize = 3;

/// Maximum length of a quoted sentence, in characters.
const MAX_QUOTE_CHARS: usize = 400;

/// A sentence from the evidence.
#[derive(Debug, Clone, Copy)]
pub(super) struct EvidenceSentence<'a> {
    text: &'a str,
    evidence: &'a Evidence,
    /// Whether somebody asks it in a conversation. In a speech, a question is rhetorical.
    is_asked: bool,
}

impl<'a> EvidenceSentence<'a> {
    fn is_speech(&self) -> bool {
        self.evidence.kind == PassageKind::Speech
    }

    /// Whether the sentence is a measured description of the scene, which no question is about.
    fn is_scene(&self) -> bool {
        self.evidence.kind == PassageKind::Scene
    }

    /// Whether `next` is spoken right after this sentence.
    fn is_followed_by(&self, next: &Self) -> bool {
        self.evidence.video_id == next.evidence.video_id
            && next.evidence.span.start <= self.evidence.span.end + MAX_PAUSE
    }

    /// Whether the sentence is natural language; see [`is_language`].
    pub(super) fn is_language(&self) -> bool {
        is_language(self.evidence)
    }

    /// Whether the sentence can answer a question; see [`may_answer`].
    pub(super) fn may_answer(&self, question: &str) -> bool {
        may_answer(question, self.text, &[self.evidence])
    }

    fn p_present(&self) -> Option<f32> {
        self.evidence.p_present
    }

    /// Returns the text of the sentence.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The kind of text that the sentence is from.
    pub(super) fn kind(&self) -> PassageKind {
        self.evidence.kind
    }

    /// Returns the sentence as an answer to a question quotes it, with its evidence. A row of a table
    /// is shortened to what the question is about.
    pub(super) fn as_quotation(&self, question: &str) -> (String, &'a Evidence) {
        let text = match self.evidence.kind {
            PassageKind::Row => relevant_cells(self.text, question),
            _ => self.text.to_owned(),
        };
        let mut sentence = text.chars().take(MAX_QUOTE_CHARS).collect::<String>();
        if self.evidence.kind == PassageKind::Speech || self.evidence.kind.is_on_screen() {
            sentence = format!("“{sentence}”");
        }
        if let Some(speaker) = &self.evidence.speaker {
            sentence = format!("{speaker}: {sentence}");
        }
        (sentence, self.evidence)
    }
}

/// A sentence and the one that is spoken right after it, unless that is a question.
pub(super) type Window<'a> = Vec<EvidenceSentence<'a>>;

/// The window nearest to a question.
pub(super) struct NearestWindow<'a> {
    pub(super) said: Window<'a>,
    pub(super) p_present: f32,
    /// Whether the window contains the kind of answer that the question asks for.
    pub(super) fits: bool,
}

impl NearestWindow<'_> {
    fn rank(&self) -> f32 {
        self.p_present + f32::from(u8::from(self.fits))
    }
}

/// A window with the probability that it answers a question.
pub(super) struct ScoredWindow<'a> {
    pub(super) said: Window<'a>,
    pub(super) score: f32,
}

/// The re-ranker's scores of the evidence for a question.
pub(super) struct EvidenceReading<'a> {
    /// The windows with their scores, best first.
    windows: Vec<ScoredWindow<'a>>,
    /// The score of each additional text.
    pub(super) text_scores: Vec<f32>,
    /// Whether the question names a topic, so that anything said about the topic answers it.
    pub(super) is_topic: bool,
}

impl<'a> EvidenceReading<'a> {
    /// Returns the score of the best window, or 0 if there are no windows.
    pub(super) fn best_score(&self) -> f32 {
        self.windows.first().map_or(0.0, |read| read.score)
    }

    /// Selects up to `limit` windows with a score of at least `min_score`, best first. Skips a
    /// window if an earlier window already contains its first sentence.
    pub(super) fn answers(&self, min_score: f32, limit: usize) -> Vec<&ScoredWindow<'a>> {
        let mut quoted: HashSet<&str> = HashSet::new();
        let sure = self.windows.iter().take_while(|read| read.score >= min_score);
        let new = sure.filter(|read| {
            let new = !quoted.contains(read.said[0].text);
            quoted.extend(read.said.iter().filter(|_| new).map(|said| said.text));
            new
        });
        new.take(limit).collect()
    }
}

/// Whether a piece of evidence is natural language and comes from a chunk rather than from an
/// aggregate.
pub(super) fn is_language(evidence: &Evidence) -> bool {
    evidence.topic.is_none() && rerank::is_language(evidence.kind)
}

/// Whether a sentence can answer a question, given the evidence that it cites. What detectors list
/// only answers a question if it names more than half of what the question is about: `A cat is in
/// view` says neither what the cat is lying on nor when it is absent. A description of a person says
/// what they wear.
pub(super) fn may_answer(question: &str, sentence: &str, cited: &[&Evidence]) -> bool {
    const HALF: f32 = 0.5;
    let is_said = cited.iter().any(|evidence| is_language(evidence));
    if !is_said && says_absence(question) && !says_absence(sentence) {
        return false;
    }
    let criteria = AnswerCriteria::from_question(question);
    let Some(criteria) = criteria.filter(|criteria| !criteria.is_topic()) else { return true };
    let is_person = cited.iter().any(|evidence| evidence.kind == PassageKind::People);
    let implied = if is_person { " wearing clothes" } else { "" };
    is_said || criteria.thing_overlap(&format!("{sentence}{implied}")) > HALF
}

/// Whether a text is about something that is absent.
fn says_absence(text: &str) -> bool {
    const ABSENCE: [&str; 7] = ["nobody", "nothing", "none", "no", "not", "empty", "without"];
    words(text).iter().any(|word| ABSENCE.contains(&word.lower.as_str()))
}

/// Splits the evidence into windows. A window is a sentence and the one that is spoken right after
/// it. On-screen text counts as one sentence.
fn windows<'a>(context: &[&'a Evidence]) -> Vec<Window<'a>> {
    let is_conversation = is_conversation(context);
    let sentences = |&evidence: &&'a Evidence| {
        let parts = split_for_scoring(evidence.kind, &evidence.text);
        parts.into_iter().map(move |text| {
            let is_asked = is_conversation && evidence.speaker.is_some() && text.ends_with('?');
            EvidenceSentence { text, evidence, is_asked }
        })
    };
    let mut seen = HashSet::new();
    let all: Vec<EvidenceSentence<'a>> = context.iter().flat_map(sentences).collect();
    let new = |said: &EvidenceSentence<'a>| {
        seen.insert((said.evidence.video_id, said.evidence.kind, said.text))
    };
    let all: Vec<EvidenceSentence<'a>> = all.into_iter().filter(new).collect();
    let (speech, others): (Vec<EvidenceSentence<'a>>, _) =
        all.into_iter().partition(EvidenceSentence::is_speech);
    let window = |(at, said): (usize, &EvidenceSentence<'a>)| {
        // A question that follows explains nothing.
        let next = speech.get(at + 1).filter(|next| said.is_followed_by(next) && !next.is_asked);
        std::iter::once(*said).chain(next.copied()).collect()
    };
    let mut windows: Vec<Window<'a>> = speech.iter().enumerate().map(window).collect();
    windows.extend(others.into_iter().map(|said| vec![said]));
    // Very short utterances are dropped if there are longer ones.
    let is_substantial = |said: &Window<'_>| {
        said[0].evidence.speaker.is_none() || tokens(said[0].text).len() >= MIN_WORDS
    };
    if windows.iter().any(is_substantial) {
        windows.retain(is_substantial);
    }
    windows
}

/// Drops text on screen that shares no word with the question, if other text on screen does. A
/// re-ranker is trained on sentences and cannot tell labels apart that have none of its words.
fn keep_related_screen_text(
    windows: &mut Vec<(f32, String, Window<'_>)>,
    criteria: &AnswerCriteria,
) {
    let is_screen = |said: &Window<'_>| said[0].evidence.kind.is_on_screen();
    let is_related = |text: &str| criteria.word_overlap(text) > 0.0;
    if windows.iter().any(|(_, text, said)| is_screen(said) && is_related(text)) {
        windows.retain(|(_, text, said)| !is_screen(said) || is_related(text));
    }
}

/// The texts that the re-ranker scores. If the question asks for the words of a speaker, the texts of
/// windows begin with the speaker.
fn texts_to_score(
    question: &str,
    windows: &[(f32, String, Window<'_>)],
    others: &[(&str, Option<f32>)],
) -> Vec<String> {
    let is_attributed = attributed_to(question).is_some();
    let of_window = |(_, text, said): &(f32, String, Window<'_>)| {
        let speaker = said[0].evidence.speaker.as_deref().filter(|_| is_attributed);
        speaker.map_or_else(|| text.clone(), |speaker| format!("{speaker}: {text}"))
    };
    let others = others.iter().map(|(text, _)| (*text).to_owned());
    windows.iter().map(of_window).chain(others).collect()
}

fn joined(said: &[EvidenceSentence<'_>]) -> String {
    said.iter().map(|said| said.text).collect::<Vec<_>>().join(" ")
}

fn likely(said: &Window<'_>) -> f32 {
    said[0].p_present().unwrap_or(-1.0)
}

impl Answering {
    /// Scores how likely the windows of the evidence, and additional `texts`, are to answer a
    /// question. The score combines the re-ranker's score with the search probability. For a
    /// question about a topic, the score is the share of the topic's words that the window
    /// contains. Returns `None` if there is no re-ranker or the question has no specific subject.
    pub(super) async fn score_evidence<'a>(
        &self,
        question: &str,
        context: &[&'a Evidence],
        texts: &[(&str, Option<f32>)],
    ) -> Result<Option<EvidenceReading<'a>>> {
        let Some(reranker) = &self.models.reranker else { return Ok(None) };
        let Some(criteria) = AnswerCriteria::from_question(question) else { return Ok(None) };
        let is_read = |said: &EvidenceSentence<'_>| match criteria.is_topic() {
            true => said.is_speech(),
            false => is_language(said.evidence),
        };
        let mut windows: Vec<(f32, String, Window<'a>)> = windows(context)
            .into_iter()
            .filter(|said| is_read(&said[0]))
            .map(|said| {
                // Speech about a topic begins with the sentence that names the topic.
                let text =
                    if criteria.is_topic() { said[0].text.to_owned() } else { joined(&said) };
                (criteria.word_overlap(&text) + likely(&said), text, said)
            })
            .filter(|(_, text, said)| criteria.may_answer(said[0].evidence.kind, text))
            .collect();
        keep_related_screen_text(&mut windows, &criteria);
        keep_best_rows(&mut windows, &criteria);
        windows.sort_by(|a, b| b.0.total_cmp(&a.0));
        windows.truncate(MAX_SCORED);
        let window_texts =
            windows.iter().map(|(_, text, said)| (text.as_str(), said[0].p_present()));
        let candidates: Vec<(&str, Option<f32>)> =
            window_texts.chain(texts.iter().copied()).collect();
        let mut scores: Vec<f32> = match criteria.is_topic() {
            true => candidates.iter().map(|(text, _)| criteria.word_overlap(text)).collect(),
            false => {
                let texts = texts_to_score(question, &windows, texts);
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let scores =
                    rerank::score_texts(reranker.as_ref(), question, &texts).await?.into_iter();
                let found =
                    candidates.iter().map(|(_, found)| found.unwrap_or(UNKNOWN_PROBABILITY));
                scores
                    .zip(found)
                    .map(|(read, found)| rerank::combine_probabilities(found, read))
                    .collect()
            }
        };
        let text_scores = scores.split_off(windows.len());
        let read = windows.into_iter().zip(scores);
        let scored = |((_, text, said), score): ((f32, String, Window<'a>), f32)| {
            let score =
                row_score(&said, &text, &criteria, score) * share_of_question(question, &said);
            ScoredWindow { said, score }
        };
        let mut read: Vec<ScoredWindow<'a>> = read.map(scored).collect();
        read.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(Some(EvidenceReading { windows: read, text_scores, is_topic: criteria.is_topic() }))
    }

    /// Finds the window that is most likely to be about the question. Only the most probable
    /// moments are considered.
    pub(super) async fn nearest<'a>(
        &self,
        question: &str,
        context: &[&'a Evidence],
    ) -> Result<Option<NearestWindow<'a>>> {
        let answer_kind = AnswerKind::from_question(&words(question));
        let mut windows = windows(context);
        let is_readable = |said: &EvidenceSentence<'_>| {
            !said.evidence.kind.is_on_screen()
                || rerank::has_word(said.text)
                || (answer_kind.is_definite() && answer_kind.occurs_in(&words(said.text)))
        };
        windows.retain(|said| !said[0].is_scene() && is_readable(&said[0]));
        windows.sort_by(|a, b| likely(b).total_cmp(&likely(a)));
        windows.truncate(MAX_COMPARED);

        let question_vector = self.search.embedder.embed_question(question).await?;
        let presence = self.search.calibrator.presence(question, &question_vector).await?;
        let probabilities = async |texts: Vec<(String, &Evidence)>| {
            // Many moments have the same text, so each distinct text is embedded only once.
            let different: BTreeSet<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
            let different: Vec<String> = different.into_iter().map(str::to_owned).collect();
            let vectors = self.embedder.embed(&different).await?;
            let vectors: HashMap<&str, &Vec<f32>> =
                different.iter().map(String::as_str).zip(&vectors).collect();
            let probability = |(text, evidence): &(String, &Evidence)| {
                let vector = vectors.get(text.as_str());
                let probability = vector.map_or(0.0, |v| {
                    presence.probability(evidence.style(), dot(v, &question_vector), text)
                });
                // For detections and keyword searches, the probability is at most that of the
                // search hit.
                let is_capped = evidence.kind == PassageKind::Objects || !is_question(question);
                probability.min(evidence.p_present.filter(|_| is_capped).unwrap_or(1.0))
            };
            Ok::<Vec<f32>, Error>(texts.iter().map(probability).collect())
        };
        let alone = windows.iter().map(|said| (said[0].text.to_owned(), said[0].evidence));
        let alone = probabilities(alone.collect()).await?;
        let mut nearest: Vec<NearestWindow<'a>> = windows
            .into_iter()
            .zip(alone)
            .map(|(said, p_present)| {
                let fits =
                    !answer_kind.is_definite() || answer_kind.occurs_in(&words(&joined(&said)));
                NearestWindow { said, p_present, fits }
            })
            .collect();
        nearest.sort_by(|a, b| b.rank().total_cmp(&a.rank()));
        nearest.truncate(MAX_CONTINUED);
        let mut continued: Vec<&mut NearestWindow<'a>> =
            nearest.iter_mut().filter(|nearest| nearest.said.len() > 1).collect();
        let together = continued.iter().map(|n| (joined(&n.said), n.said[0].evidence));
        let together = probabilities(together.collect()).await?;
        for (nearest, together) in continued.iter_mut().zip(together) {
            nearest.p_present = nearest.p_present.max(together);
        }
        Ok(nearest.into_iter().max_by(|a, b| a.rank().total_cmp(&b.rank())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answering::context::tests::piece;

    #[test]
    fn detections_answer_only_what_they_name() {
        let said = piece(0.0, 5.0, "He sits on a sofa.");
        let seen = Evidence { kind: PassageKind::Objects, ..piece(0.0, 5.0, "A cat is in view.") };
        let person =
            Evidence { kind: PassageKind::People, ..piece(0.0, 5.0, "A person in a grey top.") };
        for (question, cited, expected) in [
            ("What does the person wear?", &person, true),
            ("What does the person hold?", &person, false),
            ("Where is the cat?", &seen, true),
            ("What is the cat lying on?", &seen, false),
            ("Is there an animal?", &seen, true),
            ("What is the calico cat lying on?", &seen, false),
            ("What is the calico cat lying on?", &said, true),
            ("cat on a sofa", &seen, true),
            ("When is nobody in view?", &seen, false),
        ] {
            assert_eq!(may_answer(question, &cited.text, &[cited]), expected, "{question}");
        }
    }

    fn unscored<'a>(context: &[&'a Evidence]) -> Vec<(f32, String, Window<'a>)> {
        let windows = windows(context).into_iter();
        windows.map(|said| (0.0, said[0].text.to_owned(), said)).collect()
    }

    #[test]
    fn related_text_on_screen_replaces_other_text_on_screen() {
        let screen = |text: &str| Evidence { kind: PassageKind::Screen, ..piece(0.0, 5.0, text) };
        let all = [screen("X-axis: rating"), screen("Save notebook"), piece(5.0, 9.0, "Well.")];
        let context: Vec<&Evidence> = all.iter().collect();
        let kept = |question: &str| {
            let criteria = AnswerCriteria::from_question(question).expect("a question");
            let mut windows = unscored(&context);
            keep_related_screen_text(&mut windows, &criteria);
            windows.len()
        };
        assert_eq!(kept("Which rating is on the x-axis?"), 2);
        assert_eq!(kept("Which film wins?"), 3);
    }

    #[test]
    fn only_the_rows_that_a_question_names_answer_it() {
        let row = |text: &str| Evidence { kind: PassageKind::Row, ..piece(0.0, 5.0, text) };
        let all = ["North; 12", "North; 40", "South; 35", "East; 8", "West; 7"]
            .map(|cells| row(&format!("region: {}", cells.replace("; ", "; sales: "))));
        let context: Vec<&Evidence> = all.iter().collect();
        let kept = |question: &str| {
            let criteria = AnswerCriteria::from_question(question).expect("a question");
            let mut windows = unscored(&context);
            keep_best_rows(&mut windows, &criteria);
            windows.into_iter().map(|(_, text, _)| text).collect::<Vec<_>>()
        };
        assert_eq!(kept("What are the sales in the South?"), ["region: South; sales: 35"]);
        assert_eq!(kept("What are the sales in the North?").len(), 2);
        assert!(kept("What are the sales in the region Antarctica?").is_empty(), "no such row");
        let criteria = AnswerCriteria::from_question("What are the sales in the South?");
        let criteria = criteria.expect("a question");
        let scores = windows(&context).into_iter();
        let scores: Vec<f32> =
            scores.map(|said| row_score(&said, said[0].text, &criteria, 0.1)).collect();
        assert_eq!(scores, [0.1, 0.1, 0.95, 0.1, 0.1]);
    }
}
