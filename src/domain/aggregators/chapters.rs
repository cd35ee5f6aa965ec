//! `chapters`: consecutive chunks grouped by topic, each with a title and a summary.

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use ports::llm::{Summary, Task, Title};
use serde_json::{Value, json};

use super::{
    Aggregator, AggregatorSpec, Input, batches, chunk_passages, complete, rounded, topics,
};
use crate::domain::error::Result;
use crate::domain::passages::{ChunkText, based_on};
use crate::domain::record::Span;

/// The aggregator.
pub(super) struct Chapters;

const TITLE_PROMPT: &str = include_str!("prompts/title.md");
const SUMMARY_PROMPT: &str = include_str!("prompts/summary.md");

/// Chapters worked on at once.
const PARALLEL: usize = 4;

#[async_trait]
impl Aggregator for Chapters {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: "chapters",
            depends_on: &[],
            uses_llm: true,
            answers: "how the video is structured, its parts, sections and chapters, what comes \
                      first and what comes next",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        let groups = topics::segment(&input.video.spans, input.vectors);
        let chapters: Vec<Value> = stream::iter(groups.into_iter().enumerate())
            .map(|(number, group)| async move {
                let texts: Vec<ChunkText> = input
                    .texts
                    .iter()
                    .filter(|t| group.contains(&(t.chunk_id as usize)))
                    .cloned()
                    .collect();
                let (title, summary) = head(input, number, &texts).await?;
                let spans = &input.video.spans[group.clone()];
                Ok::<_, crate::domain::Error>(json!({
                    "title": title,
                    "summary": summary,
                    "first_chunk": group.start,
                    "last_chunk": group.end - 1,
                    "start": rounded(spans[0].start),
                    "end": rounded(spans[spans.len() - 1].end),
                    "chunk_ids": group.collect::<Vec<_>>(),
                }))
            })
            .buffered(PARALLEL)
            .try_collect()
            .await?;
        Ok(json!({"chapters": chapters, "based_on": based_on(input.video)}))
    }

    fn evidence(&self, result: &Value, _whole: Span) -> Vec<(Span, String)> {
        let chapters = result["chapters"].as_array().into_iter().flatten();
        chapters
            .filter_map(|c| {
                let span = Span { start: c["start"].as_f64()?, end: c["end"].as_f64()? };
                let text = format!("{}: {}", c["title"].as_str()?, c["summary"].as_str()?);
                Some((span, text))
            })
            .collect()
    }
}

/// Title and summary of a group of chunks; a plain number where nothing is known of them.
async fn head(input: &Input<'_>, number: usize, texts: &[ChunkText]) -> Result<(String, String)> {
    let fallback = || format!("Part {}", number + 1);
    let Some(passages) = batches(input, chunk_passages(texts)).into_iter().next() else {
        return Ok((fallback(), String::new()));
    };
    let title: Title = complete(input, Task::Title, TITLE_PROMPT, passages.clone(), 60).await?;
    let summary: Summary = complete(input, Task::Summarize, SUMMARY_PROMPT, passages, 500).await?;
    let title = title.title.trim();
    let title = if title.is_empty() { fallback() } else { title.to_owned() };
    Ok((title, summary.summary))
}
