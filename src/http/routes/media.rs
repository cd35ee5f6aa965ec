//! `GET /media/{video_id}`: redirects to the video in storage.

use poem_openapi::param::Path;
use poem_openapi::{ApiResponse, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::errors::{ApiError, ById};
use domain::kernel::video::parse_video_id;

/// The routes of this section.
pub(super) struct MediaApi(pub(super) Service);

#[OpenApi]
impl MediaApi {
    /// Redirect to the video.
    ///
    /// The storage URL serves the file and supports ranges.
    #[oai(path = "/media/:video_id", method = "get", operation_id = "media")]
    async fn media(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
    ) -> Result<Redirect, ApiError<ById>> {
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        Ok(Redirect::Temporary(video.media_url().await?))
    }
}

#[derive(ApiResponse)]
enum Redirect {
    /// The URL of the video in storage.
    #[oai(status = 307)]
    Temporary(#[oai(header = "Location")] String),
}
