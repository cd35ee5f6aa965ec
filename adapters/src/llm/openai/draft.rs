//! What an answer says so far, read from JSON that is still being written.

use std::sync::{Mutex, PoisonError};

use ports::llm::TokenSink;

/// Tells the sentences of an answer as they are written.
pub(super) struct Draft<'a> {
    sink: &'a TokenSink,
    /// What the model has written, and how much of its sentences was told.
    state: Mutex<(String, usize)>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(sink: &'a TokenSink) -> Self {
        Self { sink, state: Mutex::default() }
    }

    pub(super) fn hear(&self, piece: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (raw, told) = &mut *state;
        raw.push_str(piece);
        let text = sentences(raw);
        if let Some(new) = text.get(*told..).filter(|new| !new.is_empty()) {
            self.sink.send(new, *told == 0);
            *told = text.len();
        }
    }
}

/// The values of `text` so far, one after the other.
fn sentences(raw: &str) -> String {
    // Reasoning models may think aloud first.
    let raw = raw.rsplit_once("</think>").map_or(raw, |(_, after)| after);
    if raw.contains("<think>") {
        return String::new();
    }
    let mut found: Vec<String> = Vec::new();
    let (mut rest, mut key) = (raw, String::new());
    while let Some((before, string)) = rest.split_once('"') {
        let is_value = before.trim_end().ends_with(':');
        let end = end_of(string);
        let inner = &string[..end.unwrap_or(string.len())];
        if !is_value {
            key = inner.to_owned();
        } else if key == "text" {
            found.push(decoded(inner));
        }
        let Some(end) = end else { break };
        rest = &string[end + 1..];
    }
    found.join(" ")
}

/// Where a JSON string ends, without its first mark.
fn end_of(string: &str) -> Option<usize> {
    let mut escaped = false;
    string.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// A JSON string as text; an escape that is not whole yet is left out.
fn decoded(inner: &str) -> String {
    /// Characters of the longest escape, two UTF-16 code units, as `\ud83d\ude00`.
    const LONGEST: usize = 12;
    let ends = inner.char_indices().map(|(at, _)| at).rev().take(LONGEST);
    std::iter::once(inner.len())
        .chain(ends)
        .find_map(|end| serde_json::from_str(&format!("\"{}\"", &inner[..end])).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn sentences_are_told_as_they_are_written() {
        let raw = r#"<think>{"text": "no"}</think>{"sentences": [{"text": "A \"red\" caf\u00e9.", "passages": ["p1"]},
            {"passages": ["p2", "text"], "text": "It is open."}]}"#;
        for size in [1, 5, 1000] {
            let told = Arc::new(Mutex::new(Vec::new()));
            let heard = told.clone();
            let sink = TokenSink::new(move |piece, begins| {
                heard.lock().unwrap().push((piece.to_owned(), begins));
            });
            let draft = Draft::new(&sink);
            let characters: Vec<char> = raw.chars().collect();
            for piece in characters.chunks(size) {
                draft.hear(&piece.iter().collect::<String>());
            }
            let told = told.lock().unwrap();
            let text: String = told.iter().map(|(piece, _)| piece.as_str()).collect();
            assert_eq!(text, "A \"red\" café. It is open.");
            assert!(told[0].1 && told[1..].iter().all(|(_, begins)| !begins));
            assert!(size > 5 || told.len() > 5, "{told:?}");
        }
    }
}
