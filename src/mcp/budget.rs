//! The token budget of a response. Whole units are added, most important first, until the next unit
//! does not fit. Models read the JSON, so structured content and prose both count.

use poem_openapi::types::ToJSON;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// Bytes of JSON per token. English text has more bytes per token; numbers and ids have about this
/// many. In many other scripts, a character has three bytes and counts as one token.
const BYTES_PER_TOKEN: usize = 3;

/// Image pixels per token; current vision models use 750 or more.
const PIXELS_PER_TOKEN: usize = 500;

/// Tokens reserved for everything around the units: field names, the message envelope and the note
/// on omitted units.
const ENVELOPE_TOKENS: usize = 300;

/// Number of tokens in serialized JSON.
pub(super) fn json_tokens(json: &str) -> usize {
    json.len().div_ceil(BYTES_PER_TOKEN)
}

/// Number of tokens in the JSON of a value.
pub(super) fn value_tokens(value: &Value) -> usize {
    json_tokens(&value.to_string())
}

/// Number of tokens in a value that is embedded in JSON as a string, in which its quotes are
/// escaped.
pub(super) fn embedded_json_tokens(value: &Value) -> usize {
    line_tokens(&value.to_string())
}

/// Number of tokens for an image.
pub(super) fn image_tokens(width: u32, height: u32) -> usize {
    (width as usize * height as usize).div_ceil(PIXELS_PER_TOKEN)
}

/// Number of tokens in a line of text as a JSON string.
pub(super) fn line_tokens(line: &str) -> usize {
    value_tokens(&Value::from(line))
}

/// Number of tokens in a result without its images.
pub(super) fn result_tokens(answer: &CallToolResult) -> usize {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => line_tokens(&text.text),
        _ => 0,
    };
    let content: usize = answer.content.iter().map(text).sum();
    content + answer.structured_content.as_ref().map_or(0, value_tokens)
}

/// The tokens that remain for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenBudget(usize);

/// The units that fit into the budget.
pub(super) struct FittingUnits<T> {
    /// The units, in their original order.
    pub(super) units: Vec<T>,
    /// A line of text for each unit.
    pub(super) lines: Vec<String>,
    /// Number of omitted units.
    pub(super) left_out: usize,
}

impl TokenBudget {
    /// Creates the budget for a response of at most `max_tokens` tokens.
    pub(super) fn new(max_tokens: usize) -> Self {
        Self(max_tokens.saturating_sub(ENVELOPE_TOKENS))
    }

    /// The remaining tokens.
    pub(super) fn remaining(self) -> usize {
        self.0
    }

    /// Takes tokens from the budget. If fewer remain, takes none and returns false.
    pub(super) fn take(&mut self, tokens: usize) -> bool {
        match self.0.checked_sub(tokens) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        }
    }

    /// Takes the tokens for text that is always sent, even if too few remain.
    pub(super) fn take_text(&mut self, text: &str) {
        self.0 = self.0.saturating_sub(line_tokens(text));
    }

    /// Takes the tokens for a value that is always sent, even if too few remain.
    pub(super) fn take_value(&mut self, value: &impl ToJSON) {
        self.0 = self.0.saturating_sub(json_tokens(&value.to_json_string()));
    }

    /// Takes units, each with a line of text, until one does not fit.
    pub(super) fn fill<T: ToJSON>(&mut self, units: Vec<(T, String)>) -> FittingUnits<T> {
        let all = units.len();
        let (units, lines): (Vec<T>, Vec<String>) = units
            .into_iter()
            .take_while(|(unit, line)| {
                self.take(json_tokens(&unit.to_json_string()) + line_tokens(line) + 1)
            })
            .unzip();
        FittingUnits { left_out: all - units.len(), units, lines }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn token_counts_are_conservative() {
        assert_eq!(json_tokens(""), 0);
        assert_eq!(json_tokens("a"), 1);
        assert_eq!(value_tokens(&json!({"a": 1})), 3);
        assert_eq!(json_tokens("日本"), 2, "a character of three bytes is a token");
        // A line break is two bytes of JSON.
        assert_eq!(line_tokens("a\nb"), 2);
        assert_eq!(image_tokens(1000, 500), 1000);
    }

    #[test]
    fn text_and_structure_both_count() {
        let mut answer = CallToolResult::success(vec![ContentBlock::text("abcd")]);
        assert_eq!(result_tokens(&answer), 2);
        answer.structured_content = Some(json!({"a": 1}));
        assert_eq!(result_tokens(&answer), 5);
    }

    #[test]
    fn whole_units_are_taken_in_order() {
        let units = |count: usize| vec![("x".repeat(28), "line".to_owned()); count];
        // Ten for the structure, two for the line, one for the separator.
        let mut budget = TokenBudget::new(ENVELOPE_TOKENS + 30);
        let fitting = budget.fill(units(3));
        assert_eq!((fitting.units.len(), fitting.lines.len(), fitting.left_out), (2, 2, 1));
        assert_eq!(budget.remaining(), 4);
        assert!(!budget.take(5));
        assert!(budget.take(4));
        assert_eq!(budget.fill(units(1)).left_out, 1);
    }
}
