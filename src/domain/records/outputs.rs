//! Reads and stores the outputs of analyzers, in pages.

use std::ops::Range;

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};

use crate::analysis::video::{Output, Outputs};
use crate::kernel::error::Result;
use crate::kernel::video::{ChunkId, VideoId};
use crate::records::MAX_CONCURRENT_READS;
use crate::records::Records;
use crate::records::output_pages::{OutputPages, PAGE_CHUNKS};
use crate::records::record::{AnalyzerEntry, VideoRecord};

/// One analyzer's stored output for one chunk.
pub(crate) type OutputDocument = Map<String, Value>;

/// A stored page of one analyzer's outputs: one output or null per chunk.
pub(crate) type OutputDocuments = Vec<Option<OutputDocument>>;

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
