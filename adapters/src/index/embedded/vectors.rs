//! The vectors of a segment. They are a custom tantivy segment component, so they are written,
//! merged, published and deleted together with their documents.
//!
//! A file contains the rows (little-endian `f32`), the same rows in eight bits ([`codes`]), lists
//! of `u32`, a directory of the fields as JSON, and the length of the directory (`u64`), in this
//! order. Within a field, the rows of one analyzer are contiguous and in document order, because
//! most searches select one analyzer and sequential reads are fastest. If a document has equal rows
//! in several fields, the row is stored once. If some documents lack a field, the field lists the
//! documents that have it. If the row indices of a field are not contiguous, the field lists them.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tantivy::directory::{OwnedBytes, TerminatingWrite, WritePtr};
use tantivy::index::{Segment, SegmentComponent, SegmentReader};
use tantivy::indexer::DocIdMapping;
use tantivy::indexer::doc_id_mapping::MappingType;
use tantivy::schema::document::ErasedDocument;
use tantivy::schema::{Field, Schema, Value};
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin, TantivyDocument,
    TantivyError,
};

use super::codes::{self, FLOAT};

/// File extension of the component.
pub(super) const EXTENSION: &str = "vectors";

/// Write buffer size in bytes.
const BUFFER: usize = 1 << 18;

/// Encodes the vectors of one document as one custom value. [`decode`] reads the fields from this
/// value.
pub(super) fn encode(vectors: &BTreeMap<String, Vec<f32>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, vector) in vectors {
        // The caller has checked that a name has at most 255 bytes.
        bytes.push(name.len() as u8);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
    }
    bytes
}

/// The directory entry of one field.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: String,
    rows: usize,
    /// Offset of the list of documents that have the field; `None` if every document has it.
    docs: Option<usize>,
    #[serde(rename = "places")]
    indices: RowIndices<usize>,
}

/// The row indices of a field.
#[derive(Debug, Serialize, Deserialize)]
enum RowIndices<L> {
    /// Contiguous, starting at this row.
    From(usize),
    /// One index per row, stored in this list.
    #[serde(rename = "Listed")]
    List(L),
}

#[derive(Debug, Serialize, Deserialize)]
struct Directory {
    dimension: usize,
    rows: usize,
    fields: Vec<Entry>,
}

/// A list of `u32` in the file.
struct List(OwnedBytes);

impl List {
    fn slice(&self) -> &[[u8; 4]] {
        self.0.as_chunks::<4>().0
    }

    fn at(&self, i: usize) -> u32 {
        u32::from_le_bytes(self.slice()[i])
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        self.slice().iter().map(|bytes| u32::from_le_bytes(*bytes))
    }
}

/// All rows of a segment, memory-mapped.
#[derive(Clone)]
struct SegmentRows {
    floats: OwnedBytes,
    codes: OwnedBytes,
    dimension: usize,
}

impl SegmentRows {
    fn floats(&self, index: usize) -> &[u8] {
        let stride = self.dimension * FLOAT;
        &self.floats[index * stride..][..stride]
    }

    fn code(&self, index: usize) -> &[u8] {
        let stride = codes::stride(self.dimension);
        &self.codes[index * stride..][..stride]
    }
}

/// The rows of one vector field in one segment.
pub(super) struct Rows {
    pool: SegmentRows,
    len: usize,
    /// The document of each row, in ascending order. `None` if the row number is the document id.
    docs: Option<List>,
    indices: RowIndices<List>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the document that a row belongs to.
    pub(super) fn doc(&self, row: usize) -> DocId {
        match &self.docs {
            Some(docs) => docs.at(row),
            None => row as DocId,
        }
    }

    /// Returns the row of a document, if it has one.
    pub(super) fn row(&self, doc: DocId) -> Option<usize> {
        match &self.docs {
            Some(docs) => {
                docs.slice().binary_search_by_key(&doc, |id| u32::from_le_bytes(*id)).ok()
            }
            None => Some(doc as usize),
        }
    }

    /// Returns the rows of documents that are given as ascending runs.
    pub(super) fn doc_rows(&self, runs: Vec<Range<DocId>>) -> Vec<usize> {
        let row_of = |doc: DocId| match &self.docs {
            Some(docs) => docs.slice().partition_point(|id| u32::from_le_bytes(*id) < doc),
            None => doc as usize,
        };
        runs.into_iter().flat_map(|docs| row_of(docs.start)..row_of(docs.end)).collect()
    }

