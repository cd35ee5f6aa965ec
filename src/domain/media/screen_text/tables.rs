//! Finds tables on screen and reads their rows. A row states what belongs together, such as a name
//! and its number, which separate lines of text do not.

use std::collections::{BTreeMap, BTreeSet};

use ports::llm::PassageKind;

use super::{ScreenLine, ScreenStatement};

/// Minimum number of rows of a table, and of cells of a column.
const MIN_ROWS: usize = 3;

/// Maximum length of a cell, in characters. Longer lines are prose.
const MAX_CELL_CHARS: usize = 48;

/// Maximum vertical distance between the centres of two cells of a row, in letter heights.
const ROW: f64 = 0.35;

/// Maximum distance between the edges or centres of two cells of a column, in letter heights.
const ALIGNED: f64 = 0.7;

/// Maximum distance between the centres of two consecutive rows, in letter heights.
const PITCH: f64 = 5.0;

/// Maximum ratio of the letter heights of a table.
const ONE_SIZE: f64 = 1.6;

/// Minimum share of a table's rows in which a column has a cell.
const FILLED: f64 = 0.5;

/// The width of a letter height as a share of the picture's width is unknown, because bounds are
/// shares of width and height. This is the ratio of a picture of 16:9.
const ASPECT: f64 = 9.0 / 16.0;

/// The rows of the tables on screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tables {
    /// Each distinct row, in order of appearance, such as `product: Widget A; sales: 1200`.
    pub(super) rows: Vec<ScreenStatement>,
    /// The indices of the lines that are cells.
    pub(super) cells: BTreeSet<usize>,
}

/// A line at a time.
#[derive(Debug, Clone, Copy)]
struct Cell<'a> {
    line: usize,
    text: &'a str,
    confidence: f64,
    left: f64,
    right: f64,
    middle: f64,
    height: f64,
}

type Row<'a> = Vec<Cell<'a>>;

impl Tables {
    /// Finds the tables in lines. The lines of a table are seen at the same time.
    pub(super) fn find(lines: &[ScreenLine]) -> Self {
        let mut tables = Self::default();
        let mut known: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
        for cells in cells_by_time(lines).into_values() {
            // The same lines form the same tables.
            if !known.insert(cells.iter().map(|cell| cell.line).collect()) {
                continue;
            }
            let short = cells.iter().filter(|cell| cell.text.chars().count() <= MAX_CELL_CHARS);
            for table in tables_of(&rows(short.copied().collect())) {
                tables.add(&table, &cells);
            }
        }
        tables
    }

    /// Adds a table, unless there is other text between its cells. `shown` is everything that is seen
    /// at the same time.
    fn add(&mut self, table: &[Row<'_>], shown: &[Cell<'_>]) {
        let columns = Columns::find(table);
        let rows = table.iter().map(|row| columns.cells(row)).filter(|row| row.len() > 1);
        let table: Vec<Row<'_>> = rows.collect();
        if !is_dense(&table, shown) {
            return;
        }
        let headings = columns.headings(&table);
        let rows = if headings.is_some() { &table[1..] } else { &table[..] };
        self.cells.extend(table.iter().flatten().map(|cell| cell.line));
        for row in rows {
            let text = match &headings {
                Some(headings) => columns.with_headings(row, headings),
                None => joined(row.iter().map(|cell| cell.text.to_owned())),
            };
            if !self.rows.iter().any(|known| known.text == text) {
                let confidence = row.iter().map(|cell| cell.confidence).fold(1.0, f64::min);
                self.rows.push(ScreenStatement { kind: PassageKind::Row, text, confidence });
            }
        }
    }
}

/// The name of a column in a heading, without icons or marks around it.
fn heading(text: &str) -> Option<String> {
    let name = text.replace('_', " ");
    let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != ')' && c != '%');
    (!name.is_empty()).then(|| name.to_owned())
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join("; ")
}

/// The lines that are seen at each time, in milliseconds.
fn cells_by_time(lines: &[ScreenLine]) -> BTreeMap<i64, Vec<Cell<'_>>> {
    let mut found: BTreeMap<i64, Vec<Cell<'_>>> = BTreeMap::new();
    for (index, line) in lines.iter().enumerate() {
        for at in line.locations.iter().filter(|at| at.bounds[3] > 0.0) {
            let [left, top, width, height] = at.bounds;
            found.entry((at.t * 1e3).round() as i64).or_default().push(Cell {
                line: index,
                text: line.text.trim(),
                confidence: line.confidence,
                left,
                right: left + width,
                middle: top + height / 2.0,
                height,
            });
        }
    }
    found
}

