//! Reads moments: the stored results for any span of a video, regardless of chunk boundaries.

use std::collections::BTreeMap;
use std::ops::Range;

use futures::{StreamExt, TryStreamExt, stream};

use crate::analysis::chunk_text::chunk_texts;
use crate::analysis::output::Statement;
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId, unknown_video};
use crate::library::Library;
use crate::library::chunks::{ChunkView, entries};
use crate::records::record::VideoRecord;

/// Maximum number of chunks read for one moment.
pub const MAX_CHUNKS: u32 = 500;

/// Number of moments read concurrently.
const MAX_CONCURRENT_MOMENTS: usize = 4;

/// How far a moment may extend past the end of its video, in seconds. The tolerance is needed
/// because the times in a moment's id are rounded.
const END_TOLERANCE: f64 = 0.001;

/// The stored results for a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The moment's id.
    pub moment_id: MomentId,
    /// The cleaned file name of the moment's video.
    pub filename: String,
    /// Public storage URL of the moment's video.
    pub video_url: String,
    /// Wall-clock time of the moment's start in ISO 8601 (UTC), if the recording time is known.
    pub recorded_at: Option<String>,
    /// The first [`MAX_CHUNKS`] chunks that overlap the moment.
    pub chunks: Vec<MomentChunk>,
    /// Total number of chunks that overlap the moment.
    pub total_chunks: u32,
    /// The chunk directly before `chunks`.
    pub before: Option<NeighbourChunk>,
    /// The chunk directly after `chunks`.
    pub after: Option<NeighbourChunk>,
}

/// A chunk that overlaps a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct MomentChunk {
    /// The chunk with every analyzer's output.
    pub chunk: ChunkView,
    /// Length of the chunk's overlap with the moment, in seconds.
    pub overlap: f64,
    /// The statements, merged from all analyzers.
    pub statements: Vec<Statement>,
}

/// A chunk next to a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighbourChunk {
    /// The moment id for the chunk's span.
    pub moment_id: MomentId,
    /// The chunk's id within the video.
    pub chunk_id: ChunkId,
    /// The statements, merged from all analyzers.
    pub statements: Vec<Statement>,
}

/// A moment that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingMoment {
    /// The requested id.
    pub moment_id: MomentId,
    /// The reason: the video does not exist, or the moment lies outside the video.
    pub reason: String,
}

impl Library {
    /// Reads moments in the given order. Stops before they have more than [`MAX_CHUNKS`] chunks in
    /// total, but reads at least one moment. A moment that cannot be read does not affect the
    /// others.
    pub async fn moments(
        &self,
        access: &Access,
        ids: Vec<MomentId>,
    ) -> Result<Vec<std::result::Result<Moment, MissingMoment>>> {
        let read = stream::iter(ids).map(|id| async move { (self.moment(access, &id).await, id) });
        let mut read = std::pin::pin!(read.buffered(MAX_CONCURRENT_MOMENTS));
        let (mut moments, mut chunks) = (Vec::new(), 0);
        while let Some((moment, moment_id)) = read.next().await {
            moments.push(match moment {
                Ok(moment) => {
                    chunks += moment.chunks.len();
                    if chunks > MAX_CHUNKS as usize && !moments.is_empty() {
                        break;
                    }
                    Ok(moment)
                }
                Err(Error::NotFound(reason) | Error::Invalid(reason)) => {
                    Err(MissingMoment { moment_id, reason })
                }
                Err(error) => return Err(error),
            });
        }
        Ok(moments)
    }

    /// Reads a moment. Returns `NotFound` if its video does not exist or the caller may not see it,
    /// and `Invalid` if the moment lies outside the video.
    pub async fn moment(&self, access: &Access, id: &MomentId) -> Result<Moment> {
        let read = |record: VideoRecord| async move {
            match access.sees(record.metadata.collection.as_deref()) {
                true => self.read_moment(&record, id).await,
                false => Err(unknown_video(id.video_id())),
            }
        };
        self.records.read_published(id.video_id(), read).await.map_err(|error| match error {
            Error::NotFound(_) => Error::NotFound(gone_message(id)),
            other => other,
        })
    }

    /// Finds the moments among `ids` that cannot be read. Reads each video once.
    pub(crate) async fn missing_moments(
        &self,
        ids: impl Iterator<Item = &MomentId>,
    ) -> Result<Vec<MissingMoment>> {
        let mut by_video: BTreeMap<VideoId, Vec<MomentId>> = BTreeMap::new();
        for id in ids {
            by_video.entry(id.video_id()).or_default().push(id.clone());
        }
        let missing = stream::iter(by_video)
            .map(|(video_id, ids)| async move {
                let spans = |record: VideoRecord| async move {
                    let spans = self.records.spans(&record).await?;
                    Ok((record, spans))
                };
                let read = match self.records.read_published(video_id, spans).await {
                    Err(Error::NotFound(_)) => None,
                    read => Some(read?),
                };
                let reason = |id: &MomentId| match &read {
                    Some((record, spans)) => outside_message(record, spans, id),
                    None => Some(gone_message(id)),
                };
                let missing =
                    |id: MomentId| Some(MissingMoment { reason: reason(&id)?, moment_id: id });
                Ok::<_, Error>(ids.into_iter().filter_map(missing).collect::<Vec<_>>())
            })
            .buffered(MAX_CONCURRENT_MOMENTS)
            .try_collect::<Vec<_>>()
            .await?;
        Ok(missing.into_iter().flatten().collect())
    }

