//! Reading order, with rows from top to bottom and the lines of each row from left to right.

use ports::ocr::TextLine;

/// Sorts the lines of one image into reading order.
pub(super) fn reading(lines: &mut Vec<TextLine>) {
    lines.sort_by(|a, b| a.bounds[1].total_cmp(&b.bounds[1]));
    let mut rows: Vec<Vec<TextLine>> = Vec::new();
    for line in lines.drain(..) {
        let row = rows.iter_mut().find(|row| row.iter().any(|other| same_row(other, &line)));
        match row {
            Some(row) => row.push(line),
            None => rows.push(vec![line]),
        }
    }
    for row in &mut rows {
        row.sort_by(|a, b| a.bounds[0].total_cmp(&b.bounds[0]));
    }
    lines.extend(rows.into_iter().flatten());
}

/// Returns whether two lines are in one row. Lines are in one row if they overlap vertically by
/// more than half the height of the smaller line.
fn same_row(a: &TextLine, b: &TextLine) -> bool {
    let ([_, top, _, height], [_, other, _, h]) = (a.bounds, b.bounds);
    let shared = (top + height).min(other + h) - top.max(other);
    shared > 0.5 * height.min(h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_rows_top_down_then_left_to_right() {
        let line = |text: &str, x: f32, y: f32| TextLine {
            text: text.into(),
            confidence: 1.0,
            bounds: [x, y, 0.2, 0.1],
        };
        let mut lines = vec![
            line("d", 0.1, 0.5),
            line("b", 0.6, 0.10),
            line("a", 0.1, 0.12),
            line("c", 0.3, 0.3),
        ];
        reading(&mut lines);
        let text: String = lines.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(text, "abcd");
    }
}
