//! The layout of a new vector file, and writing it.

use std::io::{self, BufWriter, IntoInnerError, Write};

use tantivy::DocId;
use tantivy::directory::{TerminatingWrite, WritePtr};
use tantivy::index::{Segment, SegmentComponent};

use super::{Directory, EXTENSION, Entry, RowIndices, Section};

/// Write buffer size in bytes.
const BUFFER: usize = 1 << 18;

/// The origin of a row: the number of its source and its row number within the source.
pub(super) type RowOrigin = (u32, u32);

/// The layout of the rows in a new file.
#[derive(Default)]
pub(super) struct Plan {
    rows: Vec<PlannedRow>,
    /// For each row of each source, the planned row, or `u32::MAX` if the row is not planned yet.
    known: Vec<Vec<u32>>,
    fields: Vec<PlannedField>,
}

/// A row to write.
struct PlannedRow {
    /// The number of the first field that contains the row.
    field: u16,
    group: u16,
    origin: RowOrigin,
}

#[derive(Default)]
struct PlannedField {
    name: String,
    docs: Vec<DocId>,
    /// The planned row of each document. [`Plan::settle`] replaces it with the file index.
    indices: Vec<u32>,
}

impl Plan {
    /// Starts a field.
    pub(super) fn start_field(&mut self, name: &str) {
        self.fields.push(PlannedField { name: name.to_owned(), ..PlannedField::default() });
    }

    /// Adds a row to the last field.
    pub(super) fn add(&mut self, doc: DocId, group: u16, origin: RowOrigin) {
        let (source, row) = (origin.0 as usize, origin.1 as usize);
        if self.known.len() <= source {
            self.known.resize(source + 1, Vec::new());
        }
        let known = &mut self.known[source];
        if known.len() <= row {
            known.resize(row + 1, u32::MAX);
        }
        if known[row] == u32::MAX {
            known[row] = self.rows.len() as u32;
            self.rows.push(PlannedRow { field: self.fields.len() as u16, group, origin });
        }
        if let Some(field) = self.fields.last_mut() {
            field.docs.push(doc);
            field.indices.push(known[row]);
        }
    }

    /// Assigns file indices by field, and within a field by analyzer.
    fn settle(&mut self) -> Vec<RowOrigin> {
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_by_key(|row| {
            let PlannedRow { field, group, .. } = self.rows[*row as usize];
            (field, group)
        });
        let mut indices = vec![0; order.len()];
        for (index, row) in (0..).zip(&order) {
            indices[*row as usize] = index;
        }
        for index in self.fields.iter_mut().flat_map(|field| &mut field.indices) {
            *index = indices[*index as usize];
        }
        order.into_iter().map(|row| self.rows[row as usize].origin).collect()
    }

    /// Writes the rows and lists of a segment with `max_doc` documents.
    pub(super) fn write(
        mut self,
        file: &mut VectorFile,
        max_doc: DocId,
        dimension: usize,
        mut floats: impl FnMut(RowOrigin, &mut VectorFile) -> tantivy::Result<()>,
        mut code: impl FnMut(RowOrigin, &mut VectorFile) -> tantivy::Result<()>,
    ) -> tantivy::Result<Section> {
        let order = self.settle();
        for origin in &order {
            floats(*origin, file)?;
        }
        for origin in &order {
            code(*origin, file)?;
        }
        let mut fields = Vec::new();
        for PlannedField { name, docs, indices } in self.fields {
            let rows = docs.len();
            let first = indices.first().map_or(0, |first| *first as usize);
            let listed = indices.iter().zip(first..).any(|(index, next)| *index as usize != next);
            let docs = (rows != max_doc as usize).then(|| file.list(&docs)).transpose()?;
            let indices = match listed {
                true => RowIndices::List(file.list(&indices)?),
                false => RowIndices::From(first),
            };
            fields.push(Entry { name, rows, docs, indices });
        }
        Ok(Section { dimension, rows: order.len(), fields })
    }
}

/// A vector file being written.
pub(super) struct VectorFile {
    out: BufWriter<WritePtr>,
    /// Number of bytes written so far.
    pub(super) written: usize,
}

impl VectorFile {
    pub(super) fn create(segment: &Segment) -> tantivy::Result<Self> {
        let out = segment.clone().open_write(SegmentComponent::Custom(EXTENSION.into()))?;
        Ok(Self { out: BufWriter::with_capacity(BUFFER, out), written: 0 })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len();
        self.out.write_all(bytes)
    }

    /// Writes a list and returns its offset.
    fn list(&mut self, numbers: &[u32]) -> io::Result<usize> {
        let at = self.written;
        for number in numbers {
            self.write(&number.to_le_bytes())?;
        }
        Ok(at)
    }

    pub(super) fn finish(mut self, directory: &Directory) -> tantivy::Result<()> {
        let directory = serde_json::to_vec(directory).map_err(io::Error::from)?;
        self.write(&directory)?;
        self.write(&(directory.len() as u64).to_le_bytes())?;
        self.out.into_inner().map_err(IntoInnerError::into_error)?.terminate()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_grouped_by_analyzer() {
        let mut plan = Plan::default();
        // There are two alternating analyzers. The fields have equal rows in every document except
        // one.
        for (field, rows) in [("combined", [0, 1, 2, 3]), ("speech", [0, 1, 9, 3])] {
            plan.start_field(field);
            for (doc, row) in (0..).zip(rows) {
                plan.add(doc, (doc % 2) as u16, (0, row));
            }
        }
        assert_eq!(plan.settle(), [0, 2, 1, 3, 9].map(|row| (0, row)));
        let indices: Vec<_> = plan.fields.iter().map(|field| field.indices.clone()).collect();
        assert_eq!(indices, [[0, 2, 1, 3], [0, 2, 4, 3]]);
    }
}
