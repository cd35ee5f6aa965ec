//! The vectors of a segment: a tantivy segment component of our own, so that vectors are written,
//! merged, published and removed together with the documents they belong to.
//!
//! The file: its rows one after another (little-endian `f32`), the same rows in eight bits
//! ([`codes`]), lists of `u32`, then a directory of the fields as JSON and its length (`u64`). The
//! rows of a field follow each other in document order, but for those that an earlier field of the
//! same document has too: they are stored once. A field lists its documents where some lack it, and
//! its rows where it shares some.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use tantivy::directory::{OwnedBytes, TerminatingWrite};
use tantivy::index::{Segment, SegmentComponent, SegmentReader};
use tantivy::indexer::DocIdMapping;
use tantivy::indexer::doc_id_mapping::MappingType;
use tantivy::schema::document::ErasedDocument;
use tantivy::schema::{Field, Schema, Value};
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin, TantivyDocument,
    TantivyError,
};

use super::codes;

/// Ends the name of the file.
pub(super) const EXTENSION: &str = "vectors";

/// Bytes of one component.
pub(super) const FLOAT: usize = size_of::<f32>();

/// The vectors of one document as one custom value: what the writer below takes apart again.
pub(super) fn encode(vectors: &BTreeMap<String, Vec<f32>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, vector) in vectors {
        // The caller has checked that a name is at most 255 bytes long.
        bytes.push(name.len() as u8);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
    }
    bytes
}

/// What the file says of one field.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: String,
    rows: usize,
    /// Offset of its documents; none where every document has the field.
    docs: Option<usize>,
    places: Places<usize>,
}

/// Where a field's rows are among those of the file.
#[derive(Debug, Serialize, Deserialize)]
enum Places<L> {
    /// One after another from this one on.
    From(usize),
    /// Each where the list says.
    Listed(L),
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

/// All rows of a segment, mapped from the file: the pages come and go as the system sees fit.
#[derive(Clone)]
struct Pool {
    floats: OwnedBytes,
    codes: OwnedBytes,
    dimension: usize,
}

impl Pool {
    fn floats(&self, place: usize) -> &[u8] {
        let stride = self.dimension * FLOAT;
        &self.floats[place * stride..][..stride]
    }

    fn code(&self, place: usize) -> &[u8] {
        let stride = codes::stride(self.dimension);
        &self.codes[place * stride..][..stride]
    }
}

/// The rows of one vector field in one segment.
pub(super) struct Rows {
    pool: Pool,
    len: usize,
    /// For each row its document, ascending; none when a document's row is its id.
    docs: Option<List>,
    places: Places<List>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The document a row belongs to.
    pub(super) fn doc(&self, row: usize) -> DocId {
        match &self.docs {
            Some(docs) => docs.at(row),
            None => row as DocId,
        }
    }

    /// The row of a document, if it has one.
    pub(super) fn row(&self, doc: DocId) -> Option<usize> {
        match &self.docs {
            Some(docs) => {
                docs.slice().binary_search_by_key(&doc, |id| u32::from_le_bytes(*id)).ok()
            }
            None => Some(doc as usize),
        }
    }

    fn place(&self, row: usize) -> usize {
        match &self.places {
            Places::From(first) => first + row,
            Places::Listed(places) => places.at(row) as usize,
        }
    }

    /// The little-endian components of a row.
    pub(super) fn row_bytes(&self, row: usize) -> &[u8] {
        self.pool.floats(self.place(row))
    }

    /// The row in eight bits.
    pub(super) fn code(&self, row: usize) -> &[u8] {
        self.pool.code(self.place(row))
    }

