//! `/videos/{video_id}/chunking/preview`: how a video would be split, before it is.

use poem_openapi::param::Path;
use poem_openapi::{Enum, Object, OpenApi};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, ByIdNamed};
use super::videos::{max_duration, min_duration, mode, preset};
use crate::domain::chunking;
use crate::domain::chunking::{ChunkingFields, Weights};
use crate::domain::ingest::preview;
use crate::domain::kernel::video::video_named;

/// The routes of this section.
pub(super) struct ChunkingApi(pub(super) Service);

#[OpenApi]
impl ChunkingApi {
    /// How a video would be split with other fields.
    ///
    /// From the signals stored at ingest: decodes nothing, asks no model, changes nothing. Ingest
    /// the same video with these fields to carry it out.
    #[oai(
        path = "/videos/:video_id/chunking/preview",
        method = "post",
        operation_id = "preview_chunking"
    )]
    async fn preview_chunking(
        &self,
        token: Token,
        video_id: Path<String>,
        Json(request): Json<PreviewRequest>,
    ) -> Result<Json<Preview>, ApiError<ByIdNamed>> {
        Ok(Json(
            self.0
                .of(&token)
                .preview_chunking(video_named(&video_id)?, &request.into())
                .await?
                .into(),
        ))
    }
}

/// The mode fields of an ingest.
#[derive(Object)]
struct PreviewRequest {
    /// `preset`, `weights` or `interval`.
    #[oai(default = "mode")]
    mode: String,
    /// `audio`, `video` or `audio_video`; used only when mode=preset.
    #[oai(default = "preset")]
    preset: String,
    /// Weight of voice changes; mode=weights only, where at least one weight is required.
    #[oai(nullable)]
    speaker: Option<f64>,
    /// Weight of pauses; mode=weights only.
    #[oai(nullable)]
    silence: Option<f64>,
    /// Weight of shot changes; mode=weights only.
    #[oai(nullable)]
    cut: Option<f64>,
    /// Weight of topic shifts; mode=weights only.
    #[oai(nullable)]
    semantic: Option<f64>,
    /// Seconds per chunk; mode=interval only.
    #[oai(nullable)]
    interval: Option<f64>,
    /// Seconds; ignored when mode=interval.
    #[oai(default = "min_duration")]
    min_duration: f64,
    /// Seconds; ignored when mode=interval.
    #[oai(default = "max_duration")]
    max_duration: f64,
}

impl From<PreviewRequest> for ChunkingFields {
    fn from(r: PreviewRequest) -> Self {
        Self {
            mode: r.mode,
            preset: r.preset,
            weights: Weights {
                speaker: r.speaker,
                silence: r.silence,
                cut: r.cut,
                semantic: r.semantic,
            },
            interval: r.interval,
            min_duration: r.min_duration,
            max_duration: r.max_duration,
        }
    }
}

#[derive(Object)]
struct Preview {
    video_id: String,
    chunk_config: String,
    /// Number of chunks.
    chunks: u32,
    /// Between the chunks, in order.
    boundaries: Vec<Boundary>,
}

#[derive(Object)]
struct Boundary {
    /// When, seconds of the video.
    time: f64,
    /// What speaks for it, strongest first; empty where the limits alone put it there.
    votes: Vec<Vote>,
}

#[derive(Object)]
struct Vote {
    detector: Detector,
    /// Where exactly the detector found something, seconds.
    time: f64,
    /// The detector's strength times its weight.
    score: f64,
}

/// A boundary detector.
#[derive(Enum)]
#[oai(rename_all = "snake_case")]
enum Detector {
    Speaker,
    Silence,
    Cut,
    Semantic,
}

impl From<preview::ChunkingPreview> for Preview {
    fn from(p: preview::ChunkingPreview) -> Self {
        let vote = |v: preview::BoundaryVote| Vote {
            detector: match v.detector {
                chunking::Detector::Speaker => Detector::Speaker,
                chunking::Detector::Silence => Detector::Silence,
                chunking::Detector::Cut => Detector::Cut,
                chunking::Detector::Semantic => Detector::Semantic,
            },
            time: v.time,
            score: v.score,
        };
        let boundary = |b: preview::Boundary| Boundary {
            time: b.time,
            votes: b.votes.into_iter().map(vote).collect(),
        };
        Self {
            video_id: p.video_id.to_string(),
            chunk_config: p.chunk_config,
            chunks: p.chunks,
            boundaries: p.boundaries.into_iter().map(boundary).collect(),
        }
    }
}
