//! `transcript`: what is said in a chunk, with times. Cut from the words of the whole video.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::json;

use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{
    Analyzer, AnalyzerSpec, Indexed, SPEECH, heard_by, no_words, string,
};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;

/// The analyzer.
pub(crate) struct Transcript;

const VERSION: u32 = 1;

#[async_trait]
impl Analyzer for Transcript {
    fn spec(&self) -> &'static AnalyzerSpec {
        &AnalyzerSpec {
            id: "transcript",
            group: Some(SPEECH),
            description: "what is said: text and timed segments",
        }
    }

    fn missing(&self, models: &Models) -> Option<String> {
        no_words(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        format!("{}/v{VERSION}", heard_by(models))
    }

    fn costly(&self, _models: &Models) -> bool {
        false
    }

    fn hears(&self) -> bool {
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
        Ok(Some(Output::from_iter([
            ("text".to_owned(), json!(text)),
            ("language".to_owned(), json!(language)),
            ("segments".to_owned(), json!(segments)),
        ])))
    }

    fn index(&self, output: &Output) -> Indexed {
        let text = string(output, "text");
        let document = HitDocument { description: text.clone(), ..HitDocument::default() };
        Indexed {
            fields: BTreeMap::from([("combined", text.clone()), ("description", text)]),
            document,
        }
    }
}