/// Groups cells into rows, from top to bottom; the cells of a row from left to right.
fn rows(mut cells: Vec<Cell<'_>>) -> Vec<Row<'_>> {
    cells.sort_by(|a, b| a.middle.total_cmp(&b.middle));
    let mut rows: Vec<Row<'_>> = Vec::new();
    for cell in cells {
        match rows.last_mut().filter(|row| is_in_row(row, &cell)) {
            Some(row) => row.push(cell),
            None => rows.push(vec![cell]),
        }
    }
    for row in &mut rows {
        row.sort_by(|a, b| a.left.total_cmp(&b.left));
    }
    rows
}

fn is_in_row(row: &[Cell<'_>], cell: &Cell<'_>) -> bool {
    let first = &row[0];
    (cell.middle - first.middle).abs() <= ROW * cell.height.min(first.height)
        && row.iter().all(|other| cell.left >= other.right || cell.right <= other.left)
}

/// Groups rows into tables. A row continues a table if it has two cells in the columns of one of
/// its last rows; rows of other text may be between them.
fn tables_of<'a>(rows: &[Row<'a>]) -> Vec<Vec<Row<'a>>> {
    /// Number of last rows, because a row may have empty cells.
    const COMPARED: usize = 3;
    let mut tables: Vec<Vec<Row<'a>>> = Vec::new();
    for row in rows.iter().filter(|row| row.len() > 1) {
        let continued = tables.iter_mut().rev().find(|table| {
            table.last().is_some_and(|last| is_below(last, row))
                && table.iter().rev().take(COMPARED).any(|above| shared_columns(above, row) >= 2)
        });
        match continued {
            Some(table) => table.push(row.clone()),
            None => tables.push(vec![row.clone()]),
        }
    }
    tables.retain(|table| {
        table.len() >= MIN_ROWS && is_regular(table) && Columns::find(table).0.len() >= 2
    });
    tables
}

