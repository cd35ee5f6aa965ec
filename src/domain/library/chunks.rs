//! Reads stored analyzer output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::library::Library;
use crate::library::rendered::{self, RenderedPage};
use crate::records::MAX_CONCURRENT_READS;
use crate::records::output_pages::OutputPages;
use crate::records::outputs::OutputDocuments;
use crate::records::record::{AnalyzerEntry, VideoRecord};

/// Which chunks to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChunkQuery {
    /// Only output from this analyzer.
    pub analyzer: Option<String>,
    /// Only chunks that end after this time, in seconds from the start of the video.
    pub after: Option<f64>,
    /// Only chunks that start before this time, in seconds from the start of the video.
    pub before: Option<f64>,
    /// Only chunks with these ids, given as comma-separated integers.
    pub chunk_ids: Option<String>,
    /// Page size, 1..=500.
    pub limit: u32,
    /// Number of chunks to skip.
    pub offset: u32,
    /// Whether to include internal keys.
    pub verbose: bool,
}

/// One chunk with its analyzers' output.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkView {
    /// The chunk's id within the video.
    pub chunk_id: ChunkId,
    /// The chunk's span, with times in seconds from the start of the video.
    pub span: Span,
    /// Outputs by analyzer id, each as the text of a JSON object. Analyzers without output for the
    /// chunk are omitted.
    pub outputs: BTreeMap<String, Arc<str>>,
}

/// A page of chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkPage {
    /// The id of the video.
    pub video_id: VideoId,
    /// Ids of the analyzers with output for the video.
    pub analyzers: Vec<String>,
    /// Number of matching chunks on all pages.
    pub total: u32,
    /// Number of chunks skipped.
    pub offset: u32,
    /// Page size.
    pub limit: u32,
    /// The chunks of this page.
    pub chunks: Vec<ChunkView>,
}

impl Library {
    /// Reads stored analyzer output, filtered and paged.
    pub async fn chunks(&self, video_id: VideoId, query: ChunkQuery) -> Result<ChunkPage> {
        let chunk_ids = query.chunk_ids.as_deref().map(parse_ids).transpose()?;
        let (query, chunk_ids) = (&query, chunk_ids.as_ref());
        let read = |record| async move { self.read_chunks(&record, query, chunk_ids).await };
        self.records.read_published(video_id, read).await
    }

    async fn read_chunks(
        &self,
        record: &VideoRecord,
        query: &ChunkQuery,
        chunk_ids: Option<&BTreeSet<ChunkId>>,
    ) -> Result<ChunkPage> {
        let analyzers = match &query.analyzer {
            Some(analyzer) => vec![analyzer.clone()],
            None => record.analyzer_ids(),
        };
        let entries = entries(record, &analyzers)?;
        let matching: Vec<(ChunkId, Span)> = (0..)
            .map(ChunkId)
            .zip(self.records.spans(record).await?)
            .filter(|(id, span)| {
                chunk_ids.is_none_or(|ids| ids.contains(id))
                    && query.after.is_none_or(|after| span.end > after)
                    && query.before.is_none_or(|before| span.start < before)
            })
            .collect();
        let total = matching.len() as u32;
        let page = matching.into_iter().skip(query.offset as usize).take(query.limit as usize);
        let chunks = self.chunk_views(page.collect(), &entries, query.verbose).await?;
        Ok(ChunkPage {
            video_id: record.video_id,
            analyzers: record.analyzer_ids(),
            total,
            offset: query.offset,
            limit: query.limit,
            chunks,
        })
    }

    /// Reads one chunk with the outputs of all analyzers.
    pub async fn chunk(
        &self,
        video_id: VideoId,
        chunk_id: ChunkId,
        verbose: bool,
    ) -> Result<ChunkView> {
        let read = |record| async move { self.read_chunk(&record, chunk_id, verbose).await };
        self.records.read_published(video_id, read).await
    }

    async fn read_chunk(
        &self,
        record: &VideoRecord,
        chunk_id: ChunkId,
        verbose: bool,
    ) -> Result<ChunkView> {
        let spans = self.records.spans(record).await?;
        let span = spans.get(chunk_id.index()).ok_or_else(|| {
            Error::NotFound(format!(
                "video '{}' has no chunk {chunk_id}; it has chunks 0 to {}",
                record.video_id,
                spans.len().saturating_sub(1)
            ))
        })?;
        let analyzers = record.analyzer_ids();
        let entries = entries(record, &analyzers)?;
        let views = self.chunk_views(vec![(chunk_id, *span)], &entries, verbose).await?;
        views.into_iter().next().ok_or_else(|| Error::corrupt("a chunk is gone"))
    }