    /// Returns the index at which the file stores a row.
    pub(super) fn index(&self, row: usize) -> usize {
        match &self.indices {
            RowIndices::From(first) => first + row,
            RowIndices::List(indices) => indices.at(row) as usize,
        }
    }

    /// Returns the little-endian components of the row at a file index.
    pub(super) fn floats(&self, index: usize) -> &[u8] {
        self.pool.floats(index)
    }

    /// Returns the eight-bit code of the row at a file index.
    pub(super) fn code(&self, index: usize) -> &[u8] {
        self.pool.code(index)
    }

    /// Returns the components of a row.
    pub(super) fn vector(&self, row: usize) -> Vec<f32> {
        let (components, _) = self.floats(self.index(row)).as_chunks::<FLOAT>();
        components.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }
}

/// Opens the vector fields of a segment.
pub(super) fn open(
    segment: &SegmentReader,
    dimension: usize,
) -> tantivy::Result<BTreeMap<String, Rows>> {
    let bytes = segment.open_read(SegmentComponent::Custom(EXTENSION.into()))?.read_bytes()?;
    parse(&bytes, segment.max_doc(), dimension)
        .ok_or_else(|| corrupt("the vector file of a segment is damaged"))
}

fn parse(bytes: &OwnedBytes, max_doc: DocId, dimension: usize) -> Option<BTreeMap<String, Rows>> {
    let (rest, length) = bytes.as_slice().split_last_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let end = rest.len().checked_sub(length)?;
    let directory: Directory = serde_json::from_slice(&rest[end..]).ok()?;
    if directory.dimension != dimension {
        return None;
    }
    let part = |at: usize, length: usize| {
        let to = at.checked_add(length).filter(|to| *to <= end)?;
        Some(bytes.slice(at..to))
    };
    let all = directory.rows;
    let floats = part(0, all.checked_mul(dimension * FLOAT)?)?;
    let codes = part(floats.len(), all.checked_mul(codes::stride(dimension))?)?;
    let pool = SegmentRows { floats, codes, dimension };
    let list = |at: usize, len: usize| Some(List(part(at, len.checked_mul(4)?)?));
    let mut fields = BTreeMap::new();
    for Entry { name, rows, docs, indices } in directory.fields {
        let docs = match docs {
            None => (rows == max_doc as usize).then_some(None)?,
            Some(at) => {
                let docs = list(at, rows)?;
                let sound = docs.iter().is_sorted() && docs.iter().all(|doc| doc < max_doc);
                Some(sound.then_some(docs)?)
            }
        };
        let indices = match indices {
            RowIndices::From(first) => {
                (first.checked_add(rows)? <= all).then_some(RowIndices::From(first))?
            }
            RowIndices::List(at) => {
                let indices = list(at, rows)?;
                let sound = indices.iter().all(|index| (index as usize) < all);
                sound.then_some(RowIndices::List(indices))?
            }
        };
        fields.insert(name, Rows { pool: pool.clone(), len: rows, docs, indices });
    }
    Some(fields)
}

/// Writes and merges the vectors of segments.
pub(super) struct Vectors {
    /// The schema's custom field.
    pub(super) field: Field,
    /// The schema's analyzer field.
    pub(super) analyzer: Field,
    pub(super) dimension: usize,
}

