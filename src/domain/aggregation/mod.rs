//! The [`Aggregator`] trait and the list of aggregators, in order of dependency.
//!
//! To add an aggregator, write its file in `aggregators` and add it to [`AGGREGATORS`]. `/schema`,
//! request validation and the order of execution all follow from that list.

pub(crate) mod aggregators;
pub mod entity;
mod linking;
mod overview;
pub mod result;
pub mod run;
mod summarize;
#[cfg(test)]
pub(crate) mod testing;
mod topics;
pub(crate) mod turns;

use std::future::Future;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use ports::llm::{Passage, PassageKind, TaskAnswer, VideoSpan};
use ports::ner::EntityRecognizer;
use ports::sentiment::SentimentClassifier;
use serde_json::Value;

use crate::analysis::chunk_text::ChunkText;
use crate::analysis::output::Statement;
use crate::analysis::presentation::Presentation;
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::llm::memoised::MemoisedModel;
use crate::llm::structured::{Prompt, StructuredOutput};
use aggregators::{
    chapters, cooccurrence, entities, entity_timelines, events, ner, novelty, object_entities,
    sentiment, speaker_stats, stats, summary,
};
use result::{Aggregate, Results, UnknownAggregate, result_of};

/// The static properties of an aggregator.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregatorSpec {
    /// The id in requests and stored records.
    pub id: &'static str,
    /// The analyzers and earlier aggregators that this aggregator requires. The aggregator is
    /// skipped if any of them is missing.
    pub depends_on: &'static [&'static str],
    /// Whether this aggregator may make billed calls to the language model.
    pub uses_llm: bool,
    /// The kinds of question that the result answers. Questions are routed by their similarity to
    /// this text.
    pub answers: &'static str,
    /// The name on a page, in English.
    pub label: &'static str,
    /// How a page shows its result.
    pub presentation: Presentation,
}

/// The input of an aggregator.
pub struct AggregatorInput<'a> {
    /// The language model. Its answers are memoized for the duration of the run.
    pub(crate) model: &'a MemoisedModel<'a>,
    /// The sentiment classifier, if configured.
    pub sentiment: Option<&'a dyn SentimentClassifier>,
    /// The named-entity recognizer, if configured.
    pub ner: Option<&'a dyn EntityRecognizer>,
    /// The analyzed video.
    pub video: &'a AnalyzedVideo,
    /// The analyzers that have statements.
    pub based_on: &'a [String],
    /// The merged statements of each chunk.
    pub texts: &'a [ChunkText],
    /// The `combined` vectors of the chunks. They come from the analyzer with the best evidence
    /// rank.
    pub vectors: &'a ChunkVectors,
    /// The results of earlier aggregators, by id.
    pub results: &'a Results,
}

impl AggregatorInput<'_> {
    /// Returns the result of an aggregator that this aggregator depends on, or `Corrupt` if it is
    /// missing.
    pub fn result<T: 'static>(&self, id: &str) -> Result<&T> {
        let result = self.results.get(id).and_then(|result| result_of(result.as_ref()));
        result.ok_or_else(|| Error::corrupt(format!("the aggregate {id} to build on is missing")))
    }

    /// Calls the language model. Only aggregators with `uses_llm` may do so. Answers are memoized,
    /// so that repeating a prompt costs nothing.
    pub async fn ask<T: TaskAnswer>(&self, prompt: Prompt) -> Result<T> {
        self.model.complete_as(prompt).await
    }

    /// Returns approximately how many tokens of passages fit into one call of [`Self::ask`].
    pub fn context_tokens(&self) -> usize {
        self.model.context_tokens()
    }
}

/// The embeddings of a video's chunks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChunkVectors {
    /// The analyzer whose output was embedded.
    pub analyzer: String,
    /// The name of the embedding model.
    pub model: String,
    /// The embeddings, indexed by chunk id; `None` for chunks without a vector.
    pub vectors: Vec<Option<Vec<f32>>>,
}

/// Computes one video-level result.
#[async_trait]
pub trait Aggregator: Send + Sync {
    /// Returns the static properties.
    fn spec(&self) -> &'static AggregatorSpec;

    /// Computes the result from the analyzer outputs for the chunks.
    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate>;

    /// Returns the JSON schema of the result, usually by calling
    /// [`json_schema`](crate::kernel::schema::json_schema) with the result type.
    fn schema(&self) -> Value;

    /// Deserializes a stored result, usually by calling [`result::read`] with the result type.
    fn read(&self, stored: Value) -> Result<Aggregate>;
}

