//! The vectors of a segment. They are a custom tantivy segment component, so they are written,
//! merged, published and deleted together with their documents.
//!
//! A file contains the rows (little-endian `f32`), the same rows in eight bits ([`codes`]), lists
//! of `u32`, a directory of the fields as JSON, and the length of the directory (`u64`), in this
//! order. Within a field, the rows of one analyzer are contiguous and in document order, because
//! most searches select one analyzer and sequential reads are fastest. If a document has equal rows
//! in several fields, the row is stored once. If some documents lack a field, the field lists the
//! documents that have it. If the row indices of a field are not contiguous, the field lists them.
//!
//! If documents have picture fields, the rows of these fields follow the lists, with codes and
//! lists in the same order. They form a second section of the directory, which also names their
//! model. Opening a file skips picture rows of another model or dimension, and a merge drops them.

mod plan;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::directory::OwnedBytes;
use tantivy::index::{Segment, SegmentComponent, SegmentReader};
use tantivy::indexer::DocIdMapping;
use tantivy::indexer::doc_id_mapping::MappingType;
use tantivy::schema::document::ErasedDocument;
use tantivy::schema::{Field, Schema, Value};
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin, TantivyDocument,
    TantivyError,
};

use self::plan::{Plan, VectorFile};
use super::codes::{self, FLOAT};
use crate::index::dimensions::Dimensions;

/// File extension of the component.
pub(super) const EXTENSION: &str = "vectors";

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

/// The fields of one dimension.
#[derive(Debug, Serialize, Deserialize)]
struct Section {
    dimension: usize,
    rows: usize,
    fields: Vec<Entry>,
}

/// The picture fields.
#[derive(Debug, Serialize, Deserialize)]
struct PictureSection {
    model: String,
    /// Offset of the first row.
    offset: usize,
    #[serde(flatten)]
    section: Section,
}

#[derive(Debug, Serialize, Deserialize)]
struct Directory {
    /// The fields that are not picture fields. Their first row is at the start of the file.
    #[serde(flatten)]
    text: Section,
    /// `None` if no document has a picture field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pictures: Option<PictureSection>,
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

/// All rows of one section of a file, memory-mapped.
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
    dimensions: &Dimensions,
) -> tantivy::Result<BTreeMap<String, Rows>> {
    let bytes = segment.open_read(SegmentComponent::Custom(EXTENSION.into()))?.read_bytes()?;
    parse(&bytes, segment.max_doc(), dimensions)
        .ok_or_else(|| corrupt("the vector file of a segment is damaged"))
}

/// Reads the fields. Skips fields that have moved to or from the picture space, and picture fields
/// of another model or dimension.
fn parse(
    bytes: &OwnedBytes,
    max_doc: DocId,
    dimensions: &Dimensions,
) -> Option<BTreeMap<String, Rows>> {
    let (rest, length) = bytes.as_slice().split_last_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let end = rest.len().checked_sub(length)?;
    let Directory { text, pictures } = serde_json::from_slice(&rest[end..]).ok()?;
    if text.dimension != dimensions.text {
        return None;
    }
    let content = bytes.slice(0..end);
    let mut fields = parse_section(&content, 0, text, max_doc)?;
    fields.retain(|name, _| dimensions.picture_space(name).is_none());
    if let Some(PictureSection { model, offset, section }) = pictures
        && let Some(space) = &dimensions.pictures
        && (&model, section.dimension) == (&space.model, space.dimension)
    {
        let mut of_pictures = parse_section(&content, offset, section, max_doc)?;
        of_pictures.retain(|name, _| dimensions.picture_space(name).is_some());
        fields.append(&mut of_pictures);
    }
    Some(fields)
}