    async fn read_moment(&self, record: &VideoRecord, id: &MomentId) -> Result<Moment> {
        let span = id.span();
        let spans = self.records.spans(record).await?;
        if let Some(reason) = outside_message(record, &spans, id) {
            return Err(Error::Invalid(reason));
        }
        let overlapping = overlapping(&spans, span);
        let total_chunks = overlapping.end - overlapping.start;
        let included = overlapping.start..overlapping.end.min(overlapping.start + MAX_CHUNKS);

        let around = included.start.saturating_sub(1)..(included.end + 1).min(spans.len() as u32);
        let mut statements = self.statements(record, &spans, around.clone()).await?;
        let mut take_statements = |chunk_id: ChunkId| {
            std::mem::take(&mut statements[(chunk_id.0 - around.start) as usize])
        };
        let mut neighbour = |chunk_id: ChunkId| NeighbourChunk {
            moment_id: MomentId::new(record.video_id, spans[chunk_id.index()]),
            chunk_id,
            statements: take_statements(chunk_id),
        };
        let before = included.start.checked_sub(1).map(ChunkId).map(&mut neighbour);
        let after = (included.end < spans.len() as u32).then(|| neighbour(ChunkId(included.end)));

        let analyzers = record.analyzer_ids();
        let entries = entries(record, &analyzers)?;
        let included_chunks =
            included.map(ChunkId).map(|chunk_id| (chunk_id, spans[chunk_id.index()])).collect();
        let chunks = self.chunk_views(included_chunks, &entries, false).await?;
        let chunks = chunks.into_iter().map(|chunk| MomentChunk {
            overlap: chunk.span.overlap(&span),
            statements: take_statements(chunk.chunk_id),
            chunk,
        });
        Ok(Moment {
            moment_id: id.clone(),
            filename: record.filename.clone(),
            video_url: self.storage.download_url(&record.storage_path).await?,
            recorded_at: record.metadata.wall_clock(span.start),
            chunks: chunks.collect(),
            total_chunks,
            before,
            after,
        })
    }

    /// Reads the statements for each chunk in `chunks`, merged from all analyzers.
    async fn statements(
        &self,
        record: &VideoRecord,
        spans: &[Span],
        chunks: Range<u32>,
    ) -> Result<Vec<Vec<Statement>>> {
        let mut video = AnalyzedVideo {
            video_id: record.video_id,
            duration: record.duration,
            spans: spans[chunks.start as usize..chunks.end as usize].to_vec(),
            outputs: Default::default(),
            doubtful: Default::default(),
        };
        for analyzer in record.analyzers.keys() {
            let outputs = self.records.outputs_in(record, analyzer, chunks.clone()).await?;
            video.outputs.insert(analyzer.clone(), outputs);
        }
        let mut statements = vec![Vec::new(); chunks.len()];
        for text in chunk_texts(&video, &self.analyzers) {
            statements[text.chunk_id.index()] =
                text.statements_by_analyzer.into_iter().flatten().collect();
        }
        Ok(statements)
    }
}

fn gone_message(id: &MomentId) -> String {
    format!("moment '{id}' is gone: there is no video '{}'", id.video_id())
}

/// Returns an error message if a moment lies outside its video.
fn outside_message(record: &VideoRecord, spans: &[Span], id: &MomentId) -> Option<String> {
    let end = record.end(spans);
    let ends = id.span().end;
    (ends > end + END_TOLERANCE).then(|| {
        format!(
            "moment '{id}' ends at {ends:.3} s, and its video '{}' at {end:.3} s",
            record.video_id
        )
    })
}

/// Returns the indices of the chunks that `span` overlaps. If the length of `span` is 0, returns
/// the index of the chunk that contains it.
fn overlapping(spans: &[Span], span: Span) -> Range<u32> {
    let count = spans.len();
    let start = spans.partition_point(|chunk| chunk.end <= span.start).min(count.saturating_sub(1));
    let end = spans.partition_point(|chunk| chunk.start < span.end);
    start as u32..end.max(start + 1).min(count) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_cover_the_chunks_they_overlap() {
        let spans: Vec<Span> = (0..4)
            .map(|i| Span { start: f64::from(i) * 10.0, end: f64::from(i + 1) * 10.0 })
            .collect();
        for (start, end, expected) in [
            (0.0, 40.0, 0..4),
            (10.0, 20.0, 1..2),
            (9.9, 20.1, 0..3),
            (10.0, 10.0, 1..2),
            (0.0, 0.0, 0..1),
            (40.0, 40.0, 3..4),
            (39.0, 40.001, 3..4),
        ] {
            assert_eq!(overlapping(&spans, Span { start, end }), expected, "{start}-{end}");
        }
        assert_eq!(overlapping(&[], Span { start: 0.0, end: 1.0 }), 0..0);
    }
}
