//! `transcript`: what is said in a chunk, with times. Cut from the words of the whole video.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::finding::{Finding, Statement, Stored, read};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{
    Analyzer, AnalyzerSpec, Column, Indexed, SPEECH, heard_by, no_words,
};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::schema::schema_of;
use crate::domain::media::speech::Segment;

/// Finds what is said in a chunk, with times.
pub(crate) struct Transcript;

/// What requests and stored records call it.
pub(crate) const ID: &str = "transcript";

const VERSION: u32 = 1;

/// What is said in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Words {
    /// All of it.
    pub(crate) text: String,
    /// ISO 639-1 code, when the recogniser knows.
    pub(crate) language: Option<String>,
    /// As captions show it; times in seconds of the video.
    pub(crate) segments: Vec<Segment>,
}

#[async_trait]
impl Analyzer for Transcript {
    fn spec(&self) -> &'static AnalyzerSpec {
        &AnalyzerSpec {
            id: ID,
            group: Some(SPEECH),
            description: "what is said: text and timed segments",
            evidence_rank: 3,
            telling_rank: 4,
            filtered_by: &[],
            columns: &[Column { name: "transcript", rank: 9 }],
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        no_words(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        format!("{}/v{VERSION}", heard_by(models))
    }

    fn cacheable(&self, _models: &Models) -> bool {
        false
    }

    fn needs_speech(&self) -> bool {
        true
    }

    async fn analyze(&self, _models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let speech = &chunk.video.speech;
        let segments = speech.segments_in(chunk.span);
        if segments.is_empty() {
            return Ok(None);
        }
        let text = segments.iter().map(|s| s.text.as_str()).collect::<Vec<_>>().join(" ");
        let language = speech.words.as_ref().and_then(|words| words.language.clone());
        Ok(Some(Arc::new(Stored::heard(Words { text, language, segments }))))
    }

    fn schema(&self) -> Value {
        schema_of::<Words>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<Words>(stored)
    }

    fn tells(&self, hit: &HitDocument) -> Vec<Statement> {
        vec![Statement::new(PassageKind::Speech, hit.description.clone())]
    }
}

impl Finding for Words {
    fn index(&self) -> Indexed {
        let text = self.text.clone();
        let document = HitDocument { description: text.clone(), ..HitDocument::default() };
        Indexed {
            fields: BTreeMap::from([("combined", text.clone()), ("description", text)]),
            document,
        }
    }

    fn statements(&self) -> Vec<Statement> {
        vec![Statement::new(PassageKind::Speech, self.text.clone())]
    }

    fn cells(&self) -> Vec<String> {
        vec![self.text.clone()]
    }
}
