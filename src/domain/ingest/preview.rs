//! What a chunking would give, from the stored signals: boundaries and who voted for each.

use crate::domain::chunking::fuse::SAME_BOUNDARY;
use crate::domain::chunking::{Chunking, ChunkingFields, Detector};
use crate::domain::ingest::Ingest;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;

/// A chunking that has not been carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkingPreview {
    /// The id of its video.
    pub video_id: VideoId,
    /// Its canonical form.
    pub chunk_config: String,
    /// Number of chunks.
    pub chunks: u32,
    /// Between the chunks, in order.
    pub boundaries: Vec<Boundary>,
}

/// A place between two chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    /// When, seconds of the video.
    pub time: f64,
    /// What speaks for it; empty where the limits alone put it there.
    pub votes: Vec<BoundaryVote>,
}

/// One detector's say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryVote {
    /// The detector that found it.
    pub detector: Detector,
    /// Where exactly it found something, seconds.
    pub time: f64,
    /// Its strength times the detector's weight.
    pub score: f64,
}

impl Ingest {
    /// How a video would be split. Reads its record; decodes nothing and asks no model.
    pub async fn preview_chunking(
        &self,
        video_id: VideoId,
        fields: &ChunkingFields,
    ) -> Result<ChunkingPreview> {
        let chunking = Chunking::parse(fields)?;
        let record = self.catalog.record(video_id).await?;
        let signals = self.catalog.signals(&record).await?;
        let end = signals.end.min(record.duration);
        let spans = chunking.split(end, &signals, self.settings.ingest.max_chunks)?;
        let votes = chunking.votes(&signals);
        let boundaries = spans
            .iter()
            .skip(1)
            .map(|span| {
                let near = votes.partition_point(|v| v.time < span.start - SAME_BOUNDARY);
                let near =
                    votes[near..].iter().take_while(|v| v.time <= span.start + SAME_BOUNDARY);
                let mut best: Vec<BoundaryVote> = Vec::new();
                for vote in near {
                    let vote = BoundaryVote {
                        detector: vote.detector,
                        time: vote.time,
                        score: vote.score,
                    };
                    match best.iter_mut().find(|b| b.detector == vote.detector) {
                        Some(known) if known.score < vote.score => *known = vote,
                        Some(_) => {}
                        None => best.push(vote),
                    }
                }
                best.sort_by(|a, b| b.score.total_cmp(&a.score));
                Boundary { time: span.start, votes: best }
            })
            .collect();
        Ok(ChunkingPreview {
            video_id: record.video_id,
            chunk_config: chunking.config(),
            chunks: spans.len() as u32,
            boundaries,
        })
    }
}