/// All built-in aggregators, dependencies first, in the order in which the API lists them.
pub const AGGREGATORS: &[&dyn Aggregator] = &[
    &stats::StatsAggregator,
    &novelty::NoveltyAggregator,
    &speaker_stats::SpeakerStatsAggregator,
    &sentiment::SentimentAggregator,
    &ner::NerAggregator,
    &summary::SummaryAggregator,
    &chapters::ChaptersAggregator,
    &events::EventsAggregator,
    &entities::EntitiesAggregator,
    &entity_timelines::EntityTimelinesAggregator,
    &cooccurrence::CooccurrenceAggregator,
    &object_entities::ObjectEntitiesAggregator,
];

/// The registry of aggregators, dependencies first.
#[derive(Clone)]
pub struct Aggregators(Vec<&'static dyn Aggregator>);

impl Default for Aggregators {
    fn default() -> Self {
        Self(AGGREGATORS.to_vec())
    }
}

impl Aggregators {
    /// Adds an aggregator, which may depend on those already in the registry.
    #[must_use]
    pub fn with(mut self, aggregator: &'static dyn Aggregator) -> Self {
        self.0.push(aggregator);
        self
    }

    /// Returns all aggregators.
    pub fn all(&self) -> &[&'static dyn Aggregator] {
        &self.0
    }

    /// Returns the static properties of each aggregator.
    pub fn specs(&self) -> impl DoubleEndedIterator<Item = &'static AggregatorSpec> {
        self.0.iter().map(|a| a.spec())
    }

    /// Returns the ids of all aggregators.
    pub fn ids(&self) -> Vec<String> {
        self.specs().map(|spec| spec.id.to_owned()).collect()
    }

    /// Finds the aggregator with this id.
    pub fn find(&self, id: &str) -> Option<&'static dyn Aggregator> {
        self.0.iter().copied().find(|a| a.spec().id == id)
    }

    /// Returns the selected aggregators, or all of them if there is no selection. If an id is
    /// unknown, the `Invalid` error lists the known ids.
    pub fn select(&self, selection: Option<&[String]>) -> Result<Vec<&'static dyn Aggregator>> {
        let Some(selection) = selection else { return Ok(self.0.clone()) };
        if let Some(id) = selection.iter().find(|id| self.find(id).is_none()) {
            return Err(Error::Invalid(format!(
                "unknown aggregator '{id}'; available: {}",
                comma_separated(&self.ids())
            )));
        }
        let selected = |a: &&dyn Aggregator| selection.iter().any(|id| id == a.spec().id);
        Ok(self.0.iter().copied().filter(selected).collect())
    }

    /// Sorts ids into the order of the aggregators, with unknown ids last.
    pub fn in_order<'a>(&self, stored: impl Iterator<Item = &'a String>) -> Vec<String> {
        let mut stored: Vec<String> = stored.cloned().collect();
        stored.sort_by_key(|id| self.specs().position(|spec| spec.id == id).unwrap_or(usize::MAX));
        stored
    }

    /// Deserializes a stored result. The result of an unknown aggregator becomes
    /// [`UnknownAggregate`].
    pub fn read(&self, id: &str, stored: Value) -> Result<Aggregate> {
        match self.find(id) {
            Some(aggregator) => aggregator.read(stored),
            None => result::read::<UnknownAggregate>(stored),
        }
    }
}

/// Maximum number of concurrent calls to the model.
const MAX_CONCURRENT: usize = 4;

/// Runs futures concurrently and returns their results in order. After a failure, the other futures
/// are still awaited, because their model calls are paid for and memoized.
async fn try_each<T>(
    futures: impl IntoIterator<Item = impl Future<Output = Result<T>>>,
) -> Result<Vec<T>> {
    let results: Vec<Result<T>> = stream::iter(futures).buffered(MAX_CONCURRENT).collect().await;
    results.into_iter().collect()
}

/// Turns the statements of chunks into passages. Consecutive statements with the same analyzer,
/// kind and speaker form one passage. [`chunk_of`] parses the ids of these passages.
fn chunk_passages(texts: &[ChunkText]) -> Vec<Passage> {
    let mut passages = Vec::new();
    for chunk in texts {
        let same_source = |a: &Statement, b: &Statement| a.kind == b.kind && a.speaker == b.speaker;
        let runs = chunk
            .statements_by_analyzer
            .iter()
            .flat_map(|statements| statements.chunk_by(same_source));
        for (n, run) in runs.enumerate() {
            let texts: Vec<&str> = run.iter().map(|statement| statement.text.as_str()).collect();
            let separator = match run[0].kind {
                PassageKind::Screen => "; ",
                PassageKind::Speech | PassageKind::Row => "\n",
                _ => " ",
            };
            passages.push(Passage {
                moment: moment(chunk.span),
                speaker: run[0].speaker.clone(),
                doubtful: if run[0].kind == PassageKind::Speech {
                    chunk.doubtful.clone()
                } else {
                    Vec::new()
                },
                ..Passage::new(passage_id(chunk.chunk_id, n), run[0].kind, texts.join(separator))
            });
        }
    }
    passages
}

