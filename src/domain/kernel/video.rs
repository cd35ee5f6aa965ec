//! The ids of videos and of their chunks, and what is answered where one names no video.

use std::fmt::Display;

pub use ports::{ChunkId, VideoId};

use crate::domain::kernel::error::{Error, Result};

/// The video that a request names. What is no id is `NotFound`: no video has it.
pub fn video_named(id: &str) -> Result<VideoId> {
    id.parse().map_err(|_| unknown(id))
}

/// There is no such video.
pub(crate) fn unknown(id: impl Display) -> Error {
    Error::NotFound(format!("unknown video_id '{id}'"))
}