    /// Reads chunks with their stored outputs. Loads only the pages that contain the chunks.
    pub(crate) async fn chunk_views(
        &self,
        chunks: Vec<(ChunkId, Span)>,
        entries: &[(&String, &AnalyzerEntry)],
        verbose: bool,
    ) -> Result<Vec<ChunkView>> {
        let needed: BTreeSet<(usize, u32)> = (0..entries.len())
            .flat_map(|entry| chunks.iter().map(move |(chunk_id, _)| (entry, *chunk_id)))
            .map(|(entry, chunk_id)| (entry, entries[entry].1.pages.locate(chunk_id).0))
            .collect();
        let reads = stream::iter(needed).map(|(entry, page)| async move {
            let rendered = self.rendered_page(&entries[entry].1.pages, page, verbose).await?;
            Ok::<_, Error>(((entry, page), rendered))
        });
        let pages: BTreeMap<(usize, u32), RenderedPage> =
            reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        let output = |entry: usize, chunk_id: ChunkId| {
            let (page, place) = entries[entry].1.pages.locate(chunk_id);
            let text = pages.get(&(entry, page))?.get(place)?.clone()?;
            Some((entries[entry].0.clone(), text))
        };
        let view = |(chunk_id, span)| {
            let outputs = (0..entries.len()).filter_map(|entry| output(entry, chunk_id)).collect();
            ChunkView { chunk_id, span, outputs }
        };
        Ok(chunks.into_iter().map(view).collect())
    }

    /// Returns a rendered page of an analyzer's outputs, with or without internal keys. Stored
    /// pages are immutable, so cached renderings stay valid.
    async fn rendered_page(
        &self,
        pages: &OutputPages,
        page: u32,
        verbose: bool,
    ) -> Result<RenderedPage> {
        let key = pages.key(page);
        let name = format!("{key} {verbose}");
        if let Some(page) = self.page_cache.get(&name) {
            return Ok(page);
        }
        let documents: OutputDocuments = self.records.document(&key).await?;
        let rendered =
            tokio::task::spawn_blocking(move || rendered::render(documents, verbose)).await;
        let rendered = rendered
            .map_err(|e| Error::corrupt(format!("rendering {key} ended abnormally: {e}")))?;
        self.page_cache.insert(&name, rendered.clone(), rendered::size(&rendered));
        Ok(rendered)
    }
}

/// Finds the given analyzers' entries in a record. If one of the analyzers has no output for the
/// video, returns `Invalid` with a list of the analyzers that have output.
pub(crate) fn entries<'r>(
    record: &'r VideoRecord,
    analyzers: &'r [String],
) -> Result<Vec<(&'r String, &'r AnalyzerEntry)>> {
    let entry = |analyzer: &'r String| {
        let entry = record.analyzers.get(analyzer).filter(|entry| entry.found > 0);
        entry.map(|entry| (analyzer, entry)).ok_or_else(|| {
            Error::Invalid(format!(
                "video '{}' has no output from analyzer '{analyzer}'; it has: {}",
                record.video_id,
                comma_separated(&record.analyzer_ids())
            ))
        })
    };
    analyzers.iter().map(entry).collect()
}

/// Parses comma-separated integers. Drops integers outside the range of chunk ids, since no chunk
/// can match them.
fn parse_ids(ids: &str) -> Result<BTreeSet<ChunkId>> {
    let integer = |id: &str| {
        let digits = id.strip_prefix(['-', '+']).unwrap_or(id);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    if !ids.split(',').all(|id| integer(id.trim())) {
        return Err(Error::Invalid(format!(
            "chunk_ids is '{ids}'; it must be comma-separated integers such as 2,4,7"
        )));
    }
    Ok(ids.split(',').filter_map(|id| id.trim().parse().ok()).map(ChunkId).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_ids_are_comma_separated_integers() {
        assert_eq!(parse_ids("7, 2,4").expect("ids"), BTreeSet::from([2, 4, 7].map(ChunkId)));
        for bad in ["", "2,,4", "a", "1.5", "-", "--1", "1-", "2;3"] {
            assert!(matches!(parse_ids(bad), Err(Error::Invalid(_))), "{bad}");
        }
    }

    #[test]
    fn impossible_chunk_ids_match_nothing() {
        assert!(parse_ids("-1").expect("an integer").is_empty());
        let ids = parse_ids("-1,3,99999999999999999999").expect("integers");
        assert_eq!(ids, BTreeSet::from([ChunkId(3)]));
    }
}
