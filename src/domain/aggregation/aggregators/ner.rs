//! `ner`: finds named entities in speech, descriptions and on-screen text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use ports::{ErrorKind, PortError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::{Aggregator, AggregatorInput, AggregatorSpec};
use crate::analysis::presentation::{Chart, ChartForm, OutputKind, Presentation, Tab};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::Span;
use crate::kernel::video::ChunkId;

/// The id in requests and stored records.
pub(crate) const ID: &str = "ner";

/// The `ner` aggregator.
pub(crate) struct NerAggregator;

/// The named entities in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct NamedEntities {
    /// The entities, sorted by number of mentions in descending order.
    pub(crate) entities: Vec<NamedEntity>,
    /// Number of mentions by label.
    pub(crate) by_label: BTreeMap<String, u32>,
    /// The labels that the recognizer uses.
    pub(crate) labels_used: Vec<String>,
    /// The analyzers whose texts were used.
    pub(crate) based_on: Vec<String>,
}

/// One named entity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct NamedEntity {
    pub(crate) text: String,
    pub(crate) label: String,
    /// Number of mentions.
    pub(crate) count: u32,
}

/// Number of texts per call to the recognizer.
const BATCH_SIZE: usize = 256;

#[async_trait]
impl Aggregator for NerAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: false,
            answers: "which names, people, places, organisations, dates and amounts of money are \
                      mentioned, said or shown",
            label: "Names",
            presentation: const {
                let names = Chart {
                    label: Some("text"),
                    category: Some("label"),
                    ..Chart::new(ChartForm::Tags, "Names", "/entities", "count")
                };
                Presentation {
                    icon: "text",
                    kind: OutputKind::Charts,
                    rank: 74,
                    tab: Some(Tab::STATISTICS),
                    charts: &[names],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let recognizer = input.ner.ok_or_else(|| {
            PortError::new(ErrorKind::Unavailable, "no entity recogniser is configured")
        })?;
        let sources = texts(input.video);
        let texts: Vec<String> = sources.iter().map(|source| source.text.clone()).collect();
        let mut mentions = Mentions::default();
        for (sources, texts) in sources.chunks(BATCH_SIZE).zip(texts.chunks(BATCH_SIZE)) {
            let recognized = recognizer.recognize(texts).await?;
            for (source, spans) in sources.iter().zip(recognized) {
                for span in spans {
                    if let Some(text) = source.text.get(span.range) {
                        mentions.add(source, text, &span.label);
                    }
                }
            }
        }
        let based_on: BTreeSet<&str> =
            sources.iter().map(|source| source.analyzer.as_str()).collect();
        Ok(Arc::new(AggregateRecord::new(mentions.into_entities(recognizer.labels(), &based_on))))
    }

    fn schema(&self) -> Value {
        json_schema::<NamedEntities>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<NamedEntities>(stored)
    }
}

impl AggregatorOutput for NamedEntities {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let named = self.entities.iter().take(20).map(|e| format!("{} ({})", e.text, e.label));
        let named: Vec<String> = named.collect();
        if named.is_empty() {
            return Vec::new();
        }
        vec![(whole, format!("Mentioned are {}.", named.join(", ")))]
    }
}

/// The text that one analyzer produced for one chunk.
struct TextSource {
    chunk: ChunkId,
    analyzer: String,
    text: String,
}

/// Returns the prose, speech and screen text for each chunk and analyzer. Lists of objects and
/// appearances are left out because they contain no names. A description is kept whole, because its
/// other words show whether capitals in quoted screen text mark a name or just upper-case text.
fn texts(video: &AnalyzedVideo) -> Vec<TextSource> {
    let mut texts = Vec::new();
    for analyzer in video.outputs.keys() {
        for chunk in video.chunk_ids() {
            let Some(output) = video.output(analyzer, chunk) else { continue };
            let has_names = |kind: PassageKind| {
                matches!(kind, PassageKind::Prose | PassageKind::Speech) || kind.is_on_screen()
            };
            let description = output.description().unwrap_or_default();
            let mut statements = output.statements();
            statements.retain(|s| has_names(s.kind) && !description.contains(&s.text));
            let mut parts = vec![description.clone()];
            parts.extend(statements.into_iter().map(|statement| statement.text));
            parts.retain(|text| !text.trim().is_empty());
            let text = parts.join("\n");
            if !text.trim().is_empty() {
                texts.push(TextSource { chunk, analyzer: analyzer.clone(), text });
            }
        }
    }
    texts
}

/// The mentions of each entity, by chunk and analyzer.
#[derive(Default)]
struct Mentions {
    /// The mention counts by label and lower-case text.
    entities: BTreeMap<(String, String), MentionCounts>,
}

#[derive(Default)]
struct MentionCounts {
    counts: BTreeMap<(ChunkId, String), u32>,
    spellings: BTreeMap<String, u32>,
}

impl Mentions {
    fn add(&mut self, source: &TextSource, text: &str, label: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let entity = self.entities.entry((label.to_owned(), text.to_lowercase())).or_default();
        *entity.counts.entry((source.chunk, source.analyzer.clone())).or_default() += 1;
        *entity.spellings.entry(text).or_default() += 1;
    }

