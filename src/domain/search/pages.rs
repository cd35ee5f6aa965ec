//! The positions at which pages of search results begin.

use std::fmt;
use std::str::FromStr;

use ports::listing::Position;

use crate::kernel::video::ChunkId;

/// Where a page begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PageStart {
    /// At the first result.
    #[default]
    First,
    /// After this many results of a ranking.
    Offset(usize),
    /// After a chunk of a video, in listing order.
    AfterChunk(Position, ChunkId),
}

impl fmt::Display for PageStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => write!(f, "0"),
            Self::Offset(hits) => write!(f, "{hits}"),
            Self::AfterChunk(video, chunk) => {
                write!(f, "{}.{}.{chunk}", video.created_at, video.video_id)
            }
        }
    }
}

/// The error for text that is not a valid [`PageStart`].
#[derive(Debug)]
pub struct InvalidPageStart;

impl FromStr for PageStart {
    type Err = InvalidPageStart;

    fn from_str(text: &str) -> std::result::Result<Self, InvalidPageStart> {
        if let Ok(hits) = text.parse() {
            return Ok(Self::Offset(hits));
        }
        let listed = || {
            let mut parts = text.split('.');
            let (created_at, video_id, chunk) = (parts.next()?, parts.next()?, parts.next()?);
            let video =
                Position { created_at: created_at.parse().ok()?, video_id: video_id.parse().ok()? };
            parts.next().is_none().then_some(Self::AfterChunk(video, ChunkId(chunk.parse().ok()?)))
        };
        listed().ok_or(InvalidPageStart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::video::VideoId;

    #[test]
    fn page_start_round_trips() {
        let video_id = VideoId::from_digest([7; 20]);
        let video = Position { created_at: -5, video_id };
        for start in [PageStart::Offset(12), PageStart::AfterChunk(video, ChunkId(3))] {
            assert_eq!(start.to_string().parse::<PageStart>().expect("a page start"), start);
        }
        for text in ["", "x", "1.2", "1.0707070707070707.3.4"] {
            assert!(text.parse::<PageStart>().is_err(), "{text}");
        }
    }
}
