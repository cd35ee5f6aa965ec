//! Previews a chunking from stored signals: the boundaries and the votes for each boundary.

use crate::chunking::fuse::SAME_BOUNDARY;
use crate::chunking::{Chunking, ChunkingFields, Detector};
use crate::ingest::plan::Planner;
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;

/// The preview of a chunking.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkingPreview {
    /// The id of the video.
    pub video_id: VideoId,
    /// Canonical form of the chunking configuration.
    pub chunk_config: String,
    /// Number of chunks.
    pub chunks: u32,
    /// Boundaries between the chunks, in order.
    pub boundaries: Vec<Boundary>,
}

/// A boundary between two chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    /// The time, in seconds from the start of the video.
    pub time: f64,
    /// The votes for the boundary. Empty if the boundary exists only because of the length limits.
    pub votes: Vec<BoundaryVote>,
}

/// One detector's vote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryVote {
    /// The detector that votes.
    pub detector: Detector,
    /// The exact time of the detected change, in seconds from the start of the video.
    pub time: f64,
    /// The strength of the change multiplied by the detector's weight.
    pub score: f64,
}

impl Planner {
    /// Previews the chunking of a video from its record. Decodes nothing and calls no model.
    pub async fn preview_chunking(
        &self,
        video_id: VideoId,
        fields: &ChunkingFields,
    ) -> Result<ChunkingPreview> {
        let chunking = Chunking::parse(fields)?;
        let record = self.records.get(video_id).await?;
        let signals = self.records.signals(&record).await?;
        let end = signals.end.min(record.duration);
        let spans = chunking.split(end, &signals, self.max_chunks)?;
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
                        Some(weaker) if weaker.score < vote.score => *weaker = vote,
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
