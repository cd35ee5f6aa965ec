//! `ocr`: the text on screen in a chunk. Each line appears once, with its times and positions.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::correction::CorrectionSet;
use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::{AnalyzerOutput, OutputRecord, Statement, read};
use crate::analysis::presentation::{Lane, OutputKind, Presentation, TrackSpec};
use crate::analysis::video::Output;
use crate::analysis::{Analyzer, AnalyzerSpec, Column, IndexEntry, TextStyle};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::schema::json_schema;
use crate::kernel::time::Span;
use crate::media::screen_text::{self, ScreenLine};

/// The `ocr` analyzer.
pub(crate) struct OcrAnalyzer;

/// The id used in requests and stored records.
pub(crate) const ID: &str = "ocr";

const VERSION: u32 = 4;

/// The text on screen in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ScreenText {
    /// All lines, separated by line breaks.
    pub(crate) text: String,
    /// One record per line.
    pub(crate) texts: Vec<ScreenLine>,
}

#[async_trait]
impl Analyzer for OcrAnalyzer {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: None,
            description: "text in the picture: lines with when and where they are seen",
            evidence_rank: 5,
            statement_rank: 3,
            style: TextStyle::Screen,
            filter_fields: &[],
            label: "On-screen text",
            presentation: const {
                let lines = TrackSpec {
                    lane: Some(Lane::spans("screen", "On screen", 70)),
                    ..TrackSpec::sightings("/texts", "text")
                };
                Presentation {
                    icon: "text",
                    kind: OutputKind::ScreenText,
                    rank: 20,
                    text: Some("/text"),
                    tracks: &[lines],
                    ..Presentation::ROWS
                }
            },
            columns: const { &[Column::new("on_screen_text", 10)] },
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        let reason = "no text reader; `shotlog models --fetch` gets one or says how (ocr.kind)";
        models.ocr.is_none().then(|| reason.into())
    }

    fn fingerprint(&self, models: &Models) -> String {
        format!("{}/v{VERSION}", models.ocr.as_ref().map_or("none", |r| r.model()))
    }

    fn cacheable(&self, _models: &Models) -> bool {
        true
    }

    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let texts = chunk.screen_lines(models).await?.to_vec();
        if texts.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(OutputRecord::from_frames(
            ScreenText::from_lines(texts),
            chunk.frame_times(),
        ))))
    }

    fn schema(&self) -> Value {
        json_schema::<ScreenText>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<ScreenText>(stored)
    }
}

impl ScreenText {
    fn from_lines(texts: Vec<ScreenLine>) -> Self {
        let text = texts.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
        Self { text, texts }
    }
}

impl AnalyzerOutput for ScreenText {
    fn index_entry(&self) -> IndexEntry {
        let text = self.text.replace('\n', "; ");
        let fields = BTreeMap::from([("combined", text.clone()), ("description", text.clone())]);
        let texts: Vec<ScreenLine> = self
            .texts
            .iter()
            .map(|line| ScreenLine { locations: Vec::new(), ..line.clone() })
            .collect();
        let display = Display::new(text).with_records("texts", &texts);
        IndexEntry { fields, facets: Facets::default(), display }
    }

    fn statements(&self) -> Vec<Statement> {
        if self.texts.is_empty() {
            let lines = self.text.lines().filter(|line| !line.trim().is_empty());
            return lines.map(|line| Statement::new(PassageKind::Screen, line)).collect();
        }
        let texts = screen_text::statements(&self.texts).into_iter();
        texts
            .map(|shown| Statement {
                confidence: Some(shown.confidence as f32),
                ..Statement::new(shown.kind, shown.text)
            })
            .collect()
    }

    fn cells(&self) -> Vec<String> {
        vec![self.text.clone()]
    }

    fn apply_corrections(&mut self, corrections: &CorrectionSet, _span: Span) {
        let mut texts = self.texts.clone();
        corrections.correct_screen_lines(&mut texts);
        if texts != self.texts {
            *self = Self::from_lines(texts);
        }
    }
}
