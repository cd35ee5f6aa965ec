//! `chapters`: consecutive chunks grouped by topic, each with a title and a summary.

use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Passage, Title};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aggregation::aggregators::summary;
use crate::aggregation::overview::overview;
use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::summarize::summarize;
use crate::aggregation::{
    Aggregator, AggregatorInput, AggregatorSpec, batches, chunk_passages, kind_of, topics, try_each,
};
use crate::analysis::chunk_text::ChunkText;
use crate::analysis::correction::Correction;
use crate::analysis::presentation::{Lane, OutputKind, Presentation, Tab, TrackSpec};
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::ChunkId;
use crate::llm::structured::Prompt;

/// The id in requests and stored records.
pub(crate) const ID: &str = "chapters";

/// The `chapters` aggregator.
pub(crate) struct ChaptersAggregator;

/// The chapters of a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Outline {
    /// The chapters in chronological order. Every chunk belongs to exactly one chapter, unless a user
    /// has added a chapter that begins or ends within the chunk.
    pub(crate) chapters: Vec<Chapter>,
    /// The analyzers whose output was used.
    pub(crate) based_on: Vec<String>,
}

/// Consecutive chunks on one topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Chapter {
    pub(crate) title: String,
    pub(crate) summary: String,
    #[schemars(with = "usize")]
    pub(crate) first_chunk: ChunkId,
    #[schemars(with = "usize")]
    pub(crate) last_chunk: ChunkId,
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    #[schemars(with = "Vec<usize>")]
    pub(crate) chunk_ids: Vec<ChunkId>,
}

impl Chapter {
    /// The part of the video that the chapter covers.
    pub(crate) fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// Shortest part of a chapter that is left when a user adds another one, in seconds. Shorter parts
/// belong to the added chapter.
const MIN_REST: f64 = 0.5;

/// Applies corrections of chapters to the stored chapters of a video: titles, and chapters that users
/// have added. `chunks` are the spans of the video's chunks. A corrected title applies to the
/// chapter that covers most of the corrected one, and of which that covers most.
pub(crate) fn correct_chapters(stored: &mut Value, corrections: &[Correction], chunks: &[Span]) {
    let Ok(mut outline) = Outline::deserialize(&*stored) else { return };
    for correction in corrections {
        let Some(span) = correction.span else { continue };
        if correction.from.is_empty() {
            add_chapter(&mut outline.chapters, &correction.to, span, chunks);
            continue;
        }
        for chapter in &mut outline.chapters {
            let own = chapter.span();
            if own.overlap(&span) > 0.5 * own.seconds().max(span.seconds()) {
                chapter.title.clone_from(&correction.to);
            }
        }
    }
    if let Ok(corrected) = serde_json::to_value(outline.chapters) {
        stored["chapters"] = corrected;
    }
}

/// Adds a chapter. The chapters around it keep the parts that it does not cover.
fn add_chapter(chapters: &mut Vec<Chapter>, title: &str, mut span: Span, chunks: &[Span]) {
    for chapter in &*chapters {
        if (chapter.start - span.start).abs() < MIN_REST {
            span.start = chapter.start;
        }
        if (chapter.end - span.end).abs() < MIN_REST {
            span.end = chapter.end;
        }
    }
    let cut = |chapter: &Chapter, start: f64, end: f64| {
        let is_in = |chunk: &Span| chunk.overlap(&Span { start, end }) > 0.0;
        let numbers = chunks.iter().enumerate().filter(|(_, chunk)| is_in(chunk));
        let chunk_ids: Vec<ChunkId> =
            numbers.map(|(number, _)| ChunkId::from_index(number)).collect();
        Chapter {
            start,
            end,
            first_chunk: chunk_ids.first().copied().unwrap_or(chapter.first_chunk),
            last_chunk: chunk_ids.last().copied().unwrap_or(chapter.last_chunk),
            chunk_ids,
            ..chapter.clone()
        }
    };
    let mut parts = Vec::with_capacity(chapters.len() + 2);
    for chapter in chapters.drain(..) {
        if chapter.span().overlap(&span) <= 0.0 {
            parts.push(chapter);
            continue;
        }
        if chapter.start < span.start {
            parts.push(cut(&chapter, chapter.start, span.start));
        }
        if chapter.end > span.end {
            parts.push(cut(&chapter, span.end, chapter.end));
        }
    }
    let added = Chapter { title: title.to_owned(), ..Chapter::default() };
    let place = parts.partition_point(|chapter| chapter.start < span.start);
    parts.insert(place, cut(&added, span.start, span.end));
    *chapters = parts;
}

const PROMPT: &str = include_str!("../prompts/title.md");

/// Maximum length of one title, in tokens.
const MAX_TOKENS: u32 = 60;

#[async_trait]
impl Aggregator for ChaptersAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: true,
            answers: "how the video is structured, its parts, sections and chapters, what comes \
                      first and what comes next",
            label: "Chapters",
            presentation: const {
                let chapters = TrackSpec {
                    text: Some("summary"),
                    lane: Some(Lane::spans(ID, "Chapters", 0)),
                    ..TrackSpec::new("/chapters", "title")
                };
                Presentation {
                    icon: "sections",
                    kind: OutputKind::Sections,
                    rank: 30,
                    tab: Some(Tab::new(ID, "Chapters")),
                    tracks: &[chapters],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let groups = topics::segment(&input.video.spans, input.vectors);
        let chapters = groups.into_iter().enumerate().map(async |(number, group)| {
            let texts: Vec<ChunkText> = input
                .texts
                .iter()
                .filter(|t| group.contains(&t.chunk_id.index()))
                .cloned()
                .collect();
            let overview = overview(input.video, group.clone());
            let passages = overview.into_iter().chain(chunk_passages(&texts)).collect();
            let (title, summary) = title_and_summary(input, number, passages).await?;
            let spans = &input.video.spans[group.clone()];
            Ok(Chapter {
                title,
                summary,
                first_chunk: ChunkId::from_index(group.start),
                last_chunk: ChunkId::from_index(group.end - 1),
                start: rounded(spans[0].start),
                end: rounded(spans[spans.len() - 1].end),
                chunk_ids: group.map(ChunkId::from_index).collect(),
            })
        });
        let chapters = try_each(chapters).await?;
        Ok(Arc::new(AggregateRecord::new(Outline { chapters, based_on: input.based_on.to_vec() })))
    }

    fn schema(&self) -> Value {
        json_schema::<Outline>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Outline>(stored)
    }
}

impl AggregatorOutput for Outline {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        let chapters = self.chapters.iter();
        chapters
            .map(|c| (Span { start: c.start, end: c.end }, format!("{}.\n{}", c.title, c.summary)))
            .collect()
    }
}

