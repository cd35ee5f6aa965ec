//! `/videos/{video_id}/frames`, `/videos/{video_id}/storyboard` and `/videos/{video_id}/peaks`: pictures of a
//! stored video, and its waveform.

use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Binary;
use poem_openapi::{ApiResponse, Object, OpenApi};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, Busy};
use super::params::{Bounded, Number};
use crate::domain::frames;
use crate::domain::kernel::video::{VideoId, video_named};

/// The routes of this section.
pub(super) struct FramesApi(pub(super) Service);

/// A video's bytes never change, so neither do its pictures.
const FOREVER: &str = "private, max-age=31536000, immutable";

#[OpenApi]
impl FramesApi {
    /// The frame shown at a time, as a JPEG.
    #[oai(path = "/videos/:video_id/frames", method = "get", operation_id = "frame")]
    async fn frame(
        &self,
        token: Token,
        video_id: Path<String>,
        /// Seconds, within the video.
        t: Query<Number>,
        /// Pixels; a frame is never wider than the video. The widest that is accepted is a setting.
        #[oai(default = "width")]
        width: Query<Bounded<16, 7680>>,
    ) -> Result<Jpeg, ApiError<Busy>> {
        let bytes = self.0.of(&token).frame(video_named(&video_id)?, t.0.0, width.0.0).await?;
        Ok(Jpeg::Found(Binary(bytes.to_vec()), FOREVER.into()))
    }

    /// How loud the sound is over time, as a waveform is drawn.
    ///
    /// Peak `n` is the largest amplitude within the seconds from `n × interval` to `(n + 1) × interval`,
    /// from 0 (silence) to 1 (full scale), of all channels mixed. The first call for a video decodes its
    /// sound.
    #[oai(path = "/videos/:video_id/peaks", method = "get", operation_id = "peaks")]
    async fn peaks(
        &self,
        token: Token,
        video_id: Path<String>,
        /// Parts that the video is divided into. The most that is accepted is a setting.
        #[oai(default = "buckets")]
        buckets: Query<Bounded<1, 1_000_000>>,
    ) -> Result<Json<Peaks>, ApiError<Busy>> {
        let video_id = video_named(&video_id)?;
        let found = self.0.of(&token).peaks(video_id, buckets.0.0).await?;
        let frames::Peaks { interval, peaks } = found;
        Ok(Json(Peaks { video_id: video_id.to_string(), interval, peaks }))
    }

    /// Where each moment is in the storyboard's sheet.
    ///
    /// Tile `n` shows the middle of the seconds from `n × interval` to `(n + 1) × interval`. Tiles
    /// are laid out row by row.
    #[oai(path = "/videos/:video_id/storyboard", method = "get", operation_id = "storyboard")]
    async fn storyboard(
        &self,
        token: Token,
        video_id: Path<String>,
    ) -> Result<Json<Storyboard>, ApiError<Busy>> {
        let video_id = video_named(&video_id)?;
        let index = self.0.of(&token).storyboard(video_id).await?;
        Ok(Json(Storyboard::new(video_id, index)))
    }

    /// The storyboard's sheet, as a JPEG.
    #[oai(
        path = "/videos/:video_id/storyboard.jpg",
        method = "get",
        operation_id = "storyboard_sheet"
    )]
    async fn sheet(&self, token: Token, video_id: Path<String>) -> Result<Jpeg, ApiError<Busy>> {
        let bytes = self.0.of(&token).storyboard_sheet(video_named(&video_id)?).await?;
        Ok(Jpeg::Found(Binary(bytes.to_vec()), FOREVER.into()))
    }
}

fn width() -> Bounded<16, 7680> {
    Bounded(640)
}

fn buckets() -> Bounded<1, 1_000_000> {
    Bounded(1000)
}

#[derive(ApiResponse)]
enum Jpeg {
    /// The picture.
    #[oai(status = 200, content_type = "image/jpeg")]
    Found(Binary<Vec<u8>>, #[oai(header = "Cache-Control")] String),
}

#[derive(Object)]
struct Peaks {
    video_id: String,
    /// Seconds that each peak stands for.
    interval: f64,
    /// The largest amplitude of each part, 0 to 1; empty where the video has no sound.
    peaks: Vec<f64>,
}

#[derive(Object)]
struct Storyboard {
    video_id: String,
    /// Path of the sheet, from the service's root.
    sheet: String,
    /// Seconds between tiles.
    interval: f64,
    /// Tiles in the sheet.
    tiles: u32,
    /// Tiles per row.
    columns: u32,
    rows: u32,
    /// Width of one tile, pixels.
    tile_width: u32,
    /// Height of one tile, pixels.
    tile_height: u32,
}

impl Storyboard {
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
