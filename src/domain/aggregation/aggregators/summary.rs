//! `summary`: summaries in tiers, ranging from short sections to the whole video, with key points
//! and topics.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Passage, PassageKind, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::{Quotations, sentences};

use crate::aggregation::overview::overview;
use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::summarize::summarize;
use crate::aggregation::{
    Aggregator, AggregatorInput, AggregatorSpec, batches, chunk_passages, kind_of, moment, topics,
    try_each,
};
use crate::analysis::chunk_text::ChunkText;
use crate::analysis::presentation::{OutputKind, Presentation, Tab};
use crate::kernel::error::{Error, Result};
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::ChunkId;

/// The id in requests and stored records.
pub(crate) const ID: &str = "summary";

/// The `summary` aggregator.
pub(crate) struct SummaryAggregator;

/// Maximum length of a synopsis, in characters.
const MAX_SYNOPSIS_LEN: usize = 240;

/// The summary of a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct VideoSummary {
    pub(crate) summary: String,
    /// The key points, most important first.
    pub(crate) key_points: Vec<String>,
    pub(crate) topics: Vec<String>,
    /// Number of tiers.
    pub(crate) depth: usize,
    /// The sections of the finest tier.
    pub(crate) sections: Vec<Section>,
    /// The tiers, from the finest sections up to the whole video.
    pub(crate) tiers: Vec<Tier>,
    /// The analyzers whose output was used.
    pub(crate) based_on: Vec<String>,
}

/// The sections of one tier, which together cover the whole video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Tier {
    pub(crate) level: usize,
    pub(crate) section_count: usize,
    pub(crate) sections: Vec<Section>,
}

/// The summary of one section.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Section {
    pub(crate) summary: String,
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    #[schemars(with = "Vec<usize>")]
    pub(crate) chunk_ids: Vec<ChunkId>,
}

/// Number of sections that are merged into one section of the next tier.
const FAN_IN: usize = 5;

/// A summary of consecutive chunks, and the kind of its text.
#[derive(Debug, Clone, PartialEq)]
struct SectionSummary {
    text: Summary,
    kind: PassageKind,
    span: Span,
    chunk_ids: Vec<ChunkId>,
}