/// Writes the title and summary of a group of chunks. If there are no passages, the title is a
/// number and the summary is empty.
async fn title_and_summary(
    input: &AggregatorInput<'_>,
    number: usize,
    passages: Vec<Passage>,
) -> Result<(String, String)> {
    let fallback = || format!("Part {}", number + 1);
    if passages.is_empty() {
        return Ok((fallback(), String::new()));
    }
    let summary = summarize(input, passages.clone()).await?.summary;
    // A chapter that exceeds the model's context is given a title based on its summary.
    let passages = match &batches(input, passages)[..] {
        [one] => one.clone(),
        batches => {
            let kind = kind_of(&batches.concat());
            let topic = Some(summary::ID.into());
            vec![Passage { topic, ..Passage::new("s0", kind, summary.clone()) }]
        }
    };
    let prompt = Prompt {
        instructions: PROMPT.into(),
        passages,
        max_tokens: MAX_TOKENS,
        ..Prompt::default()
    };
    let title: Title = input.ask(prompt).await?;
    let title = title.title.trim();
    let title = if title.is_empty() { fallback() } else { title.to_owned() };
    Ok((title, summary))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aggregation::ChunkVectors;
    use crate::aggregation::testing::{aggregate, aggregate_with_vectors, output, video};
    use crate::analysis::analyzers::default_video;

    /// Computes the chapters of a video whose chunks have the given topics.
    async fn chapters(topics: &[usize]) -> Vec<Value> {
        const DESCRIPTIONS: [&str; 3] = ["The harbour wakes.", "Bread is baked.", "Snow falls."];
        let outputs = topics
            .iter()
            .map(|&topic| output(json!({"description": DESCRIPTIONS[topic]})))
            .collect();
        let vector = |topic: usize| {
            let mut vector = vec![0.1; DESCRIPTIONS.len()];
            vector[topic] = 1.0;
            Some(vector)
        };
        let vectors = topics.iter().map(|&topic| vector(topic)).collect();
        let vectors = ChunkVectors { vectors, ..ChunkVectors::default() };
        let video = video(5.0, topics.len()).with(default_video::ID, outputs);
        let result = aggregate_with_vectors(&ChaptersAggregator, &video, &vectors).await;
        assert_eq!(result["based_on"], json!([default_video::ID]));
        result["chapters"].as_array().expect("chapters").clone()
    }

    #[test]
    fn an_added_chapter_cuts_those_around_it() {
        let chunks: Vec<Span> = (0..4)
            .map(|n| Span { start: f64::from(n) * 10.0, end: f64::from(n) * 10.0 + 10.0 })
            .collect();
        let chapter = |title: &str, start: f64, end: f64| Chapter {
            title: title.into(),
            start,
            end,
            ..Chapter::default()
        };
        for (start, end, expected) in [
            (
                5.0,
                8.0,
                vec![("a", 0.0, 5.0), ("new", 5.0, 8.0), ("a", 8.0, 20.0), ("b", 20.0, 40.0)],
            ),
            (15.0, 25.0, vec![("a", 0.0, 15.0), ("new", 15.0, 25.0), ("b", 25.0, 40.0)]),
            (0.3, 19.8, vec![("new", 0.0, 20.0), ("b", 20.0, 40.0)]),
            (0.0, 40.0, vec![("new", 0.0, 40.0)]),
        ] {
            let mut chapters = vec![chapter("a", 0.0, 20.0), chapter("b", 20.0, 40.0)];
            add_chapter(&mut chapters, "new", Span { start, end }, &chunks);
            let found: Vec<_> =
                chapters.iter().map(|c| (c.title.as_str(), c.start, c.end)).collect();
            assert_eq!(found, expected);
            let new = chapters.iter().find(|c| c.title == "new").expect("the new one");
            assert_eq!(new.first_chunk.index(), (new.start / 10.0) as usize, "{start}");
            assert!(new.chunk_ids.last() == Some(&new.last_chunk), "{start}");
        }
    }

    #[tokio::test]
    async fn a_chapter_begins_where_the_topic_changes() {
        for (topics, expected) in [
            (&[0, 0, 0, 0][..], vec![("The harbour wakes", 0.0, 20.0)]),
            (
                &[0, 0, 0, 1, 1, 1, 1],
                vec![("The harbour wakes", 0.0, 15.0), ("Bread is baked", 15.0, 35.0)],
            ),
            (
                &[0, 0, 0, 1, 1, 1, 2, 2, 2],
                vec![
                    ("The harbour wakes", 0.0, 15.0),
                    ("Bread is baked", 15.0, 30.0),
                    ("Snow falls", 30.0, 45.0),
                ],
            ),
        ] {
            let found = chapters(topics).await;
            let heads: Vec<_> = found
                .iter()
                .map(|c| (c["title"].as_str(), c["start"].as_f64(), c["end"].as_f64()))
                .collect();
            let expected: Vec<_> =
                expected.into_iter().map(|(t, a, b)| (Some(t), Some(a), Some(b))).collect();
            assert_eq!(heads, expected, "{topics:?}");
            let chunks: Vec<u64> = found
                .iter()
                .flat_map(|c| c["chunk_ids"].as_array().expect("chunks"))
                .filter_map(Value::as_u64)
                .collect();
            let all: Vec<u64> = (0..topics.len() as u64).collect();
            assert_eq!(chunks, all, "every chunk is in one chapter");
            for chapter in &found {
                let ids = chapter["chunk_ids"].as_array().expect("chunks");
                assert_eq!(Some(&chapter["first_chunk"]), ids.first());
                assert_eq!(Some(&chapter["last_chunk"]), ids.last());
            }
        }
    }

    #[tokio::test]
    async fn a_chapter_without_passages_gets_a_number() {
        let result = aggregate(&ChaptersAggregator, &video(5.0, 2)).await;
        assert_eq!(result["chapters"][0]["title"], "Part 1");
        assert_eq!(result["chapters"][0]["chunk_ids"], json!([0, 1]));
    }
}