impl SegmentPlugin for Vectors {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(SegmentVectors {
            field: self.field,
            analyzer: self.analyzer,
            stride: self.dimension * FLOAT,
            docs: 0,
            analyzers: AnalyzerNumbers::default(),
            rows: Vec::new(),
            fields: BTreeMap::new(),
        }))
    }

    fn merge(&self, context: PluginMergeContext) -> tantivy::Result<()> {
        if context.doc_id_mapping.mapping_type() == MappingType::Shuffled {
            return Err(TantivyError::InvalidArgument(
                "a sorted index cannot hold vectors; no sort order is expected".into(),
            ));
        }
        // Segments without a sort order are concatenated, so the live documents of each segment
        // follow those of the previous segment.
        let sources = context
            .readers
            .iter()
            .map(|reader| Ok((reader, open(reader, self.dimension)?)))
            .collect::<tantivy::Result<Vec<_>>>()?;
        let mut analyzers = AnalyzerNumbers::default();
        let of_docs = context
            .readers
            .iter()
            .map(|reader| analyzers.for_segment(reader))
            .collect::<tantivy::Result<Vec<_>>>()?;
        let mut names: Vec<&String> =
            sources.iter().flat_map(|(_, fields)| fields.keys()).collect();
        names.sort();
        names.dedup();

        let mut plan = Plan::default();
        let mut max_doc = 0;
        for name in names {
            plan.fields.push(PlannedField { name: name.clone(), ..PlannedField::default() });
            max_doc = 0;
            for (source, (reader, fields)) in sources.iter().enumerate() {
                if let Some(rows) = fields.get(name) {
                    for (new, old) in reader.doc_ids_alive().enumerate() {
                        if let Some(row) = rows.row(old) {
                            let group = of_docs[source][old as usize];
                            let origin = (source as u32, rows.index(row) as u32);
                            plan.add(max_doc + new as DocId, group, origin);
                        }
                    }
                }
                max_doc += reader.num_docs();
            }
        }
        let pools: Vec<Option<&SegmentRows>> = sources
            .iter()
            .map(|(_, fields)| fields.values().next().map(|rows| &rows.pool))
            .collect();
        let pool = |source: u32| {
            pools[source as usize]
                .ok_or_else(|| corrupt("a segment has rows that it does not have"))
        };
        plan.write(
            context.target_segment,
            max_doc,
            self.dimension,
            |(source, index), file| Ok(file.write(pool(source)?.floats(index as usize))?),
            |(source, index), file| Ok(file.write(pool(source)?.code(index as usize))?),
        )
    }
}

/// The vectors of a segment under construction.
struct SegmentVectors {
    field: Field,
    analyzer: Field,
    stride: usize,
    docs: DocId,
    analyzers: AnalyzerNumbers,
    /// The rows in document order. Equal rows of a document are stored once.
    rows: Vec<u8>,
    /// Document, analyzer number and row of each vector, keyed by field name.
    fields: BTreeMap<String, Vec<(DocId, u16, usize)>>,
}

impl PluginWriter for SegmentVectors {
    fn add_document(
        &mut self,
        doc_id: DocId,
        document: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        self.docs = doc_id + 1;
        let document = document.as_any().downcast_ref::<TantivyDocument>();
        let encoded = document.and_then(|document| document.get_first(self.field));
        let Some(mut rest) = encoded.as_ref().and_then(|value| value.as_custom()) else {
            return Err(corrupt("a document came without its vectors"));
        };
        let analyzer = document.and_then(|document| document.get_first(self.analyzer));
        let analyzer = analyzer.as_ref().and_then(|value| value.as_str()).unwrap_or_default();
        let group = self.analyzers.number(analyzer);
        let first = self.rows.len() / self.stride;
        while !rest.is_empty() {
            let (name, vector, after) = decode(rest, self.stride)
                .ok_or_else(|| corrupt("the encoded vectors of a document are damaged"))?;
            let mut earlier = self.rows[first * self.stride..].chunks_exact(self.stride);
            let row = match earlier.position(|row| row == vector) {
                Some(shared) => first + shared,
                None => {
                    self.rows.extend_from_slice(vector);
                    self.rows.len() / self.stride - 1
                }
            };
            if !self.fields.contains_key(name) {
                self.fields.insert(name.to_owned(), Vec::new());
            }
            if let Some(rows) = self.fields.get_mut(name) {
                rows.push((doc_id, group, row));
            }
            rest = after;
        }
        Ok(())
    }

    fn serialize(
        self: Box<Self>,
        segment: &Segment,
        order: Option<&DocIdMapping>,
    ) -> tantivy::Result<()> {
        if order.is_some() {
            return Err(TantivyError::InvalidArgument(
                "a sorted index cannot hold vectors; no sort order is expected".into(),
            ));
        }
        let mut plan = Plan::default();
        for (name, rows) in &self.fields {
            plan.fields.push(PlannedField { name: name.clone(), ..PlannedField::default() });
            for (doc, group, row) in rows {
                plan.add(*doc, *group, (0, *row as u32));
            }
        }
        let row = |row: u32| &self.rows[row as usize * self.stride..][..self.stride];
        let mut code = Vec::new();
        plan.write(
            segment,
            self.docs,
            self.stride / FLOAT,
            |(_, index), file| Ok(file.write(row(index))?),
            |(_, index), file| {
                code.clear();
                codes::encode(row(index), &mut code);
                Ok(file.write(&code)?)
            },
        )
    }