    fn into_entities(self, labels: &[String], based_on: &BTreeSet<&str>) -> NamedEntities {
        let mut entities: Vec<NamedEntity> = self
            .entities
            .into_iter()
            .filter_map(|((label, _), entity)| {
                let count = entity.count();
                Some(NamedEntity { text: entity.spelling()?, label, count })
            })
            .collect();
        entities.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text.cmp(&b.text)));
        let mut by_label: BTreeMap<String, u32> = BTreeMap::new();
        for entity in &entities {
            *by_label.entry(entity.label.clone()).or_default() += entity.count;
        }
        NamedEntities {
            entities,
            by_label,
            labels_used: labels.to_vec(),
            based_on: based_on.iter().map(|&id| id.to_owned()).collect(),
        }
    }
}

impl MentionCounts {
    /// Counts the mentions. The outputs of several analyzers can contain the same words. For
    /// example, a composed description quotes screen text. The count for a chunk is therefore the
    /// maximum over its analyzers, not the sum.
    fn count(&self) -> u32 {
        let mut by_chunk: BTreeMap<ChunkId, u32> = BTreeMap::new();
        for ((chunk, _), count) in &self.counts {
            let max = by_chunk.entry(*chunk).or_default();
            *max = (*max).max(*count);
        }
        by_chunk.values().sum()
    }

    /// Returns the most frequent spelling. If several spellings are equally frequent, returns the
    /// first of them in ASCII order, which prefers capitals.
    fn spelling(&self) -> Option<String> {
        let max = self.spellings.values().max()?;
        self.spellings.iter().find(|(_, count)| *count == max).map(|(text, _)| text.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::analysis::analyzers::{default_video, diarization, object_detection, ocr};

    #[test]
    fn a_mention_by_two_analyzers_counts_once() {
        let mut mentions = Mentions::default();
        let source = |chunk, analyzer: &str| TextSource {
            chunk: ChunkId(chunk),
            analyzer: analyzer.into(),
            text: String::new(),
        };
        for (chunk, analyzer, text, label) in [
            (0, "read", "NASA", "organisation"),
            (0, "described", "NASA", "organisation"),
            (1, "read", "nasa", "organisation"),
            (1, "read", "NASA", "organisation"),
            (1, "heard", "New\nYork", "place"),
        ] {
            mentions.add(&source(chunk, analyzer), text, label);
        }
        let labels = ["organisation".to_owned(), "place".to_owned(), "date".to_owned()];
        let entities = mentions.into_entities(&labels, &["read", "heard"].into());
        assert_eq!(
            json!(entities),
            json!({
                "entities": [
                    {"text": "NASA", "label": "organisation", "count": 3},
                    {"text": "New York", "label": "place", "count": 1},
                ],
                "by_label": {"organisation": 3, "place": 1},
                "labels_used": ["organisation", "place", "date"],
                "based_on": ["heard", "read"],
            })
        );
    }

    #[test]
    fn texts_keep_descriptions_whole_and_omit_objects() {
        use crate::aggregation::testing::{diarized, output, video};
        const DESCRIPTION: &str = "A dark picture in blue, still. Text on screen: PORT ELLERY.";
        let video = video(10.0, 2)
            .with(default_video::ID, vec![output(json!({"description": DESCRIPTION})), None])
            .with(ocr::ID, vec![output(json!({"text": "EXIT"})), None])
            .with(diarization::ID, vec![None, diarized(&[("S1", 1.0, 2.0, "hello Bob")])])
            .with(object_detection::ID, vec![output(json!({"objects": ["car"]})), None]);
        let texts = texts(&video);
        let read: Vec<(u32, &str, &str)> =
            texts.iter().map(|s| (s.chunk.0, s.analyzer.as_str(), s.text.as_str())).collect();
        let expected = [
            (0, default_video::ID, DESCRIPTION),
            (1, diarization::ID, "hello Bob"),
            (0, ocr::ID, "EXIT"),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn texts_include_the_rows_of_tables() {
        use crate::aggregation::testing::{output, video};
        let cell = |row: u32, left: f64, text: &str| {
            let bounds = [left, 0.2 + 0.1 * f64::from(row), 0.1, 0.03];
            json!({"text": text, "locations": [{"t": 1.0, "box": bounds, "confidence": 0.9}]})
        };
        let people = ["Ada Rossi", "Omar Diaz", "Mei Lin"];
        let cells = (0..3).zip(people).flat_map(|(row, name)| {
            [cell(row, 0.1, name), cell(row, 0.5, &format!("{row} points"))]
        });
        let cells: Vec<_> = cells.collect();
        let video = video(10.0, 1).with(ocr::ID, vec![output(json!({"texts": cells}))]);
        let rows = "Ada Rossi; 0 points\nOmar Diaz; 1 points\nMei Lin; 2 points";
        assert_eq!(texts(&video)[0].text, rows);
    }
}
