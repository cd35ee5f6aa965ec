//! Writes answers from evidence. Every sentence cites the moments that support it. The citation
//! audit checks each sentence against these moments, and unsupported sentences are omitted.

pub(super) mod attributed;
pub(super) mod comparison;
mod footage_time;
mod repetitions;

use ports::llm::{Answer, TokenSink};
use text::questions::is_question;
use text::{Quotations, join_list, sentences};

use crate::answering::Answering;
use crate::answering::audit::{AuditedSentence, SentenceClaim, supports_by_words};
use crate::answering::citations::{CitationForm, quote, with_citations};
use crate::answering::context::Evidence;
use crate::answering::named::NamedEvidence;
use crate::answering::reading::{NearestWindow, is_language, may_answer, quotes_question};
use crate::answering::refusal::{NO_ANSWER, refusal};
use crate::answering::rows::quotes_row;
use crate::kernel::error::{Error, Result};
use crate::kernel::verdict::Verdict;
use crate::llm::structured::{Prompt, StructuredOutput};
use crate::search::calibration::content_words;
use repetitions::{quotes, without_repetitions};

const PROMPT: &str = include_str!("answer.md");

/// Maximum number of tokens in an answer.
const MAX_TOKENS: u32 = 700;

/// A sentence counts as an answer to the question at this probability or above. The probability
/// comes from its meaning or from the re-ranker.
const MIN_ANSWER_PROBABILITY: f32 = 0.5;

/// Minimum share of a topic's words that a sentence must contain to be about the topic.
const MIN_TOPIC_OVERLAP: f32 = 0.6;

/// A sentence that was chosen by its words or meaning is rejected if its probability from the
/// re-ranker is below this value.
const MIN_UNREFUTED_PROBABILITY: f32 = 0.25;

/// Minimum probability of every other sentence, as a share of the best sentence's probability.
const MIN_SHARE_OF_BEST: f32 = 0.8;

/// Maximum number of windows that the re-ranker adds. A window is a sentence and the one that
/// follows it.
const MAX_ADDED_SENTENCES: usize = 2;

/// Tolerance for comparing times, in seconds.
const TIME_TOLERANCE: f64 = 0.01;

/// Minimum probability at which a moment counts as related to a question.
const MIN_RELATED_PROBABILITY: f32 = 0.3;

/// An answer with its citation audit.
#[derive(Debug, Clone, PartialEq)]
struct AuditedAnswer {
    text: String,
    /// Whether the text answers the question. If not, it says that no moment does.
    answered: bool,
    /// The citation audit of each sentence, including omitted ones.
    audit: Vec<AuditedSentence>,
}

/// An answer, or the reason why there is none. Search results are returned in both cases.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AnswerAttempt {
    pub(crate) text: Option<String>,
    /// Whether the text answers the question. If not, it says that no moment does.
    pub(crate) answered: bool,
    /// The citation audit of each sentence, including omitted ones.
    pub(crate) audit: Vec<AuditedSentence>,
    /// `TypeName: message` if writing the answer failed.
    pub(crate) error: Option<String>,
}

impl AnswerAttempt {
    /// Logs why writing an answer failed.
    pub(super) fn failed(error: &Error) -> Self {
        let error = error.labelled();
        tracing::warn!(error, "no answer could be written");
        Self { error: Some(error), ..Self::default() }
    }
}

impl Answering {
    /// Writes an answer as [`Self::answer`] does, but turns a failure into
    /// [`AnswerAttempt::error`].
    pub(crate) async fn attempt_answer(
        &self,
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
        sink: TokenSink,
    ) -> AnswerAttempt {
        match self.answer(question, context, form, sink).await {
            Ok(None) => AnswerAttempt::default(),
            Ok(Some(AuditedAnswer { text, answered, audit })) => {
                AnswerAttempt { text: Some(text), answered, audit, error: None }
            }
            Err(error) => AnswerAttempt::failed(&error),
        }
    }

