//! How much an answer may hold: whole units are put in, what matters most first, until no further
//! one fits. What a model reads is the JSON, so structured content and prose both count.

use poem_openapi::types::ToJSON;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// Bytes of JSON that are counted as a token. English has more of them per token, numbers and ids about
/// as many, and a character of other scripts is three: it is counted as one token.
const BYTES_PER_TOKEN: usize = 3;

/// Pixels of a picture that are counted as a token; the vision models in use have 750 and more.
const PIXELS_PER_TOKEN: usize = 500;

/// What stands around the units: names of fields, the message, the sentence on what is left out.
const ENVELOPE: usize = 300;

/// Tokens of a text that is JSON.
pub(super) fn tokens(json: &str) -> usize {
    json.len().div_ceil(BYTES_PER_TOKEN)
}

/// Tokens of a value, as JSON.
pub(super) fn tokens_of(value: &Value) -> usize {
    tokens(&value.to_string())
}

/// Tokens of a value as a text that is JSON, itself within JSON: its quotes count twice.
pub(super) fn tokens_of_text(value: &Value) -> usize {
    tokens_of_line(&value.to_string())
}

/// Tokens of a picture.
pub(super) fn tokens_of_picture(width: u32, height: u32) -> usize {
    (width as usize * height as usize).div_ceil(PIXELS_PER_TOKEN)
}

/// Tokens of a line of prose within JSON.
pub(super) fn tokens_of_line(line: &str) -> usize {
    tokens_of(&Value::from(line))
}

/// Tokens of an answer but for its pictures.
pub(super) fn tokens_of_answer(answer: &CallToolResult) -> usize {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => tokens_of_line(&text.text),
        _ => 0,
    };
    let content: usize = answer.content.iter().map(text).sum();
    content + answer.structured_content.as_ref().map_or(0, tokens_of)
}

/// What is left of the tokens of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget(usize);

/// The units that fit, and how many do not.
pub(super) struct Filled<T> {
    /// Structured, in the order they came in.
    pub(super) units: Vec<T>,
    /// A line of prose for each.
    pub(super) lines: Vec<String>,
    /// How many are left out.
    pub(super) left_out: usize,
}

impl Budget {
    /// All of an answer of at most so many tokens.
    pub(super) fn new(most: usize) -> Self {
        Self(most.saturating_sub(ENVELOPE))
    }

    /// What may be left.
    pub(super) fn left(self) -> usize {
        self.0
    }

    /// Takes tokens; false, and none taken, where fewer are left.
    pub(super) fn take(&mut self, tokens: usize) -> bool {
        match self.0.checked_sub(tokens) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        }
    }

    /// Takes a text that is there in any case.
    pub(super) fn take_text(&mut self, text: &str) {
        self.0 = self.0.saturating_sub(tokens_of_line(text));
    }

    /// Takes a value that is there in any case.
    pub(super) fn take_value(&mut self, value: &impl ToJSON) {
        self.0 = self.0.saturating_sub(tokens(&value.to_json_string()));
    }

    /// Takes units with a line of prose each, up to the first that does not fit.
    pub(super) fn fill<T: ToJSON>(&mut self, units: Vec<(T, String)>) -> Filled<T> {
        let all = units.len();
        let (units, lines): (Vec<T>, Vec<String>) = units
            .into_iter()
            .take_while(|(unit, line)| {
                self.take(tokens(&unit.to_json_string()) + tokens_of_line(line) + 1)
            })
            .unzip();
        Filled { left_out: all - units.len(), units, lines }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_counted_conservatively() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("a"), 1);
        assert_eq!(tokens_of(&json!({"a": 1})), 3);
        assert_eq!(tokens("日本"), 2, "a character of three bytes is a token");
        // A line break is two bytes of JSON.
        assert_eq!(tokens_of_line("a\nb"), 2);
        assert_eq!(tokens_of_picture(1000, 500), 1000);
    }

    #[test]
    fn text_and_structure_both_count() {
        let mut answer = CallToolResult::success(vec![ContentBlock::text("abcd")]);
        assert_eq!(tokens_of_answer(&answer), 2);
        answer.structured_content = Some(json!({"a": 1}));
        assert_eq!(tokens_of_answer(&answer), 5);
    }

    #[test]
    fn only_whole_units_fit_and_the_first_come_first() {
        let units = |count: usize| vec![("x".repeat(28), "line".to_owned()); count];
        // Ten for the structure, two for the line, one for what parts them.
        let mut budget = Budget::new(ENVELOPE + 30);
        let filled = budget.fill(units(3));
        assert_eq!((filled.units.len(), filled.lines.len(), filled.left_out), (2, 2, 1));
        assert_eq!(budget.left(), 4);
        assert!(!budget.take(5));
        assert!(budget.take(4));
        assert_eq!(budget.fill(units(1)).left_out, 1);
    }
}
