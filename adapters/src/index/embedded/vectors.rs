//! The vectors of a segment: a tantivy segment component of our own, so that vectors are written,
//! merged, published and removed together with the documents they belong to.
//!
//! The file: for each vector field its rows one after another in document order (little-endian
//! `f32`), then, when some documents lack the field, the ids of those that have it (`u32`); then a
//! directory of the fields as JSON and its length (`u64`).

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

/// Where one field's rows are in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: String,
    /// Offset of the first row.
    at: usize,
    rows: usize,
    /// Every document has the field: a document's row is its id.
    dense: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Directory {
    dimension: usize,
    fields: Vec<Entry>,
}

/// The rows of one vector field in one segment.
pub(super) struct Rows {
    /// Mapped from the file; the pages come and go as the system sees fit.
    pub(super) bytes: OwnedBytes,
    /// For each row its document, ascending; none when a document's row is its id.
    docs: Option<Vec<DocId>>,
    stride: usize,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.stride
    }

    /// The document a row belongs to.
    pub(super) fn doc(&self, row: usize) -> DocId {
        match &self.docs {
            Some(docs) => docs[row],
            None => row as DocId,
        }
    }

    /// The row of a document, if it has one.
    pub(super) fn row(&self, doc: DocId) -> Option<usize> {
        match &self.docs {
            Some(docs) => docs.binary_search(&doc).ok(),
            None => Some(doc as usize),
        }
    }

    /// The little-endian components of a row.
    pub(super) fn row_bytes(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.stride..][..self.stride]
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
    let start = rest.len().checked_sub(length)?;
    let directory: Directory = serde_json::from_slice(&rest[start..]).ok()?;
    if directory.dimension != dimension {
        return None;
    }
    let stride = dimension * FLOAT;
    let mut fields = BTreeMap::new();
    for Entry { name, at, rows, dense } in directory.fields {
        let end = at.checked_add(rows.checked_mul(stride)?)?;
        let docs = if dense {
            (rows == max_doc as usize).then_some(None)?
        } else {
            let ids = rest.get(end..end.checked_add(rows.checked_mul(4)?)?)?;
            let docs: Vec<DocId> =
                ids.as_chunks::<4>().0.iter().map(|&id| DocId::from_le_bytes(id)).collect();
            let sound = docs.is_sorted() && docs.last().is_none_or(|last| *last < max_doc);
            Some(sound.then_some(docs)?)
        };
        rest.get(at..end)?;
        fields.insert(name, Rows { bytes: bytes.slice(at..end), docs, stride });
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

        let mut file = VectorFile::create(context.target_segment, self.dimension)?;
        for name in names {
            let mut docs = Vec::new();
            let at = file.written;
            let mut first_doc = 0;
            for (reader, fields) in &sources {
                if let Some(rows) = fields.get(name) {
                    for (new, old) in reader.doc_ids_alive().enumerate() {
                        if let Some(row) = rows.row(old) {
                            file.write(rows.row_bytes(row))?;
                            docs.push(first_doc + new as DocId);
                        }
                    }
                }
                first_doc += reader.num_docs();
            }
            file.end_field(name, at, &docs, first_doc)?;
        }
        file.finish()
    }
}

/// The vectors of a segment that is being written.
struct Collected {
    field: Field,
    stride: usize,
    docs: DocId,
    fields: BTreeMap<String, (Vec<u8>, Vec<DocId>)>,
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
        while !rest.is_empty() {
            let (name, vector, after) = decode(rest, self.stride)
                .ok_or_else(|| corrupt("a document's vectors are not what was encoded"))?;
            if !self.fields.contains_key(name) {
                self.fields.insert(name.to_owned(), Default::default());
            }
            if let Some((rows, docs)) = self.fields.get_mut(name) {
                rows.extend_from_slice(vector);
                docs.push(doc_id);
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
        let mut file = VectorFile::create(segment, self.stride / FLOAT)?;
        for (name, (rows, docs)) in &self.fields {
            let at = file.written;
            file.write(rows)?;
            file.end_field(name, at, docs, self.docs)?;
        }
        file.finish()
    }

    fn mem_usage(&self) -> usize {
        let held = |(rows, docs): &(Vec<u8>, Vec<DocId>)| rows.capacity() + docs.capacity() * 4;
        self.fields.values().map(held).sum()
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

/// A vector file on its way to the disk.
struct VectorFile {
    out: tantivy::directory::WritePtr,
    written: usize,
    directory: Directory,
}

impl VectorFile {
    fn create(segment: &Segment, dimension: usize) -> tantivy::Result<Self> {
        let out = segment.clone().open_write(SegmentComponent::Custom(EXTENSION.into()))?;
        Ok(Self { out, written: 0, directory: Directory { dimension, fields: Vec::new() } })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len();
        self.out.write_all(bytes)
    }

    /// Ends the field whose rows began at `at`; `docs` of the segment's `max_doc` have it.
    fn end_field(
        &mut self,
        name: &str,
        at: usize,
        docs: &[DocId],
        max_doc: DocId,
    ) -> io::Result<()> {
        let dense = docs.len() == max_doc as usize;
        if !dense {
            for doc in docs {
                self.write(&doc.to_le_bytes())?;
            }
        }
        self.directory.fields.push(Entry { name: name.to_owned(), at, rows: docs.len(), dense });
        Ok(())
    }

    fn finish(mut self) -> tantivy::Result<()> {
        let directory = serde_json::to_vec(&self.directory).map_err(io::Error::from)?;
        self.write(&directory)?;
        self.write(&(directory.len() as u64).to_le_bytes())?;
        self.out.terminate()?;
        Ok(())
    }
}

fn corrupt(message: &str) -> TantivyError {
    TantivyError::DataCorruption(tantivy::error::DataCorruption::comment_only(message))
}
