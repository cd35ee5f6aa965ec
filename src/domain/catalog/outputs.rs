//! Storage of analyzer outputs in pages of [`PAGE_CHUNKS`] chunks, so that a request for a few
//! chunks of a long video parses little more than those chunks.

use std::ops::Range;

use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::analysis::video::{Output, Outputs};
use crate::catalog::MAX_CONCURRENT_READS;
use crate::catalog::record::{AnalyzerEntry, VideoRecord};
use crate::catalog::records::Records;
use crate::kernel::error::Result;
use crate::kernel::video::{ChunkId, VideoId};

/// Number of chunks per stored page, and the default page size of chunk listings.
pub const PAGE_CHUNKS: u32 = 50;

/// One analyzer's stored output for one chunk.
pub(crate) type OutputDocument = Map<String, Value>;

/// A stored page of one analyzer's outputs: one output or null per chunk.
pub(crate) type OutputDocuments = Vec<Option<OutputDocument>>;

/// Location of one analyzer's stored outputs for a video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputPages {
    /// Key prefix of the pages. If `page_chunks` is 0, as in records up to version 2, this is the
    /// key of the single document that holds all outputs.
    document: String,
    /// Number of chunks per page; 0 if the outputs are not paged.
    #[serde(default)]
    page_chunks: u32,
}

impl OutputPages {
    /// Creates a location with a random key for new pages.
    pub fn new(video_id: VideoId, analyzer: &str) -> Self {
        let random = uuid::Uuid::new_v4().simple();
        Self {
            document: format!("videos/{video_id}/{analyzer}-{random}"),
            page_chunks: PAGE_CHUNKS,
        }
    }

    /// Returns the number of the page that contains a chunk, and the chunk's index in that page.
    pub(super) fn locate(&self, chunk: ChunkId) -> (u32, usize) {
        match self.page_chunks {
            0 => (0, chunk.index()),
            per_page => (chunk.0 / per_page, (chunk.0 % per_page) as usize),
        }
    }

    /// Returns the key of a page.
    pub(super) fn key(&self, page: u32) -> String {
        match self.page_chunks {
            0 => self.document.clone(),
            _ => format!("{}-{page}.json", self.document),
        }
    }

    /// Returns the keys of all pages for a video with `chunks` chunks.
    pub fn keys(&self, chunks: u32) -> impl Iterator<Item = String> {
        let pages = if self.page_chunks == 0 { 1 } else { chunks.div_ceil(self.page_chunks) };
        (0..pages).map(|page| self.key(page))
    }
}

impl Records {
    /// Reads all stored outputs of one analyzer. The result is empty if the analyzer has not run.
    pub(crate) async fn outputs(&self, record: &VideoRecord, analyzer: &str) -> Result<Outputs> {
        self.outputs_in(record, analyzer, 0..record.chunks).await
    }

    /// Reads one analyzer's stored outputs for a range of chunks, loading only the pages that
    /// contain these chunks. The result is empty if the analyzer has not run.
    pub(crate) async fn outputs_in(
        &self,
        record: &VideoRecord,
        analyzer: &str,
        chunks: Range<u32>,
    ) -> Result<Outputs> {
        let Some(entry) = record.analyzers.get(analyzer) else { return Ok(Vec::new()) };
        self.paged_outputs(&entry.pages, analyzer, chunks).await
    }

    /// Reads one analyzer's stored outputs as they were before corrections. The result is empty if
    /// the analyzer has not run.
    pub(crate) async fn original_outputs(
        &self,
        record: &VideoRecord,
        analyzer: &str,
    ) -> Result<Outputs> {
        let Some(entry) = record.analyzers.get(analyzer) else { return Ok(Vec::new()) };
        let AnalyzerEntry { pages, uncorrected, .. } = entry;
        let pages = uncorrected.as_ref().unwrap_or(pages);
        self.paged_outputs(pages, analyzer, 0..record.chunks).await
    }

    async fn paged_outputs(
        &self,
        pages: &OutputPages,
        analyzer: &str,
        chunks: Range<u32>,
    ) -> Result<Outputs> {
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        let (first, skipped) = pages.locate(ChunkId(chunks.start));
        let (last, _) = pages.locate(ChunkId(chunks.end - 1));
        let read = async |page| self.document::<OutputDocuments>(&pages.key(page)).await;
        let documents = stream::iter(first..=last).map(read).buffered(MAX_CONCURRENT_READS);
        let documents: Vec<OutputDocuments> = documents.try_collect().await?;
        let read = |document| self.analyzers.read(analyzer, Value::Object(document));
        let documents = documents.into_iter().flatten().skip(skipped).take(chunks.len());
        documents.map(|document| document.map(read).transpose()).collect()
    }

    /// Stores one analyzer's outputs. They are garbage until a record that references their pages
    /// is published.
    pub(crate) async fn store_outputs(
        &self,
        video_id: VideoId,
        analyzer: &str,
        outputs: &Outputs,
    ) -> Result<OutputPages> {
        let pages = OutputPages::new(video_id, analyzer);
        let json = |output: &Option<Output>| output.as_ref().map(|output| output.to_json());
        let page = |outputs: &[Option<Output>]| outputs.iter().map(json).collect();
        let documents: Vec<OutputDocuments> =
            outputs.chunks(PAGE_CHUNKS as usize).map(page).collect();
        let keyed: Vec<_> = (0..).map(|page| pages.key(page)).zip(documents).collect();
        let put = async |(key, documents): (String, OutputDocuments)| {
            self.put_document(&key, &documents).await
        };
        stream::iter(keyed)
            .map(put)
            .buffer_unordered(MAX_CONCURRENT_READS)
            .try_collect::<()>()
            .await?;
        Ok(pages)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pages_cover_every_chunk_in_order() {
        let pages = OutputPages::new(VideoId::from_digest([0; 20]), "ocr");
        for chunks in [0, 1, PAGE_CHUNKS, PAGE_CHUNKS + 1, 2000] {
            let keys: Vec<String> = pages.keys(chunks).collect();
            let mut filled = vec![0; keys.len()];
            for chunk in (0..chunks).map(ChunkId) {
                let (page, index) = pages.locate(chunk);
                assert_eq!(keys[page as usize], pages.key(page));
                assert_eq!(index, filled[page as usize], "in order");
                filled[page as usize] += 1;
            }
            assert!(filled.iter().all(|count| (1..=PAGE_CHUNKS as usize).contains(count)));
        }
    }

    #[test]
    fn unpaged_outputs_of_earlier_versions_are_one_page() {
        let pages: OutputPages =
            serde_json::from_value(json!({"document": "videos/v/ocr-1.json"})).expect("pages");
        assert_eq!(pages.keys(2000).collect::<Vec<_>>(), ["videos/v/ocr-1.json"]);
        assert_eq!(pages.locate(ChunkId(1999)), (0, 1999));
    }
}