    /// The components of a row.
    pub(super) fn vector(&self, row: usize) -> Vec<f32> {
        let (components, _) = self.row_bytes(row).as_chunks::<FLOAT>();
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
        .ok_or_else(|| corrupt("the vector file of a segment is not what was written"))
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
    let pool = Pool { floats, codes, dimension };
    let list = |at: usize, len: usize| Some(List(part(at, len.checked_mul(4)?)?));
    let mut fields = BTreeMap::new();
    for Entry { name, rows, docs, places } in directory.fields {
        let docs = match docs {
            None => (rows == max_doc as usize).then_some(None)?,
            Some(at) => {
                let docs = list(at, rows)?;
                let sound = docs.iter().is_sorted() && docs.iter().all(|doc| doc < max_doc);
                Some(sound.then_some(docs)?)
            }
        };
        let places = match places {
            Places::From(first) => {
                (first.checked_add(rows)? <= all).then_some(Places::From(first))?
            }
            Places::Listed(at) => {
                let places = list(at, rows)?;
                let sound = places.iter().all(|place| (place as usize) < all);
                sound.then_some(Places::Listed(places))?
            }
        };
        fields.insert(name, Rows { pool: pool.clone(), len: rows, docs, places });
    }
    Some(fields)
}

/// Writes and merges the vectors of segments.
pub(super) struct Vectors {
    /// The schema's custom field.
    pub(super) field: Field,
    pub(super) dimension: usize,
}

impl SegmentPlugin for Vectors {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(Collected {
            field: self.field,
            stride: self.dimension * FLOAT,
            docs: 0,
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
        // Unsorted segments are stacked: their living documents follow each other in order.
        let sources = context
            .readers
            .iter()
            .map(|reader| Ok((reader, open(reader, self.dimension)?)))
            .collect::<tantivy::Result<Vec<_>>>()?;
        let mut names: Vec<&String> =
            sources.iter().flat_map(|(_, fields)| fields.keys()).collect();
        names.sort();
        names.dedup();

        let mut plan = Plan::default();
        let mut max_doc = 0;
        for name in names {
            plan.fields.push(Planned { name: name.clone(), ..Planned::default() });
            max_doc = 0;
            for (source, (reader, fields)) in sources.iter().enumerate() {
                if let Some(rows) = fields.get(name) {
                    for (new, old) in reader.doc_ids_alive().enumerate() {
                        if let Some(row) = rows.row(old) {
                            plan.add(max_doc + new as DocId, source, rows.place(row));
                        }
                    }
                }
                max_doc += reader.num_docs();
            }
        }
        let pools: Vec<Option<&Pool>> = sources
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
            |(source, place), file| Ok(file.write(pool(source)?.floats(place as usize))?),
            |(source, place), file| Ok(file.write(pool(source)?.code(place as usize))?),
        )
    }
}

/// The vectors of a segment that is being written.
struct Collected {
    field: Field,
    stride: usize,
    docs: DocId,
    /// In document order, those that a document has several times once.
    rows: Vec<u8>,
    /// For each field its documents and their rows.
    fields: BTreeMap<String, Vec<(DocId, usize)>>,
}

impl PluginWriter for Collected {
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
        let first = self.rows.len() / self.stride;
        while !rest.is_empty() {
            let (name, vector, after) = decode(rest, self.stride)
                .ok_or_else(|| corrupt("a document's vectors are not what was encoded"))?;
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
                rows.push((doc_id, row));
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
            plan.fields.push(Planned { name: name.clone(), ..Planned::default() });
            for (doc, row) in rows {
                plan.add(*doc, 0, *row);
            }
        }
        let row = |row: u32| &self.rows[row as usize * self.stride..][..self.stride];
        let mut code = Vec::new();
        plan.write(
            segment,
            self.docs,
            self.stride / FLOAT,
            |(_, place), file| Ok(file.write(row(place))?),
            |(_, place), file| {
                code.clear();
                codes::encode(row(place), &mut code);
                Ok(file.write(&code)?)
            },
        )
    }

    fn mem_usage(&self) -> usize {
        let listed: usize = self.fields.values().map(Vec::capacity).sum();
        self.rows.capacity() + listed * size_of::<(DocId, usize)>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// The first field of encoded vectors, and what follows it.
fn decode(bytes: &[u8], stride: usize) -> Option<(&str, &[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(length.into())?;
    let (vector, rest) = rest.split_at_checked(stride)?;
    Some((str::from_utf8(name).ok()?, vector, rest))
}

/// A row that is to be written: which of several sources has it, and where.
type Origin = (u32, u32);

/// Which rows go into a file, in which order.
#[derive(Default)]
struct Plan {
    order: Vec<Origin>,
    /// For each source, where its rows go; `u32::MAX` while that is nowhere.
    known: Vec<Vec<u32>>,
    fields: Vec<Planned>,
}

#[derive(Default)]
struct Planned {
    name: String,
    docs: Vec<DocId>,
    places: Vec<u32>,
}

impl Plan {
    /// Adds a row to the last field.
    fn add(&mut self, doc: DocId, source: usize, row: usize) {
        if self.known.len() <= source {
            self.known.resize(source + 1, Vec::new());
        }
        let known = &mut self.known[source];
        if known.len() <= row {
            known.resize(row + 1, u32::MAX);
        }
        if known[row] == u32::MAX {
            known[row] = self.order.len() as u32;
            self.order.push((source as u32, row as u32));
        }
        if let Some(field) = self.fields.last_mut() {
            field.docs.push(doc);
            field.places.push(known[row]);
        }
    }

    /// Writes the file of a segment of `max_doc` documents.
    fn write(
        self,
        segment: &Segment,
        max_doc: DocId,
        dimension: usize,
        mut floats: impl FnMut(Origin, &mut VectorFile) -> tantivy::Result<()>,
        mut code: impl FnMut(Origin, &mut VectorFile) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let mut file = VectorFile::create(segment)?;
        for origin in &self.order {
            floats(*origin, &mut file)?;
        }
        for origin in &self.order {
            code(*origin, &mut file)?;
        }
        let mut fields = Vec::new();
        for Planned { name, docs, places } in self.fields {
            let rows = docs.len();
            let first = places.first().map_or(0, |first| *first as usize);
            let listed = places.iter().zip(first..).any(|(place, next)| *place as usize != next);
            let docs = (rows != max_doc as usize).then(|| file.list(&docs)).transpose()?;
            let places = match listed {
                true => Places::Listed(file.list(&places)?),
                false => Places::From(first),
            };
            fields.push(Entry { name, rows, docs, places });
        }
        file.finish(&Directory { dimension, rows: self.order.len(), fields })
    }
}

/// A vector file on its way to the disk.
struct VectorFile {
    out: tantivy::directory::WritePtr,
    written: usize,
}

impl VectorFile {
    fn create(segment: &Segment) -> tantivy::Result<Self> {
        let out = segment.clone().open_write(SegmentComponent::Custom(EXTENSION.into()))?;
        Ok(Self { out, written: 0 })
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
        self.out.terminate()?;
        Ok(())
    }
}

pub(super) fn corrupt(message: &str) -> TantivyError {
    TantivyError::DataCorruption(tantivy::error::DataCorruption::comment_only(message))
}
