//! The log as a table (RFC 4180): one row per chunk, for spreadsheets.

use crate::domain::analysis::{AnalyzerRef, Column};
use crate::domain::export::{Content, Log, one_line};
use crate::domain::kernel::error::Result;

pub(super) fn write(log: &Log) -> Result<Content> {
    let known = |id: &'_ String| Some((id.clone(), log.analyzers.known(id)?));
    let analyzers: Vec<(String, AnalyzerRef)> =
        log.video.outputs.keys().filter_map(known).collect();
    let mut columns: Vec<(&Column, &str, usize)> = Vec::new();
    for (id, analyzer) in &analyzers {
        let own = analyzer.spec().columns;
        columns.extend(own.iter().enumerate().map(|(place, column)| (column, id.as_str(), place)));
    }
    columns.sort_by_key(|(column, id, _)| (column.rank, *id));
    let mut names = vec!["chunk_id", "start", "end", "timecode"];
    names.extend(columns.iter().map(|(column, ..)| &*column.name));
    let mut file = names.join(",") + "\r\n";
    for (chunk, span) in log.video.spans.iter().enumerate() {
        let mut row = vec![
            chunk.to_string(),
            format!("{:.3}", span.start),
            format!("{:.3}", span.end),
            span.timecode(),
        ];
        row.extend(columns.iter().map(|(_, analyzer, place)| {
            let cells = log.video.finding(analyzer, chunk).map(|finding| finding.cells());
            let cell = cells.and_then(|cells| cells.get(*place).cloned());
            field(&one_line(&cell.unwrap_or_default()))
        }));
        file.push_str(&row.join(","));
        file.push_str("\r\n");
    }
    Ok(Content::Text(file))
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
