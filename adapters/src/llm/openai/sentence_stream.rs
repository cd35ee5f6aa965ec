//! Streams the text of an answer by parsing JSON that is still incomplete.

use parking_lot::Mutex;
use ports::llm::TokenSink;

/// Sends the sentences of an answer to a sink as the model generates them.
pub(super) struct SentenceStream<'a> {
    sink: &'a TokenSink,
    /// The model's output so far, and the length of the text already sent.
    state: Mutex<(String, usize)>,
}

impl<'a> SentenceStream<'a> {
    pub(super) fn new(sink: &'a TokenSink) -> Self {
        Self { sink, state: Mutex::default() }
    }

    pub(super) fn push(&self, piece: &str) {
        let mut state = self.state.lock();
        let (raw, sent) = &mut *state;
        raw.push_str(piece);
        let text = sentences(raw);
        if let Some(new) = text.get(*sent..).filter(|new| !new.is_empty()) {
            self.sink.send(new, *sent == 0);
            *sent = text.len();
        }
    }
}

/// Returns the values of all `text` keys received so far, joined.
fn sentences(raw: &str) -> String {
    // Reasoning models may write their reasoning before the answer.
    let raw = raw.rsplit_once("</think>").map_or(raw, |(_, after)| after);
    if raw.contains("<think>") {
        return String::new();
    }
    let mut found: Vec<String> = Vec::new();
    let (mut rest, mut key) = (raw, String::new());
    while let Some((before, string)) = rest.split_once('"') {
        let is_value = before.trim_end().ends_with(':');
        let end = string_end(string);
        let inner = &string[..end.unwrap_or(string.len())];
        if !is_value {
            key = inner.to_owned();
        } else if key == "text" {
            found.push(decode_json_string(inner));
        }
        let Some(end) = end else { break };
        rest = &string[end + 1..];
    }
    found.join(" ")
}

/// Finds the closing quote of a JSON string. `string` begins after the opening quote.
fn string_end(string: &str) -> Option<usize> {
    let mut escaped = false;
    string.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// Decodes the inside of a JSON string, ignoring an incomplete escape at its end.
fn decode_json_string(inner: &str) -> String {
    /// Length of the longest escape: two UTF-16 code units such as `\ud83d\ude00`.
    const MAX_ESCAPE_CHARS: usize = 12;
    let ends = inner.char_indices().map(|(at, _)| at).rev().take(MAX_ESCAPE_CHARS);
    std::iter::once(inner.len())
        .chain(ends)
        .find_map(|end| serde_json::from_str(&format!("\"{}\"", &inner[..end])).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn sentences_are_sent_while_they_are_generated() {
        let raw = r#"<think>{"text": "no"}</think>{"sentences": [{"text": "A \"red\" caf\u00e9.", "passages": ["p1"]},
            {"passages": ["p2", "text"], "text": "It is open."}]}"#;
        for size in [1, 5, 1000] {
            let sent = Arc::new(Mutex::new(Vec::new()));
            let received = sent.clone();
            let sink = TokenSink::new(move |piece, begins| {
                received.lock().push((piece.to_owned(), begins));
            });
            let stream = SentenceStream::new(&sink);
            let characters: Vec<char> = raw.chars().collect();
            for piece in characters.chunks(size) {
                stream.push(&piece.iter().collect::<String>());
            }
            let sent = sent.lock();
            let text: String = sent.iter().map(|(piece, _)| piece.as_str()).collect();
            assert_eq!(text, "A \"red\" café. It is open.");
            assert!(sent[0].1 && sent[1..].iter().all(|(_, begins)| !begins));
            assert!(size > 5 || sent.len() > 5, "{sent:?}");
        }
    }
}
