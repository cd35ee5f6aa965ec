//! `GET /media/{video_id}`: the way to the video in storage.

use poem_openapi::param::Path;
use poem_openapi::{ApiResponse, OpenApi};

use super::auth::{Service, Token};
use super::errors::{ApiError, OfOne};
use crate::domain::kernel::video::video_named;

/// The routes of this section.
pub(super) struct MediaApi(pub(super) Service);

#[OpenApi]
impl MediaApi {
    /// Redirect to the video in storage, which serves its bytes and ranges.
    #[oai(path = "/media/:video_id", method = "get", operation_id = "media")]
    async fn media(
        &self,
        token: Token,
        video_id: Path<String>,
    ) -> Result<Redirect, ApiError<OfOne>> {
        Ok(Redirect::Temporary(self.0.of(&token).media_url(video_named(&video_id)?).await?))
    }
}

#[derive(ApiResponse)]
enum Redirect {
    /// Where the video is.
    #[oai(status = 307)]
    Temporary(#[oai(header = "Location")] String),
}
