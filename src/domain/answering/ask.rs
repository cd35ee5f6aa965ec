//! Question answering (`/ask`) over segments and aggregates.

use std::collections::BTreeMap;

use futures::channel::mpsc::UnboundedSender;
use ports::llm::TokenSink;
use serde::{Deserialize, Serialize};

use crate::answering::Answering;
use crate::answering::answer::AnswerAttempt;
use crate::answering::answer::comparison::question_of_each;
use crate::answering::audit::AuditedSentence;
use crate::answering::citations::CitationForm;
use crate::answering::context::{Evidence, VideoContext, select_evidence};
use crate::answering::facts::{self, FactAnswer};
use crate::answering::retrieve::Retrieval;
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::verdict::Verdict;
use crate::kernel::video::VideoId;
use crate::search::SearchResult;

pub use super::context::AnswerSources;
pub use super::question::{DEFAULT_LIMIT, Question};

/// Limits for question answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AskSettings {
    /// Maximum number of tokens of evidence for one answer.
    pub context_tokens: u32,
    /// Maximum number of supporting segments for one answer, over all videos. If the question's
    /// `limit` per video would exceed this number, only the most probable videos are used.
    pub max_segments: usize,
    /// Maximum number of chunks whose stored outputs are read to answer one question about facts,
    /// such as when something first appears. Videos beyond this number are not read.
    pub max_fact_chunks: u32,
}

impl Default for AskSettings {
    fn default() -> Self {
        Self { context_tokens: 6000, max_segments: 1200, max_fact_chunks: 10_000 }
    }
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, PartialEq)]
pub struct AskResponse {
    /// The question as asked.
    pub question: String,
    /// The answer, whose sentences cite moments; `None` if there is none.
    pub answer: Option<String>,
    /// Whether `answer` answers the question; `None` if there is no answer.
    pub answered: Option<bool>,
    /// The citation audit of each sentence, including omitted ones.
    pub audit: Vec<AuditedSentence>,
    /// `TypeName: message` if writing the answer failed.
    pub answer_error: Option<String>,
    /// Sources of the answer, by video id.
    pub sources: BTreeMap<VideoId, AnswerSources>,
    /// Supporting segments.
    pub results: Vec<SearchResult>,
    /// Why there is no evidence; `None` if there is some. The text is part of the API contract.
    pub error: Option<String>,
}

/// The events of a streamed answer, in the order in which they are sent.
#[derive(Debug, Clone, PartialEq)]
pub enum AskEvent {
    /// The supporting segments.
    Moments(Vec<SearchResult>),
    /// Unchecked text, as the model generates it. The first piece begins the answer. The model may
    /// later begin the answer again.
    Piece {
        /// Text that continues the previous piece.
        text: String,
        /// Whether this piece begins the answer, in which case earlier pieces are discarded.
        begins: bool,
    },
    /// A checked sentence of the answer.
    Sentence(AuditedSentence),
    /// The complete answer.
    Answer(Box<AskResponse>),
}

/// What an answer is written from.
#[derive(Clone, Copy)]
struct AnswerDraft<'a> {
    /// The question, or what a comparison asks of each video.
    question: &'a str,
    /// Whether the question compares videos.
    compares: bool,
    /// The evidence.
    kept: &'a [&'a Evidence],
    /// The stored facts.
    facts: &'a FactAnswer,
}

/// Receives the events of a streamed answer.
pub(crate) type EventSink = UnboundedSender<Result<AskEvent>>;

/// Forwards the model's tokens as [`AskEvent::Piece`].
fn token_sink(events: &EventSink) -> TokenSink {
    let events = events.clone();
    TokenSink::new(move |text, begins| {
        // A client that has disconnected is not an error.
        let _ = events.unbounded_send(Ok(AskEvent::Piece { text: text.to_owned(), begins }));
    })
}

impl Answering {
    /// Answers a question from the videos that the caller can see.
    pub async fn ask(&self, access: &Access, question: Question) -> Result<AskResponse> {
        self.ask_stream(access, question, None).await
    }