#[async_trait]
impl Aggregator for SummaryAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: true,
            answers: "what the video is about overall, its main topic, a summary, key points, \
                      what happens in general",
            label: "Summary",
            presentation: const {
                Presentation {
                    icon: "text",
                    kind: OutputKind::Prose,
                    rank: 20,
                    text: Some("/summary"),
                    tab: Some(Tab::new(ID, "Summary")),
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let mut tiers: Vec<Vec<SectionSummary>> = Vec::new();
        let count = tier_count(input.video.duration);
        let whole = if count == 1 {
            summarize(input, all_passages(input)).await?
        } else {
            // Use the same groups as `chapters`, so that no section splits a chapter.
            let groups = topics::segment(&input.video.spans, input.vectors);
            tiers.push(
                try_each(groups.into_iter().map(|group| summarize_group(input, group))).await?,
            );
            for _ in 0..count - 2 {
                let last = &tiers[tiers.len() - 1];
                if last.len() <= FAN_IN {
                    break;
                }
                let groups: Vec<Vec<SectionSummary>> =
                    last.chunks(FAN_IN).map(<[_]>::to_vec).collect();
                tiers.push(
                    try_each(groups.into_iter().map(|group| merge_sections(input, group))).await?,
                );
            }
            match &tiers[tiers.len() - 1][..] {
                [only] => only.text.clone(),
                // If model calls are free, summarize the chunks themselves rather than their
                // summaries.
                _ if !input.model.is_billed() && batches(input, all_passages(input)).len() == 1 => {
                    summarize(input, all_passages(input)).await?
                }
                sections => summarize(input, section_passages(input, sections)).await?,
            }
        };
        let end = input.video.spans.last().map_or(0.0, |span| span.end);
        tiers.push(vec![SectionSummary {
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
                sections: stretches.iter().map(SectionSummary::section).collect(),
            })
            .collect();
        Ok(Arc::new(AggregateRecord::new(VideoSummary {
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
        json_schema::<VideoSummary>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<VideoSummary>(stored)
    }
}

impl AggregatorOutput for VideoSummary {
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
        if first.chars().count() <= MAX_SYNOPSIS_LEN {
            return Some(first.to_owned());
        }
        let head: String = first.chars().take(MAX_SYNOPSIS_LEN).collect();
        let (whole_words, _) = head.rsplit_once(' ').unwrap_or((&head, ""));
        Some(format!("{whole_words} …"))
    }
}

impl VideoSummary {
    /// Returns the spans and summaries of the finest sections.
    pub(crate) fn section_summaries(&self) -> Vec<(Span, String)> {
        let sections = self.sections.iter().filter(|section| !section.summary.is_empty());
        sections.map(|s| (Span { start: s.start, end: s.end }, s.summary.clone())).collect()
    }
}

impl SectionSummary {
    fn section(&self) -> Section {
        Section {
            summary: self.text.summary.clone(),
            start: rounded(self.span.start),
            end: rounded(self.span.end),
            chunk_ids: self.chunk_ids.clone(),
        }
    }
}

/// Returns the number of summary tiers for a video, given its duration in seconds.
fn tier_count(duration: f64) -> usize {
    match duration {
        d if d < 30.0 => 1,
        d if d < 15.0 * 60.0 => 2,
        d if d < 60.0 * 60.0 => 3,
        _ => 4,
    }
}

/// Returns the passages of all chunks, preceded by the overview.
fn all_passages(input: &AggregatorInput<'_>) -> Vec<Passage> {
    let overview = overview(input.video, 0..input.video.spans.len());
    overview.into_iter().chain(chunk_passages(input.texts)).collect()
}

async fn summarize_group(
    input: &AggregatorInput<'_>,
    group: std::ops::Range<usize>,
) -> Result<SectionSummary> {
    let texts: Vec<_> =
        input.texts.iter().filter(|t| group.contains(&t.chunk_id.index())).cloned().collect();
    let spans = &input.video.spans[group.clone()];
    let overview = overview(input.video, group.clone());
    let passages: Vec<Passage> = overview.into_iter().chain(chunk_passages(&texts)).collect();
    Ok(SectionSummary {
        kind: kind_of(&passages),
        text: summarize(input, passages).await?,
        span: Span { start: spans[0].start, end: spans[spans.len() - 1].end },
        chunk_ids: group.map(ChunkId::from_index).collect(),
    })
}

async fn merge_sections(
    input: &AggregatorInput<'_>,
    sections: Vec<SectionSummary>,
) -> Result<SectionSummary> {
    let (Some(first), Some(last)) = (sections.first(), sections.last()) else {
        return Err(Error::corrupt("a tier of the summary has no sections"));
    };
    let passages = section_passages(input, &sections);
    Ok(SectionSummary {
        kind: kind_of(&passages),
        text: summarize(input, passages).await?,
        span: Span { start: first.span.start, end: last.span.end },
        chunk_ids: sections.iter().flat_map(|s| s.chunk_ids.iter().copied()).collect(),
    })
}

/// Turns the summaries of sections into passages. A sentence that a summary copies verbatim from a
/// chunk keeps its kind.
fn section_passages(input: &AggregatorInput<'_>, sections: &[SectionSummary]) -> Vec<Passage> {
    let known: HashMap<&str, PassageKind> = input
        .texts
        .iter()
        .flat_map(ChunkText::statements)
        .filter(|s| s.kind != PassageKind::Speech && !s.kind.is_on_screen())
        .flat_map(|s| sentences(&s.text, Quotations::Whole).into_iter().map(|text| (text, s.kind)))
        .collect();
    let mut passages = Vec::new();
    for (number, section) in sections.iter().filter(|s| !s.text.summary.is_empty()).enumerate() {
        let kind = |text: &str| known.get(text).copied().unwrap_or(section.kind);
        for (n, (kind, text)) in split_by_kind(&section.text.summary, kind).into_iter().enumerate()
        {
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

/// Splits text into runs of sentences of the same kind.
fn split_by_kind(text: &str, kind: impl Fn(&str) -> PassageKind) -> Vec<(PassageKind, String)> {
    let sentences = sentences(text, Quotations::Whole);
    let runs = sentences.chunk_by(|a, b| kind(a) == kind(b));
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
    fn sentences_repeated_from_a_chunk_keep_their_kind() {
        let known = HashMap::from([("A cow is in view.", PassageKind::Objects)]);
        let runs =
            split_by_kind("A cow is in view. “Hello.” It rains. A cow is in view.", |text| {
                known.get(text).copied().unwrap_or(PassageKind::Prose)
            });
        let expected = [
            (PassageKind::Objects, "A cow is in view."),
            (PassageKind::Prose, "“Hello.” It rains."),
            (PassageKind::Objects, "A cow is in view."),
        ];
        assert_eq!(runs, expected.map(|(kind, text)| (kind, text.to_owned())));
    }
}
