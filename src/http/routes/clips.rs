//! `/videos/{video_id}/clip`: part of a stored video as a file.

use std::io::SeekFrom;

use poem::http::StatusCode;
use poem::{Body, Request};
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Binary;
use poem_openapi::{ApiResponse, OpenApi, ResponseContent};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::conditional::{FileReply, is_head, quoted};
use crate::http::wire::disposition::attachment;
use crate::http::wire::errors::{ApiError, ClipDownload};
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::params::FiniteNumber;
use domain::Scoped;
use domain::frames::{ClipFile, SequencePlan};
use domain::kernel::time::Span;
use domain::kernel::video::parse_video_id;

/// The routes of this section.
pub(super) struct ClipsApi(pub(super) Service);

#[OpenApi]
impl ClipsApi {
    /// Get a clip.
    ///
    /// Returns part of a video as an MP4 file, or as an M4A file if the video has no picture. If
    /// there is a key frame at `start`, or if `exact` is false, the streams are copied, which is
    /// fast. Otherwise they are re-encoded as H.264 and AAC. Byte ranges are supported.
    ///
    /// With `captions`, the clip is an MP4 file at the frame rate of the video (`exact_frame_rate`),
    /// and what is said in it is drawn into its pictures.
    #[oai(path = "/videos/:video_id/clip", method = "get", operation_id = "clip")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn clip(
        &self,
        token: CallerToken,
        request: &Request,
        /// Id of the video.
        video_id: Path<String>,
        /// Start of the clip, in seconds from the start of the video.
        start: Query<FiniteNumber>,
        /// End of the clip, in seconds from the start of the video. The maximum duration is
        /// configurable.
        end: Query<FiniteNumber>,
        /// Whether the clip starts exactly at `start`; if false, it starts at the previous key
        /// frame. Default: true.
        #[oai(default = "exact")]
        exact: Query<bool>,
        /// Whether what is said is drawn into the pictures, with the corrections of the transcript.
        /// Requires `exact`. Returns 400 if nothing is said in the clip. Default: false.
        #[oai(default)]
        captions: Query<bool>,
    ) -> Result<ClipResponse, ApiError<ClipDownload>> {
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        if captions.0 {
            if !exact.0 {
                return Err(HttpFailure::new(StatusCode::BAD_REQUEST, WITHOUT_CAPTIONS).into());
            }
            let plan = video.captioned_clip(Span { start: start.0.0, end: end.0.0 }).await?;
            return Ok(match sequence_part(&service, request, &plan).await? {
                Some(clip) => clip.into(),
                None => head_of_uncut_clip(true, &plan.filename),
            });
        }
        if is_head(request) {
            let outline = video.clip_outline(start.0.0, end.0.0, exact.0).await?;
            return Ok(match outline.cached {
                Some(clip) => FilePart::new(request, clip).await?.into(),
                None => head_of_uncut_clip(outline.video, &outline.filename),
            });
        }
        let clip = video.clip(start.0.0, end.0.0, exact.0).await?;
        Ok(FilePart::new(request, clip).await?.into())
    }
}

/// Why captions cannot be drawn into a copied clip.
const WITHOUT_CAPTIONS: &str = "captions are drawn only into exact clips, because their pictures are \
                                re-encoded; leave out exact=false, or captions=true";

/// Renders a sequence, or returns the cached one. Returns `None` for a HEAD request if it is not
/// cached.
pub(super) async fn sequence_part(
    service: &Scoped,
    request: &Request,
    plan: &SequencePlan,
) -> Result<Option<FilePart>, HttpFailure> {
    let video = match is_head(request) {
        true => service.cached_sequence(plan).await,
        false => Some(service.sequence(plan).await?),
    };
    match video {
        Some(video) => Ok(Some(FilePart::new(request, video).await?)),
        None => Ok(None),
    }
}