    fn mem_usage(&self) -> usize {
        let listed: usize = self.fields.values().map(Vec::capacity).sum();
        self.rows.capacity() + listed * size_of::<(DocId, u16, usize)>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Splits the first field off encoded vectors. Returns its name, its vector and the remaining
/// bytes.
fn decode(bytes: &[u8], stride: usize) -> Option<(&str, &[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(length.into())?;
    let (vector, rest) = rest.split_at_checked(stride)?;
    Some((str::from_utf8(name).ok()?, vector, rest))
}

/// Numbers the analyzers in order of appearance. Rows of the same analyzer are stored together.
#[derive(Default)]
struct AnalyzerNumbers(Vec<String>);

impl AnalyzerNumbers {
    fn number(&mut self, analyzer: &str) -> u16 {
        let known = self.0.iter().position(|known| known == analyzer);
        let number = known.unwrap_or_else(|| {
            self.0.push(analyzer.to_owned());
            self.0.len() - 1
        });
        number as u16
    }

    /// Returns the analyzer number of each document in a segment.
    fn for_segment(&mut self, segment: &SegmentReader) -> tantivy::Result<Vec<u16>> {
        let analyzers = segment.fast_fields().str("analyzer_id")?;
        let analyzers = analyzers.ok_or_else(|| corrupt("a segment lacks `analyzer_id`"))?;
        let mut numbers = Vec::new();
        let mut words = analyzers.dictionary().stream()?;
        while words.advance() {
            numbers.push(self.number(&String::from_utf8_lossy(words.key())));
        }
        let number = |doc| Some(*numbers.get(analyzers.ords().first(doc)? as usize)?);
        let of_docs = (0..segment.max_doc()).map(number).collect::<Option<_>>();
        of_docs.ok_or_else(|| corrupt("a document has no analyzer"))
    }
}

/// The origin of a row: the number of its source and its row number within the source.
type Origin = (u32, u32);

/// The layout of the rows in a new file.
#[derive(Default)]
struct Plan {
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
    origin: Origin,
}

#[derive(Default)]
struct PlannedField {
    name: String,
    docs: Vec<DocId>,
    /// The planned row of each document. [`Plan::settle`] replaces it with the file index.
    indices: Vec<u32>,
}

impl Plan {
    /// Adds a row to the last field.
    fn add(&mut self, doc: DocId, group: u16, origin: Origin) {
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
    fn settle(&mut self) -> Vec<Origin> {
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

    /// Writes the file of a segment with `max_doc` documents.
    fn write(
        mut self,
        segment: &Segment,
        max_doc: DocId,
        dimension: usize,
        mut floats: impl FnMut(Origin, &mut VectorFile) -> tantivy::Result<()>,
        mut code: impl FnMut(Origin, &mut VectorFile) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let order = self.settle();
        let mut file = VectorFile::create(segment)?;
        for origin in &order {
            floats(*origin, &mut file)?;
        }
        for origin in &order {
            code(*origin, &mut file)?;
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
        file.finish(&Directory { dimension, rows: order.len(), fields })
    }
}

/// A vector file being written.
struct VectorFile {
    out: BufWriter<WritePtr>,
    written: usize,
}

impl VectorFile {
    fn create(segment: &Segment) -> tantivy::Result<Self> {
        let out = segment.clone().open_write(SegmentComponent::Custom(EXTENSION.into()))?;
        Ok(Self { out: BufWriter::with_capacity(BUFFER, out), written: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
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

    fn finish(mut self, directory: &Directory) -> tantivy::Result<()> {
        let directory = serde_json::to_vec(directory).map_err(io::Error::from)?;
        self.write(&directory)?;
        self.write(&(directory.len() as u64).to_le_bytes())?;
        self.out.into_inner().map_err(IntoInnerError::into_error)?.terminate()?;
        Ok(())
    }
}

pub(super) fn corrupt(message: &str) -> TantivyError {
    TantivyError::DataCorruption(tantivy::error::DataCorruption::comment_only(message))
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
            plan.fields.push(PlannedField { name: field.into(), ..PlannedField::default() });
            for (doc, row) in (0..).zip(rows) {
                plan.add(doc, (doc % 2) as u16, (0, row));
            }
        }
        assert_eq!(plan.settle(), [0, 2, 1, 3, 9].map(|row| (0, row)));
        let indices: Vec<_> = plan.fields.iter().map(|field| field.indices.clone()).collect();
        assert_eq!(indices, [[0, 2, 1, 3], [0, 2, 4, 3]]);
    }
}
