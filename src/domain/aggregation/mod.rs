//! The aggregators: one file each and the list, in order of dependency.
//!
//! To add one, write its file, name it here as a module and in [`AGGREGATORS`]; `/schema`, request
//! checks and the order in which they run come from the list.

pub(crate) mod aggregators;
pub mod entity;
mod linking;
mod overview;
pub mod result;
pub(crate) mod run;
mod summarize;
#[cfg(test)]
mod testing;
mod topics;
mod turns;

use std::future::Future;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use ports::llm::{Moment, Passage, PassageKind, TaskAnswer};
use ports::ner::EntityRecognizer;
use ports::sentiment::SentimentClassifier;
use serde_json::Value;

use crate::domain::analysis::chunk_text::ChunkText;
use crate::domain::analysis::finding::Statement;
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::llm::ask::{Ask, Prompt};
use crate::domain::llm::memoised::Model;
use aggregators::{
    chapters, cooccurrence, entities, entity_timelines, events, ner, novelty, object_entities,
    sentiment, speaker_stats, stats, summary,
};
use result::{Aggregate, Results, Unknown, result_of};

/// What is fixed about an aggregator.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregatorSpec {
    /// What requests and stored records call it.
    pub id: &'static str,
    /// Analyzers, or aggregators listed before it, without which it is skipped.
    pub depends_on: &'static [&'static str],
    /// Whether it may bill model calls.
    pub uses_llm: bool,
    /// The kind of question its result answers; questions are routed by likeness to it.
    pub answers: &'static str,
}

/// What an aggregator reads.
pub struct Input<'a> {
    /// The language model, as this run knows it.
    pub(crate) model: &'a Model<'a>,
    /// What tells the sentiment of language.
    pub sentiment: Option<&'a dyn SentimentClassifier>,
    /// What finds named entities.
    pub ner: Option<&'a dyn EntityRecognizer>,
    /// The analyzed video.
    pub video: &'a AnalyzedVideo,
    /// The analyzers whose output has text.
    pub based_on: &'a [String],
    /// What each chunk says.
    pub texts: &'a [ChunkText],
    /// The `combined` vectors of the chunks, by the analyzer preferred as evidence.
    pub vectors: &'a ChunkVectors,
    /// Results so far, by aggregator id.
    pub results: &'a Results,
}

impl Input<'_> {
    /// The result of an aggregator that this one depends on.
    pub fn result<T: 'static>(&self, id: &str) -> Result<&T> {
        let result = self.results.get(id).and_then(|result| result_of(result.as_ref()));
        result.ok_or_else(|| Error::corrupt(format!("the aggregate {id} to build on is missing")))
    }

    /// What the language model answers. Only for an aggregator whose spec says that it uses one; a
    /// question that was answered before is not asked again.
    pub async fn ask<T: TaskAnswer>(&self, prompt: Prompt) -> Result<T> {
        self.model.ask(prompt).await
    }

    /// About how many tokens of passages fit into one request of [`Self::ask`].
    pub fn context_tokens(&self) -> usize {
        self.model.context_tokens()
    }
}

/// One vector per chunk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChunkVectors {
    /// The analyzer whose vectors these are.
    pub analyzer: String,
    /// The embedding model.
    pub model: String,
    /// By chunk id; `None` where the chunk has none.
    pub vectors: Vec<Option<Vec<f32>>>,
}

/// Computes one video-level result.
#[async_trait]
pub trait Aggregator: Send + Sync {
    /// What is fixed about it.
    fn spec(&self) -> &'static AggregatorSpec;

    /// Computes the result from what was found in the chunks.
    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate>;

    /// The JSON schema of its result, mostly
    /// [`schema_of`](crate::domain::kernel::schema::schema_of) the type.
    fn schema(&self) -> Value;

    /// A result of its own as it was stored, mostly [`result::read`] of the type.
    fn read(&self, stored: Value) -> Result<Aggregate>;
}

