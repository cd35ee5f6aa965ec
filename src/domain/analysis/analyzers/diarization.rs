//! `diarization`: who says what in a chunk, and when. The turns and words are taken from those of
//! the whole video, so that a speaker has the same label in every chunk.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::analyzers::transcript;
use crate::analysis::correction::{CorrectionSet, TranscribedSpeech};
use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::{AnalyzerOutput, OutputRecord, Statement, read};
use crate::analysis::presentation::{Lane, OutputKind, Presentation, Tab, TrackSpec};
use crate::analysis::video::Output;
use crate::analysis::{
    Analyzer, AnalyzerSpec, Column, IndexEntry, SPEECH_GROUP, TextStyle, missing_vad,
    speaker_models, speech_models,
};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::schema::json_schema;
use crate::kernel::time::Span;
use crate::media::speech::{SpeakerTurn, Speech, Utterance};

/// The `diarization` analyzer.
pub(crate) struct DiarizationAnalyzer;

/// The id used in requests and stored records.
pub(crate) const ID: &str = "diarization";

const VERSION: u32 = 2;

/// The diarized speech of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ChunkDiarization {
    /// The turns in chronological order, clipped to the chunk.
    pub(crate) turns: Vec<SpeakerTurn>,
    /// The speakers, in the order in which they first speak.
    pub(crate) speakers: Vec<String>,
    /// The complete sentences. The first may begin before the chunk, and the last may end after it.
    #[serde(rename = "_sentences", skip_serializing_if = "Vec::is_empty")]
    pub(crate) sentences: Vec<Utterance>,
}

#[async_trait]
impl Analyzer for DiarizationAnalyzer {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: Some(SPEECH_GROUP),
            description: "who says what: turns with speaker, times and text",
            evidence_rank: 2,
            statement_rank: 5,
            style: TextStyle::Speech,
            filter_fields: &["speakers"],
            label: "Speech by speaker",
            presentation: const {
                let turns = TrackSpec {
                    speaker: Some("speaker"),
                    lane: Some(Lane::spans("speech", "Speakers", 40)),
                    ..TrackSpec::new("/turns", "text")
                };
                Presentation {
                    icon: "speech",
                    kind: OutputKind::Speech,
                    rank: 10,
                    tab: Some(Tab::new(transcript::ID, "Transcript")),
                    tracks: &[turns],
                    ..Presentation::ROWS
                }
            },
            columns: const { &[Column::new("speakers", 7), Column::new("turns", 8)] },
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        if speaker_models(models).is_none() {
            return Some(
                "no diarization models; `shotlog models --fetch` gets the networks or says \
                 how (speaker.kind)"
                    .into(),
            );
        }
        // Diarization is useful even without speech recognition.
        missing_vad(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        let speaker = speaker_models(models).unwrap_or_else(|| "none".into());
        format!("{speaker}/{}/v{VERSION}", speech_models(models))
    }

    fn cacheable(&self, _models: &Models) -> bool {
        false
    }

    fn needs_speech(&self) -> bool {
        true
    }

    async fn analyze(&self, _models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let diarization =
            ChunkDiarization::for_span(&chunk.video.speech, &chunk.video.utterances, chunk.span);
        if diarization.turns.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(OutputRecord::new(diarization))))
    }

    fn schema(&self) -> Value {
        json_schema::<ChunkDiarization>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<ChunkDiarization>(stored)
    }
}

impl ChunkDiarization {
    /// Extracts the speech within a span; `utterances` covers the whole video.
    fn for_span(speech: &Speech, utterances: &[Utterance], span: Span) -> Self {
        let turns = speech.turns_in(utterances, span);
        let mut speakers: Vec<String> = Vec::new();
        for turn in &turns {
            if !speakers.contains(&turn.speaker) {
                speakers.push(turn.speaker.clone());
            }
        }
        Self {
            turns,
            speakers,
            sentences: speech.utterances_in(utterances, span).cloned().collect(),
        }
    }

    /// Returns the speaker and the text of each line. Consecutive sentences by one speaker form one
    /// line. If the record has no sentences, each turn forms a line.
    fn lines(&self) -> Vec<(Option<&str>, String)> {
        if self.sentences.is_empty() {
            let with_text = self.turns.iter().filter(|turn| !turn.text.is_empty());
            return with_text.map(|turn| (Some(&*turn.speaker), turn.text.clone())).collect();
        }
        let runs = self.sentences.chunk_by(|a, b| a.speaker == b.speaker);
        let line = |run: &[Utterance]| {
            run.iter().map(|sentence| sentence.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        runs.map(|run| (run[0].speaker.as_deref(), line(run))).collect()
    }
}

impl AnalyzerOutput for ChunkDiarization {
    fn index_entry(&self) -> IndexEntry {
        let lines = self.lines();
        let line = |(speaker, text): &(Option<&str>, String)| match speaker {
            Some(speaker) => format!("{speaker}: {text}"),
            None => text.clone(),
        };
        let labelled: Vec<String> = lines.iter().map(line).collect();
        let text = lines.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ");
        let fields =
            BTreeMap::from([("combined", labelled.join("\n")), ("description", text.clone())]);
        let facets = Facets { speakers: self.speakers.clone(), ..Facets::default() };
        let display = Display::new(text).with_records("turns", &self.turns);
        IndexEntry { fields, facets, display }
    }

    /// Returns one statement per sentence, or per turn if the record has no sentences.
    fn statements(&self) -> Vec<Statement> {
        if !self.sentences.is_empty() {
            return self.sentences.iter().map(Statement::from_utterance).collect();
        }
        self.turns.iter().map(Statement::from_turn).collect()
    }

    fn cells(&self) -> Vec<String> {
        // Turns without recognized words are omitted; their speakers still appear in `speakers`.
        let with_text = self.turns.iter().filter(|turn| !turn.text.trim().is_empty());
        let line = |turn: &SpeakerTurn| format!("{}: {}", turn.speaker, turn.text.trim_end());
        let lines: Vec<String> = with_text.map(line).collect();
        vec![self.speakers.join("; "), lines.join("; ")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_omit_turns_without_words() {
        let turn = |speaker: &str, text: &str| SpeakerTurn {
            speaker: speaker.into(),
            text: text.into(),
            start: 0.0,
            end: 1.0,
        };
        let turns = vec![turn("S1", ""), turn("S2", "Hello.")];
        let diarization = ChunkDiarization {
            turns,
            speakers: vec!["S1".into(), "S2".into()],
            ..ChunkDiarization::default()
        };
        assert_eq!(diarization.cells(), ["S1; S2", "S2: Hello."]);
    }
}
