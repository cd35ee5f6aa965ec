//! Reading moments: what is stored of a span of a video, however the video is split by now.

use std::collections::BTreeMap;
use std::ops::Range;

use futures::{StreamExt, TryStreamExt, stream};

use crate::domain::analysis::chunk_text::chunk_texts;
use crate::domain::analysis::finding::Statement;
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::catalog::chunks::{ChunkView, entries};
use crate::domain::catalog::record::VideoRecord;
use crate::domain::catalog::{Catalog, unknown};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{ChunkId, VideoId};

/// Most chunks that are read of one moment.
pub const MOST_CHUNKS: u32 = 500;

/// Moments read at once.
const PARALLEL: usize = 4;

/// So much a moment may end after its video, seconds: its times are rounded.
const ROUNDING: f64 = 0.001;

/// What is stored of a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Its name.
    pub moment_id: MomentId,
    /// The cleaned name of its video's file.
    pub filename: String,
    /// Public storage URL of its video.
    pub video_url: String,
    /// The instant when it begins, ISO 8601 in UTC, where it is known when the video was recorded.
    pub recorded_at: Option<String>,
    /// Chunks that overlap it, the first [`MOST_CHUNKS`].
    pub chunks: Vec<MomentChunk>,
    /// All that overlap it.
    pub total_chunks: u32,
    /// The chunk right before those.
    pub before: Option<Neighbour>,
    /// The chunk right after those.
    pub after: Option<Neighbour>,
}

/// A chunk that overlaps a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct MomentChunk {
    /// The chunk with every analyzer's output.
    pub chunk: ChunkView,
    /// How much of the moment lies in it, seconds.
    pub overlap: f64,
    /// What it tells, merged from its analyzers.
    pub says: Vec<Statement>,
}

/// A chunk beside a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// The chunk as a moment.
    pub moment_id: MomentId,
    /// Names it within its video.
    pub chunk_id: ChunkId,
    /// What it tells, merged from its analyzers.
    pub says: Vec<Statement>,
}

/// A moment that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingMoment {
    /// Its name.
    pub moment_id: MomentId,
    /// Its video is gone, or it lies outside of it.
    pub why: String,
}

impl Catalog {
    /// The first of several moments, in their order: as many as have [`MOST_CHUNKS`] together, at least
    /// one. One that cannot be read takes nothing from the others.
    pub async fn moments(
        &self,
        access: &Access,
        ids: Vec<MomentId>,
    ) -> Result<Vec<std::result::Result<Moment, MissingMoment>>> {
        let read = stream::iter(ids).map(|id| async move { (self.moment(access, &id).await, id) });
        let mut read = std::pin::pin!(read.buffered(PARALLEL));
        let (mut moments, mut chunks) = (Vec::new(), 0);
        while let Some((moment, moment_id)) = read.next().await {
            moments.push(match moment {
                Ok(moment) => {
                    chunks += moment.chunks.len();
                    if chunks > MOST_CHUNKS as usize && !moments.is_empty() {
                        break;
                    }
                    Ok(moment)
                }
                Err(Error::NotFound(why) | Error::Invalid(why)) => {
                    Err(MissingMoment { moment_id, why })
                }
                Err(error) => return Err(error),
            });
        }
        Ok(moments)
    }

    /// A moment. `NotFound` when its video is gone or not seen, `Invalid` when it lies outside of it.
    pub async fn moment(&self, access: &Access, id: &MomentId) -> Result<Moment> {
        let read = |record: VideoRecord| async move {
            match access.sees(record.about.collection.as_deref()) {
                true => self.moment_of(&record, id).await,
                false => Err(unknown(id.video_id())),
            }
        };
        self.read_published(id.video_id(), read).await.map_err(|error| match error {
            Error::NotFound(_) => Error::NotFound(gone(id)),
            other => other,
        })
    }