/// Every aggregator, dependencies first, in the order that the contract lists them in.
pub const AGGREGATORS: &[&dyn Aggregator] = &[
    &stats::Stats,
    &novelty::Novelty,
    &speaker_stats::SpeakerStats,
    &sentiment::Sentiment,
    &ner::Ner,
    &summary::Summary,
    &chapters::Chapters,
    &events::Events,
    &entities::Entities,
    &entity_timelines::EntityTimelines,
    &cooccurrence::Cooccurrence,
    &object_entities::ObjectEntities,
];

/// The aggregators of an install, dependencies first.
#[derive(Clone)]
pub struct Aggregators(Vec<&'static dyn Aggregator>);

impl Default for Aggregators {
    fn default() -> Self {
        Self(AGGREGATORS.to_vec())
    }
}

impl Aggregators {
    /// These and one more, which may depend on them.
    #[must_use]
    pub fn and(mut self, aggregator: &'static dyn Aggregator) -> Self {
        self.0.push(aggregator);
        self
    }

    /// All of them.
    pub fn all(&self) -> &[&'static dyn Aggregator] {
        &self.0
    }

    /// What is fixed about each.
    pub fn specs(&self) -> impl DoubleEndedIterator<Item = &'static AggregatorSpec> {
        self.0.iter().map(|a| a.spec())
    }

    /// Their ids.
    pub fn ids(&self) -> Vec<String> {
        self.specs().map(|spec| spec.id.to_owned()).collect()
    }

    /// The aggregator of that id.
    pub fn find(&self, id: &str) -> Option<&'static dyn Aggregator> {
        self.0.iter().copied().find(|a| a.spec().id == id)
    }

    /// Those of a selection, all of them without one; `Invalid` lists what there is.
    pub fn select(&self, selection: Option<&[String]>) -> Result<Vec<&'static dyn Aggregator>> {
        let Some(selection) = selection else { return Ok(self.0.clone()) };
        if let Some(id) = selection.iter().find(|id| self.find(id).is_none()) {
            return Err(Error::Invalid(format!(
                "unknown aggregator '{id}'; available: {}",
                listed(&self.ids())
            )));
        }
        let selected = |a: &&dyn Aggregator| selection.iter().any(|id| id == a.spec().id);
        Ok(self.0.iter().copied().filter(selected).collect())
    }

    /// Ids in the order of the aggregators, those of none last.
    pub fn in_order<'a>(&self, stored: impl Iterator<Item = &'a String>) -> Vec<String> {
        let mut stored: Vec<String> = stored.cloned().collect();
        stored.sort_by_key(|id| self.specs().position(|spec| spec.id == id).unwrap_or(usize::MAX));
        stored
    }

    /// A stored result; one of an aggregator that this install does not have is kept as it is.
    pub fn read(&self, id: &str, stored: Value) -> Result<Aggregate> {
        match self.find(id) {
            Some(aggregator) => aggregator.read(stored),
            None => result::read::<Unknown>(stored),
        }
    }
}

/// Pieces of work with the model done at once.
const PARALLEL: usize = 4;

/// Does several pieces of work at once and returns what they come to, in order. After a failure
/// what is on its way is waited for, because it has been paid for and the model remembers it.
async fn try_each<T>(
    work: impl IntoIterator<Item = impl Future<Output = Result<T>>>,
) -> Result<Vec<T>> {
    let done: Vec<Result<T>> = stream::iter(work).buffered(PARALLEL).collect().await;
    done.into_iter().collect()
}

