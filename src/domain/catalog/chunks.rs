//! Reading stored analyzer output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use crate::domain::catalog::record::{AnalyzerEntry, VideoRecord};
use crate::domain::catalog::shown::ShownPage;
use crate::domain::catalog::{Catalog, PARALLEL};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{ChunkId, VideoId};

/// Which chunks to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChunkQuery {
    /// Restrict to one analyzer's output.
    pub analyzer: Option<String>,
    /// Keep chunks ending after this second.
    pub after: Option<f64>,
    /// Keep chunks starting before this second.
    pub before: Option<f64>,
    /// Comma-separated integers.
    pub chunk_ids: Option<String>,
    /// Page size, 1..=500.
    pub limit: u32,
    /// Chunks to skip.
    pub offset: u32,
    /// Include internal keys.
    pub verbose: bool,
}

/// One chunk with its analyzers' output.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkView {
    /// Names it within its video.
    pub chunk_id: ChunkId,
    /// When it is, seconds of the video.
    pub span: Span,
    /// Output by analyzer id, for those that have any: a JSON object, as text.
    pub outputs: BTreeMap<String, Arc<str>>,
}

/// A page of chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkPage {
    /// Their video.
    pub video_id: VideoId,
    /// Analyzers with output on the video.
    pub analyzers: Vec<String>,
    /// Chunks that match, on all pages.
    pub total: u32,
    /// Chunks skipped.
    pub offset: u32,
    /// Page size.
    pub limit: u32,
    /// This page.
    pub chunks: Vec<ChunkView>,
}

impl Catalog {
    /// Stored analyzer output, filtered and paged.
    pub async fn chunks(&self, video_id: VideoId, query: ChunkQuery) -> Result<ChunkPage> {
        let wanted = query.chunk_ids.as_deref().map(parse_ids).transpose()?;
        let (query, wanted) = (&query, wanted.as_ref());
        let read = |record| async move { self.chunks_of(&record, query, wanted).await };
        self.read_published(video_id, read).await
    }

    async fn chunks_of(
        &self,
        record: &VideoRecord,
        query: &ChunkQuery,
        wanted: Option<&BTreeSet<ChunkId>>,
    ) -> Result<ChunkPage> {
        let analyzers = match &query.analyzer {
            Some(analyzer) => vec![analyzer.clone()],
            None => record.analyzer_ids(),
        };
        let entries = entries(record, &analyzers)?;
        let matching: Vec<(ChunkId, Span)> = (0..)
            .map(ChunkId)
            .zip(self.spans(record).await?)
            .filter(|(id, span)| {
                wanted.is_none_or(|ids| ids.contains(id))
                    && query.after.is_none_or(|after| span.end > after)
                    && query.before.is_none_or(|before| span.start < before)
            })
            .collect();
        let total = matching.len() as u32;
        let page = matching.into_iter().skip(query.offset as usize).take(query.limit as usize);
        let chunks = self.views(page.collect(), &entries, query.verbose).await?;
        Ok(ChunkPage {
            video_id: record.video_id,
            analyzers: record.analyzer_ids(),
            total,
            offset: query.offset,
            limit: query.limit,
            chunks,
        })
    }

    /// One chunk, all analyzers merged.
    pub async fn chunk(
        &self,
        video_id: VideoId,
        chunk_id: ChunkId,
        verbose: bool,
    ) -> Result<ChunkView> {
        let read = |record| async move { self.chunk_of(&record, chunk_id, verbose).await };
        self.read_published(video_id, read).await
    }

    async fn chunk_of(
        &self,
        record: &VideoRecord,
        chunk_id: ChunkId,
        verbose: bool,
    ) -> Result<ChunkView> {
        let spans = self.spans(record).await?;
        let span = spans.get(chunk_id.index()).ok_or_else(|| {
            Error::NotFound(format!(
                "video '{}' has no chunk {chunk_id}; it has chunks 0 to {}",
                record.video_id,
                spans.len().saturating_sub(1)
            ))
        })?;
        let analyzers = record.analyzer_ids();
        let entries = entries(record, &analyzers)?;
        let views = self.views(vec![(chunk_id, *span)], &entries, verbose).await?;
        views.into_iter().next().ok_or_else(|| Error::corrupt("a chunk is gone"))
    }

    /// Chunks with the outputs that are stored of them; no other pages are read than those that they
    /// are on.
    pub(super) async fn views(
        &self,
        chunks: Vec<(ChunkId, Span)>,
        entries: &[(&String, &AnalyzerEntry)],
        verbose: bool,
    ) -> Result<Vec<ChunkView>> {
        let needed: BTreeSet<(usize, u32)> = (0..entries.len())
            .flat_map(|of| chunks.iter().map(move |(chunk_id, _)| (of, *chunk_id)))
            .map(|(of, chunk_id)| (of, entries[of].1.pages.place(chunk_id).0))
            .collect();
        let reads = stream::iter(needed).map(|(of, page)| async move {
            let shown = self.shown_page(&entries[of].1.pages, page, verbose).await?;
            Ok::<_, Error>(((of, page), shown))
        });
        let pages: BTreeMap<(usize, u32), ShownPage> =
            reads.buffered(PARALLEL).try_collect().await?;
        let output = |of: usize, chunk_id: ChunkId| {
            let (page, place) = entries[of].1.pages.place(chunk_id);
            let text = pages.get(&(of, page))?.get(place)?.clone()?;
            Some((entries[of].0.clone(), text))
        };
        let view = |(chunk_id, span)| {
            let outputs = (0..entries.len()).filter_map(|of| output(of, chunk_id)).collect();
            ChunkView { chunk_id, span, outputs }
        };
        Ok(chunks.into_iter().map(view).collect())
    }
}

/// The entries of analyzers that the video has output of; `Invalid` lists those.
pub(super) fn entries<'r>(
    record: &'r VideoRecord,
    analyzers: &'r [String],
) -> Result<Vec<(&'r String, &'r AnalyzerEntry)>> {
    let entry = |analyzer: &'r String| {
        let entry = record.analyzers.get(analyzer).filter(|entry| entry.found > 0);
        entry.map(|entry| (analyzer, entry)).ok_or_else(|| {
            Error::Invalid(format!(
                "video '{}' has no output from analyzer '{analyzer}'; it has: {}",
                record.video_id,
                listed(&record.analyzer_ids())
            ))
        })
    };
    analyzers.iter().map(entry).collect()
}

/// The ids that a chunk can have; other integers are integers that no chunk has.
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
    fn ids_are_integers_between_commas() {
        assert_eq!(parse_ids("7, 2,4").expect("ids"), BTreeSet::from([2, 4, 7].map(ChunkId)));
        for bad in ["", "2,,4", "a", "1.5", "-", "--1", "1-", "2;3"] {
            assert!(matches!(parse_ids(bad), Err(Error::Invalid(_))), "{bad}");
        }
    }

    #[test]
    fn integers_that_no_chunk_has_match_nothing() {
        assert!(parse_ids("-1").expect("an integer").is_empty());
        let ids = parse_ids("-1,3,99999999999999999999").expect("integers");
        assert_eq!(ids, BTreeSet::from([ChunkId(3)]));
    }
}