/// Returns the id of a passage, which is the chunk id. For all but the first passage of the chunk,
/// a dot and a number follow.
fn passage_id(chunk: ChunkId, number: usize) -> String {
    match number {
        0 => chunk.to_string(),
        _ => format!("{chunk}.{number}"),
    }
}

/// Returns the chunk that a passage from [`chunk_passages`] belongs to.
fn chunk_of(passage_id: &str) -> Option<ChunkId> {
    let id = passage_id.trim();
    id.split_once('.').map_or(id, |(chunk, _)| chunk).parse().ok().map(ChunkId)
}

/// Returns a moment of the aggregated video.
fn moment(span: Span) -> Option<VideoSpan> {
    Some(VideoSpan { video_id: None, start: span.start, end: span.end })
}

/// Returns the kind of a summary of passages: `Scene` if all passages are measurements, and `Prose`
/// otherwise.
fn kind_of(passages: &[Passage]) -> PassageKind {
    let measured = passages.iter().all(|passage| passage.kind == PassageKind::Scene);
    if measured { PassageKind::Scene } else { PassageKind::Prose }
}

/// Splits passages into consecutive batches that each fit the model's context.
fn batches(input: &AggregatorInput<'_>, passages: Vec<Passage>) -> Vec<Vec<Passage>> {
    const CHARACTERS_PER_TOKEN: usize = 4;
    /// Number of characters that the id, kind and time add to a passage in the prompt.
    const HEADING: usize = 40;
    let budget = input.context_tokens().max(256) * CHARACTERS_PER_TOKEN;
    let mut batches: Vec<Vec<Passage>> = Vec::new();
    let mut used = usize::MAX;
    for mut passage in passages {
        // A passage longer than the context is truncated.
        if passage.text.len() > budget {
            passage.text = passage.text.chars().take(budget / 2).collect();
        }
        let topic = passage.topic.as_ref().map_or(0, String::len);
        let size = passage.text.len() + topic + HEADING;
        if used.saturating_add(size) > budget {
            batches.push(Vec::new());
            used = 0;
        }
        used += size;
        if let Some(batch) = batches.last_mut() {
            batch.push(passage);
        }
    }
    batches
}

/// Returns the prefix of a video id with which entity ids begin.
fn prefix(video_id: &VideoId) -> &str {
    &video_id.as_str()[..8]
}

/// Rounds a share or a distance to four decimals.
fn round4(value: f64) -> f64 {
    // Adding zero turns −0.0 into 0.0.
    (value * 10_000.0).round() / 10_000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyzers;

    #[test]
    fn aggregators_are_in_api_order_after_their_dependencies() {
        let contract = "stats novelty speaker_stats sentiment ner summary chapters events entities \
                        entity_timelines cooccurrence object_entities";
        assert_eq!(Aggregators::default().ids().join(" "), contract);
        for (place, aggregator) in AGGREGATORS.iter().enumerate() {
            for id in aggregator.spec().depends_on {
                let needed = AGGREGATORS.iter().position(|a| a.spec().id == *id);
                assert!(needed.is_none_or(|needed| needed < place), "{id}");
            }
        }
    }

    #[test]
    fn screen_text_of_two_analyzers_becomes_two_passages() {
        use crate::aggregation::testing::{output, video};
        use crate::analysis::analyzers::{default_video, ocr};
        use crate::analysis::chunk_text::chunk_texts;
        use serde_json::json;

        const SHOWN: &str = "A dark picture in blue, still. Text on screen: A frame.";
        let video = video(10.0, 1)
            .with(default_video::ID, vec![output(json!({"description": SHOWN}))])
            .with(ocr::ID, vec![output(json!({"text": "A frame\n1\n5"}))]);
        let passages = chunk_passages(&chunk_texts(&video, &Analyzers::default()));
        let summary: Vec<_> =
            passages.iter().map(|p| (p.id.as_str(), p.kind, p.text.as_str())).collect();
        let expected = [
            ("0", PassageKind::Scene, "A dark picture in blue, still."),
            ("0.1", PassageKind::Screen, "A frame"),
            ("0.2", PassageKind::Screen, "1; 5"),
        ];
        assert_eq!(summary, expected);
    }
}