    /// Those of some moments that cannot be read, by video; each video is looked at once.
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
                    let spans = self.spans(&record).await?;
                    Ok((record, spans))
                };
                let read = match self.read_published(video_id, spans).await {
                    Err(Error::NotFound(_)) => None,
                    read => Some(read?),
                };
                let why = |id: &MomentId| match &read {
                    Some((record, spans)) => outside(record, spans, id),
                    None => Some(gone(id)),
                };
                let missing = |id: MomentId| Some(MissingMoment { why: why(&id)?, moment_id: id });
                Ok::<_, Error>(ids.into_iter().filter_map(missing).collect::<Vec<_>>())
            })
            .buffered(PARALLEL)
            .try_collect::<Vec<_>>()
            .await?;
        Ok(missing.into_iter().flatten().collect())
    }

    async fn moment_of(&self, record: &VideoRecord, id: &MomentId) -> Result<Moment> {
        let span = id.span();
        let spans = self.spans(record).await?;
        if let Some(why) = outside(record, &spans, id) {
            return Err(Error::Invalid(why));
        }
        let overlapping = overlapping(&spans, span);
        let total_chunks = overlapping.end - overlapping.start;
        let shown = overlapping.start..overlapping.end.min(overlapping.start + MOST_CHUNKS);

        let around = shown.start.saturating_sub(1)..(shown.end + 1).min(spans.len() as u32);
        let mut says = self.says(record, &spans, around.clone()).await?;
        let mut says_of =
            |chunk_id: ChunkId| std::mem::take(&mut says[(chunk_id.0 - around.start) as usize]);
        let mut neighbour = |chunk_id: ChunkId| Neighbour {
            moment_id: MomentId::new(record.video_id, spans[chunk_id.index()]),
            chunk_id,
            says: says_of(chunk_id),
        };
        let before = shown.start.checked_sub(1).map(ChunkId).map(&mut neighbour);
        let after = (shown.end < spans.len() as u32).then(|| neighbour(ChunkId(shown.end)));

        let analyzers = record.analyzer_ids();
        let entries = entries(record, &analyzers)?;
        let wanted =
            shown.map(ChunkId).map(|chunk_id| (chunk_id, spans[chunk_id.index()])).collect();
        let chunks = self.views(wanted, &entries, false).await?;
        let chunks = chunks.into_iter().map(|chunk| MomentChunk {
            overlap: chunk.span.overlap(&span),
            says: says_of(chunk.chunk_id),
            chunk,
        });
        Ok(Moment {
            moment_id: id.clone(),
            filename: record.filename.clone(),
            video_url: self.storage.download_url(&record.storage_path).await?,
            recorded_at: record.about.wall_clock(span.start),
            chunks: chunks.collect(),
            total_chunks,
            before,
            after,
        })
    }

    /// What each of some neighbouring chunks tells, merged from its analyzers.
    async fn says(
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
            let outputs = self.outputs_of(record, analyzer, chunks.clone()).await?;
            video.outputs.insert(analyzer.clone(), outputs);
        }
        let mut says = vec![Vec::new(); chunks.len()];
        for text in chunk_texts(&video, &self.analyzers) {
            says[text.chunk_id.index()] = text.told.into_iter().flatten().collect();
        }
        Ok(says)
    }
}

fn gone(id: &MomentId) -> String {
    format!("moment '{id}' is gone: there is no video '{}'", id.video_id())
}

/// Why a moment lies outside of its video, if it does.
fn outside(record: &VideoRecord, spans: &[Span], id: &MomentId) -> Option<String> {
    let end = record.end(spans);
    let ends = id.span().end;
    (ends > end + ROUNDING).then(|| {
        format!(
            "moment '{id}' ends at {ends:.3} s, and its video '{}' at {end:.3} s",
            record.video_id
        )
    })
}

/// The numbers of the chunks that a span overlaps; of one without length, the chunk that it lies in.
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
    fn a_moment_lies_in_the_chunks_that_it_overlaps() {
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
