//! Analyzers' outputs as they are stored: in pages of so many chunks, so that whoever reads a few
//! chunks of a long video parses little more than these.

use std::ops::Range;

use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::analysis::video::{Output, Outputs};
use crate::domain::catalog::record::{AnalyzerEntry, VideoRecord};
use crate::domain::catalog::shown::{self, ShownPage};
use crate::domain::catalog::{Catalog, PARALLEL};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::{ChunkId, VideoId};

/// Chunks per page. A listing shows so many unless it is told otherwise.
pub const PAGE_CHUNKS: u32 = 50;

/// One analyzer's output on one chunk, as it is stored.
pub(crate) type OutputDocument = Map<String, Value>;

/// A page of one analyzer's outputs as it is stored: one output or null per chunk.
pub(crate) type OutputDocuments = Vec<Option<OutputDocument>>;

/// Where one analyzer's outputs on a video are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputPages {
    /// What the keys of the pages begin with; where there are none, the key of the one document that
    /// holds all outputs, as up to version 2.
    document: String,
    /// Chunks per page; 0 where there are none.
    #[serde(default)]
    page_chunks: u32,
}

impl OutputPages {
    /// Pages that a record does not name yet.
    pub fn new(video_id: VideoId, analyzer: &str) -> Self {
        let random = uuid::Uuid::new_v4().simple();
        Self {
            document: format!("videos/{video_id}/{analyzer}-{random}"),
            page_chunks: PAGE_CHUNKS,
        }
    }

    /// The number of the page that a chunk is on, and the chunk's place there.
    pub(super) fn place(&self, chunk: ChunkId) -> (u32, usize) {
        match self.page_chunks {
            0 => (0, chunk.index()),
            per_page => (chunk.0 / per_page, (chunk.0 % per_page) as usize),
        }
    }

    /// The key of a page.
    pub(super) fn key(&self, page: u32) -> String {
        match self.page_chunks {
            0 => self.document.clone(),
            _ => format!("{}-{page}.json", self.document),
        }
    }

    /// The keys of the pages of a video of so many chunks.
    pub fn keys(&self, chunks: u32) -> impl Iterator<Item = String> {
        let pages = if self.page_chunks == 0 { 1 } else { chunks.div_ceil(self.page_chunks) };
        (0..pages).map(|page| self.key(page))
    }
}

impl Catalog {
    /// One analyzer's stored outputs; none where it has not run.
    pub(crate) async fn outputs(&self, record: &VideoRecord, analyzer: &str) -> Result<Outputs> {
        self.outputs_of(record, analyzer, 0..record.chunks).await
    }

    /// One analyzer's stored outputs on some neighbouring chunks; none where it has not run. No other
    /// pages are read than those that they are on.
    pub(crate) async fn outputs_of(
        &self,
        record: &VideoRecord,
        analyzer: &str,
        chunks: Range<u32>,
    ) -> Result<Outputs> {
        let Some(entry) = record.analyzers.get(analyzer) else { return Ok(Vec::new()) };
        self.paged_outputs(&entry.pages, analyzer, chunks).await
    }

    /// One analyzer's stored outputs as the models have made them; none where it has not run.
    pub(crate) async fn uncorrected(
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
        let (first, skipped) = pages.place(ChunkId(chunks.start));
        let (last, _) = pages.place(ChunkId(chunks.end - 1));
        let read = async |page| self.document::<OutputDocuments>(&pages.key(page)).await;
        let documents = stream::iter(first..=last).map(read).buffered(PARALLEL);
        let documents: Vec<OutputDocuments> = documents.try_collect().await?;
        let read = |document| self.analyzers.read(analyzer, Value::Object(document));
        let documents = documents.into_iter().flatten().skip(skipped).take(chunks.len());
        documents.map(|document| document.map(read).transpose()).collect()
    }

    /// A page of an analyzer's outputs as it is shown, with internal keys or without. Stored pages never
    /// change, so one that is kept is never out of date.
    pub(super) async fn shown_page(
        &self,
        pages: &OutputPages,
        page: u32,
        verbose: bool,
    ) -> Result<ShownPage> {
        let key = pages.key(page);
        let name = format!("{key} {verbose}");
        if let Some(page) = self.shown.get(&name) {
            return Ok(page);
        }
        let documents: OutputDocuments = self.document(&key).await?;
        let shown = tokio::task::spawn_blocking(move || shown::show(documents, verbose)).await;
        let shown =
            shown.map_err(|e| Error::corrupt(format!("showing {key} ended abnormally: {e}")))?;
        self.shown.keep(&name, shown.clone(), shown::size(&shown));
        Ok(shown)
    }

    /// Stores one analyzer's outputs. They are garbage until a record that names their pages is
    /// published.
    pub(crate) async fn store_outputs(
        &self,
        video_id: VideoId,
        analyzer: &str,
        outputs: &Outputs,
    ) -> Result<OutputPages> {
        let pages = OutputPages::new(video_id, analyzer);
        let json = |output: &Option<Output>| output.as_ref().map(|output| output.to_json());
        let page = |of_page: &[Option<Output>]| of_page.iter().map(json).collect();
        let documents: Vec<OutputDocuments> =
            outputs.chunks(PAGE_CHUNKS as usize).map(page).collect();
        let keyed: Vec<_> = (0..).map(|page| pages.key(page)).zip(documents).collect();
        let put = async |(key, documents): (String, OutputDocuments)| {
            self.put_document(&key, &documents).await
        };
        stream::iter(keyed).map(put).buffer_unordered(PARALLEL).try_collect::<()>().await?;
        Ok(pages)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_chunk_is_on_a_page_that_is_named() {
        let pages = OutputPages::new(VideoId::from_digest([0; 20]), "ocr");
        for chunks in [0, 1, PAGE_CHUNKS, PAGE_CHUNKS + 1, 2000] {
            let keys: Vec<String> = pages.keys(chunks).collect();
            let mut filled = vec![0; keys.len()];
            for chunk in (0..chunks).map(ChunkId) {
                let (page, place) = pages.place(chunk);
                assert_eq!(keys[page as usize], pages.key(page));
                assert_eq!(place, filled[page as usize], "in order");
                filled[page as usize] += 1;
            }
            assert!(filled.iter().all(|count| (1..=PAGE_CHUNKS as usize).contains(count)));
        }
    }

    #[test]
    fn what_earlier_versions_wrote_is_one_page() {
        let pages: OutputPages =
            serde_json::from_value(json!({"document": "videos/v/ocr-1.json"})).expect("pages");
        assert_eq!(pages.keys(2000).collect::<Vec<_>>(), ["videos/v/ocr-1.json"]);
        assert_eq!(pages.place(ChunkId(1999)), (0, 1999));
    }
}