    /// Answers a question from evidence. Returns `None` if there is no evidence. If nothing answers
    /// the question, the answer says so and cites the nearest moment.
    async fn answer(
        &self,
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
        sink: TokenSink,
    ) -> Result<Option<AuditedAnswer>> {
        if context.is_empty() {
            return Ok(None);
        }
        // A language model reads the evidence and decides for itself.
        let named = match self.llm.is_extractive() {
            true => self.keep_named(question, context).await?,
            false => NamedEvidence { kept: context.to_vec(), missing: Vec::new() },
        };
        if named.kept.is_empty() {
            return self.refuse_names(&named.missing, question, context, form).await.map(Some);
        }
        let context = named.kept.as_slice();
        let passages =
            context.iter().enumerate().map(|(i, e)| e.passage(format!("p{}", i + 1))).collect();
        let prompt = Prompt {
            instructions: PROMPT.into(),
            passages,
            question: Some(question.to_owned()),
            max_tokens: MAX_TOKENS,
            sink,
            ..Prompt::default()
        };
        let answer: Answer = self.llm.complete_as(prompt).await?;

        let cleaned: Vec<(String, Vec<String>)> =
            answer.sentences.into_iter().map(|s| (without_brackets(&s.text), s.passages)).collect();
        let mut cited: Vec<(&str, Vec<&Evidence>)> = Vec::new();
        for (text, ids) in &cleaned {
            for sentence in sentences(text, Quotations::Whole) {
                cited.push((sentence, citations(sentence, ids, context)));
            }
        }
        let claims: Vec<SentenceClaim<'_>> =
            cited.iter().map(|(sentence, cited)| claim(sentence, cited, context)).collect();
        let verdicts = self.audit(&claims).await?;
        let by_chance = self.llm.is_extractive()
            && cited.iter().all(|(_, cited)| is_chance_match(question, cited));
        let audit: Vec<AuditedSentence> = cited
            .iter()
            .zip(verdicts)
            .map(|((sentence, cited), verdict)| AuditedSentence {
                sentence: (*sentence).to_owned(),
                citations: cited.iter().flat_map(|e| form.cite_all(e)).collect(),
                moments: cited.iter().flat_map(|e| e.moment_ids()).collect(),
                verdict: if by_chance { Verdict::Unsupported } else { verdict },
            })
            .collect();
        let reranked = self.rerank_sentences(audit, &cited, question, context, form).await?;
        self.compose_answer(reranked, question, context, form).await.map(Some)
    }

