//! A chat completion that comes piece by piece, put together as one that comes as a whole.

use serde_json::{Value, json};

/// Hears each piece of the text as it comes.
pub(crate) type Hear<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// What has come so far.
pub(super) struct Streamed<'a> {
    hear: Hear<'a>,
    /// Of a line that is not whole yet.
    line: Vec<u8>,
    text: String,
    refusal: String,
    finish: Option<String>,
    usage: Value,
    done: bool,
    error: Option<Value>,
}

impl<'a> Streamed<'a> {
    pub(super) fn new(hear: Hear<'a>) -> Self {
        Self {
            hear,
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
        // What is no JSON is no piece.
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
            (self.hear)(text);
        }
    }

    /// The completion, or what is wrong with it.
    pub(super) fn finish(self) -> Result<Value, String> {
        if let Some(error) = self.error {
            let told = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
            return Err(told);
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
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn pieces_become_a_completion_however_they_are_cut() {
        let sent = "data: {\"choices\":[{\"delta\":{\"content\":\"Grü\"}}]}\n\n: still here\n\n\
                    data: {\"choices\":[{\"delta\":{\"content\":\"ße\"},\"finish_reason\":\"stop\"}]}\r\n\r\n\
                    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n";
        for size in [1, 7, 1000] {
            let heard = Mutex::new(Vec::new());
            let hear = |piece: &str| heard.lock().unwrap().push(piece.to_owned());
            let mut streamed = Streamed::new(&hear);
            for part in sent.as_bytes().chunks(size) {
                streamed.take(part);
            }
            let whole = streamed.finish().unwrap();
            assert_eq!(whole["choices"][0]["message"]["content"], "Grüße");
            assert_eq!(whole["choices"][0]["finish_reason"], "stop");
            assert_eq!(whole["usage"]["prompt_tokens"], 3);
            assert_eq!(*heard.lock().unwrap(), ["Grü", "ße"]);
        }
    }

    #[test]
    fn what_ends_early_or_fails_is_no_completion() {
        let ended = |sent: &str| {
            let mut streamed = Streamed::new(&|_| {});
            streamed.take(sent.as_bytes());
            streamed.finish()
        };
        let cut = ended("data: {\"choices\":[{\"delta\":{\"content\":\"Gr\"}}]}\n\n");
        assert!(cut.unwrap_err().contains("before it was whole"));
        let failed = ended("data: {\"error\":{\"message\":\"out of memory\"}}\n\ndata: [DONE]\n\n");
        assert_eq!(failed.unwrap_err(), "out of memory");
    }
}
