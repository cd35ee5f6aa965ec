//! Rows of tables on screen as answers. A table says something about many things, and a question
//! asks about one or two of its rows and columns.

use ports::llm::PassageKind;
use text::word_overlap;

use crate::answering::context::Evidence;
use crate::answering::reading::Window;
use crate::search::calibration::content_words;
use crate::search::rerank::AnswerCriteria;

/// Maximum number of rows that answer a question. If more rows fit equally well, the question only
/// names columns, or something that the table lacks.
const MAX_ROWS: usize = 3;

/// Separates the cells of a row.
const SEPARATOR: &str = "; ";

/// Keeps, of the rows of tables, those that share the most words with the question, unless too many
/// fit equally well.
pub(super) fn keep_best_rows(
    windows: &mut Vec<(f32, String, Window<'_>)>,
    criteria: &AnswerCriteria,
) {
    let overlap = |(_, text, said): &(f32, String, Window<'_>)| {
        let is_row = said[0].kind() == PassageKind::Row;
        is_row.then(|| criteria.word_overlap(text))
    };
    let rows: Vec<f32> = windows.iter().filter_map(overlap).collect();
    let best = rows.iter().copied().fold(0.0, f32::max);
    let is_ambiguous = rows.iter().filter(|share| **share >= best).count() > MAX_ROWS;
    windows.retain(|window| overlap(window).is_none_or(|share| share >= best && !is_ambiguous));
}

/// The score of a window, given the re-ranker's. A row that has every word of a question answers it;
/// a re-ranker is trained on sentences and underrates it.
pub(super) fn row_score(
    said: &Window<'_>,
    text: &str,
    criteria: &AnswerCriteria,
    score: f32,
) -> f32 {
    /// Leaves a doubt, because the row may be about another thing of the same name.
    const NAMED: f32 = 0.95;
    let has_every_word = criteria.word_overlap(text) >= 1.0;
    match said[0].kind() == PassageKind::Row && has_every_word {
        true => score.max(NAMED),
        false => score,
    }
}

/// Whether a sentence quotes a row of a table in the context.
pub(super) fn quotes_row(sentence: &str, context: &[&Evidence]) -> bool {
    let is_row = |evidence: &&&Evidence| evidence.kind == PassageKind::Row;
    context.iter().filter(is_row).any(|row| sentence.contains(row.text.as_str()))
}

/// Shortens a row to its first cell, which usually names it, and the cells that share a word with
/// the question. Returns the whole row if only the first cell does.
pub(super) fn relevant_cells(row: &str, question: &str) -> String {
    let words = content_words(question);
    let cells: Vec<&str> = row.split(SEPARATOR).collect();
    let is_relevant = |cell: &str| word_overlap(&words, cell) > 0.0;
    let Some((first, rest)) = cells.split_first() else { return row.to_owned() };
    let relevant: Vec<&str> = rest.iter().copied().filter(|cell| is_relevant(cell)).collect();
    match relevant.is_empty() {
        true => row.to_owned(),
        false => std::iter::once(*first).chain(relevant).collect::<Vec<_>>().join(SEPARATOR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_is_shortened_to_what_is_asked() {
        let row = "product: Lamp A; unit sales: 1200; region: North";
        for (question, expected) in [
            ("How many sales does Lamp A have?", "product: Lamp A; unit sales: 1200"),
            ("In which region is Lamp A sold?", "product: Lamp A; region: North"),
            ("What is known about Lamp A?", row),
        ] {
            assert_eq!(relevant_cells(row, question), expected, "{question}");
        }
    }
}
