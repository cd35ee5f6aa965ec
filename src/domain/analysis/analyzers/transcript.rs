//! `transcript`: the recognized speech in a chunk, with times. The words are taken from those of
//! the whole video.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::correction::{CorrectionSet, TranscribedSpeech};
use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::{AnalyzerOutput, OutputRecord, Statement, read};
use crate::analysis::presentation::{Lane, OutputKind, Presentation, Tab, TrackSpec};
use crate::analysis::video::Output;
use crate::analysis::{
    Analyzer, AnalyzerSpec, Column, IndexEntry, SPEECH_GROUP, TextStyle, missing_transcriber,
    speech_models,
};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::schema::json_schema;
use crate::kernel::time::Span;
use crate::media::speech::{Segment, Speech, Utterance};

/// The `transcript` analyzer.
pub(crate) struct TranscriptAnalyzer;

/// The id used in requests and stored records.
pub(crate) const ID: &str = "transcript";

const VERSION: u32 = 2;

/// The transcript of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ChunkTranscript {
    /// The whole text.
    pub(crate) text: String,
    /// ISO 639-1 code of the language that is spoken longest, if the recognizer reports it.
    pub(crate) language: Option<String>,
    /// Caption-sized segments, with times in seconds from the start of the video.
    pub(crate) segments: Vec<Segment>,
    /// The complete sentences. The first may begin before the chunk, and the last may end after it.
    #[serde(rename = "_sentences", skip_serializing_if = "Vec::is_empty")]
    pub(crate) sentences: Vec<Utterance>,
}

#[async_trait]
impl Analyzer for TranscriptAnalyzer {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: Some(SPEECH_GROUP),
            description: "what is said: text and timed segments",
            evidence_rank: 3,
            statement_rank: 4,
            style: TextStyle::Speech,
            filter_fields: &[],
            label: "Speech",
            presentation: const {
                let segments = TrackSpec {
                    lane: Some(Lane::spans("speech", "Speech", 40)),
                    ..TrackSpec::new("/segments", "text")
                };
                Presentation {
                    icon: "speech",
                    kind: OutputKind::Speech,
                    rank: 11,
                    text: Some("/text"),
                    tab: Some(Tab::new(ID, "Transcript")),
                    tracks: &[segments],
                    ..Presentation::ROWS
                }
            },
            columns: const { &[Column::new("transcript", 9)] },
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        missing_transcriber(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        format!("{}/v{VERSION}", speech_models(models))
    }

    fn cacheable(&self, _models: &Models) -> bool {
        false
    }

    fn needs_speech(&self) -> bool {
        true
    }

    async fn analyze(&self, _models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let transcript =
            ChunkTranscript::for_span(&chunk.video.speech, &chunk.video.utterances, chunk.span);
        if transcript.segments.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(OutputRecord::new(transcript))))
    }

    fn schema(&self) -> Value {
        json_schema::<ChunkTranscript>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<ChunkTranscript>(stored)
    }
}

impl ChunkTranscript {
    /// Extracts the speech within a span; `utterances` covers the whole video.
    fn for_span(speech: &Speech, utterances: &[Utterance], span: Span) -> Self {
        let segments = speech.segments_in(span);
        let text = segments.iter().map(|s| s.text.as_str()).collect::<Vec<_>>().join(" ");
        let language = speech.language_in(span).map(str::to_owned);
        let sentences = speech.utterances_in(utterances, span);
        Self {
            text,
            language,
            segments,
            sentences: sentences.map(Utterance::unattributed).collect(),
        }
    }

    /// The text of all sentences, including their parts before and after the chunk.
    fn uncut_text(&self) -> String {
        let sentences = self.sentences.iter().map(|sentence| sentence.text.as_str());
        let text = sentences.collect::<Vec<_>>().join(" ");
        if self.sentences.is_empty() { self.text.clone() } else { text }
    }
}

impl AnalyzerOutput for ChunkTranscript {
    fn index_entry(&self) -> IndexEntry {
        let text = self.uncut_text();
        IndexEntry {
            fields: BTreeMap::from([("combined", text.clone()), ("description", text.clone())]),
            facets: Facets::default(),
            display: Display::new(text),
        }
    }

    /// Returns one statement per sentence. If the record has no sentences, returns a single
    /// statement with the whole text.
    fn statements(&self) -> Vec<Statement> {
        if self.sentences.is_empty() {
            return vec![Statement::new(PassageKind::Speech, &self.text)];
        }
        self.sentences.iter().map(Statement::from_utterance).collect()
    }

    fn cells(&self) -> Vec<String> {
        vec![self.text.clone()]
    }

    fn apply_corrections(&mut self, corrections: &CorrectionSet, span: Span) {
        let Some((before, after)) = corrections.speech() else { return };
        let in_span =
            |speech: &TranscribedSpeech| Self::for_span(&speech.speech, &speech.utterances, span);
        let corrected = in_span(after);
        if corrected != in_span(before) {
            *self = corrected;
        }
    }
}
