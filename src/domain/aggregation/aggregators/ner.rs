//! `ner`: named entities in speech, descriptions and text on screen.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use ports::llm::PassageKind;
use ports::{ErrorKind, PortError};
use serde_json::{Value, json};

use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;

/// Its id.
pub(crate) const ID: &str = "ner";

/// The aggregator.
pub(crate) struct Ner;

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

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        let recognizer = input.recognizer.ok_or_else(|| {
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
        Ok(mentions.result(recognizer.labels(), &based_on))
    }

    fn evidence(&self, result: &Value, whole: Span) -> Vec<(Span, String)> {
        let entities = result["entities"].as_array().into_iter().flatten().take(20);
        let named: Vec<String> = entities
            .filter_map(|e| Some(format!("{} ({})", e["text"].as_str()?, e["label"].as_str()?)))
            .collect();
        if named.is_empty() {
            return Vec::new();
        }
        vec![(whole, format!("Mentioned are {}.", named.join(", ")))]
    }
}

/// A text of one chunk by one analyzer.
struct Source {
    chunk: usize,
    analyzer: String,
    text: String,
}

/// What is written, said or shown; lists of objects and of people's looks name nobody.
fn texts(video: &AnalyzedVideo) -> Vec<Source> {
    let mut texts = Vec::new();
    for analyzer in video.outputs.keys() {
        for chunk in 0..video.spans.len() {
            let told = video.finding(analyzer, chunk).map(|finding| finding.statements());
            let named = |kind| {
                matches!(kind, PassageKind::Prose | PassageKind::Speech | PassageKind::Screen)
            };
            let told = told.into_iter().flatten().filter(|statement| named(statement.kind));
            let text = told.map(|statement| statement.text).collect::<Vec<_>>().join("\n");
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
    counts: BTreeMap<(usize, String), u32>,
    spellings: BTreeMap<String, u32>,
}

impl Mentions {
    fn add(&mut self, source: &Source, text: &str, label: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let entity = self.entities.entry((label.to_owned(), text.to_lowercase())).or_default();
        *entity.counts.entry((source.chunk, source.analyzer.clone())).or_default() += 1;
        *entity.spellings.entry(text).or_default() += 1;
    }

    fn result(self, labels: &[String], based_on: &BTreeSet<&str>) -> Value {
        let mut entities: Vec<(String, String, u32)> = self
            .entities
            .into_iter()
            .filter_map(|((label, _), entity)| {
                let count = entity.count();
                Some((entity.spelling()?, label, count))
            })
            .collect();
        entities.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        let mut by_label: BTreeMap<&str, u32> = BTreeMap::new();
        for (_, label, count) in &entities {
            *by_label.entry(label).or_default() += count;
        }
        json!({
            "entities": entities.iter().map(|(text, label, count)| json!({
                "text": text, "label": label, "count": count,
            })).collect::<Vec<_>>(),
            "by_label": by_label,
            "labels_used": labels,
            "based_on": based_on,
        })
    }
}

impl Entity {
    /// Analyzers tell of the same words (a composed description quotes the text on screen), so
    /// within a chunk the one that has most mentions counts, not their sum.
    fn count(&self) -> u32 {
        let mut by_chunk: BTreeMap<usize, u32> = BTreeMap::new();
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
    use super::*;

    #[test]
    fn what_two_analyzers_read_is_one_mention() {
        let mut mentions = Mentions::default();
        let source = |chunk, analyzer: &str| Source {
            chunk,
            analyzer: analyzer.into(),
            text: String::new(),
        };
        for (chunk, analyzer, text, label) in [
            (0, "ocr", "NASA", "organisation"),
            (0, "default_video", "NASA", "organisation"),
            (1, "ocr", "nasa", "organisation"),
            (1, "ocr", "NASA", "organisation"),
            (1, "transcript", "New\nYork", "place"),
        ] {
            mentions.add(&source(chunk, analyzer), text, label);
        }
        let labels = ["organisation".to_owned(), "place".to_owned(), "date".to_owned()];
        let result = mentions.result(&labels, &["ocr", "transcript"].into());
        assert_eq!(
            result,
            json!({
                "entities": [
                    {"text": "NASA", "label": "organisation", "count": 3},
                    {"text": "New York", "label": "place", "count": 1},
                ],
                "by_label": {"organisation": 3, "place": 1},
                "labels_used": ["organisation", "place", "date"],
                "based_on": ["ocr", "transcript"],
            })
        );
    }

    #[test]
    fn only_texts_are_read() {
        use crate::domain::aggregation::testing::{output, spoken, video};
        let video = video(10.0, 2)
            .with("ocr", vec![output(json!({"text": "EXIT"})), None])
            .with("diarization", vec![None, spoken(&[("S1", 1.0, 2.0, "hello Bob")])])
            .with("object_detection", vec![output(json!({"objects": ["car"]})), None]);
        let texts = texts(&video);
        let read: Vec<(usize, &str, &str)> =
            texts.iter().map(|s| (s.chunk, s.analyzer.as_str(), s.text.as_str())).collect();
        assert_eq!(read, [(1, "diarization", "hello Bob"), (0, "ocr", "EXIT")]);
    }
}