/// Reads the fields of a section whose first row is at `offset`.
fn parse_section(
    content: &OwnedBytes,
    offset: usize,
    section: Section,
    max_doc: DocId,
) -> Option<BTreeMap<String, Rows>> {
    let part = |at: usize, length: usize| {
        let to = at.checked_add(length).filter(|to| *to <= content.len())?;
        Some(content.slice(at..to))
    };
    let Section { dimension, rows: all, fields: entries } = section;
    let floats = part(offset, all.checked_mul(dimension.checked_mul(FLOAT)?)?)?;
    let codes = part(offset + floats.len(), all.checked_mul(codes::stride(dimension))?)?;
    let pool = SegmentRows { floats, codes, dimension };
    let list = |at: usize, len: usize| Some(List(part(at, len.checked_mul(4)?)?));
    let mut fields = BTreeMap::new();
    for Entry { name, rows, docs, indices } in entries {
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
    pub(super) dimensions: Arc<Dimensions>,
}

impl SegmentPlugin for Vectors {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(SegmentVectors {
            field: self.field,
            analyzer: self.analyzer,
            dimensions: self.dimensions.clone(),
            docs: 0,
            analyzers: AnalyzerNumbers::default(),
            text: PendingRows::default(),
            pictures: PendingRows::default(),
        }))
    }

    fn merge(&self, context: PluginMergeContext) -> tantivy::Result<()> {
        if context.doc_id_mapping.mapping_type() == MappingType::Shuffled {
            return Err(TantivyError::InvalidArgument(
                "a sorted index cannot hold vectors; no sort order is expected".into(),
            ));
        }
        let mut analyzers = AnalyzerNumbers::default();
        let sources = context
            .readers
            .iter()
            .map(|reader| {
                let fields = open(reader, &self.dimensions)?;
                let groups = analyzers.for_segment(reader)?;
                Ok(MergeSource { reader, fields, groups })
            })
            .collect::<tantivy::Result<Vec<_>>>()?;
        write_file(context.target_segment, &self.dimensions, |space, dimension, file| {
            let names = sources.iter().flat_map(|source| source.fields.keys());
            let names =
                names.filter(|name| Space::for_field(name, &self.dimensions) == space).collect();
            merge_fields(&sources, &names, dimension, file)
        })
    }
}

/// The fields of one section of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    /// The fields that are not picture fields.
    Text,
    Pictures,
}

impl Space {
    /// Returns the section of a field.
    fn for_field(field: &str, dimensions: &Dimensions) -> Self {
        match dimensions.picture_space(field) {
            Some(_) => Self::Pictures,
            None => Self::Text,
        }
    }
}

/// Writes the file of a segment. `write` writes the fields of a space, whose vectors have the given
/// dimension.
fn write_file(
    segment: &Segment,
    dimensions: &Dimensions,
    write: impl Fn(Space, usize, &mut VectorFile) -> tantivy::Result<Section>,
) -> tantivy::Result<()> {
    let mut file = VectorFile::create(segment)?;
    let text = write(Space::Text, dimensions.text, &mut file)?;
    let mut pictures = None;
    if let Some(space) = &dimensions.pictures {
        let (model, offset) = (space.model.clone(), file.written);
        let section = write(Space::Pictures, space.dimension, &mut file)?;
        pictures = (section.rows > 0).then_some(PictureSection { model, offset, section });
    }
    file.finish(&Directory { text, pictures })
}

/// A segment to merge.
struct MergeSource<'a> {
    reader: &'a SegmentReader,
    fields: BTreeMap<String, Rows>,
    /// The analyzer number of each document.
    groups: Vec<u16>,
}

