//! `/videos/{video_id}/frames`, `/videos/{video_id}/storyboard` and `/videos/{video_id}/peaks`:
//! frames of a stored video, and its waveform.

use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Binary;
use poem_openapi::{ApiResponse, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, Busy};
use crate::http::wire::params::{Bounded, FiniteNumber};
use domain::frames;
use domain::kernel::video::{VideoId, parse_video_id};

/// The routes of this section.
pub(super) struct FramesApi(pub(super) Service);

/// Value of `Cache-Control` for frames. A video's bytes never change, so neither do its frames.
const FOREVER: &str = "private, max-age=31536000, immutable";

#[OpenApi]
impl FramesApi {
    /// Get a frame.
    ///
    /// Returns, as a JPEG, the frame that is shown at a given time.
    #[oai(path = "/videos/:video_id/frames", method = "get", operation_id = "frame")]
    async fn frame(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Time of the frame, in seconds from the start of the video.
        t: Query<FiniteNumber>,
        /// Width in pixels. A frame is never wider than the video. The maximum is configurable.
        /// Default: 640.
        #[oai(default = "width")]
        width: Query<Bounded<16, 7680>>,
    ) -> Result<Jpeg, ApiError<Busy>> {
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        let bytes = video.frame(t.0.0, width.0.0).await?;
        Ok(Jpeg::Image(Binary(bytes.to_vec()), FOREVER.into()))
    }

    /// Get the waveform.
    ///
    /// Peak `n` is the maximum amplitude between `n × interval` and `(n + 1) × interval` seconds,
    /// where 0 is silence and 1 is full scale. All channels are mixed. The first call for a video
    /// decodes its audio.
    #[oai(path = "/videos/:video_id/peaks", method = "get", operation_id = "peaks")]
    async fn peaks(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Number of equal intervals into which the video is divided, with one peak each. The
        /// maximum is configurable. Default: 1000.
        #[oai(default = "buckets")]
        buckets: Query<Bounded<1, 1_000_000>>,
    ) -> Result<Json<PeaksBody>, ApiError<Busy>> {
        let video_id = parse_video_id(&video_id)?;
        let found = self.0.scoped(&token).video(video_id).await?.peaks(buckets.0.0).await?;
        let frames::Peaks { interval, peaks } = found;
        Ok(Json(PeaksBody { video_id: video_id.to_string(), interval, peaks }))
    }

    /// Get the storyboard.
    ///
    /// Describes the layout of the storyboard sheet. Tile `n` shows the frame at the midpoint
    /// between `n × interval` and `(n + 1) × interval` seconds. Tiles are laid out row by row.
    #[oai(path = "/videos/:video_id/storyboard", method = "get", operation_id = "storyboard")]
    async fn storyboard(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
    ) -> Result<Json<StoryboardBody>, ApiError<Busy>> {
        let video_id = parse_video_id(&video_id)?;
        let index = self.0.scoped(&token).video(video_id).await?.storyboard().await?;
        Ok(Json(StoryboardBody::new(video_id, index)))
    }

    /// Get the storyboard sheet.
    ///
    /// Returns a JPEG with all tiles.
    #[oai(
        path = "/videos/:video_id/storyboard.jpg",
        method = "get",
        operation_id = "storyboard_sheet"
    )]
    async fn sheet(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
    ) -> Result<Jpeg, ApiError<Busy>> {
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        let bytes = video.storyboard_sheet().await?;
        Ok(Jpeg::Image(Binary(bytes.to_vec()), FOREVER.into()))
    }
}

fn width() -> Bounded<16, 7680> {
    Bounded(640)
}

fn buckets() -> Bounded<1, 1_000_000> {
    Bounded(1000)
}

#[derive(ApiResponse)]
pub(super) enum Jpeg {
    /// The image.
    #[oai(status = 200, content_type = "image/jpeg")]
    Image(Binary<Vec<u8>>, #[oai(header = "Cache-Control")] String),
}

#[derive(Object)]
#[oai(rename = "Peaks")]
struct PeaksBody {
    /// Id of the video.
    video_id: String,
    /// Duration of the interval that each peak covers, in seconds.
    interval: f64,
    /// Maximum amplitude in each interval, from 0 to 1; empty if the video has no audio.
    peaks: Vec<f64>,
}

#[derive(Object)]
#[oai(rename = "Storyboard")]
struct StoryboardBody {
    /// Id of the video.
    video_id: String,
    /// Path of the sheet, relative to the service's root.
    sheet: String,
    /// Duration of the interval that each tile covers, in seconds.
    interval: f64,
    /// Number of tiles in the sheet.
    tiles: u32,
    /// Number of tiles per row.
    columns: u32,
    /// Number of rows.
    rows: u32,
    /// Width of one tile, in pixels.
    tile_width: u32,
    /// Height of one tile, in pixels.
    tile_height: u32,
}

impl StoryboardBody {
    fn new(video_id: VideoId, index: frames::Storyboard) -> Self {
        Self {
            video_id: video_id.to_string(),
            sheet: format!("/videos/{video_id}/storyboard.jpg"),
            interval: index.interval,
            tiles: index.tiles,
            columns: index.columns,
            rows: index.rows,
            tile_width: index.tile_width,
            tile_height: index.tile_height,
        }
    }
}
