//! Assembles a streamed chat completion into the body of an ordinary response.

use serde_json::{Value, json};

/// Receives each piece of text as it arrives.
pub(crate) type OnToken<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Assembles server-sent events into a completion.
pub(super) struct StreamAssembler<'a> {
    on_token: OnToken<'a>,
    /// The last line, if it is still incomplete.
    line: Vec<u8>,
    text: String,
    refusal: String,
    finish: Option<String>,
    usage: Value,
    done: bool,
    error: Option<Value>,
}

impl<'a> StreamAssembler<'a> {
    pub(super) fn new(on_token: OnToken<'a>) -> Self {
        Self {
            on_token,
            line: Vec::new(),
            text: String::new(),
            refusal: String::new(),
            finish: None,
            usage: Value::Null,
            done: false,
            error: None,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    self.take_line(String::from_utf8_lossy(&line).trim_end());
                }
                byte => self.line.push(*byte),
            }
        }
    }

    fn take_line(&mut self, line: &str) {
        let Some(data) = line.strip_prefix("data:").map(str::trim) else { return };
        if data == "[DONE]" {
            self.done = true;
            return;
        }
        // Lines that are not JSON are ignored.
        let Ok(piece) = serde_json::from_str::<Value>(data) else { return };
        if !piece["error"].is_null() {
            self.error = Some(piece["error"].clone());
        }
        if piece["usage"].is_object() {
            self.usage = piece["usage"].clone();
        }
        let choice = &piece["choices"][0];
        if let Some(finish) = choice["finish_reason"].as_str() {
            self.finish = Some(finish.to_owned());
        }
        self.refusal.push_str(choice["delta"]["refusal"].as_str().unwrap_or_default());
        if let Some(text) = choice["delta"]["content"].as_str().filter(|text| !text.is_empty()) {
            self.text.push_str(text);
            (self.on_token)(text);
        }
    }

    /// Returns the completion. Fails if the stream reported an error or ended early.
    pub(super) fn finish(self) -> Result<Value, String> {
        if let Some(error) = self.error {
            return Err(error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned));
        }
        if self.finish.is_none() && !self.done {
            return Err("it ended before it was whole".into());
        }
        let message = json!({
            "role": "assistant", "content": self.text, "refusal": self.refusal,
        });
        let choice = json!({ "message": message, "finish_reason": self.finish });
        Ok(json!({ "choices": [choice], "usage": self.usage }))
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn events_are_assembled_regardless_of_chunk_size() {
        let sent = "data: {\"choices\":[{\"delta\":{\"content\":\"Grü\"}}]}\n\n: still here\n\n\
                    data: {\"choices\":[{\"delta\":{\"content\":\"ße\"},\"finish_reason\":\"stop\"}]}\r\n\r\n\
                    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n";
        for size in [1, 7, 1000] {
            let received = Mutex::new(Vec::new());
            let on_token = |piece: &str| received.lock().push(piece.to_owned());
            let mut streamed = StreamAssembler::new(&on_token);
            for part in sent.as_bytes().chunks(size) {
                streamed.take(part);
            }
            let whole = streamed.finish().unwrap();
            assert_eq!(whole["choices"][0]["message"]["content"], "Grüße");
            assert_eq!(whole["choices"][0]["finish_reason"], "stop");
            assert_eq!(whole["usage"]["prompt_tokens"], 3);
            assert_eq!(*received.lock(), ["Grü", "ße"]);
        }
    }

    #[test]
    fn truncated_and_failed_streams_are_errors() {
        let ended = |sent: &str| {
            let mut streamed = StreamAssembler::new(&|_| {});
            streamed.take(sent.as_bytes());
            streamed.finish()
        };
        let cut = ended("data: {\"choices\":[{\"delta\":{\"content\":\"Gr\"}}]}\n\n");
        assert!(cut.unwrap_err().contains("before it was whole"));
        let failed = ended("data: {\"error\":{\"message\":\"out of memory\"}}\n\ndata: [DONE]\n\n");
        assert_eq!(failed.unwrap_err(), "out of memory");
    }
}