    /// Composes the answer from the supported sentences. If there are none, the answer says that no
    /// moment answers the question, cites the nearest moment if it is related to the question, and
    /// names the aggregates with facts on the question's topic, which may know what no moment says.
    /// An extractive model matches only words and may have missed a paraphrase. Its nearest moment
    /// therefore becomes the answer if it probably answers the question and the re-ranker does not
    /// doubt it.
    async fn compose_answer(
        &self,
        (mut audit, is_doubtful): (Vec<AuditedSentence>, bool),
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
    ) -> Result<AuditedAnswer> {
        if self.llm.is_extractive() {
            self.add_footage_time(question, &mut audit).await?;
        }
        let is_supported = |s: &&AuditedSentence| s.verdict != Verdict::Unsupported;
        let text = with_citations(audit.iter().filter(is_supported));
        if !text.is_empty() {
            return Ok(AuditedAnswer { text, answered: true, audit });
        }
        let nearest = self.nearest(question, context).await?;
        let nearest = nearest.filter(|nearest| nearest.p_present >= MIN_RELATED_PROBABILITY);
        let is_answer = |nearest: &NearestWindow<'_>| {
            let doubted = is_doubtful && nearest.said[0].is_language();
            nearest.fits
                && nearest.p_present >= MIN_ANSWER_PROBABILITY
                && !doubted
                && nearest.said[0].may_answer(question)
        };
        let answered = self.llm.is_extractive() && nearest.as_ref().is_some_and(is_answer);
        let mut sentences: Vec<AuditedSentence> = match &nearest {
            Some(nearest) if answered => {
                nearest.said.iter().map(|said| quote(said, question, form)).collect()
            }
            nearest => {
                let nearest =
                    nearest.as_ref().map(|nearest| quote(&nearest.said[0], question, form));
                refusal(NO_ANSWER, nearest, context)
            }
        };
        if answered {
            self.add_footage_time(question, &mut sentences).await?;
        }
        let text = with_citations(&sentences);
        audit.extend(sentences);
        Ok(AuditedAnswer { text, answered, audit })
    }

    /// Says that no moment answers the question, because the videos lack what it names, and cites the
    /// nearest moment if it is related to the question.
    async fn refuse_names(
        &self,
        names: &[String],
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
    ) -> Result<AuditedAnswer> {
        let nearest = self.nearest(question, context).await?;
        let nearest = nearest.filter(|nearest| nearest.p_present >= MIN_RELATED_PROBABILITY);
        let nearest = nearest.map(|nearest| quote(&nearest.said[0], question, form));
        let names = join_list(names, "or");
        let reason = format!("{NO_ANSWER}: nothing is said or shown about {names}");
        let audit = refusal(&reason, nearest, &[]);
        Ok(AuditedAnswer { text: with_citations(&audit), answered: false, audit })
    }

    /// Re-ranks the sentences that an extractive model has chosen, together with other sentences in
    /// the evidence. The most probable sentence comes first. Marks sentences that do not answer the
    /// question as unsupported. Also returns whether it is doubtful that anything answers the
    /// question.
    async fn rerank_sentences(
        &self,
        audit: Vec<AuditedSentence>,
        cited: &[(&str, Vec<&Evidence>)],
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
    ) -> Result<(Vec<AuditedSentence>, bool)> {
        if !self.llm.is_extractive() {
            return Ok((audit, false));
        }
        let likely =
            |cited: &[&Evidence]| cited.iter().filter_map(|e| e.p_present).reduce(f32::max);
        let chosen: Vec<(&str, Option<f32>)> =
            cited.iter().map(|(sentence, cited)| (*sentence, likely(cited))).collect();
        let Some(reading) = self.score_evidence(question, context, &chosen).await? else {
            return Ok((audit, false));
        };
        let sure = if reading.is_topic { MIN_TOPIC_OVERLAP } else { MIN_ANSWER_PROBABILITY };
        let worth = (MIN_SHARE_OF_BEST * reading.best_score()).max(sure);
        let answers = reading.answers(worth, MAX_ADDED_SENTENCES);
        let min_probability = if answers.is_empty() { MIN_UNREFUTED_PROBABILITY } else { worth };
        let mut scored: Vec<(f32, AuditedSentence)> =
            reading.text_scores.iter().copied().zip(audit).collect();
        for ((score, sentence), (_, cited)) in scored.iter_mut().zip(cited) {
            let of_moments = cited.iter().any(|evidence| evidence.topic.is_none());
            let is_read = cited.iter().all(|evidence| is_language(evidence));
            let min_probability = match () {
                // Text about a whole video contains words that match many questions.
                () if !of_moments => worth,
                () if is_read || reading.is_topic => min_probability,
                () => 0.0,
            };
            // Rows of tables are chosen by the question's words, below.
            let is_answer = !quotes_row(&sentence.sentence, context)
                && may_answer(question, &sentence.sentence, cited)
                && !quotes_question(question, &sentence.sentence, context);
            if *score < min_probability || !is_answer {
                sentence.verdict = Verdict::Unsupported;
            }
        }
        for answer in answers {
            for said in &answer.said {
                let has_it = |given: &AuditedSentence| {
                    given.verdict != Verdict::Unsupported && quotes(&given.sentence, said.text())
                };
                match scored.iter_mut().find(|(_, given)| has_it(given)) {
                    // A continuation must not come before the sentence that it continues.
                    Some((score, _)) => *score = score.max(answer.score),
                    None => scored.push((answer.score, quote(said, question, form))),
                }
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let audit = scored.into_iter().map(|(_, sentence)| sentence).collect();
        let audit = without_repetitions(audit);
        Ok((audit, !reading.is_topic && reading.best_score() < MIN_UNREFUTED_PROBABILITY))
    }
}

/// Whether the cited moments match a specific question only by chance. This is assumed if all cited
/// moments are improbable, since a few common words occur everywhere.
fn is_chance_match(question: &str, cited: &[&Evidence]) -> bool {
    // An answer need not repeat the question's subject, but the subject of a search must occur.
    let min_probability =
        if is_question(question) { MIN_RELATED_PROBABILITY } else { MIN_ANSWER_PROBABILITY };
    let unlikely = |e: &&Evidence| e.p_present.is_some_and(|p| p < min_probability);
    !cited.is_empty() && cited.iter().all(unlikely) && !content_words(question).is_empty()
}

/// Collects the evidence that a sentence cites, without duplicates. Ignores ids that are not in the
/// context. Replaces a moment with a shorter one within it if the shorter one also supports the
/// sentence.
fn citations<'a>(sentence: &str, ids: &[String], context: &[&'a Evidence]) -> Vec<&'a Evidence> {
    let mut cited: Vec<&Evidence> = Vec::new();
    for id in ids {
        let number: Option<usize> = id.trim().strip_prefix('p').and_then(|n| n.parse().ok());
        let Some(named) = number.and_then(|n| context.get(n.checked_sub(1)?)) else { continue };
        let length = |e: &Evidence| e.span.end - e.span.start;
        let narrowest = context
            .iter()
            .filter(|e| e.is_within(named) && length(e) < length(named))
            .filter(|e| supports_by_words(sentence, e.cited()))
            .min_by(|a, b| length(a).total_cmp(&length(b)))
            .unwrap_or(named);
        if !cited.iter().any(|e| e.video_id == narrowest.video_id && e.span == narrowest.span) {
            cited.push(narrowest);
        }
    }
    // If some moments support the sentence on their own, the others are not needed.
    let alone = |e: &&Evidence| supports_by_words(sentence, e.cited());
    if cited.iter().any(alone) {
        cited.retain(alone);
        // For a sentence that spans adjacent moments, only the first moment is cited.
        let whole = cited.clone();
        let continues = |e: &Evidence| {
            whole.iter().any(|before| before.video_id == e.video_id && adjoins(before, e))
        };
        cited.retain(|e| !continues(e));
    }
    cited
}

