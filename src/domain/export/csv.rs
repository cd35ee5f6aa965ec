//! The log as a table (RFC 4180): one row per chunk, for spreadsheets.

use crate::domain::analysis::{AnalyzerRef, Column};
use crate::domain::export::{Content, Log, one_line};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::ChunkId;

/// How a line ends.
const END: &str = "\r\n";

/// What stands before the columns of the analyzers.
const LEAD: [&str; 4] = ["chunk_id", "start", "end", "timecode"];

/// The columns of some analyzers, in their order.
pub(super) struct Table(Vec<(Column, String, usize)>);

pub(super) fn write(log: &Log) -> Result<Content> {
    let table = Table::of(log.video.outputs.keys().filter_map(|id| log.analyzers.known(id)));
    let mut file = table.heading(&[]);
    for (chunk, _) in log.chunks() {
        file.push_str(&table.row(log, chunk, &[]));
    }
    Ok(Content::Text(file))
}

impl Table {
    pub(super) fn of(analyzers: impl IntoIterator<Item = AnalyzerRef>) -> Self {
        let mut columns = Vec::new();
        for analyzer in analyzers {
            let spec = analyzer.spec();
            let own = spec.columns.iter().enumerate();
            columns.extend(own.map(|(place, column)| (column.clone(), spec.id.to_owned(), place)));
        }
        columns.sort_by(|(a, of_a, _), (b, of_b, _)| (a.rank, of_a).cmp(&(b.rank, of_b)));
        Self(columns)
    }

    /// The names of the columns, behind those of others.
    pub(super) fn heading(&self, before: &[&str]) -> String {
        let own = self.0.iter().map(|(column, ..)| &*column.name);
        let names: Vec<&str> = before.iter().copied().chain(LEAD).chain(own).collect();
        names.join(",") + END
    }

    /// The row of a chunk, behind other cells.
    pub(super) fn row(&self, log: &Log, chunk: ChunkId, before: &[&str]) -> String {
        let span = log.video.spans[chunk.index()];
        let mut row: Vec<String> = before.iter().map(|text| field(&one_line(text))).collect();
        row.extend([
            chunk.to_string(),
            format!("{:.3}", span.start),
            format!("{:.3}", span.end),
            span.timecode(),
        ]);
        row.extend(self.0.iter().map(|(_, analyzer, place)| {
            let cells = log.video.finding(analyzer, chunk).map(|finding| finding.cells());
            let cell = cells.and_then(|cells| cells.get(*place).cloned());
            field(&one_line(&cell.unwrap_or_default()))
        }));
        row.join(",") + END
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
