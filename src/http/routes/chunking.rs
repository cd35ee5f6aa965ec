//! `/videos/{video_id}/chunking/preview`: how other settings would split a video.

use poem_openapi::param::Path;
use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, ByIdChecked};
use crate::http::wire::ingest::ChunkingOptions;
use domain::chunking;
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
        Json(request): Json<ChunkingOptions>,
    ) -> Result<Json<Preview>, ApiError<ByIdChecked>> {
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        Ok(Json(video.preview_chunking(&request.into()).await?.into()))
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