/// A file, or the byte range of it that a request asks for.
pub(super) struct FilePart {
    /// The bytes; `None` if the file matches `If-None-Match`.
    pub(super) body: Option<Body>,
    /// Whether the file has a video stream.
    pub(super) video: bool,
    /// `Content-Disposition`.
    pub(super) disposition: String,
    /// Number of bytes of the body.
    pub(super) length: u64,
    /// `ETag`.
    pub(super) etag: Option<String>,
    /// `Content-Range`; `None` for the whole file.
    pub(super) range: Option<String>,
}

impl FilePart {
    /// Reads the headers of the request. Returns the failures of conditions and ranges that do not
    /// apply to the file.
    pub(super) async fn new(request: &Request, clip: ClipFile) -> Result<Self, HttpFailure> {
        let (disposition, size) = (attachment(&clip.filename), clip.size);
        let etag = clip.version.as_deref().map(quoted);
        let (part, range) = match FileReply::for_request(request, clip.version.as_deref(), size) {
            FileReply::Whole => (0..size, None),
            FileReply::Part(part) => {
                let range = format!("bytes {}-{}/{size}", part.start, part.end - 1);
                (part, Some(range))
            }
            FileReply::NotModified => {
                let (body, video) = (None, clip.video);
                return Ok(Self { body, video, disposition, length: 0, etag, range: None });
            }
            FileReply::Changed => return Err(HttpFailure::changed()),
            FileReply::OutOfRange => return Err(HttpFailure::out_of_range(size)),
        };
        let mut file = tokio::fs::File::from_std(clip.file);
        let seek = file.seek(SeekFrom::Start(part.start)).await;
        seek.map_err(|_| HttpFailure::internal())?;
        let length = part.end - part.start;
        let body = Some(Body::from_async_read(file.take(length)));
        Ok(Self { body, video: clip.video, disposition, length, etag, range })
    }
}

impl From<FilePart> for ClipResponse {
    fn from(part: FilePart) -> Self {
        let FilePart { body, video, disposition, length, etag, range } = part;
        let Some(body) = body else { return Self::NotModified(etag) };
        let (content, ranges) = (ClipContent::new(video, body), "bytes".to_owned());
        match range {
            Some(range) => Self::Part(content, disposition, length, ranges, etag, range),
            None => Self::Whole(content, disposition, Some(length), ranges, etag),
        }
    }
}

/// Returns the response to HEAD for a clip that has not been cut yet. The length of such a clip is
/// unknown.
fn head_of_uncut_clip(video: bool, filename: &str) -> ClipResponse {
    let content = ClipContent::new(video, Body::empty());
    ClipResponse::Whole(content, attachment(filename), None, "bytes".into(), None)
}

fn exact() -> bool {
    true
}

#[derive(ApiResponse)]
enum ClipResponse {
    /// The clip.
    #[oai(status = 200)]
    Whole(
        ClipContent,
        #[oai(header = "Content-Disposition")] String,
        /// Size of the clip, in bytes; absent in the response to HEAD if the clip has not been cut
        /// yet.
        #[oai(header = "Content-Length")]
        Option<u64>,
        #[oai(header = "Accept-Ranges")] String,
        #[oai(header = "ETag")] Option<String>,
    ),
    /// The requested byte range of the clip.
    #[oai(status = 206)]
    Part(
        ClipContent,
        #[oai(header = "Content-Disposition")] String,
        #[oai(header = "Content-Length")] u64,
        #[oai(header = "Accept-Ranges")] String,
        #[oai(header = "ETag")] Option<String>,
        #[oai(header = "Content-Range")] String,
    ),
    /// The clip matches `If-None-Match`.
    #[oai(status = 304)]
    NotModified(#[oai(header = "ETag")] Option<String>),
}

#[derive(ResponseContent)]
enum ClipContent {
    #[oai(content_type = "video/mp4")]
    Video(Binary<Body>),
    #[oai(content_type = "audio/mp4")]
    Sound(Binary<Body>),
}

impl ClipContent {
    fn new(video: bool, body: Body) -> Self {
        if video { Self::Video(Binary(body)) } else { Self::Sound(Binary(body)) }
    }
}
