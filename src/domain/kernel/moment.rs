//! Moments: spans of a video whose ids stay valid when the video is chunked differently.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::kernel::error::Error;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;

/// The id of a span of a video: `m_<video id>_<start>_<end>` with times in milliseconds. Search
/// hits and citations include such ids. The moment can be read as long as the video exists, even if
/// the video is chunked differently.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MomentId {
    video_id: VideoId,
    start: u64,
    end: u64,
}

impl MomentId {
    /// Creates the id for a span, whose times are rounded to milliseconds.
    pub fn new(video_id: VideoId, span: Span) -> Self {
        let milliseconds = |seconds: f64| (seconds.max(0.0) * 1000.0).round() as u64;
        let (start, end) = (milliseconds(span.start), milliseconds(span.end));
        Self { video_id, start, end: end.max(start) }
    }

    /// Returns the id of the moment's video.
    pub fn video_id(&self) -> VideoId {
        self.video_id
    }

    /// Returns where the moment starts and ends, in milliseconds from the start of the video.
    pub(crate) fn milliseconds(&self) -> (u64, u64) {
        (self.start, self.end)
    }

    /// Returns the moment's span, with times in seconds from the start of the video.
    pub fn span(&self) -> Span {
        Span { start: self.start as f64 / 1000.0, end: self.end as f64 / 1000.0 }
    }
}

impl fmt::Display for MomentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m_{}_{}_{}", self.video_id, self.start, self.end)
    }
}

impl FromStr for MomentId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts = || {
            let mut parts = text.strip_prefix("m_")?.split('_');
            let video_id = parts.next()?.parse().ok()?;
            let mut milliseconds = || parts.next()?.parse::<u64>().ok();
            let (start, end) = (milliseconds()?, milliseconds()?);
            (parts.next().is_none() && start <= end).then_some(Self { video_id, start, end })
        };
        parts().ok_or_else(|| {
            Error::Invalid(format!(
                "'{text}' names no moment; one is m_<video_id>_<start>_<end> with times in \
                 milliseconds, such as m_0123456789abcdef_12500_20000"
            ))
        })
    }
}

impl TryFrom<String> for MomentId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<MomentId> for String {
    fn from(moment: MomentId) -> Self {
        moment.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moment_ids_round_trip() {
        let id = "0123456789abcdef".parse().expect("an id");
        let moment = MomentId::new(id, Span { start: 0.0204, end: 24.023333 });
        assert_eq!(moment.to_string(), "m_0123456789abcdef_20_24023");
        assert_eq!(moment.to_string().parse::<MomentId>().expect("a moment"), moment);
        assert_eq!(moment.span(), Span { start: 0.02, end: 24.023 });
    }

    #[test]
    fn invalid_moment_ids_report_the_expected_form() {
        for text in [
            "",
            "m_",
            "m_0123456789abcdef_1",
            "m_0123456789abcdef_2_1",
            "m_0123456789ABCDEF_1_2",
            "m_0123456789abcdef_1_2_3",
            "m_0123456789abcdef_-1_2",
            "m_0123456789abcdef_1_99999999999999999999999",
            "0123456789abcdef_1_2",
        ] {
            let error = text.parse::<MomentId>().expect_err(text).to_string();
            assert!(error.contains("m_0123456789abcdef_12500_20000"), "{error}");
        }
    }
}
