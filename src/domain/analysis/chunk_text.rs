//! What each chunk says in plain words, merged from its analyzers: the material of aggregates.

use serde_json::Value;

use crate::domain::analysis::video::{AnalyzedVideo, Output};
use crate::domain::kernel::time::Span;

/// What one chunk says.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkText {
    /// Position in the chunk list.
    pub chunk_id: u32,
    /// Its segment.
    pub span: Span,
    /// Source (`description`, `objects`, `people`, `on-screen text`, `speech`) and text, in that
    /// order; what the description says already is not repeated.
    pub parts: Vec<(&'static str, String)>,
}

impl ChunkText {
    /// All parts as prose, a line or more for each.
    pub fn prose(&self) -> String {
        let parts: Vec<String> = self
            .parts
            .iter()
            .map(|(source, text)| match *source {
                "speech" => format!("Speech: {text}"),
                "people" => format!("People: {text}"),
                "on-screen text" => format!("Text on screen: {text}"),
                _ => text.clone(),
            })
            .collect();
        parts.join("\n")
    }
}

/// How an analyzer's output reads as text, and what kind of text that is.
type Reading = fn(&Output) -> String;

const READINGS: &[(&str, &str, Reading)] = &[
    ("default_video", "description", |o| string(o, "description")),
    ("object_detection", "objects", objects),
    ("people", "people", |o| descriptions(o, "people")),
    ("ocr", "on-screen text", |o| string(o, "text").replace('\n', "; ")),
    ("transcript", "speech", |o| string(o, "text")),
    ("diarization", "speech", turns),
];

/// The text of every chunk that has any.
pub(crate) fn chunk_texts(video: &AnalyzedVideo) -> Vec<ChunkText> {
    (0..)
        .zip(&video.spans)
        .map(|(chunk_id, span)| {
            let mut parts: Vec<(&str, String)> = Vec::new();
            for (analyzer, source, read) in READINGS {
                let outputs = video.outputs.get(*analyzer);
                let output = outputs.and_then(|o| o.get(chunk_id as usize)?.as_ref());
                let mut text = output.map(read).unwrap_or_default();
                if let Some((_, description)) = parts.iter().find(|(s, _)| *s == "description") {
                    text = beyond(description, source, text);
                }
                if !text.trim().is_empty() {
                    parts.push((*source, text));
                }
            }
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

/// What a text tells beyond a description, which lists objects and quotes the screen by itself.
fn beyond(description: &str, source: &str, text: String) -> String {
    match source {
        "objects" => String::new(),
        "on-screen text" => {
            let new = text.split("; ").filter(|line| !description.contains(*line));
            new.collect::<Vec<_>>().join("; ")
        }
        _ => text,
    }
}

fn objects(output: &Output) -> String {
    let names = output.get("objects").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<&str> = names.filter_map(Value::as_str).collect();
    if names.is_empty() { String::new() } else { format!("In view: {}.", names.join(", ")) }
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
    lines.join("\n")
}

fn descriptions(output: &Output, key: &str) -> String {
    let people = output.get(key).and_then(Value::as_array).into_iter().flatten();
    people.filter_map(|p| p["description"].as_str()).collect::<Vec<_>>().join(" ")
}