    /// Answers a question as [`Self::ask`] does and sends events to `events`. A client that has
    /// disconnected is not an error.
    pub(crate) async fn ask_stream(
        &self,
        access: &Access,
        question: Question,
        events: Option<&EventSink>,
    ) -> Result<AskResponse> {
        if let Some(reason) = self.reason_for_no_answer(access, &question).await? {
            return Ok(empty_response(question.question, reason));
        }
        let (asked, compares) = self.asked_of_videos(&question);
        let vector = self.search.embedder.embed_question(&asked.question).await?;
        let retrieval = Retrieval::new(self, access, &asked, &vector).await?;
        let records = self.records.find_all(&retrieval.videos().await?).await?;
        let has_output = |id: &String| records.iter().any(|r| r.analyzers.contains_key(id));
        if question.analyzer.as_ref().is_some_and(|id| !has_output(id)) {
            return Ok(empty_response(question.question, NOTHING_INDEXED));
        }
        let mut contexts = retrieval.segments(&records).await?;
        contexts.sort_by(|a, b| b.best_score().total_cmp(&a.best_score()));
        let mut facts = FactAnswer::default();
        // Aggregates and facts cover the whole video, so they are not consulted for requested
        // moments. Facts are not filtered, so they are not consulted for filtered chunks either.
        if !retrieval.is_limited_to_moments() {
            self.consult_aggregates(&mut contexts, &vector).await?;
            if !retrieval.filters_chunks()? {
                facts = self.find_facts(&asked.question, &contexts).await?;
            }
        }
        let mut evidence = select_evidence(&mut contexts, &asked.question);
        if contexts.is_empty() {
            return Ok(empty_response(question.question, NOTHING_INDEXED));
        }
        if !self.llm.is_extractive() {
            evidence.splice(0..0, facts.evidence());
        }
        let kept = self.context(&evidence);
        let draft = AnswerDraft { question: &asked.question, compares, kept: &kept, facts: &facts };
        let answer = self.write_answer(&draft, &contexts, events).await;
        let mut sources = BTreeMap::new();
        let mut results = Vec::new();
        for context in contexts {
            let mut used = context.sources(&kept);
            used.add(facts::SOURCE, facts.count(context.record.video_id));
            sources.insert(context.record.video_id, used);
            results.extend(context.results);
        }
        Ok(AskResponse {
            question: question.question,
            answered: answer.text.is_some().then_some(answer.answered),
            answer: answer.text,
            audit: answer.audit,
            answer_error: answer.error,
            sources,
            results,
            error: None,
        })
    }

    /// Returns the question that is asked of each video, and whether the question compares them. A
    /// language model compares videos by itself.
    fn asked_of_videos(&self, question: &Question) -> (Question, bool) {
        let of_each = question_of_each(&question.question).filter(|_| self.llm.is_extractive());
        match of_each {
            Some(of_each) => (Question { question: of_each, ..question.clone() }, true),
            None => (question.clone(), false),
        }
    }

    /// Checks, before any search, whether the question can be answered. Returns the reason if there
    /// is nothing to answer from. Returns `Invalid` for an unknown analyzer, and `Unprocessable`
    /// for a question that is too long.
    async fn reason_for_no_answer(
        &self,
        access: &Access,
        question: &Question,
    ) -> Result<Option<&'static str>> {
        self.search.embedder.check_length("question", &question.question)?;
        if let Some(id) = &question.analyzer {
            self.extractors.load_if_unknown(id).await?;
            self.analyzers.find(&self.models, id)?;
        }
        let names_videos = question.video_ids.as_ref().is_some_and(|ids| !ids.is_empty());
        let is_empty = !names_videos && self.listing.count(access).await? == 0;
        Ok(is_empty.then_some("No videos ingested."))
    }

    /// Writes the answer and sends its moments, text pieces and sentences to `events`.
    async fn write_answer(
        &self,
        draft: &AnswerDraft<'_>,
        contexts: &[VideoContext<'_>],
        events: Option<&EventSink>,
    ) -> AnswerAttempt {
        let AnswerDraft { question, compares, kept, facts } = *draft;
        if let Some(events) = events {
            let results = contexts.iter().flat_map(|context| context.results.iter().cloned());
            let _ = events.unbounded_send(Ok(AskEvent::Moments(results.collect())));
        }
        let form = CitationForm::Plain;
        let from_facts = self.llm.is_extractive() && facts.is_final();
        let of_each = match compares && !from_facts {
            true => self.answer_each(question, contexts, kept, form).await,
            false => None,
        };
        let mut answer = match of_each {
            Some(answer) => answer,
            None if from_facts => self.answer_from_facts(facts, form).await,
            None => {
                let sink = events.map(token_sink).unwrap_or_default();
                self.attempt_answer(question, kept, form, sink).await
            }
        };
        if self.llm.is_extractive() {
            facts.explain(&mut answer);
        }
        let Some(events) = events else { return answer };
        for sentence in answer.audit.iter().filter(|one| one.verdict != Verdict::Unsupported) {
            let _ = events.unbounded_send(Ok(AskEvent::Sentence(sentence.clone())));
        }
        answer
    }
}

/// The reason returned if nothing is indexed; the text is part of the API contract.
const NOTHING_INDEXED: &str = "Nothing indexed for the requested videos.";

fn empty_response(question: String, error: &str) -> AskResponse {
    AskResponse {
        question,
        answer: None,
        answered: None,
        audit: Vec::new(),
        answer_error: None,
        sources: BTreeMap::new(),
        results: Vec::new(),
        error: Some(error.into()),
    }
}
