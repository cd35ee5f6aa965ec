//! `get_frames`: frames of a video as images.

use std::io::Cursor;

use bytes::Bytes;
use image::ImageReader;
use poem_openapi::Object;

use super::{Call, Image, Tool, ToolAnswer};
use crate::http::views::HttpFailure;
use crate::mcp::budget::image_tokens;
use crate::mcp::prose::seconds;
use domain::kernel::video::{ChunkId, parse_video_id};
use domain::scoped::VisibleVideo;

/// Returns frames.
pub(super) struct GetFrames;

#[derive(Object)]
pub(super) struct FramesRequest {
    #[oai(validator(min_length = 1))]
    video_id: String,
    /// Times of the frames, in seconds from the start of the video.
    #[oai(nullable)]
    times: Option<Vec<f64>>,
    /// Chunk ids. The frame at the midpoint of each chunk is returned.
    #[oai(nullable)]
    chunk_ids: Option<Vec<u32>>,
    /// Width in pixels. A frame is never wider than the video or the configured maximum.
    #[oai(default = "width", validator(minimum(value = "16"), maximum(value = "7680")))]
    width: u32,
}

fn width() -> u32 {
    512
}

#[derive(Object)]
#[oai(rename = "Frames")]
pub(super) struct FrameList {
    video_id: String,
    /// One entry per image, in the same order.
    frames: Vec<FrameInfo>,
    /// What was omitted, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

#[derive(Object)]
#[oai(rename = "Frame")]
pub(super) struct FrameInfo {
    /// Time of the frame, in seconds from the start of the video.
    t: f64,
    /// Id of the requested chunk; present if the frame was requested by chunk id.
    #[oai(skip_serializing_if_is_none)]
    chunk_id: Option<u32>,
    /// Width in pixels.
    width: u32,
    /// Height in pixels.
    height: u32,
}

impl Tool for GetFrames {
    const NAME: &'static str = "get_frames";
    const TITLE: &'static str = "See frames";
    const DESCRIPTION: &'static str = "Returns frames of a video as JPEG images: at `times` in \
        seconds, or in the middle of each of `chunk_ids`. Request few and small frames: those of \
        moments that search_moments or ask returned, with a larger `width` only to read text. \
        `frames` has the time of each image, in the same order.";
    type Input = FramesRequest;
    type Output = FrameList;

    async fn call(
        mut call: Call<'_>,
        input: FramesRequest,
    ) -> Result<ToolAnswer<FrameList>, HttpFailure> {
        let targets = targets(&input)?;
        let video = call.service.video(parse_video_id(&input.video_id)?).await?;
        let width = input.width.min(call.settings.max_frame_width);
        let (mut frames, mut images, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for target in targets.iter().take(call.settings.max_frames) {
            let (t, chunk_id) = resolve(&video, *target).await?;
            let bytes = video.frame(t, width).await?;
            let (width, height) = dimensions(&bytes)?;
            if !call.budget.take(image_tokens(width, height) + FRAME_TOKENS) {
                break;
            }
            lines.push(format!("Image {} shows {} s.", frames.len() + 1, seconds(t)));
            frames.push(FrameInfo { t, chunk_id: chunk_id.map(|id| id.0), width, height });
            images.push(Image { bytes, width, height });
        }
        let left_out = targets.len() - frames.len();
        let rest = (left_out > 0).then(|| {
            format!(
                "the last {left_out} of {} frames are omitted: a response has at most {} \
                 (mcp.max_frames), fewer where they are large; ask again for those, or for a smaller \
                 width",
                targets.len(),
                call.settings.max_frames
            )
        });
        lines.extend(rest.clone());
        let content = FrameList { video_id: input.video_id, frames, rest };
        Ok(ToolAnswer { text: lines.join("\n"), content, images })
    }
}

/// Number of tokens for an image's metadata.
const FRAME_TOKENS: usize = 50;

/// How a frame is selected.
#[derive(Clone, Copy)]
enum Target {
    /// A time, in seconds from the start of the video.
    Time(f64),
    /// The midpoint of a chunk.
    Chunk(ChunkId),
}

fn targets(input: &FramesRequest) -> Result<Vec<Target>, HttpFailure> {
    let targets: Vec<Target> = match (&input.times, &input.chunk_ids) {
        (Some(times), None) => times.iter().copied().map(Target::Time).collect(),
        (None, Some(chunks)) => chunks.iter().copied().map(ChunkId).map(Target::Chunk).collect(),
        _ => Vec::new(),
    };
    if targets.is_empty() {
        return Err(HttpFailure::unprocessable("give either times or chunk_ids, and at least one"));
    }
    Ok(targets)
}

/// Returns the frame's time, in seconds from the start of the video, and the requested chunk, if
/// any.
async fn resolve(
    video: &VisibleVideo<'_>,
    target: Target,
) -> Result<(f64, Option<ChunkId>), HttpFailure> {
    match target {
        Target::Time(t) => Ok((t, None)),
        Target::Chunk(id) => {
            let span = video.chunk(id, false).await?.span;
            Ok(((span.start + span.end) / 2.0, Some(id)))
        }
    }
}

fn dimensions(jpeg: &Bytes) -> Result<(u32, u32), HttpFailure> {
    let reader = ImageReader::new(Cursor::new(jpeg)).with_guessed_format();
    let size = reader.ok().and_then(|reader| reader.into_dimensions().ok());
    size.ok_or_else(HttpFailure::internal)
}
