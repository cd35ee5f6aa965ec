//! `/bins/{bin_id}/string-out`: the selects of a bin as one video.

use poem::{Body, Request};
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Binary;
use poem_openapi::{ApiResponse, OpenApi, ResponseContent};

use super::clips::{FilePart, sequence_part};
use super::export::{MissingVideosBody, bin_selection, parse_rate, refuse};
use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::disposition::attachment;
use crate::http::wire::errors::{ApiError, ClipDownload};
use crate::http::wire::params::{Bounded, FiniteNumber};
use domain::bins::BinId;
use domain::export::bin::StringOutOptions;

/// The routes of this section.
pub(super) struct StringOutApi(pub(super) Service);

#[OpenApi]
impl StringOutApi {
    /// Get a bin as one video.
    ///
    /// Returns the selects of a bin, joined in order, as an MP4 file with H.264 and AAC. Every join
    /// is exact: at the same frame rate, the video has as many frames as the edit lists of the bin
    /// count, if `handles` is 0. Pictures of another size are scaled and padded with black; videos
    /// of another frame rate keep their speed. Sound without pictures is shown as black, and
    /// pictures without sound are silent. The response starts when the whole video has been made;
    /// byte ranges are supported. Returns 400 if there are too many selects (`bins.max_clips`) or
    /// if the video would be too long (`bins.max_string_out`), and 413 if it is too large
    /// (`bins.max_string_out_bytes`).
    #[oai(path = "/bins/:bin_id/string-out", method = "get", operation_id = "bin_string_out")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn bin_string_out(
        &self,
        token: CallerToken,
        request: &Request,
        /// Id of the bin.
        bin_id: Path<String>,
        /// Seconds to add before and after each select, as far as its video goes, from 0 to 60.
        /// Default: 0.
        #[oai(default = "no_handles")]
        handles: Query<FiniteNumber>,
        /// Maximum of the longer side, in pixels, from 64 to `bins.max_string_out_side`, which is
        /// the default. The video has the size of the largest source, unless that exceeds this
        /// maximum.
        max_side: Query<Option<u32>>,
        /// Frames per second, as a fraction such as `30000/1001` or a whole number, from 1 to 120.
        /// Default: the most frequent frame rate of the selects.
        frame_rate: Query<Option<String>>,
        /// Whether what is said is drawn into the pictures, with the corrections of the transcript.
        /// The other exports of the bin have the same captions as SRT or WebVTT. Returns 400 if
        /// nothing is said in the selects. Default: false.
        #[oai(default)]
        captions: Query<bool>,
        /// Ids of the selects to show, separated by commas. The order stays that of the bin.
        /// Default: all selects.
        select_ids: Query<Option<String>>,
        /// Only selects with at least this rating, from 1 to 5. Selects without a rating are left
        /// out. Default: all ratings.
        min_rating: Query<Option<Bounded<1, 5>>>,
        /// Only selects with this tag. Default: all tags.
        tag: Query<Option<String>>,
        /// What to do with selects whose video is missing: `refuse`, so that the response is 400 and
        /// names them, or `omit`. Default: `refuse`.
        #[oai(default = "refuse")]
        missing: Query<MissingVideosBody>,
    ) -> Result<StringOutResponse, ApiError<ClipDownload>> {
        let (service, bin_id) = (self.0.scoped(&token), BinId::parse(&bin_id)?);
        let options = StringOutOptions {
            handles: handles.0.0,
            max_side: max_side.0,
            frame_rate: frame_rate.0.as_deref().map(parse_rate).transpose()?,
            captions: captions.0,
            selection: bin_selection(
                select_ids.0.as_deref(),
                min_rating.0,
                tag.0.as_deref(),
                missing.0,
            )?,
        };
        let plan = service.string_out(&bin_id, &options).await?;
        Ok(match sequence_part(&service, request, &plan).await? {
            Some(video) => video.into(),
            None => {
                let (content, ranges) =
                    (VideoContent::Video(Binary(Body::empty())), "bytes".into());
                StringOutResponse::Whole(content, attachment(&plan.filename), None, ranges, None)
            }
        })
    }
}

fn no_handles() -> FiniteNumber {
    FiniteNumber(0.0)
}

#[derive(ApiResponse)]
enum StringOutResponse {
    /// The video.
    #[oai(status = 200)]
    Whole(
        VideoContent,
        #[oai(header = "Content-Disposition")] String,
        /// Size of the video, in bytes; absent in the response to HEAD if the video has not been
        /// made yet.
        #[oai(header = "Content-Length")]
        Option<u64>,
        #[oai(header = "Accept-Ranges")] String,
        #[oai(header = "ETag")] Option<String>,
    ),
    /// The requested byte range of the video.
    #[oai(status = 206)]
    Part(
        VideoContent,
        #[oai(header = "Content-Disposition")] String,
        #[oai(header = "Content-Length")] u64,
        #[oai(header = "Accept-Ranges")] String,
        #[oai(header = "ETag")] Option<String>,
        #[oai(header = "Content-Range")] String,
    ),
    /// The video matches `If-None-Match`.
    #[oai(status = 304)]
    NotModified(#[oai(header = "ETag")] Option<String>),
}

#[derive(ResponseContent)]
enum VideoContent {
    #[oai(content_type = "video/mp4")]
    Video(Binary<Body>),
}

impl From<FilePart> for StringOutResponse {
    fn from(part: FilePart) -> Self {
        let FilePart { body, disposition, length, etag, range, .. } = part;
        let Some(body) = body else { return Self::NotModified(etag) };
        let (content, ranges) = (VideoContent::Video(Binary(body)), "bytes".to_owned());
        match range {
            Some(range) => Self::Part(content, disposition, length, ranges, etag, range),
            None => Self::Whole(content, disposition, Some(length), ranges, etag),
        }
    }
}
