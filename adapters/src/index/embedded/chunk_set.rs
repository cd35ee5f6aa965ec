//! A tantivy query for the documents of many chunks. It compares the ids of all documents of a segment
//! with the list, because a term query for each chunk would read the long list of the documents that
//! have the chunk's number in any video.

use std::ops::Range;
use std::sync::Arc;

use ports::{ChunkId, VideoId};
use tantivy::columnar::StrColumn;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{BitSet, DocId, DocSet, Score, SegmentReader, TantivyError};

/// The chunks, sorted.
type Chunks = Arc<[(VideoId, ChunkId)]>;

/// Matches the documents of chunks in a sorted list, each with the score 1.
#[derive(Debug, Clone)]
pub(super) struct ChunkSetQuery(Chunks);

impl ChunkSetQuery {
    pub(super) fn new(chunks: Chunks) -> Self {
        Self(chunks)
    }
}

impl Query for ChunkSetQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(ChunkSetWeight(self.0.clone())))
    }
}

struct ChunkSetWeight(Chunks);

impl Weight for ChunkSetWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let docs = matching_docs(&self.0, reader)?;
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(docs), boost)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        match self.scorer(reader, 1.0)?.seek(doc) == doc {
            true => Ok(Explanation::new("ChunkSetQuery", 1.0)),
            false => Err(TantivyError::InvalidArgument(format!("document {doc} does not match"))),
        }
    }
}

/// Finds the documents of a segment that belong to the chunks.
fn matching_docs(chunks: &Chunks, reader: &SegmentReader) -> tantivy::Result<BitSet> {
    let mut docs = BitSet::with_max_value(reader.max_doc());
    let columns = reader.fast_fields();
    let Some(videos) = columns.str("video_id")? else { return Ok(docs) };
    let numbers = columns.i64("chunk_id")?;
    let listed = listed_chunks(chunks, &videos)?;
    for doc in 0..reader.max_doc() {
        let Some(video) = videos.ords().first(doc) else { continue };
        let of_video = &chunks[listed[video as usize].clone()];
        let has = |number: i64| of_video.binary_search_by_key(&number, |(_, id)| (*id).into());
        if !of_video.is_empty() && numbers.first(doc).is_some_and(|number| has(number).is_ok()) {
            docs.insert(doc);
        }
    }
    Ok(docs)
}

/// Returns, for each video ordinal of a segment, where its chunks are in the list. Both the list and
/// the dictionary of the column are sorted by video.
fn listed_chunks(chunks: &Chunks, videos: &StrColumn) -> tantivy::Result<Vec<Range<usize>>> {
    let mut listed = Vec::with_capacity(videos.num_terms());
    let mut terms = videos.dictionary().stream()?;
    let mut from = 0;
    while terms.advance() {
        let video = terms.key();
        from += chunks[from..].partition_point(|(id, _)| id.as_str().as_bytes() < video);
        let count = chunks[from..].partition_point(|(id, _)| id.as_str().as_bytes() == video);
        listed.push(from..from + count);
        from += count;
    }
    Ok(listed)
}
