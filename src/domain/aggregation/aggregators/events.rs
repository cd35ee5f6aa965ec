//! `events`: discrete events, each with a time, an actor and a category.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Event, Events};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::{is_article, tokens};

use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::{
    Aggregator, AggregatorInput, AggregatorSpec, batches, chunk_of, chunk_passages, try_each,
};
use crate::analysis::presentation::{Lane, LaneForm, OutputKind, Presentation, Tab, TrackSpec};
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::ChunkId;
use crate::llm::structured::Prompt;

/// The id in requests and stored records.
pub(crate) const ID: &str = "events";

/// The `events` aggregator.
pub(crate) struct EventsAggregator;

/// The events in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EventList {
    /// The events in chronological order.
    pub(crate) events: Vec<EventRecord>,
    /// Number of events by category.
    pub(crate) categories: BTreeMap<String, u32>,
    /// The analyzers whose output was used.
    pub(crate) based_on: Vec<String>,
}

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EventRecord {
    pub(crate) event: String,
    #[schemars(with = "usize")]
    pub(crate) chunk_id: ChunkId,
    /// Who or what causes the event; empty if unknown.
    pub(crate) actor: String,
    /// The category: one lower-case word.
    pub(crate) category: String,
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
}

const PROMPT: &str = include_str!("../prompts/events.md");

/// Maximum length of the answer for one batch, in tokens.
const MAX_TOKENS: u32 = 1500;

#[async_trait]
impl Aggregator for EventsAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: true,
            answers: "what happened when, which events and actions took place, who did what, at \
                      what moment something occurred",
            label: "Events",
            presentation: const {
                let lane = Lane { form: LaneForm::Marks, ..Lane::spans(ID, "Events", 90) };
                let events = TrackSpec {
                    text: Some("actor"),
                    category: Some("category"),
                    lane: Some(lane),
                    ..TrackSpec::new("/events", "event")
                };
                Presentation {
                    icon: "mark",
                    kind: OutputKind::Occurrences,
                    rank: 40,
                    tab: Some(Tab::new(ID, "Events")),
                    tracks: &[events],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let calls = batches(input, chunk_passages(input.texts)).into_iter().map(|passages| {
            input.ask::<Events>(Prompt {
                instructions: PROMPT.into(),
                passages,
                max_tokens: MAX_TOKENS,
                ..Prompt::default()
            })
        });
        let answers = try_each(calls).await?;
        let mut events: Vec<(ChunkId, Event)> = answers
            .into_iter()
            .flat_map(|answer| answer.events)
            .filter_map(|event| Some((chunk_of(&event.passage)?, event)))
            .filter(|(chunk, event)| {
                chunk.index() < input.video.spans.len() && !event.event.is_empty()
            })
            .collect();
        events.sort_by_key(|(chunk, _)| *chunk);
        let events = deduplicate(events);
        let mut categories: BTreeMap<String, u32> = BTreeMap::new();
        let items = events.into_iter().map(|(chunk_id, event)| {
            let span = input.video.spans[chunk_id.index()];
            let category = category(&event.category);
            *categories.entry(category.clone()).or_default() += 1;
            EventRecord {
                event: event.event,
                chunk_id,
                actor: event.actor,
                category,
                start: rounded(span.start),
                end: rounded(span.end),
            }
        });
        let events = items.collect();
        let based_on = input.based_on.to_vec();
        Ok(Arc::new(AggregateRecord::new(EventList { events, categories, based_on })))
    }

    fn schema(&self) -> Value {
        json_schema::<EventList>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<EventList>(stored)
    }
}

impl AggregatorOutput for EventList {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        let events = self.events.iter();
        events.map(|e| (Span { start: e.start, end: e.end }, e.event.clone())).collect()
    }
}

/// Normalizes a category to one lower-case word, or to `other` if it is empty.
fn category(answer: &str) -> String {
    let word = answer.split_whitespace().next().unwrap_or("other");
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Drops events that repeat one in the same or the previous chunk. An event that is repeated over a
/// series of chunks is thus kept only once.
fn deduplicate(events: Vec<(ChunkId, Event)>) -> Vec<(ChunkId, Event)> {
    let mut kept: Vec<(ChunkId, Event)> = Vec::new();
    // For each kept event, its words and the last chunk that repeats it.
    let mut seen: Vec<(ChunkId, BTreeSet<String>)> = Vec::new();
    for (chunk, event) in events {
        let words = words(&event.event);
        let repeated = seen
            .iter_mut()
            .rev()
            .find(|(last, kept)| chunk <= last.next() && is_same(kept, &words));
        match repeated {
            Some((last, _)) => *last = chunk,
            None => {
                seen.push((chunk, words));
                kept.push((chunk, event));
            }
        }
    }
    kept
}

/// Returns the stems of an event's content words.
fn words(event: &str) -> BTreeSet<String> {
    const STOP_WORDS: &[&str] = &[
        "is", "are", "was", "were", "has", "have", "and", "then", "to", "of", "in", "on", "at",
        "now", "again", "still",
    ];
    let is_stop_word = |lower: &str| is_article(lower) || STOP_WORDS.contains(&lower);
    let content = tokens(event).into_iter().filter(|token| !is_stop_word(&token.lower));
    content.map(|token| token.stem().to_owned()).collect()
}

/// Whether two events are the same: they have similar words and equal numbers.
fn is_same(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    /// Minimum Jaccard similarity of the two sets of words.
    const MIN_SIMILARITY: f64 = 0.6;
    let numbers = |words: &BTreeSet<String>| -> BTreeSet<String> {
        words.iter().filter(|w| w.chars().any(|c| c.is_ascii_digit())).cloned().collect()
    };
    let common = a.intersection(b).count() as f64;
    let all = a.union(b).count().max(1) as f64;
    a == b || common / all >= MIN_SIMILARITY && numbers(a) == numbers(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deduplicate_drops_repetitions_in_neighbouring_chunks() {
        for (what, events, expected) in [
            (
                "wording",
                vec![(0, "A man opens the door."), (1, "The man is opening a door")],
                vec![0],
            ),
            (
                "other events of the same chunk stay",
                vec![(0, "A man opens the door."), (0, "A dog barks.")],
                vec![0, 0],
            ),
            (
                "a series of chunks",
                vec![(0, "A crowd cheers."), (1, "The crowd is cheering."), (2, "A crowd cheers.")],
                vec![0],
            ),
            (
                "a later one stays",
                vec![(0, "A man opens the door."), (5, "A man opens the door.")],
                vec![0, 5],
            ),
            (
                "other numbers are other events",
                vec![(0, "The scoreboard shows 3 to 1."), (1, "The scoreboard shows 4 to 1.")],
                vec![0, 1],
            ),
            (
                "other actors are other events",
                vec![(0, "A man sits down."), (1, "A woman sits down.")],
                vec![0, 1],
            ),
        ] {
            let events = events
                .into_iter()
                .map(|(chunk, text)| {
                    (ChunkId(chunk), Event { event: text.into(), ..Event::default() })
                })
                .collect();
            let kept: Vec<u32> = deduplicate(events).iter().map(|e| e.0.0).collect();
            assert_eq!(kept, expected, "{what}");
        }
    }

    #[test]
    fn categories_are_one_word() {
        for (given, word) in [("Speech", "speech"), ("scene change", "scene"), ("", "other")] {
            assert_eq!(category(given), word);
        }
    }
}