/// What the chunks' texts say as passages of one analyzer, kind and speaker each; [`chunk_of`] reads
/// their ids.
fn chunk_passages(texts: &[ChunkText]) -> Vec<Passage> {
    let mut passages = Vec::new();
    for chunk in texts {
        let alike = |a: &Statement, b: &Statement| a.kind == b.kind && a.speaker == b.speaker;
        let runs = chunk.told.iter().flat_map(|told| told.chunk_by(alike));
        for (n, run) in runs.enumerate() {
            let texts: Vec<&str> = run.iter().map(|statement| statement.text.as_str()).collect();
            let between = match run[0].kind {
                PassageKind::Screen => "; ",
                PassageKind::Speech => "\n",
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
                ..Passage::new(passage_id(chunk.chunk_id, n), run[0].kind, texts.join(between))
            });
        }
    }
    passages
}

/// The chunk's number, and behind a full stop the passage's.
fn passage_id(chunk: ChunkId, number: usize) -> String {
    match number {
        0 => chunk.to_string(),
        _ => format!("{chunk}.{number}"),
    }
}

/// The chunk that a passage of [`chunk_passages`] is of.
fn chunk_of(passage_id: &str) -> Option<ChunkId> {
    let id = passage_id.trim();
    id.split_once('.').map_or(id, |(chunk, _)| chunk).parse().ok().map(ChunkId)
}

/// A stretch of the one video that an aggregate is about.
fn moment(span: Span) -> Option<Moment> {
    Some(Moment { video_id: None, start: span.start, end: span.end })
}

/// What a summary of passages is: of nothing but measured facts one of those, else prose.
fn kind_of(passages: &[Passage]) -> PassageKind {
    let measured = passages.iter().all(|passage| passage.kind == PassageKind::Scene);
    if measured { PassageKind::Scene } else { PassageKind::Prose }
}

/// Cuts passages into consecutive batches that each fit the model's context.
fn batches(input: &Input<'_>, passages: Vec<Passage>) -> Vec<Vec<Passage>> {
    const CHARACTERS_PER_TOKEN: usize = 4;
    /// What a passage costs beside its text, characters: id, kind and time.
    const HEADING: usize = 40;
    let budget = input.context_tokens().max(256) * CHARACTERS_PER_TOKEN;
    let mut batches: Vec<Vec<Passage>> = Vec::new();
    let mut used = usize::MAX;
    for mut passage in passages {
        // A passage longer than a whole context is cut: better its beginning than nothing.
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

/// The part of a video's id that the ids of its people and things begin with.
fn prefix(video_id: &VideoId) -> &str {
    &video_id.as_str()[..8]
}

/// A number of seconds in a result: milliseconds are enough.
fn rounded(seconds: f64) -> f64 {
    // The sum of nothing is −0.0.
    (seconds * 1000.0).round() / 1000.0 + 0.0
}

/// A share or a distance in a result.
fn round4(value: f64) -> f64 {
    // Adding zero takes the sign off a negative one.
    (value * 10_000.0).round() / 10_000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::analysis::Analyzers;

    #[test]
    fn aggregators_stand_in_the_contracts_order_and_behind_what_they_need() {
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
    fn what_two_analyzers_read_off_the_screen_is_two_passages() {
        use crate::domain::aggregation::testing::{output, video};
        use crate::domain::analysis::analyzers::{default_video, ocr};
        use crate::domain::analysis::chunk_text::chunk_texts;
        use serde_json::json;

        const SHOWN: &str = "A dark picture in blue, still. Text on screen: A frame.";
        let video = video(10.0, 1)
            .with(default_video::ID, vec![output(json!({"description": SHOWN}))])
            .with(ocr::ID, vec![output(json!({"text": "A frame\n1\n5"}))]);
        let passages = chunk_passages(&chunk_texts(&video, &Analyzers::default()));
        let told: Vec<_> =
            passages.iter().map(|p| (p.id.as_str(), p.kind, p.text.as_str())).collect();
        let expected = [
            ("0", PassageKind::Scene, "A dark picture in blue, still."),
            ("0.1", PassageKind::Screen, "A frame"),
            ("0.2", PassageKind::Screen, "1; 5"),
        ];
        assert_eq!(told, expected);
    }
}
