//! `diarization`: who says what when in a chunk. Cut from the turns and words of the whole video,
//! so that a speaker has one label throughout.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::json;

use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{
    Analyzer, AnalyzerSpec, Indexed, SPEECH, heard_by, no_voices, strings,
};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::media::speech::SpeakerTurn;

/// The analyzer.
pub(crate) struct Diarization;

const VERSION: u32 = 1;

#[async_trait]
impl Analyzer for Diarization {
    fn spec(&self) -> &'static AnalyzerSpec {
        &AnalyzerSpec {
            id: "diarization",
            group: Some(SPEECH),
            description: "who says what: turns with speaker, times and text",
        }
    }

    fn missing(&self, models: &Models) -> Option<String> {
        if models.speaker_embedder.is_none() {
            return Some("nothing tells voices apart; set speaker.kind to \"spectral\"".into());
        }
        // Who speaks when is worth having even where no words are recognised.
        no_voices(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        let speaker = models.speaker_embedder.as_ref().map_or("none", |s| s.model());
        format!("{speaker}/{}/v{VERSION}", heard_by(models))
    }

    fn costly(&self, _models: &Models) -> bool {
        false
    }

    fn hears(&self) -> bool {
        true
    }

    async fn analyze(&self, _models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let turns = chunk.video.speech.turns_in(chunk.span);
        if turns.is_empty() {
            return Ok(None);
        }
        let mut speakers: Vec<&str> = Vec::new();
        for turn in &turns {
            if !speakers.contains(&turn.speaker.as_str()) {
                speakers.push(&turn.speaker);
            }
        }
        Ok(Some(Output::from_iter([
            ("turns".to_owned(), json!(turns)),
            ("speakers".to_owned(), json!(speakers)),
        ])))
    }

    fn index(&self, output: &Output) -> Indexed {
        let turns: Vec<SpeakerTurn> = output
            .get("turns")
            .and_then(|turns| serde_json::from_value(turns.clone()).ok())
            .unwrap_or_default();
        let said: Vec<&SpeakerTurn> = turns.iter().filter(|turn| !turn.text.is_empty()).collect();
        let lines: Vec<String> =
            said.iter().map(|turn| format!("{}: {}", turn.speaker, turn.text)).collect();
        let text = said.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>().join(" ");
        let fields =
            BTreeMap::from([("combined", lines.join("\n")), ("description", text.clone())]);
        let speakers = strings(output, "speakers");
        let document = HitDocument { description: text, speakers, turns, ..HitDocument::default() };
        Indexed { fields, document }
    }
}
