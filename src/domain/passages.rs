//! What each chunk says in plain words, merged from its analyzers: the material of aggregates.

use serde_json::Value;

use super::record::{AnalyzedVideo, Output, Span};

/// What one chunk says.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkText {
    /// Position in the chunk list.
    pub chunk_id: u32,
    /// Its segment.
    pub span: Span,
    /// Source (`description`, `speech`, `on-screen text`) and text, in that order.
    pub parts: Vec<(&'static str, String)>,
}

impl ChunkText {
    /// All parts as prose.
    pub fn prose(&self) -> String {
        let parts: Vec<String> = self
            .parts
            .iter()
            .map(|(source, text)| match *source {
                "speech" => format!("Speech: {text}"),
                "on-screen text" => format!("Text on screen: {text}"),
                _ => text.clone(),
            })
            .collect();
        parts.join(" ")
    }
}

/// How an analyzer's output reads as text, and what kind of text that is.
type Reading = fn(&Output) -> String;

const READINGS: &[(&str, &str, Reading)] = &[
    ("default_video", "description", |o| string(o, "description")),
    ("transcript", "speech", |o| string(o, "text")),
    ("diarization", "speech", turns),
    ("people", "people", |o| descriptions(o, "people")),
    ("ocr", "on-screen text", |o| string(o, "text").replace('\n', "; ")),
];

/// The text of every chunk that has any.
pub(crate) fn chunk_texts(video: &AnalyzedVideo) -> Vec<ChunkText> {
    (0..)
        .zip(&video.spans)
        .map(|(chunk_id, span)| {
            let parts = READINGS
                .iter()
                .filter_map(|(analyzer, source, read)| {
                    let output = video.outputs.get(*analyzer)?.get(chunk_id as usize)?.as_ref()?;
                    let text = read(output);
                    (!text.trim().is_empty()).then_some((*source, text))
                })
                .collect();
            ChunkText { chunk_id, span: *span, parts }
        })
        .filter(|chunk| !chunk.parts.is_empty())
        .collect()
}

/// The analyzers whose output has text.
pub(crate) fn based_on(video: &AnalyzedVideo) -> Vec<String> {
    READINGS
        .iter()
        .filter(|(analyzer, _, read)| {
            video
                .outputs
                .get(*analyzer)
                .is_some_and(|outputs| outputs.iter().flatten().any(|o| !read(o).trim().is_empty()))
        })
        .map(|(analyzer, ..)| (*analyzer).to_owned())
        .collect()
}

fn string(output: &Output, key: &str) -> String {
    output.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn turns(output: &Output) -> String {
    let turns = output.get("turns").and_then(Value::as_array).into_iter().flatten();
    let lines: Vec<String> = turns
        .filter_map(|turn| {
            let text = turn["text"].as_str().filter(|text| !text.is_empty())?;
            Some(format!("{}: {text}", turn["speaker"].as_str().unwrap_or("speaker")))
        })
        .collect();
    lines.join(" ")
}

fn descriptions(output: &Output, key: &str) -> String {
    let people = output.get(key).and_then(Value::as_array).into_iter().flatten();
    people.filter_map(|p| p["description"].as_str()).collect::<Vec<_>>().join(" ")
}