/// Writes the rows of the live documents of all sources. The fields must be of the same space.
fn merge_fields(
    sources: &[MergeSource<'_>],
    names: &BTreeSet<&String>,
    dimension: usize,
    file: &mut VectorFile,
) -> tantivy::Result<Section> {
    let mut plan = Plan::default();
    for name in names {
        plan.start_field(name);
        // Segments without a sort order are concatenated, so the live documents of each segment
        // follow those of the previous segment.
        let mut first_doc = 0;
        for (number, source) in sources.iter().enumerate() {
            if let Some(rows) = source.fields.get(*name) {
                for (new, old) in source.reader.doc_ids_alive().enumerate() {
                    if let Some(row) = rows.row(old) {
                        let group = source.groups[old as usize];
                        let origin = (number as u32, rows.index(row) as u32);
                        plan.add(first_doc + new as DocId, group, origin);
                    }
                }
            }
            first_doc += source.reader.num_docs();
        }
    }
    let pools: Vec<Option<&SegmentRows>> = sources
        .iter()
        .map(|source| names.iter().find_map(|name| source.fields.get(*name)).map(|rows| &rows.pool))
        .collect();
    let pool = |source: u32| {
        pools[source as usize].ok_or_else(|| corrupt("a segment has rows that it does not have"))
    };
    plan.write(
        file,
        sources.iter().map(|source| source.reader.num_docs()).sum(),
        dimension,
        |(source, index), file| Ok(file.write(pool(source)?.floats(index as usize))?),
        |(source, index), file| Ok(file.write(pool(source)?.code(index as usize))?),
    )
}

/// The vectors of a segment under construction.
struct SegmentVectors {
    field: Field,
    analyzer: Field,
    dimensions: Arc<Dimensions>,
    docs: DocId,
    analyzers: AnalyzerNumbers,
    text: PendingRows,
    pictures: PendingRows,
}

/// The vectors of one space in a segment under construction.
#[derive(Default)]
struct PendingRows {
    /// The rows in document order. Equal rows of a document are stored once.
    rows: Vec<u8>,
    /// Offset in `rows` of the first row of the last document.
    last_doc: usize,
    /// Document, analyzer number and row of each vector, keyed by field name.
    fields: BTreeMap<String, Vec<(DocId, u16, usize)>>,
}

impl PendingRows {
    /// Starts a document. [`Self::add`] adds its vectors.
    fn start_doc(&mut self) {
        self.last_doc = self.rows.len();
    }

    /// Adds a vector of the last document. All vectors have the same length.
    fn add(&mut self, doc_id: DocId, group: u16, name: &str, vector: &[u8]) {
        let stride = vector.len();
        let mut earlier = self.rows[self.last_doc..].chunks_exact(stride);
        let row = match earlier.position(|row| row == vector) {
            Some(shared) => self.last_doc / stride + shared,
            None => {
                self.rows.extend_from_slice(vector);
                self.rows.len() / stride - 1
            }
        };
        if !self.fields.contains_key(name) {
            self.fields.insert(name.to_owned(), Vec::new());
        }
        if let Some(rows) = self.fields.get_mut(name) {
            rows.push((doc_id, group, row));
        }
    }

    /// Writes the rows of a segment with `max_doc` documents.
    fn write(
        &self,
        file: &mut VectorFile,
        max_doc: DocId,
        dimension: usize,
    ) -> tantivy::Result<Section> {
        let mut plan = Plan::default();
        for (name, rows) in &self.fields {
            plan.start_field(name);
            for (doc, group, row) in rows {
                plan.add(*doc, *group, (0, *row as u32));
            }
        }
        let stride = dimension * FLOAT;
        let row = |row: u32| &self.rows[row as usize * stride..][..stride];
        let mut code = Vec::new();
        plan.write(
            file,
            max_doc,
            dimension,
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
        self.text.start_doc();
        self.pictures.start_doc();
        while !rest.is_empty() {
            let (name, vector, after) = decode(rest, &self.dimensions)
                .ok_or_else(|| corrupt("the encoded vectors of a document are damaged"))?;
            let pending = match Space::for_field(name, &self.dimensions) {
                Space::Text => &mut self.text,
                Space::Pictures => &mut self.pictures,
            };
            pending.add(doc_id, group, name, vector);
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
        write_file(segment, &self.dimensions, |space, dimension, file| {
            let pending = match space {
                Space::Text => &self.text,
                Space::Pictures => &self.pictures,
            };
            pending.write(file, self.docs, dimension)
        })
    }

    fn mem_usage(&self) -> usize {
        self.text.mem_usage() + self.pictures.mem_usage()
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
fn decode<'b>(bytes: &'b [u8], dimensions: &Dimensions) -> Option<(&'b str, &'b [u8], &'b [u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(length.into())?;
    let name = str::from_utf8(name).ok()?;
    let (vector, rest) = rest.split_at_checked(dimensions.for_field(name) * FLOAT)?;
    Some((name, vector, rest))
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

pub(super) fn corrupt(message: &str) -> TantivyError {
    TantivyError::DataCorruption(tantivy::error::DataCorruption::comment_only(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_without_pictures_has_the_format_of_earlier_files() {
        let json = r#"{"dimension":8,"rows":3,"fields":[{"name":"combined","rows":2,"docs":null,"places":{"From":0}},{"name":"people","rows":1,"docs":120,"places":{"Listed":124}}]}"#;
        let directory: Directory = serde_json::from_str(json).unwrap();
        assert!(directory.pictures.is_none());
        assert_eq!(serde_json::to_string(&directory).unwrap(), json);
    }
}
