//! `transcript`: what is said in a chunk, with times. Cut from the words of the whole video.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::analysis::correction::{Heard, Overlay};
use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::finding::{Finding, Statement, Stored, read};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{
    Analyzer, AnalyzerSpec, Column, Indexed, SPEECH, TextStyle, heard_by, no_words,
};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::media::speech::{Segment, Speech, Utterance};

/// Finds what is said in a chunk, with times.
pub(crate) struct Transcript;

/// What requests and stored records call it.
pub(crate) const ID: &str = "transcript";

const VERSION: u32 = 2;

/// What is said in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Words {
    /// All of it.
    pub(crate) text: String,
    /// ISO 639-1 code of the language that is spoken longest, when the recogniser knows.
    pub(crate) language: Option<String>,
    /// As captions show it; times in seconds of the video.
    pub(crate) segments: Vec<Segment>,
    /// What is said, each sentence whole: the first may begin before the chunk, the last end after it.
    #[serde(rename = "_sentences", skip_serializing_if = "Vec::is_empty")]
    pub(crate) sentences: Vec<Utterance>,
}

#[async_trait]
impl Analyzer for Transcript {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: Some(SPEECH),
            description: "what is said: text and timed segments",
            evidence_rank: 3,
            telling_rank: 4,
            style: TextStyle::Speech,
            filtered_by: &[],
            columns: const { &[Column::new("transcript", 9)] },
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
        let words = Words::of(&chunk.video.speech, &chunk.video.utterances, chunk.span);
        if words.segments.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Stored::heard(words))))
    }

    fn schema(&self) -> Value {
        schema_of::<Words>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<Words>(stored)
    }

    fn tells(&self, hit: &HitDocument) -> Vec<Statement> {
        said(&hit.sentences, &hit.description)
    }
}

/// The sentences; of a record that has none, all that is said.
fn said(sentences: &[Utterance], text: &str) -> Vec<Statement> {
    if sentences.is_empty() {
        return vec![Statement::new(PassageKind::Speech, text)];
    }
    sentences.iter().map(Statement::said).collect()
}

impl Words {
    /// What is said within a span; `utterances` are those of the whole video.
    fn of(speech: &Speech, utterances: &[Utterance], span: Span) -> Self {
        let segments = speech.segments_in(span);
        let text = segments.iter().map(|s| s.text.as_str()).collect::<Vec<_>>().join(" ");
        let language = speech.language_in(span).map(str::to_owned);
        let said = speech.utterances_in(utterances, span);
        Self { text, language, segments, sentences: said.map(Utterance::unattributed).collect() }
    }

    /// All that is said, with what is said of it before and after the chunk.
    fn whole(&self) -> String {
        let whole = self.sentences.iter().map(|said| said.text.as_str()).collect::<Vec<_>>();
        if whole.is_empty() { self.text.clone() } else { whole.join(" ") }
    }
}

impl Finding for Words {
    fn index(&self) -> Indexed {
        let text = self.whole();
        let document = HitDocument {
            description: text.clone(),
            sentences: self.sentences.clone(),
            ..HitDocument::default()
        };
        Indexed {
            fields: BTreeMap::from([("combined", text.clone()), ("description", text)]),
            document,
        }
    }

    fn statements(&self) -> Vec<Statement> {
        said(&self.sentences, &self.text)
    }

    fn cells(&self) -> Vec<String> {
        vec![self.text.clone()]
    }

    fn correct(&mut self, overlay: &Overlay, span: Span) {
        let Some((before, after)) = overlay.heard() else { return };
        let of = |heard: &Heard| Self::of(&heard.speech, &heard.utterances, span);
        let corrected = of(after);
        if corrected != of(before) {
            *self = corrected;
        }
    }
}