/// Whether `next` begins where `before` ends.
fn adjoins(before: &Evidence, next: &Evidence) -> bool {
    before.span.start < next.span.start
        && (next.span.start - before.span.end).abs() < TIME_TOLERANCE
}

/// Builds the claim of a sentence, with all evidence within the moments that the sentence cites.
fn claim<'a>(
    sentence: &'a str,
    cited: &[&Evidence],
    context: &[&'a Evidence],
) -> SentenceClaim<'a> {
    let inside = |e: &&&Evidence| cited.iter().any(|cited| e.is_within(cited));
    SentenceClaim {
        sentence,
        cited: context.iter().filter(inside).map(|e| e.cited()).collect(),
        times: cited.iter().flat_map(|e| e.spans()).flat_map(|s| [s.start, s.end]).collect(),
    }
}

/// Removes text in square brackets, since only checked citations may appear.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let kept: String = text
        .chars()
        .filter(|c| {
            match c {
                '[' => depth += 1,
                ']' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answering::context::tests::piece;

    #[test]
    fn only_citations_from_the_context_survive() {
        let hello = piece(3.0, 6.12, "Hello.");
        let context = [&hello];
        let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
        assert_eq!(citations("Hello.", &ids(&["p1", "p9", "p1"]), &context), [&hello]);
        assert_eq!(citations("Hello.", &ids(&["p2", "p0", "x"]), &context), [] as [&Evidence; 0]);
        assert_eq!(CitationForm::Seconds.cite(&hello), "[00ff00ff00ff00ff 3-6.12s]");
        assert_eq!(CitationForm::Plain.cite(&hello), "[00ff00ff00ff00ff 3-6.12]");
        assert_eq!(without_brackets("He says hello [p1]."), "He says hello.");
    }

    #[test]
    fn the_shortest_supporting_moment_is_cited() {
        let whole = piece(0.0, 60.0, "A dog runs. Then a man sings.");
        let chapter = piece(0.0, 30.0, "A dog runs.");
        let chunk = piece(10.0, 20.0, "A dog runs on the beach.");
        let other = piece(20.0, 30.0, "A man sings.");
        let context = [&whole, &chapter, &chunk, &other];
        let ids = ["p1".to_owned()];
        assert_eq!(citations("A dog runs.", &ids, &context), [&chunk]);
        assert_eq!(citations("A man sings.", &ids, &context), [&other]);
        assert_eq!(citations("A man sings to a dog.", &ids, &context), [&whole]);
    }

    #[test]
    fn text_on_screen_across_a_chunk_boundary_is_cited_once() {
        let sentence = "On screen: “Fish soup for 60”.";
        let [first, second, later] = [(10.0, 20.0), (20.0, 30.0), (40.0, 50.0)]
            .map(|(start, end)| piece(start, end, sentence));
        let context = [&first, &second, &later];
        let ids = ["p1", "p2", "p3"].map(str::to_owned);
        assert_eq!(citations(sentence, &ids, &context), [&first, &later]);
    }
}
