//! `ner`: named entities in speech, descriptions and text on screen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use ports::{ErrorKind, PortError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::aggregation::result::{Aggregate, Conclusion, Stored, read};
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::ChunkId;

/// What requests and stored records call it.
pub(crate) const ID: &str = "ner";

/// Finds named entities in speech, descriptions and text on screen.
pub(crate) struct Ner;

/// What is called by its name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Named {
    /// The most often mentioned first.
    pub(crate) entities: Vec<NamedEntity>,
    /// Mentions by label.
    pub(crate) by_label: BTreeMap<String, u32>,
    /// The labels that were looked for.
    pub(crate) labels_used: Vec<String>,
    /// The analyzers whose texts were read.
    pub(crate) based_on: Vec<String>,
}

/// One name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct NamedEntity {
    pub(crate) text: String,
    pub(crate) label: String,
    /// How often it is mentioned.
    pub(crate) count: u32,
}

/// Texts recognised in one call.
const BATCH: usize = 256;

#[async_trait]
impl Aggregator for Ner {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: false,
            answers: "which names, people, places, organisations, dates and amounts of money are \
                      mentioned, said or shown",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate> {
        let recognizer = input.ner.ok_or_else(|| {
            PortError::new(ErrorKind::Unavailable, "no entity recogniser is configured")
        })?;
        let sources = texts(input.video);
        let texts: Vec<String> = sources.iter().map(|source| source.text.clone()).collect();
        let mut mentions = Mentions::default();
        for (sources, texts) in sources.chunks(BATCH).zip(texts.chunks(BATCH)) {
            let found = recognizer.recognize(texts).await?;
            for (source, spans) in sources.iter().zip(found) {
                for span in spans {
                    if let Some(text) = source.text.get(span.range) {
                        mentions.add(source, text, &span.label);
                    }
                }
            }
        }
        let based_on: BTreeSet<&str> =
            sources.iter().map(|source| source.analyzer.as_str()).collect();
        Ok(Arc::new(Stored::new(mentions.named(recognizer.labels(), &based_on))))
    }

    fn schema(&self) -> Value {
        schema_of::<Named>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Named>(stored)
    }
}

impl Conclusion for Named {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let named = self.entities.iter().take(20).map(|e| format!("{} ({})", e.text, e.label));
        let named: Vec<String> = named.collect();
        if named.is_empty() {
            return Vec::new();
        }
        vec![(whole, format!("Mentioned are {}.", named.join(", ")))]
    }
}

/// A text of one chunk by one analyzer.
struct Source {
    chunk: ChunkId,
    analyzer: String,
    text: String,
}

/// What is written, said or shown; lists of objects and of people's looks name nobody. A description
/// is read as a whole: beside its other words capitals on the screen tell names from loud text.
fn texts(video: &AnalyzedVideo) -> Vec<Source> {
    let mut texts = Vec::new();
    for analyzer in video.outputs.keys() {
        for chunk in video.chunk_ids() {
            let Some(finding) = video.finding(analyzer, chunk) else { continue };
            let named = |kind| {
                matches!(kind, PassageKind::Prose | PassageKind::Speech | PassageKind::Screen)
            };
            let description = finding.description().unwrap_or_default();
            let mut told = finding.statements();
            told.retain(|told| named(told.kind) && !description.contains(&told.text));
            let mut said = vec![description.clone()];
            said.extend(told.into_iter().map(|statement| statement.text));
            said.retain(|text| !text.trim().is_empty());
            let text = said.join("\n");
            if !text.trim().is_empty() {
                texts.push(Source { chunk, analyzer: analyzer.clone(), text });
            }
        }
    }
    texts
}

/// Mentions of each entity, by chunk and analyzer.
#[derive(Default)]
struct Mentions {
    /// By label and folded text: the counts, and how it was written how often.
    entities: BTreeMap<(String, String), Entity>,
}

#[derive(Default)]
struct Entity {
    counts: BTreeMap<(ChunkId, String), u32>,
    spellings: BTreeMap<String, u32>,
}

impl Mentions {
    fn add(&mut self, source: &Source, text: &str, label: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let entity = self.entities.entry((label.to_owned(), text.to_lowercase())).or_default();
        *entity.counts.entry((source.chunk, source.analyzer.clone())).or_default() += 1;
        *entity.spellings.entry(text).or_default() += 1;
    }

    fn named(self, labels: &[String], based_on: &BTreeSet<&str>) -> Named {
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
        Named {
            entities,
            by_label,
            labels_used: labels.to_vec(),
            based_on: based_on.iter().map(|&id| id.to_owned()).collect(),
        }
    }
}

impl Entity {
    /// Analyzers tell of the same words (a composed description quotes the text on screen), so
    /// within a chunk the one that has most mentions counts, not their sum.
    fn count(&self) -> u32 {
        let mut by_chunk: BTreeMap<ChunkId, u32> = BTreeMap::new();
        for ((chunk, _), count) in &self.counts {
            let most = by_chunk.entry(*chunk).or_default();
            *most = (*most).max(*count);
        }
        by_chunk.values().sum()
    }

    /// The most frequent spelling; of equally frequent ones the first, which has capitals.
    fn spelling(&self) -> Option<String> {
        let most = self.spellings.values().max()?;
        self.spellings.iter().find(|(_, count)| *count == most).map(|(text, _)| text.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::analysis::analyzers::{default_video, diarization, object_detection, ocr};

    #[test]
    fn what_two_analyzers_read_is_one_mention() {
        let mut mentions = Mentions::default();
        let source = |chunk, analyzer: &str| Source {
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
        let named = mentions.named(&labels, &["read", "heard"].into());
        assert_eq!(
            json!(named),
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
    fn only_texts_are_read_and_a_description_as_a_whole() {
        use crate::domain::aggregation::testing::{output, spoken, video};
        const SHOWN: &str = "A dark picture in blue, still. Text on screen: PORT ELLERY.";
        let video = video(10.0, 2)
            .with(default_video::ID, vec![output(json!({"description": SHOWN})), None])
            .with(ocr::ID, vec![output(json!({"text": "EXIT"})), None])
            .with(diarization::ID, vec![None, spoken(&[("S1", 1.0, 2.0, "hello Bob")])])
            .with(object_detection::ID, vec![output(json!({"objects": ["car"]})), None]);
        let texts = texts(&video);
        let read: Vec<(u32, &str, &str)> =
            texts.iter().map(|s| (s.chunk.0, s.analyzer.as_str(), s.text.as_str())).collect();
        let expected = [
            (0, default_video::ID, SHOWN),
            (1, diarization::ID, "hello Bob"),
            (0, ocr::ID, "EXIT"),
        ];
        assert_eq!(read, expected);
    }
}
