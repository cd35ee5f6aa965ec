//! The log as CSV (RFC 4180) with one row per chunk.

use crate::analysis::{AnalyzerRef, Column};
use crate::export::{Content, VideoLog, one_line};
use crate::kernel::error::Result;
use crate::kernel::video::ChunkId;

pub(super) const LINE_END: &str = "\r\n";

/// The columns that come before those of the analyzers.
const FIRST_COLUMNS: [&str; 4] = ["chunk_id", "start", "end", "timecode"];

/// The columns for a set of analyzers, sorted by rank. Each column is stored with the id of its
/// analyzer and the index of its cell among the analyzer's cells.
pub(super) struct Table(Vec<(Column, String, usize)>);

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    let table = Table::new(log.video.outputs.keys().filter_map(|id| log.analyzers.get(id)));
    let mut file = table.header(&[]);
    for (chunk, _) in log.chunks() {
        file.push_str(&table.row(log, chunk, &[]));
    }
    Ok(Content::Text(file))
}

impl Table {
    pub(super) fn new(analyzers: impl IntoIterator<Item = AnalyzerRef>) -> Self {
        let mut columns = Vec::new();
        for analyzer in analyzers {
            let spec = analyzer.spec();
            let own = spec.columns.iter().enumerate();
            columns.extend(own.map(|(place, column)| (column.clone(), spec.id.to_owned(), place)));
        }
        columns.sort_by(|(a, of_a, _), (b, of_b, _)| (a.rank, of_a).cmp(&(b.rank, of_b)));
        Self(columns)
    }

    /// Formats the header line: `before`, then the names of all columns.
    pub(super) fn header(&self, before: &[&str]) -> String {
        let own = self.0.iter().map(|(column, ..)| &*column.name);
        let names: Vec<&str> = before.iter().copied().chain(FIRST_COLUMNS).chain(own).collect();
        names.join(",") + LINE_END
    }

    /// Formats the row for a chunk: `before`, then the cells of all columns.
    pub(super) fn row(&self, log: &VideoLog, chunk: ChunkId, before: &[&str]) -> String {
        let span = log.video.spans[chunk.index()];
        let mut row: Vec<String> = before.iter().map(|text| quote(&one_line(text))).collect();
        row.extend([
            chunk.to_string(),
            format!("{:.3}", span.start),
            format!("{:.3}", span.end),
            span.timecode(),
        ]);
        row.extend(self.0.iter().map(|(_, analyzer, place)| {
            let cells = log.video.output(analyzer, chunk).map(|finding| finding.cells());
            let cell = cells.and_then(|cells| cells.get(*place).cloned());
            quote(&one_line(&cell.unwrap_or_default()))
        }));
        row.join(",") + LINE_END
    }
}

/// Quotes a cell if necessary. Text that a spreadsheet would evaluate as a formula gets a leading
/// apostrophe.
pub(super) fn quote(text: &str) -> String {
    let safe =
        if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if safe.contains([',', '"', '\r', '\n']) {
        return format!("\"{}\"", safe.replace('"', "\"\""));
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a, b", "\"a, b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("-1", "'-1"),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
