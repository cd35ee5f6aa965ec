//! `events`: discrete, timestamped events with actor and category.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use ports::llm::{Event, Events as Found, Task};
use serde_json::{Value, json};

use super::{Aggregator, AggregatorSpec, Input, batches, chunk_passages, complete, rounded};
use crate::domain::error::Result;
use crate::domain::passages::based_on;
use crate::domain::record::Span;

/// The aggregator.
pub(super) struct Events;

const PROMPT: &str = include_str!("prompts/events.md");

/// Tokens of one batch's events.
const MAX_TOKENS: u32 = 1500;

/// Batches worked on at once.
const PARALLEL: usize = 4;

/// Events of neighbouring chunks this alike are one event.
const SAME: f64 = 0.8;

#[async_trait]
impl Aggregator for Events {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: "events",
            depends_on: &[],
            uses_llm: true,
            answers: "what happened when, which events and actions took place, who did what, at \
                      what moment something occurred",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        let found: Vec<Found> = stream::iter(batches(input, chunk_passages(input.texts)))
            .map(|batch| complete(input, Task::Events, PROMPT, batch, MAX_TOKENS))
            .buffered(PARALLEL)
            .try_collect()
            .await?;
        let mut events: Vec<(usize, Event)> = found
            .into_iter()
            .flat_map(|found| found.events)
            .filter_map(|event| Some((event.passage.trim().parse().ok()?, event)))
            .filter(|(chunk, event)| *chunk < input.video.spans.len() && !event.event.is_empty())
            .collect();
        events.sort_by_key(|(chunk, _)| *chunk);
        let events = without_repetitions(events);
        let mut categories: BTreeMap<String, u32> = BTreeMap::new();
        let items: Vec<Value> = events
            .iter()
            .map(|(chunk, event)| {
                let span = input.video.spans[*chunk];
                let category = category(&event.category);
                *categories.entry(category.clone()).or_default() += 1;
                json!({
                    "event": event.event,
                    "chunk_id": chunk,
                    "actor": event.actor,
                    "category": category,
                    "start": rounded(span.start),
                    "end": rounded(span.end),
                })
            })
            .collect();
        Ok(json!({
            "events": items,
            "categories": categories,
            "based_on": based_on(input.video),
        }))
    }

    fn evidence(&self, result: &Value, _whole: Span) -> Vec<(Span, String)> {
        let events = result["events"].as_array().into_iter().flatten();
        events
            .filter_map(|e| {
                let span = Span { start: e["start"].as_f64()?, end: e["end"].as_f64()? };
                Some((span, e["event"].as_str()?.to_owned()))
            })
            .collect()
    }
}

/// One lower-case word; `other` where there is none.
fn category(given: &str) -> String {
    let word = given.split_whitespace().next().unwrap_or("other");
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Drops an event that says the same as one of the same chunk or the one before.
fn without_repetitions(events: Vec<(usize, Event)>) -> Vec<(usize, Event)> {
    let mut kept: Vec<(usize, Event)> = Vec::new();
    for (chunk, event) in events {
        let repeated = kept.iter().rev().take_while(|(c, _)| chunk - c <= 1).any(|(_, earlier)| {
            let (a, b) = (earlier.event.to_lowercase(), event.event.to_lowercase());
            strsim::sorensen_dice(&a, &b) >= SAME
        });
        if !repeated {
            kept.push((chunk, event));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_say_the_same_are_one_event() {
        let event =
            |chunk: usize, text: &str| (chunk, Event { event: text.into(), ..Event::default() });
        let kept = without_repetitions(vec![
            event(0, "A man opens the door."),
            event(1, "A man opens the door"),
            event(1, "A dog barks."),
            event(5, "A man opens the door."),
        ]);
        let chunks: Vec<usize> = kept.iter().map(|(chunk, _)| *chunk).collect();
        assert_eq!(chunks, [0, 1, 5]);
    }

    #[test]
    fn categories_are_one_word() {
        for (given, word) in [("Speech", "speech"), ("scene change", "scene"), ("", "other")] {
            assert_eq!(category(given), word);
        }
    }
}
