//! An extractive language model, which selects sentences instead of generating text. It is
//! deterministic and needs neither model weights nor a network connection. It returns only what the
//! passages contain. If they contain no answer, it returns none.

mod account;
mod answer;
mod corpus;
mod events;
mod extract;
mod nouns;
mod phrases;
mod question;
mod rank;
mod speakers;

use async_trait::async_trait;
use ports::llm::{Completion, LanguageModel, Narrative, Request, Summary, Task, Title, Usage};
use ports::{ErrorKind, PortError, Result};
use serde::Serialize;
use serde_json::Value;

use corpus::Corpus;

/// Limits per request.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractiveOptions {
    /// Maximum number of passage tokens, at six bytes per token. A larger request yields
    /// `TooLarge`.
    pub context_tokens: usize,
    /// Maximum number of sentences to compare with each other, because the comparison takes
    /// quadratic time. If there are more sentences, only the most informative ones are compared.
    pub max_sentences: usize,
}

impl Default for ExtractiveOptions {
    /// Returns the defaults of `[llm]`.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

/// A model that writes summaries and titles, and finds events and evidence, by selecting from the
/// passages.
#[derive(Debug, Clone, Default)]
pub struct Extractive {
    options: ExtractiveOptions,
}

/// Maximum number of sentences in a summary.
const SUMMARY_SENTENCES: usize = 5;
const KEY_POINTS: usize = 5;
const TOPICS: usize = 6;
const NARRATIVE_SENTENCES: usize = 4;

impl Extractive {
    /// Creates the model. There is nothing to load.
    pub fn new(options: ExtractiveOptions) -> Self {
        Self { options }
    }

    fn answer(&self, request: &Request) -> Result<Value> {
        let corpus = Corpus::read(&request.passages);
        let question = request.question.as_deref().unwrap_or_default();
        match request.task {
            Task::Describe | Task::Persons => Err(PortError::new(
                ErrorKind::Invalid,
                "an extractive model sees no pictures; describing them takes a vision model",
            )),
            Task::Summarize => json(&self.summary(&corpus)),
            Task::Title => json(&Title { title: phrases::title(&corpus) }),
            Task::Events => json(&events::find(&corpus)),
            Task::Answer => json(&answer::find(&corpus, question, self.options.max_sentences)),
            Task::Narrate => json(&self.narrative(&corpus, question)),
            Task::Extract => json(&extract::find(&request.passages, &request.fields)),
        }
    }

    fn summary(&self, corpus: &Corpus) -> Summary {
        if account::is_needed(corpus) {
            let max_sentences = self.options.max_sentences;
            let summary = account::summary(corpus, max_sentences).join(" ");
            if !summary.is_empty() {
                let mut key_points = account::key_points(corpus, max_sentences, KEY_POINTS);
                // A single statement is the summary already.
                key_points.retain(|point| *point != summary);
                return Summary { summary, key_points, topics: phrases::topics(corpus, TOPICS) };
            }
        }
        let ranking = rank::rank(corpus, self.options.max_sentences, |_| true);
        let length = (corpus.distinct() as f64).sqrt().ceil() as usize;
        let mut chosen = ranking.best(length.clamp(1, SUMMARY_SENTENCES));
        let key_points = ranking
            .best(KEY_POINTS.min(corpus.distinct().div_ceil(2).max(length)))
            .into_iter()
            .map(|at| corpus.quoted(at))
            .collect();
        chosen.sort_unstable();
        Summary {
            summary: corpus.prose(&chosen),
            key_points,
            topics: phrases::topics(corpus, TOPICS),
        }
    }

    /// Returns the most informative sentences about `subject`, in order. If no sentence mentions
    /// it, selects from all sentences.
    fn narrative(&self, corpus: &Corpus, subject: &str) -> Narrative {
        let subject = corpus::content_stems(subject);
        let about =
            |at: usize| corpus.sentences[at].stems.iter().any(|stem| subject.contains(stem));
        let named = (0..corpus.sentences.len()).any(about);
        let ranking = rank::rank(corpus, self.options.max_sentences, |at| !named || about(at));
        let mut chosen = ranking.best(NARRATIVE_SENTENCES);
        chosen.sort_unstable();
        Narrative { narrative: corpus.prose(&chosen) }
    }
}

fn json(answer: &impl Serialize) -> Result<Value> {
    serde_json::to_value(answer)
        .map_err(|e| PortError::caused_by(ErrorKind::Other, "cannot write the answer", e))
}

#[async_trait]
impl LanguageModel for Extractive {
    fn model(&self) -> &str {
        "extractive-v4"
    }

    fn supports_images(&self) -> bool {
        false
    }

    fn is_billed(&self) -> bool {
        false
    }

    fn is_extractive(&self) -> bool {
        true
    }

    fn context_tokens(&self) -> usize {
        self.options.context_tokens
    }

    async fn complete(&self, request: &Request) -> Result<Completion> {
        let tokens = request.passages.iter().map(|passage| passage.text.len()).sum::<usize>() / 6;
        if tokens > self.options.context_tokens {
            return Err(PortError::new(
                ErrorKind::TooLarge,
                format!(
                    "the passages take about {tokens} tokens; {} fit into one request",
                    self.options.context_tokens
                ),
            ));
        }
        let (this, request) = (self.clone(), request.clone());
        let answer =
            tokio::task::spawn_blocking(move || this.answer(&request)).await.map_err(|e| {
                PortError::caused_by(ErrorKind::Other, "reading the passages was interrupted", e)
            })??;
        Ok(Completion { answer, usage: Usage { calls: 1, ..Usage::default() } })
    }
}

#[cfg(test)]
mod tests;
