//! Documents as text, for models that read the text content rather than the structured content.

use serde_json::{Map, Value};

/// Renders one line for each field and for each element of lists and objects.
pub(super) fn outline(document: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, value) in document {
        match value {
            Value::Array(elements) if elements.iter().any(|e| e.is_object() || e.is_array()) => {
                text.push_str(&format!("{name}:\n"));
                for element in elements {
                    text.push_str(&format!("- {}\n", inline(element)));
                }
            }
            Value::Object(fields) if !fields.is_empty() => {
                text.push_str(&format!("{name}:\n"));
                for (field, value) in fields {
                    text.push_str(&format!("- {field}: {}\n", inline(value)));
                }
            }
            value => text.push_str(&format!("{name}: {}\n", inline(value))),
        }
    }
    text
}

/// Renders a value on one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Array(elements) if elements.is_empty() => "none".into(),
        Value::Array(elements) => elements.iter().map(nested).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name}: {}", nested(value));
            fields.iter().map(field).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

fn nested(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => format!("({})", inline(value)),
        other => inline(other),
    }
}

/// Collapses whitespace, including line breaks, to single spaces.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Maximum numbers of characters to keep at the beginning and at the end of an error message. The
/// beginning states what is wrong, and the end states what would be valid.
const MESSAGE_LIMITS: (usize, usize) = (300, 1200);

/// Cuts the middle out of a long error message. The middle quotes the input.
pub(super) fn truncate(detail: &str) -> String {
    let (beginning, end) = MESSAGE_LIMITS;
    let length = detail.chars().count();
    if length <= beginning + end {
        return detail.to_owned();
    }
    let characters = || detail.chars();
    characters().take(beginning).chain(['…']).chain(characters().skip(length - end)).collect()
}

/// Formats seconds with one decimal.
pub(super) fn seconds(seconds: f64) -> String {
    format!("{seconds:.1}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_messages_are_truncated_in_the_middle() {
        assert_eq!(truncate("it must be a number"), "it must be a number");
        let cut = truncate(&format!("it is {}; it must be a number", "日".repeat(5000)));
        assert!(cut.starts_with("it is 日") && cut.ends_with("日; it must be a number"));
        assert_eq!(cut.chars().count(), MESSAGE_LIMITS.0 + 1 + MESSAGE_LIMITS.1);
    }

    #[test]
    fn outlines_have_a_line_per_field() {
        let document = json!({
            "count": 2,
            "title": null,
            "tags": ["a", "b"],
            "chapters": [{"title": "One", "spans": [[0, 1], [2, 3]]}, {"title": "Two", "spans": []}],
            "by_speaker": {"S1": {"seconds": 2.5}},
        });
        assert_eq!(
            outline(document.as_object().expect("an object")),
            "count: 2\ntitle: none\ntags: a, b\nchapters:\n\
             - title: One; spans: ((0, 1), (2, 3))\n- title: Two; spans: (none)\n\
             by_speaker:\n- S1: seconds: 2.5\n"
        );
    }
}
