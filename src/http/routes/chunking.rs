//! `/videos/{video_id}/chunking/preview`: how other settings would split a video.

use poem_openapi::param::Path;
use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, ByIdChecked};
use crate::http::wire::ingest::{max_duration, min_duration, mode, preset};
use domain::chunking;
use domain::chunking::{ChunkingFields, Weights};
use domain::ingest::preview;
use domain::kernel::video::parse_video_id;

/// The routes of this section.
pub(super) struct ChunkingApi(pub(super) Service);

#[OpenApi]
impl ChunkingApi {
    /// Preview chunking.
    ///
    /// Computes how other settings would split the video, based on the signals stored at ingest.
    /// This decodes nothing, calls no model and changes nothing. To apply the settings, ingest the
    /// video again with them.
    #[oai(
        path = "/videos/:video_id/chunking/preview",
        method = "post",
        operation_id = "preview_chunking"
    )]
    async fn preview_chunking(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        Json(request): Json<PreviewRequest>,
    ) -> Result<Json<Preview>, ApiError<ByIdChecked>> {
        Ok(Json(
            self.0
                .scoped(&token)
                .preview_chunking(parse_video_id(&video_id)?, &request.into())
                .await?
                .into(),
        ))
    }
}

/// The chunking settings to preview, as in an ingest.
#[derive(Object)]
struct PreviewRequest {
    /// Chunking mode: `preset`, `weights` or `interval`. Default: `preset`.
    #[oai(default = "mode")]
    mode: String,
    /// Preset: `audio`, `video` or `audio_video`; used with `mode=preset` only. Default:
    /// `audio_video`.
    #[oai(default = "preset")]
    preset: String,
    /// Weight of speaker changes, at least 0; used with `mode=weights` only, which requires at
    /// least one weight.
    #[oai(nullable)]
    speaker: Option<f64>,
    /// Weight of silences, at least 0; used with `mode=weights` only.
    #[oai(nullable)]
    silence: Option<f64>,
    /// Weight of shot boundaries, at least 0; used with `mode=weights` only.
    #[oai(nullable)]
    cut: Option<f64>,
    /// Weight of topic shifts, at least 0; used with `mode=weights` only.
    #[oai(nullable)]
    semantic: Option<f64>,
    /// Chunk duration in seconds; used with `mode=interval` only.
    #[oai(nullable)]
    interval: Option<f64>,
    /// Minimum chunk duration in seconds; ignored with `mode=interval`. Default: 5.
    #[oai(default = "min_duration")]
    min_duration: f64,
    /// Maximum chunk duration in seconds; ignored with `mode=interval`. Default: 20.
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
    /// Id of the video.
    video_id: String,
    /// Id of the chunking configuration.
    chunk_config: String,
    /// Number of chunks.
    chunks: u32,
    /// The boundaries between the chunks, in chronological order.
    boundaries: Vec<BoundaryBody>,
}

#[derive(Object)]
#[oai(rename = "Boundary")]
struct BoundaryBody {
    /// Time of the boundary, in seconds from the start of the video.
    time: f64,
    /// The detectors' votes for the boundary, strongest first; empty if only the duration limits
    /// require the boundary.
    votes: Vec<VoteBody>,
}

#[derive(Object)]
#[oai(rename = "Vote")]
struct VoteBody {
    detector: DetectorBody,
    /// Time that the detector reports, in seconds from the start of the video.
    time: f64,
    /// Strength of the vote multiplied by the detector's weight.
    score: f64,
}

/// A boundary detector.
#[derive(Enum)]
#[oai(rename_all = "snake_case")]
#[oai(rename = "Detector")]
enum DetectorBody {
    Speaker,
    Silence,
    Cut,
    Semantic,
}

impl From<preview::ChunkingPreview> for Preview {
    fn from(p: preview::ChunkingPreview) -> Self {
        let vote = |v: preview::BoundaryVote| VoteBody {
            detector: match v.detector {
                chunking::Detector::Speaker => DetectorBody::Speaker,
                chunking::Detector::Silence => DetectorBody::Silence,
                chunking::Detector::Cut => DetectorBody::Cut,
                chunking::Detector::Semantic => DetectorBody::Semantic,
            },
            time: v.time,
            score: v.score,
        };
        let boundary = |b: preview::Boundary| BoundaryBody {
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
