//! Ids of videos and chunks, and the error for an unknown video.

use std::fmt::Display;

pub use ports::{ChunkId, VideoId};

use crate::kernel::error::{Error, Result};

/// Parses the video id in a request. Returns `NotFound` for a malformed id, since no video can have
/// it.
pub fn parse_video_id(id: &str) -> Result<VideoId> {
    id.parse().map_err(|_| unknown_video(id))
}

/// Creates the `NotFound` error for a video that does not exist.
pub(crate) fn unknown_video(id: impl Display) -> Error {
    Error::NotFound(format!("unknown video_id '{id}'"))
}
