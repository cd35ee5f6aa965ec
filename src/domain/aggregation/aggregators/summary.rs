//! `summary`: tiered summaries, from fine sections to the whole video, with key points and topics.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Passage, PassageKind, Summary as Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::{Quotations, sentences};

use crate::domain::aggregation::overview::overview;
use crate::domain::aggregation::result::{Aggregate, Conclusion, Stored, read};
use crate::domain::aggregation::summarize::summarize;
use crate::domain::aggregation::{
    Aggregator, AggregatorSpec, Input, batches, chunk_passages, kind_of, moment, rounded, topics,
    try_each,
};
use crate::domain::analysis::chunk_text::ChunkText;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::ChunkId;

/// What requests and stored records call it.
pub(crate) const ID: &str = "summary";

/// Writes tiered summaries, from fine sections to the whole video, with key points and topics.
pub(crate) struct Summary;

/// A longer first sentence is cut for a synopsis, characters.
const LONGEST_SYNOPSIS: usize = 240;

/// What a video is about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Digest {
    pub(crate) summary: String,
    /// The most important first.
    pub(crate) key_points: Vec<String>,
    pub(crate) topics: Vec<String>,
    /// How many tiers there are.
    pub(crate) depth: usize,
    /// Those of the finest tier.
    pub(crate) sections: Vec<Section>,
    /// From fine sections to the whole video.
    pub(crate) tiers: Vec<Tier>,
    /// The analyzers whose output was read.
    pub(crate) based_on: Vec<String>,
}

/// Sections of one fineness, which make up the video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Tier {
    pub(crate) level: usize,
    pub(crate) section_count: usize,
    pub(crate) sections: Vec<Section>,
}

/// What one part of the video is about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Section {
    pub(crate) summary: String,
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
    #[schemars(with = "Vec<usize>")]
    pub(crate) chunk_ids: Vec<ChunkId>,
}

/// Sections merged into one of the next tier.
const FAN_IN: usize = 5;

/// A summarised stretch of chunks.
#[derive(Debug, Clone, PartialEq)]
struct Stretch {
    text: Text,
    kind: PassageKind,
    span: Span,
    chunk_ids: Vec<ChunkId>,
}

#[async_trait]
impl Aggregator for Summary {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: true,
            answers: "what the video is about overall, its main topic, a summary, key points, \
                      what happens in general",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate> {
        let mut tiers: Vec<Vec<Stretch>> = Vec::new();
        let count = tier_count(input.video.duration);
        let whole = if count == 1 {
            summarize(input, everything(input)).await?
        } else {
            // The same groups as the chapters', so that no section splits one.
            let groups = topics::segment(&input.video.spans, input.vectors);
            tiers.push(try_each(groups.into_iter().map(|group| section(input, group))).await?);
            for _ in 0..count - 2 {
                let last = &tiers[tiers.len() - 1];
                if last.len() <= FAN_IN {
                    break;
                }
                let groups: Vec<Vec<Stretch>> = last.chunks(FAN_IN).map(<[_]>::to_vec).collect();
                tiers.push(try_each(groups.into_iter().map(|group| merge(input, group))).await?);
            }
            match &tiers[tiers.len() - 1][..] {
                [only] => only.text.clone(),
                // Where it costs nothing, the whole is told from what its sections are told from.
                _ if !input.model.is_billed() && batches(input, everything(input)).len() == 1 => {
                    summarize(input, everything(input)).await?
                }
                sections => summarize(input, section_passages(input, sections)).await?,
            }
        };
        let end = input.video.spans.last().map_or(0.0, |span| span.end);
        tiers.push(vec![Stretch {
            text: whole.clone(),
            kind: PassageKind::Prose,
            span: Span { start: 0.0, end },
            chunk_ids: input.video.chunk_ids().collect(),
        }]);
        let tiers: Vec<Tier> = tiers
            .iter()
            .enumerate()
            .map(|(level, stretches)| Tier {
                level,
                section_count: stretches.len(),
                sections: stretches.iter().map(Stretch::section).collect(),
            })
            .collect();
        Ok(Arc::new(Stored::new(Digest {
            summary: whole.summary,
            key_points: whole.key_points,
            topics: whole.topics,
            depth: tiers.len(),
            sections: tiers[0].sections.clone(),
            tiers,
            based_on: input.based_on.to_vec(),
        })))
    }

    fn schema(&self) -> Value {
        schema_of::<Digest>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Digest>(stored)
    }
}

