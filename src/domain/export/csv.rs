//! The log as a table (RFC 4180): one row per chunk, for spreadsheets.

use serde_json::Value;

use crate::domain::analysis::video::Output;
use crate::domain::export::{Content, Log, one_line};
use crate::domain::kernel::error::Result;

/// The columns that come from analyzers: name, analyzer, key of its output.
const COLUMNS: &[(&str, &str, &str)] = &[
    ("description", "default_video", "description"),
    ("setting", "default_video", "setting"),
    ("people", "default_video", "people"),
    ("people_count", "people", "people_count"),
    ("objects", "object_detection", "objects"),
    ("actions", "default_video", "actions"),
    ("tags", "default_video", "tags"),
    ("speakers", "diarization", "speakers"),
    ("turns", "diarization", "turns"),
    ("transcript", "transcript", "text"),
    ("on_screen_text", "ocr", "text"),
];

pub(super) fn write(log: &Log) -> Result<Content> {
    let columns: Vec<_> =
        COLUMNS.iter().filter(|(_, id, _)| log.video.outputs.contains_key(*id)).collect();
    let mut names = vec!["chunk_id", "start", "end", "timecode"];
    names.extend(columns.iter().map(|(name, ..)| *name));
    let mut file = names.join(",") + "\r\n";
    for (chunk, span) in log.video.spans.iter().enumerate() {
        let mut row = vec![
            chunk.to_string(),
            format!("{:.3}", span.start),
            format!("{:.3}", span.end),
            span.timecode(),
        ];
        row.extend(columns.iter().map(|(_, analyzer, key)| {
            let output = log.video.outputs.get(*analyzer).and_then(|o| o.get(chunk)?.as_ref());
            field(&cell(output, key))
        }));
        file.push_str(&row.join(","));
        file.push_str("\r\n");
    }
    Ok(Content::Text(file))
}

fn cell(output: Option<&Output>, key: &str) -> String {
    match output.and_then(|output| output.get(key)) {
        Some(Value::String(text)) => one_line(text),
        Some(Value::Array(items)) => items.iter().map(item).collect::<Vec<_>>().join("; "),
        Some(Value::Null) | None => String::new(),
        Some(value) => value.to_string(),
    }
}

fn item(value: &Value) -> String {
    match (value.as_str(), value["speaker"].as_str(), value["text"].as_str()) {
        (Some(text), ..) => one_line(text),
        (None, Some(speaker), Some(text)) => one_line(&format!("{speaker}: {text}")),
        _ => String::new(),
    }
}

/// Quoted where need be. Text that a spreadsheet would run as a formula is marked as text.
fn field(text: &str) -> String {
    let guarded =
        if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if guarded.contains([',', '"', '\r', '\n']) {
        return format!("\"{}\"", guarded.replace('"', "\"\""));
    }
    guarded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_never_formulas() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a, b", "\"a, b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("-1", "'-1"),
        ] {
            assert_eq!(field(text), expected);
        }
    }
}
