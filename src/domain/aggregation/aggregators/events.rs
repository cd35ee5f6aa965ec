//! `events`: discrete, timestamped events with actor and category.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Event, Events as Found};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::{is_article, tokens};

use crate::domain::aggregation::result::{Aggregate, Conclusion, Stored, read};
use crate::domain::aggregation::{
    Aggregator, AggregatorSpec, Input, batches, chunk_of, chunk_passages, rounded, try_each,
};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::ChunkId;
use crate::domain::llm::ask::Prompt;

/// What requests and stored records call it.
pub(crate) const ID: &str = "events";

/// Finds discrete, timestamped events with actor and category.
pub(crate) struct Events;

/// What happens in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Happenings {
    /// In order of time.
    pub(crate) events: Vec<Happening>,
    /// How many events there are of each category.
    pub(crate) categories: BTreeMap<String, u32>,
    /// The analyzers whose output was read.
    pub(crate) based_on: Vec<String>,
}

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Happening {
    pub(crate) event: String,
    #[schemars(with = "usize")]
    pub(crate) chunk_id: ChunkId,
    /// Who or what does it; empty when it cannot be told.
    pub(crate) actor: String,
    /// One lower-case word.
    pub(crate) category: String,
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
}

const PROMPT: &str = include_str!("../prompts/events.md");

/// Tokens of one batch's events.
const MAX_TOKENS: u32 = 1500;

#[async_trait]
impl Aggregator for Events {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: true,
            answers: "what happened when, which events and actions took place, who did what, at \
                      what moment something occurred",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate> {
        let work = batches(input, chunk_passages(input.texts)).into_iter().map(|passages| {
            input.ask::<Found>(Prompt {
                instructions: PROMPT.into(),
                passages,
                max_tokens: MAX_TOKENS,
                ..Prompt::default()
            })
        });
        let found = try_each(work).await?;
        let mut events: Vec<(ChunkId, Event)> = found
            .into_iter()
            .flat_map(|found| found.events)
            .filter_map(|event| Some((chunk_of(&event.passage)?, event)))
            .filter(|(chunk, event)| {
                chunk.index() < input.video.spans.len() && !event.event.is_empty()
            })
            .collect();
        events.sort_by_key(|(chunk, _)| *chunk);
        let events = without_repetitions(events);
        let mut categories: BTreeMap<String, u32> = BTreeMap::new();
        let items = events.into_iter().map(|(chunk_id, event)| {
            let span = input.video.spans[chunk_id.index()];
            let category = category(&event.category);
            *categories.entry(category.clone()).or_default() += 1;
            Happening {
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
        Ok(Arc::new(Stored::new(Happenings { events, categories, based_on })))
    }

    fn schema(&self) -> Value {
        schema_of::<Happenings>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Happenings>(stored)
    }
}

impl Conclusion for Happenings {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        let events = self.events.iter();
        events.map(|e| (Span { start: e.start, end: e.end }, e.event.clone())).collect()
    }
}

/// One lower-case word; `other` where there is none.
fn category(given: &str) -> String {
    let word = given.split_whitespace().next().unwrap_or("other");
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Drops an event that says the same as one of the same chunk or of the one before, however long
/// it goes on being told.
fn without_repetitions(events: Vec<(ChunkId, Event)>) -> Vec<(ChunkId, Event)> {
    let mut kept: Vec<(ChunkId, Event)> = Vec::new();
    // Of each kept event: the chunk that told of it last, and its words.
    let mut told: Vec<(ChunkId, BTreeSet<String>)> = Vec::new();
    for (chunk, event) in events {
        let words = words(&event.event);
        let repeated =
            told.iter_mut().rev().find(|(last, known)| chunk <= last.next() && same(known, &words));
        match repeated {
            Some((last, _)) => *last = chunk,
            None => {
                told.push((chunk, words));
                kept.push((chunk, event));
            }
        }
    }
    kept
}

/// What an event says: the stems of its words, without articles and auxiliaries.
fn words(event: &str) -> BTreeSet<String> {
    const EMPTY: &[&str] = &[
        "is", "are", "was", "were", "has", "have", "and", "then", "to", "of", "in", "on", "at",
        "now", "again", "still",
    ];
    let empty = |lower: &str| is_article(lower) || EMPTY.contains(&lower);
    let said = tokens(event).into_iter().filter(|token| !empty(&token.lower));
    said.map(|token| token.stem().to_owned()).collect()
}

/// Whether two events are one: nearly the same words and the same numbers.
fn same(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    /// Share of words in common.
    const COMMON: f64 = 0.6;
    let numbers = |words: &BTreeSet<String>| -> BTreeSet<String> {
        words.iter().filter(|w| w.chars().any(|c| c.is_ascii_digit())).cloned().collect()
    };
    let common = a.intersection(b).count() as f64;
    let all = a.union(b).count().max(1) as f64;
    a == b || common / all >= COMMON && numbers(a) == numbers(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_say_the_same_are_one_event() {
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
                "one that goes on is one",
                vec![(0, "A crowd cheers."), (1, "The crowd is cheering."), (2, "A crowd cheers.")],
                vec![0],
            ),
            (
                "later it is another one",
                vec![(0, "A man opens the door."), (5, "A man opens the door.")],
                vec![0, 5],
            ),
            (
                "other numbers are other events",
                vec![(0, "The scoreboard shows 3 to 1."), (1, "The scoreboard shows 4 to 1.")],
                vec![0, 1],
            ),
            (
                "other actors too",
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
            let kept: Vec<u32> = without_repetitions(events).iter().map(|e| e.0.0).collect();
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
