//! `/videos/{video_id}/clip`: a piece of a stored video as a file of its own.

use std::io::SeekFrom;

use poem::{Body, Request};
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Binary;
use poem_openapi::{ApiResponse, OpenApi, ResponseContent};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::auth::{Service, Token};
use super::conditional::{Reply, is_head, quoted};
use super::disposition::attachment;
use super::errors::{self, ApiError, Failure};
use super::params::Number;
use crate::domain::frames::ClipFile;
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
        let service = self.0.of(&token);
        if is_head(request) {
            let outline = service.clip_outline(video_id, start.0.0, end.0.0, exact.0).await?;
            return Ok(match outline.kept {
                Some(clip) => answer(request, clip).await?,
                None => uncut(outline.video, &outline.filename),
            });
        }
        let clip = service.clip(video_id, start.0.0, end.0.0, exact.0).await?;
        Ok(answer(request, clip).await?)
    }
}

/// The clip, or what of it is wanted.
async fn answer(request: &Request, clip: ClipFile) -> Result<Clip, Failure> {
    let (disposition, size) = (attachment(&clip.filename), clip.size);
    let etag = clip.version.as_deref().map(quoted);
    let reply = Reply::to(request, clip.version.as_deref(), size);
    let part = match &reply {
        Reply::Whole => 0..size,
        Reply::Part(part) => part.clone(),
        Reply::NotModified => return Ok(Clip::NotModified(etag)),
        Reply::Changed => return Err(Failure::changed()),
        Reply::OutOfRange => return Err(Failure::out_of_range(size)),
    };
    let mut file = tokio::fs::File::from_std(clip.file);
    let sought = file.seek(SeekFrom::Start(part.start)).await;
    sought.map_err(|_| Failure::internal())?;
    let length = part.end - part.start;
    let content = Content::new(clip.video, Body::from_async_read(file.take(length)));
    let ranges = "bytes".to_owned();
    Ok(match reply {
        Reply::Part(_) => {
            let range = format!("bytes {}-{}/{size}", part.start, part.end - 1);
            Clip::Part(content, disposition, length, ranges, etag, range)
        }
        _ => Clip::Whole(content, disposition, Some(length), ranges, etag),
    })
}

/// The head of a clip that would have to be cut for more: its length is not known before.
fn uncut(video: bool, filename: &str) -> Clip {
    let content = Content::new(video, Body::empty());
    Clip::Whole(content, attachment(filename), None, "bytes".into(), None)
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
        /// Missing from the answer to HEAD where the clip is not cut yet.
        #[oai(header = "Content-Length")]
        Option<u64>,
        #[oai(header = "Accept-Ranges")] String,
        #[oai(header = "ETag")] Option<String>,
    ),
    /// The bytes of it that were asked for.
    #[oai(status = 206)]
    Part(
        Content,
        #[oai(header = "Content-Disposition")] String,
        #[oai(header = "Content-Length")] u64,
        #[oai(header = "Accept-Ranges")] String,
        #[oai(header = "ETag")] Option<String>,
        #[oai(header = "Content-Range")] String,
    ),
    /// The clip is the one that `If-None-Match` names.
    #[oai(status = 304)]
    NotModified(#[oai(header = "ETag")] Option<String>),
}

#[derive(ResponseContent)]
enum Content {
    #[oai(content_type = "video/mp4")]
    Video(Binary<Body>),
    #[oai(content_type = "audio/mp4")]
    Sound(Binary<Body>),
}

impl Content {
    fn new(video: bool, body: Body) -> Self {
        if video { Self::Video(Binary(body)) } else { Self::Sound(Binary(body)) }
    }
}