impl Conclusion for Digest {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let mut text = self.summary.clone();
        for point in &self.key_points {
            if !text.contains(point) {
                text.push(' ');
                text.push_str(point);
            }
        }
        if text.is_empty() { Vec::new() } else { vec![(whole, text)] }
    }

    fn synopsis(&self) -> Option<String> {
        let first = *sentences(&self.summary, Quotations::Whole).first()?;
        if first.chars().count() <= LONGEST_SYNOPSIS {
            return Some(first.to_owned());
        }
        let head: String = first.chars().take(LONGEST_SYNOPSIS).collect();
        let (whole_words, _) = head.rsplit_once(' ').unwrap_or((&head, ""));
        Some(format!("{whole_words} …"))
    }
}

impl Digest {
    /// What the sections of the finest tier are about.
    pub(crate) fn parts(&self) -> Vec<(Span, String)> {
        let told = self.sections.iter().filter(|section| !section.summary.is_empty());
        told.map(|s| (Span { start: s.start, end: s.end }, s.summary.clone())).collect()
    }
}

impl Stretch {
    fn section(&self) -> Section {
        Section {
            summary: self.text.summary.clone(),
            start: rounded(self.span.start),
            end: rounded(self.span.end),
            chunk_ids: self.chunk_ids.clone(),
        }
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

/// All that the chunks tell, and what they show on the whole.
fn everything(input: &Input<'_>) -> Vec<Passage> {
    let whole = overview(input.video, 0..input.video.spans.len());
    whole.into_iter().chain(chunk_passages(input.texts)).collect()
}

async fn section(input: &Input<'_>, group: std::ops::Range<usize>) -> Result<Stretch> {
    let texts: Vec<_> =
        input.texts.iter().filter(|t| group.contains(&t.chunk_id.index())).cloned().collect();
    let spans = &input.video.spans[group.clone()];
    let shown = overview(input.video, group.clone());
    let passages: Vec<Passage> = shown.into_iter().chain(chunk_passages(&texts)).collect();
    Ok(Stretch {
        kind: kind_of(&passages),
        text: summarize(input, passages).await?,
        span: Span { start: spans[0].start, end: spans[spans.len() - 1].end },
        chunk_ids: group.map(ChunkId::from_index).collect(),
    })
}

async fn merge(input: &Input<'_>, sections: Vec<Stretch>) -> Result<Stretch> {
    let (Some(first), Some(last)) = (sections.first(), sections.last()) else {
        return Err(Error::corrupt("a tier of the summary has no sections"));
    };
    let passages = section_passages(input, &sections);
    Ok(Stretch {
        kind: kind_of(&passages),
        text: summarize(input, passages).await?,
        span: Span { start: first.span.start, end: last.span.end },
        chunk_ids: sections.iter().flat_map(|s| s.chunk_ids.iter().copied()).collect(),
    })
}

/// What sections tell: what they repeat of a chunk word for word is what it is there.
fn section_passages(input: &Input<'_>, sections: &[Stretch]) -> Vec<Passage> {
    let known: HashMap<&str, PassageKind> = input
        .texts
        .iter()
        .flat_map(ChunkText::statements)
        .filter(|told| !matches!(told.kind, PassageKind::Speech | PassageKind::Screen))
        .flat_map(|told| {
            sentences(&told.text, Quotations::Whole).into_iter().map(|text| (text, told.kind))
        })
        .collect();
    let mut passages = Vec::new();
    for (number, section) in sections.iter().filter(|s| !s.text.summary.is_empty()).enumerate() {
        let kind = |text: &str| known.get(text).copied().unwrap_or(section.kind);
        for (n, (kind, text)) in retold(&section.text.summary, kind).into_iter().enumerate() {
            let id = if n == 0 { format!("s{number}") } else { format!("s{number}.{n}") };
            passages.push(Passage {
                moment: moment(section.span),
                topic: Some("section".into()),
                ..Passage::new(id, kind, text)
            });
        }
    }
    passages
}

/// A text in runs of sentences of one kind each.
fn retold(text: &str, kind: impl Fn(&str) -> PassageKind) -> Vec<(PassageKind, String)> {
    let told = sentences(text, Quotations::Whole);
    let runs = told.chunk_by(|a, b| kind(a) == kind(b));
    runs.map(|run| (kind(run[0]), run.join(" "))).collect()
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

    #[test]
    fn what_a_section_repeats_of_a_chunk_is_what_it_is_there() {
        let known = HashMap::from([("A cow is in view.", PassageKind::Objects)]);
        let told = retold("A cow is in view. “Hello.” It rains. A cow is in view.", |text| {
            known.get(text).copied().unwrap_or(PassageKind::Prose)
        });
        let expected = [
            (PassageKind::Objects, "A cow is in view."),
            (PassageKind::Prose, "“Hello.” It rains."),
            (PassageKind::Objects, "A cow is in view."),
        ];
        assert_eq!(told, expected.map(|(kind, text)| (kind, text.to_owned())));
    }
}
