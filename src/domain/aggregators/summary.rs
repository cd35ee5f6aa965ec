//! `summary`: tiered summaries, from fine sections to the whole video, with key points and topics.

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use ports::llm::{Passage, Summary as Text, Task};
use serde_json::{Value, json};

use super::{
    Aggregator, AggregatorSpec, Input, batches, chunk_passages, complete, rounded, topics,
};
use crate::domain::error::{Error, Result};
use crate::domain::passages::based_on;
use crate::domain::record::Span;

/// The aggregator.
pub(super) struct Summary;

const PROMPT: &str = include_str!("prompts/summary.md");

/// Tokens of one section's summary.
const MAX_TOKENS: u32 = 600;

/// Sections worked on at once.
const PARALLEL: usize = 4;

/// Sections merged into one of the next tier.
const FAN_IN: usize = 5;

/// A summarised stretch of chunks.
#[derive(Debug, Clone, PartialEq)]
struct Section {
    summary: String,
    span: Span,
    chunk_ids: Vec<usize>,
}

#[async_trait]
impl Aggregator for Summary {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: "summary",
            depends_on: &[],
            uses_llm: true,
            answers: "what the video is about overall, its main topic, a summary, key points, \
                      what happens in general",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        let mut tiers: Vec<Vec<Section>> = Vec::new();
        let whole = if tier_count(input.video.duration) == 1 {
            let passages = chunk_passages(input.texts);
            summarize_all(input, passages).await?
        } else {
            let groups = topics::segment(&input.video.spans, input.vectors);
            let finest: Vec<Section> = stream::iter(groups)
                .map(|group| section(input, group))
                .buffered(PARALLEL)
                .try_collect()
                .await?;
            tiers.push(finest);
            let middle_tiers = tier_count(input.video.duration) - 2;
            for _ in 0..middle_tiers {
                let last = &tiers[tiers.len() - 1];
                if last.len() <= FAN_IN {
                    break;
                }
                let groups: Vec<Vec<Section>> = last.chunks(FAN_IN).map(<[_]>::to_vec).collect();
                let merged: Vec<Section> = stream::iter(groups)
                    .map(|sections| merge(input, sections))
                    .buffered(PARALLEL)
                    .try_collect()
                    .await?;
                tiers.push(merged);
            }
            let passages = section_passages(&tiers[tiers.len() - 1]);
            summarize_all(input, passages).await?
        };
        let end = input.video.spans.last().map_or(0.0, |span| span.end);
        tiers.push(vec![Section {
            summary: whole.summary.clone(),
            span: Span { start: 0.0, end },
            chunk_ids: (0..input.video.spans.len()).collect(),
        }]);
        let tiers: Vec<Value> = tiers
            .iter()
            .enumerate()
            .map(|(level, sections)| {
                json!({
                    "level": level,
                    "section_count": sections.len(),
                    "sections": sections.iter().map(Section::json).collect::<Vec<_>>(),
                })
            })
            .collect();
        Ok(json!({
            "summary": whole.summary,
            "key_points": whole.key_points,
            "topics": whole.topics,
            "depth": tiers.len(),
            "sections": tiers[0]["sections"],
            "tiers": tiers,
            "based_on": based_on(input.video),
        }))
    }

    fn evidence(&self, result: &Value, whole: Span) -> Vec<(Span, String)> {
        let mut text = result["summary"].as_str().unwrap_or_default().to_owned();
        let points = result["key_points"].as_array().into_iter().flatten();
        for point in points.filter_map(Value::as_str) {
            if !text.contains(point) {
                text.push(' ');
                text.push_str(point);
            }
        }
        if text.is_empty() { Vec::new() } else { vec![(whole, text)] }
    }
}

impl Section {
    fn json(&self) -> Value {
        json!({
            "summary": self.summary,
            "start": rounded(self.span.start),
            "end": rounded(self.span.end),
            "chunk_ids": self.chunk_ids,
        })
    }
}

/// Tiers by the video's length: a minute is told in one go, an hour wants sections of sections.
fn tier_count(duration: f64) -> usize {
    match duration {
        d if d < 30.0 => 1,
        d if d < 15.0 * 60.0 => 2,
        d if d < 60.0 * 60.0 => 3,
        _ => 4,
    }
}

async fn section(input: &Input<'_>, group: std::ops::Range<usize>) -> Result<Section> {
    let texts: Vec<_> =
        input.texts.iter().filter(|t| group.contains(&(t.chunk_id as usize))).cloned().collect();
    let spans = &input.video.spans[group.clone()];
    Ok(Section {
        summary: summarize_all(input, chunk_passages(&texts)).await?.summary,
        span: Span { start: spans[0].start, end: spans[spans.len() - 1].end },
        chunk_ids: group.collect(),
    })
}

async fn merge(input: &Input<'_>, sections: Vec<Section>) -> Result<Section> {
    let (Some(first), Some(last)) = (sections.first(), sections.last()) else {
        return Err(Error::corrupt("a tier of the summary has no sections"));
    };
    Ok(Section {
        summary: summarize_all(input, section_passages(&sections)).await?.summary,
        span: Span { start: first.span.start, end: last.span.end },
        chunk_ids: sections.iter().flat_map(|s| s.chunk_ids.iter().copied()).collect(),
    })
}

fn section_passages(sections: &[Section]) -> Vec<Passage> {
    sections
        .iter()
        .filter(|section| !section.summary.is_empty())
        .enumerate()
        .map(|(i, section)| Passage {
            id: format!("s{i}"),
            source: format!("section at {}", section.span.timecode()),
            text: section.summary.clone(),
        })
        .collect()
}

/// Summarises passages of any number: batches that fit the context first, then their summaries.
async fn summarize_all(input: &Input<'_>, passages: Vec<Passage>) -> Result<Text> {
    let mut batches = batches(input, passages);
    loop {
        if batches.is_empty() {
            return Ok(Text::default());
        }
        let mut texts: Vec<Text> = stream::iter(batches)
            .map(|batch| complete(input, Task::Summarize, PROMPT, batch, MAX_TOKENS))
            .buffered(PARALLEL)
            .try_collect()
            .await?;
        if texts.len() == 1 {
            return Ok(texts.remove(0));
        }
        let passages = texts.into_iter().enumerate().map(|(i, text)| Passage {
            id: format!("s{i}"),
            source: "part".into(),
            text: text.summary,
        });
        batches = super::batches(input, passages.collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_follows_length() {
        for (seconds, tiers) in [(20.0, 1), (43.0, 2), (300.0, 2), (1800.0, 3), (10_800.0, 4)] {
            assert_eq!(tier_count(seconds), tiers);
        }
    }
}
