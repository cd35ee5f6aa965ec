//! `transcript`: what is said in a chunk, with times. Cut from the words of the whole video.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::json;

use super::evidence::ChunkEvidence;
use super::{Analyzer, AnalyzerSpec, Indexed, SPEECH, heard_by, no_words, string};
use crate::domain::Ports;
use crate::domain::error::Result;
use crate::domain::record::Output;
use crate::domain::search::HitDocument;

/// The analyzer.
pub(super) struct Transcript;

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

    fn missing(&self, ports: &Ports) -> Option<String> {
        no_words(ports)
    }

    fn fingerprint(&self, ports: &Ports) -> String {
        format!("{}/v{VERSION}", heard_by(ports))
    }

    fn costly(&self, _ports: &Ports) -> bool {
        false
    }

    fn hears(&self) -> bool {
        true
    }

    async fn analyze(&self, _ports: &Ports, chunk: &ChunkEvidence) -> Result<Option<Output>> {
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
