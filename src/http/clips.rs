//! `/videos/{video_id}/clip`: a piece of a stored video as a file of its own.

use std::io::SeekFrom;

use poem::{Body, Request};
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Binary;
use poem_openapi::{ApiResponse, OpenApi, ResponseContent};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::auth::{Service, Token};
use super::disposition::attachment;
use super::errors::{self, ApiError, Failure};
use super::params::Number;
use super::storage::Reply;
use crate::domain::kernel::video::video_named;

/// The routes of this section.
pub(super) struct ClipsApi(pub(super) Service);

#[OpenApi]
impl ClipsApi {
    /// A piece of a video as a file: MP4, or M4A of a video that is sound alone.
    ///
    /// Where a key frame lies at `start`, or need not (`exact=false`), its pictures and sound are those
    /// of the video, and it takes little time; else they are coded anew, as H.264 and AAC. One range of
    /// its bytes can be asked for.
    #[oai(path = "/videos/:video_id/clip", method = "get", operation_id = "clip")]
    async fn clip(
        &self,
        token: Token,
        request: &Request,
        video_id: Path<String>,
        /// Where it begins, seconds.
        start: Query<Number>,
        /// Where it ends, seconds. How long a clip may be is a setting.
        end: Query<Number>,
        /// Whether it must begin at `start`; else it begins at the key frame before.
        #[oai(default = "exact")]
        exact: Query<bool>,
    ) -> Result<Clip, ApiError<errors::Clip>> {
        let video_id = video_named(&video_id)?;
        let clip = self.0.of(&token).clip(video_id, start.0.0, end.0.0, exact.0).await?;
        let disposition = attachment(&clip.filename);
        let size = clip.size;
        let reply = request.header("range").map_or(Reply::Whole, |range| Reply::range(range, size));
        let part = match &reply {
            Reply::Part(part) => part.clone(),
            _ => 0..size,
        };
        let mut file = tokio::fs::File::from_std(clip.file);
        let sought = file.seek(SeekFrom::Start(part.start)).await;
        sought.map_err(|_| Failure::internal())?;
        let length = part.end - part.start;
        let body = Binary(Body::from_async_read(file.take(length)));
        let content = if clip.video { Content::Video(body) } else { Content::Sound(body) };
        Ok(match reply {
            Reply::Part(_) => {
                let range = format!("bytes {}-{}/{size}", part.start, part.end - 1);
                Clip::Part(content, disposition, length, "bytes".into(), range)
            }
            _ => Clip::Whole(content, disposition, length, "bytes".into()),
        })
    }
}

fn exact() -> bool {
    true
}

#[derive(ApiResponse)]
enum Clip {
    /// The clip.
    #[oai(status = 200)]
    Whole(
        Content,
        #[oai(header = "Content-Disposition")] String,
        #[oai(header = "Content-Length")] u64,
        #[oai(header = "Accept-Ranges")] String,
    ),
    /// The bytes of it that were asked for.
    #[oai(status = 206)]
    Part(
        Content,
        #[oai(header = "Content-Disposition")] String,
        #[oai(header = "Content-Length")] u64,
        #[oai(header = "Accept-Ranges")] String,
        #[oai(header = "Content-Range")] String,
    ),
}

#[derive(ResponseContent)]
enum Content {
    #[oai(content_type = "video/mp4")]
    Video(Binary<Body>),
    #[oai(content_type = "audio/mp4")]
    Sound(Binary<Body>),
}
