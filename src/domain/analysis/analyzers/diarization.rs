//! `diarization`: who says what when in a chunk. Cut from the turns and words of the whole video,
//! so that a speaker has one label throughout.

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
    Analyzer, AnalyzerSpec, Column, Indexed, SPEECH, TextStyle, heard_by, no_voices, speaker_models,
};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::media::speech::{SpeakerTurn, Speech, Utterance};

/// Finds who says what when in a chunk.
pub(crate) struct Diarization;

/// What requests and stored records call it.
pub(crate) const ID: &str = "diarization";

const VERSION: u32 = 2;

/// Who speaks in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Voices {
    /// In order of time, clipped to the chunk.
    pub(crate) turns: Vec<SpeakerTurn>,
    /// In order of first speech.
    pub(crate) speakers: Vec<String>,
    /// What is said, each sentence whole: the first may begin before the chunk, the last end after it.
    #[serde(rename = "_sentences", skip_serializing_if = "Vec::is_empty")]
    pub(crate) sentences: Vec<Utterance>,
}

#[async_trait]
impl Analyzer for Diarization {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: Some(SPEECH),
            description: "who says what: turns with speaker, times and text",
            evidence_rank: 2,
            telling_rank: 5,
            style: TextStyle::Speech,
            filtered_by: &["speakers"],
            columns: const { &[Column::new("speakers", 7), Column::new("turns", 8)] },
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        if speaker_models(models).is_none() {
            return Some(
                "nothing tells speakers apart; `shotlog models --fetch` gets the networks or says \
                 how (speaker.kind)"
                    .into(),
            );
        }
        // Who speaks when is worth having even where no words are recognised.
        no_voices(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        let speaker = speaker_models(models).unwrap_or_else(|| "none".into());
        format!("{speaker}/{}/v{VERSION}", heard_by(models))
    }

    fn cacheable(&self, _models: &Models) -> bool {
        false
    }

    fn needs_speech(&self) -> bool {
        true
    }

    async fn analyze(&self, _models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let voices = Voices::of(&chunk.video.speech, &chunk.video.utterances, chunk.span);
        if voices.turns.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Stored::heard(voices))))
    }

    fn schema(&self) -> Value {
        schema_of::<Voices>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<Voices>(stored)
    }

    fn tells(&self, hit: &HitDocument) -> Vec<Statement> {
        said(&hit.sentences, &hit.turns)
    }
}

impl Voices {
    /// Who speaks within a span; `utterances` are those of the whole video.
    fn of(speech: &Speech, utterances: &[Utterance], span: Span) -> Self {
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

    /// What each says, neighbouring sentences of a speaker together; of a record without sentences
    /// the turns.
    fn lines(&self) -> Vec<(Option<&str>, String)> {
        if self.sentences.is_empty() {
            let said = self.turns.iter().filter(|turn| !turn.text.is_empty());
            return said.map(|turn| (Some(&*turn.speaker), turn.text.clone())).collect();
        }
        let runs = self.sentences.chunk_by(|a, b| a.speaker == b.speaker);
        let line = |run: &[Utterance]| {
            run.iter().map(|said| said.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        runs.map(|run| (run[0].speaker.as_deref(), line(run))).collect()
    }
}

/// The sentences; of a record that has none, the turns.
fn said(sentences: &[Utterance], turns: &[SpeakerTurn]) -> Vec<Statement> {
    if !sentences.is_empty() {
        return sentences.iter().map(Statement::said).collect();
    }
    turns
        .iter()
        .map(|turn| Statement {
            speaker: Some(turn.speaker.clone()),
            span: Some(Span { start: turn.start, end: turn.end }),
            ..Statement::new(PassageKind::Speech, turn.text.clone())
        })
        .collect()
}

impl Finding for Voices {
    fn index(&self) -> Indexed {
        let said = self.lines();
        let line = |(speaker, text): &(Option<&str>, String)| match speaker {
            Some(speaker) => format!("{speaker}: {text}"),
            None => text.clone(),
        };
        let lines: Vec<String> = said.iter().map(line).collect();
        let text = said.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ");
        let fields =
            BTreeMap::from([("combined", lines.join("\n")), ("description", text.clone())]);
        let document = HitDocument {
            description: text,
            speakers: self.speakers.clone(),
            turns: self.turns.clone(),
            sentences: self.sentences.clone(),
            ..HitDocument::default()
        };
        Indexed { fields, document }
    }

    fn statements(&self) -> Vec<Statement> {
        said(&self.sentences, &self.turns)
    }

    fn cells(&self) -> Vec<String> {
        // A turn in which no word was recognised has nothing to read; `speakers` has who speaks.
        let worded = self.turns.iter().filter(|turn| !turn.text.trim().is_empty());
        let line = |turn: &SpeakerTurn| format!("{}: {}", turn.speaker, turn.text.trim_end());
        let lines: Vec<String> = worded.map(line).collect();
        vec![self.speakers.join("; "), lines.join("; ")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_no_turns_without_words() {
        let turn = |speaker: &str, text: &str| SpeakerTurn {
            speaker: speaker.into(),
            text: text.into(),
            start: 0.0,
            end: 1.0,
        };
        let turns = vec![turn("S1", ""), turn("S2", "Hello.")];
        let voices =
            Voices { turns, speakers: vec!["S1".into(), "S2".into()], ..Voices::default() };
        assert_eq!(voices.cells(), ["S1; S2", "S2: Hello."]);
    }
}