/// Whether nearly everything that is seen in the area of a table is one of its cells.
fn is_dense(table: &[Row<'_>], shown: &[Cell<'_>]) -> bool {
    /// Minimum share of the texts.
    const SHARE: f64 = 0.75;
    let cells = || table.iter().flatten();
    let min = |of: fn(&Cell<'_>) -> f64| cells().map(of).fold(f64::INFINITY, f64::min);
    let max = |of: fn(&Cell<'_>) -> f64| cells().map(of).fold(0.0, f64::max);
    let (left, right) = (min(|c| c.left), max(|c| c.right));
    let (top, bottom) = (min(|c| c.middle), max(|c| c.middle));
    let is_inside = |cell: &&Cell<'_>| {
        cell.left < right && cell.right > left && (top..=bottom).contains(&cell.middle)
    };
    let inside = shown.iter().filter(is_inside).count();
    inside > 0 && cells().count() as f64 >= SHARE * inside as f64
}

/// Whether the rows are evenly spaced, as those of a table are. Text that only happens to be in line
/// with other text is not.
fn is_regular(table: &[Row<'_>]) -> bool {
    /// Maximum deviation of a distance from the usual one, as a share.
    const DEVIATION: f64 = 0.25;
    /// Minimum share of distances that are usual. Headings are set off, and rows may be missing.
    const USUAL: f64 = 0.6;
    let mut distances: Vec<f64> =
        table.windows(2).map(|pair| pair[1][0].middle - pair[0][0].middle).collect();
    distances.sort_by(f64::total_cmp);
    let usual = distances[distances.len() / 2];
    let is_usual = |distance: &&f64| (**distance - usual).abs() <= DEVIATION * usual;
    distances.iter().filter(is_usual).count() as f64 >= USUAL * distances.len() as f64
}

fn is_below(above: &[Cell<'_>], row: &[Cell<'_>]) -> bool {
    row[0].middle - above[0].middle <= PITCH * row[0].height.max(above[0].height)
}

/// Number of cells of a row that are in the same column as a cell of the other row.
fn shared_columns(above: &[Cell<'_>], row: &[Cell<'_>]) -> usize {
    row.iter().filter(|cell| above.iter().any(|other| is_aligned(cell, other))).count()
}

/// Whether two cells can be in the same column: they are flush left, flush right or centred.
fn is_aligned(one: &Cell<'_>, other: &Cell<'_>) -> bool {
    let (min, max) = (one.height.min(other.height), one.height.max(other.height));
    let close = |a: f64, b: f64| (a - b).abs() <= ALIGNED * min * ASPECT;
    let overlap = one.left < other.right && other.left < one.right;
    max <= ONE_SIZE * min
        && overlap
        && (close(one.left, other.left)
            || close(one.right, other.right)
            || close(one.left + one.right, other.left + other.right))
}

/// The columns of a table, from left to right, as the edges of all their cells.
struct Columns(Vec<(f64, f64)>);

impl Columns {
    /// Finds the columns that have cells in enough rows.
    fn find(table: &[Row<'_>]) -> Self {
        let mut columns: Vec<Vec<Cell<'_>>> = Vec::new();
        for cell in table.iter().flatten() {
            match columns.iter_mut().find(|column| column.iter().any(|c| is_aligned(c, cell))) {
                Some(column) => column.push(*cell),
                None => columns.push(vec![*cell]),
            }
        }
        let min = (FILLED * table.len() as f64).max(MIN_ROWS as f64);
        columns.retain(|column| column.len() as f64 >= min);
        let edges = |column: &Vec<Cell<'_>>| {
            let left = column.iter().map(|cell| cell.left).fold(f64::INFINITY, f64::min);
            let right = column.iter().map(|cell| cell.right).fold(0.0, f64::max);
            (left, right)
        };
        let mut columns: Vec<(f64, f64)> = columns.iter().map(edges).collect();
        columns.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self(columns)
    }

    /// The column in which a cell has most of its width.
    fn index(&self, cell: &Cell<'_>) -> Option<usize> {
        let shared = |(left, right): &(f64, f64)| cell.right.min(*right) - cell.left.max(*left);
        let (index, widest) =
            self.0.iter().map(shared).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (widest >= 0.5 * (cell.right - cell.left)).then_some(index)
    }

    /// The cells of a row that are in columns. Returns no cells if two of them are in one column,
    /// because the row is then another kind of text between or below the rows.
    fn cells<'a>(&self, row: &[Cell<'a>]) -> Row<'a> {
        let cells: Row<'a> = row.iter().filter(|c| self.index(c).is_some()).copied().collect();
        let columns: BTreeSet<usize> = cells.iter().filter_map(|c| self.index(c)).collect();
        if columns.len() == cells.len() { cells } else { Vec::new() }
    }

    /// The heading of each column, if the first row has headings: words over columns of which at
    /// least one has numbers.
    fn headings(&self, table: &[Row<'_>]) -> Option<Vec<Option<String>>> {
        let (first, rest) = table.split_first()?;
        let is_number = |cell: &Cell<'_>| cell.text.chars().any(char::is_numeric);
        let has_numbers = |column: usize| {
            let cells: Vec<&Cell<'_>> =
                rest.iter().flatten().filter(|cell| self.index(cell) == Some(column)).collect();
            let numbers = cells.iter().filter(|cell| is_number(cell)).count();
            numbers > 0 && 2 * numbers >= cells.len()
        };
        let words = first.len() >= 2 && !first.iter().any(is_number);
        if !words || !(0..self.0.len()).any(has_numbers) {
            return None;
        }
        let mut headings = vec![None; self.0.len()];
        for cell in first {
            if let Some(column) = self.index(cell) {
                headings[column] = heading(cell.text);
            }
        }
        Some(headings)
    }

    fn with_headings(&self, row: &[Cell<'_>], headings: &[Option<String>]) -> String {
        joined(row.iter().map(|cell| {
            let heading = self.index(cell).and_then(|column| headings[column].as_ref());
            heading.map_or_else(|| cell.text.to_owned(), |name| format!("{name}: {}", cell.text))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tracking::Location;

    /// Lines that are seen at one time, given by their left edge and baseline in a grid of letters
    /// of 2 % of the picture's height.
    fn lines(cells: &[(f64, f64, &str)]) -> Vec<ScreenLine> {
        let line = |(left, row, text): &(f64, f64, &str)| {
            let width = text.chars().count() as f32 * 0.006;
            let bounds = [*left as f32, (*row * 0.04) as f32, width, 0.02];
            ScreenLine {
                text: (*text).into(),
                locations: vec![Location::new(1.0, &bounds, 0.9)],
                ..ScreenLine::default()
            }
        };
        cells.iter().map(line).collect()
    }

    fn table() -> Vec<(f64, f64, &'static str)> {
        let rows = [
            ("product", "unit_sales", "region"),
            ("Lamp A", "1200", "North"),
            ("Lamp B", "800", "South"),
            ("Lamp C", "1500", "East"),
        ];
        let row = |(at, row): (usize, &(&'static str, &'static str, &'static str))| {
            let y = 2.0 + at as f64;
            [(0.05, y, row.0), (0.2, y, row.1), (0.35, y, row.2)]
        };
        rows.iter().enumerate().flat_map(row).collect()
    }

    fn texts(tables: &Tables) -> Vec<&str> {
        tables.rows.iter().map(|row| row.text.as_str()).collect()
    }

    #[test]
    fn row_of_a_table_names_its_columns() {
        let mut cells = table();
        cells.push((0.05, 0.5, "Sales of this year"));
        cells.push((0.05, 9.0, "4 rows, 3 columns"));
        let tables = Tables::find(&lines(&cells));
        assert_eq!(
            texts(&tables),
            [
                "product: Lamp A; unit sales: 1200; region: North",
                "product: Lamp B; unit sales: 800; region: South",
                "product: Lamp C; unit sales: 1500; region: East",
            ]
        );
        assert_eq!(tables.cells, (0..12).collect(), "not the lines around it");
    }

    #[test]
    fn table_without_numbers_has_no_headings() {
        let cells = [
            (0.3, 1.0, "Director"),
            (0.5, 1.0, "Ada Rossi"),
            (0.3, 2.0, "Camera"),
            (0.5, 2.0, "Omar Diaz"),
            (0.3, 3.0, "Sound"),
            (0.5, 3.0, "Mei Lin"),
        ];
        let tables = Tables::find(&lines(&cells));
        assert_eq!(texts(&tables), ["Director; Ada Rossi", "Camera; Omar Diaz", "Sound; Mei Lin"]);
    }

    #[test]
    fn empty_cell_does_not_shift_the_cells_after_it() {
        let mut cells = table();
        cells.retain(|(_, _, text)| *text != "800");
        let tables = Tables::find(&lines(&cells));
        assert_eq!(texts(&tables)[1], "product: Lamp B; region: South");
    }

    #[test]
    fn paragraphs_and_single_columns_are_no_tables() {
        let list = [(0.1, 1.0, "Milk"), (0.1, 2.0, "Bread"), (0.1, 3.0, "Salt"), (0.1, 4.0, "Tea")];
        let prose = [
            (0.1, 1.0, "A long line of prose that nobody would call a cell of a table"),
            (0.6, 1.0, "Another line of prose that nobody would call a cell"),
            (0.1, 2.0, "A long line of prose that nobody would take for a table"),
            (0.6, 2.0, "Another line of prose that nobody would take for it"),
            (0.1, 3.0, "A long line of prose that nobody would read as a table"),
            (0.6, 3.0, "Another line of prose that nobody would read so too"),
        ];
        for cells in [&list[..], &prose[..]] {
            assert_eq!(Tables::find(&lines(cells)), Tables::default());
        }
    }

    #[test]
    fn text_in_line_by_chance_is_no_table() {
        let form = [
            (0.1, 1.0, "X axis"),
            (0.6, 1.0, "95"),
            (0.1, 2.7, "Y axis"),
            (0.6, 2.7, "80"),
            (0.1, 3.8, "Colour"),
            (0.6, 3.8, "65"),
            (0.1, 6.9, "Legend"),
            (0.6, 6.9, "20"),
        ];
        assert_eq!(Tables::find(&lines(&form)), Tables::default());
    }

    #[test]
    fn text_between_the_cells_makes_no_table() {
        let mut cells = table();
        cells.extend((0..4).flat_map(|row| {
            let y = 2.4 + f64::from(row);
            [(0.07, y, "an option"), (0.21, y, "another one"), (0.36, y, "a third")]
        }));
        assert_eq!(Tables::find(&lines(&cells)), Tables::default());
    }

    #[test]
    fn lines_of_different_times_are_no_table() {
        let mut cells = lines(&table());
        for (at, line) in cells.iter_mut().enumerate() {
            line.locations[0].t = at as f64;
        }
        assert_eq!(Tables::find(&cells), Tables::default());
    }
}
