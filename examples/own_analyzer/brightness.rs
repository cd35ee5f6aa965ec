//! `brightness`: how bright the pictures of a chunk are.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::analysis::evidence::ChunkEvidence;
use domain::analysis::facets::{Display, Facets};
use domain::analysis::output::{AnalyzerOutput, OutputRecord, Statement, read};
use domain::analysis::presentation::Presentation;
use domain::analysis::video::Output;
use domain::analysis::{Analyzer, AnalyzerSpec, Column, IndexEntry, TextStyle};
use domain::kernel::schema::json_schema;
use domain::{Models, Result};
use ports::llm::PassageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Measures the brightness of each chunk from the luma of its pictures.
pub(crate) struct Brightness;

/// Id of the analyzer.
pub(crate) const ID: &str = "brightness";

/// Increment with every change to the output, so that chunks with output from older versions are
/// analyzed again.
const VERSION: u32 = 1;

/// The stored output for a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Light {
    /// Mean brightness of the pictures, 0 (black) to 100 (white).
    pub(crate) percent: u32,
    /// `dark`, `dim`, `bright` or `glaring`.
    pub(crate) level: String,
}

impl Light {
    fn from_luma(luma: f32) -> Self {
        let percent = (luma / 255.0 * 100.0).round() as u32;
        let level = match percent {
            0..20 => "dark",
            20..40 => "dim",
            40..70 => "bright",
            _ => "glaring",
        };
        Self { percent, level: level.into() }
    }

    fn sentence(&self) -> String {
        format!("The picture is {}, at {} percent of full brightness.", self.level, self.percent)
    }
}

#[async_trait]
impl Analyzer for Brightness {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: None,
            description: "how bright the picture is",
            // Ranks after the built-in analyzers.
            evidence_rank: 100,
            statement_rank: 100,
            style: TextStyle::Prose,
            filter_fields: &[],
            columns: const { &[Column::new("brightness", 100)] },
            label: "Brightness",
            presentation: Presentation::ROWS,
        }
    }

    fn unavailable(&self, _models: &Models) -> Option<String> {
        // The luma is measured while the video is decoded, so no model is needed.
        None
    }

    fn fingerprint(&self, _models: &Models) -> String {
        format!("luma/v{VERSION}")
    }

    fn cacheable(&self, _models: &Models) -> bool {
        false
    }

    async fn analyze(&self, _models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let seconds = chunk.visual();
        if seconds.is_empty() {
            return Ok(None);
        }
        let luma = seconds.iter().map(|second| second.luma).sum::<f32>() / seconds.len() as f32;
        Ok(Some(Arc::new(OutputRecord::new(Light::from_luma(luma)))))
    }

    fn schema(&self) -> Value {
        json_schema::<Light>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<Light>(stored)
    }
}

impl AnalyzerOutput for Light {
    fn index_entry(&self) -> IndexEntry {
        let description = self.sentence();
        IndexEntry {
            fields: BTreeMap::from([("combined", description.clone())]),
            facets: Facets::default(),
            display: Display::new(description),
        }
    }

    fn statements(&self) -> Vec<Statement> {
        vec![Statement::new(PassageKind::Scene, self.sentence())]
    }

    fn cells(&self) -> Vec<String> {
        vec![self.percent.to_string()]
    }
}
