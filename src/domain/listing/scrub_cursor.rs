//! Progress of the scrub, which is the periodic check of all videos. The progress is stored with
//! the listing, so that the scrub resumes after a restart. If the listing is lost, the progress is
//! lost, too. It is valid only for points from one embedder and in one format.

use std::time::Duration;

use ports::Document;
use serde::{Deserialize, Serialize};

use crate::kernel::error::Result;
use crate::kernel::time::{instant, now};
use crate::kernel::video::VideoId;
use crate::listing::Listing;

/// The state that is stored as the listing's mark.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ListingState {
    /// Format version of the entries.
    #[serde(rename = "form")]
    pub(crate) format: String,
    #[serde(rename = "looked")]
    scrub: ScrubCursor,
}

/// Progress of the scrub.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ScrubCursor {
    /// Names the embedder and the format of the checked points.
    #[serde(rename = "embedder")]
    points: String,
    /// When the last complete scrub ended, in ISO 8601.
    #[serde(rename = "whole")]
    completed_at: Option<String>,
    /// Whether every point has to be written again, because the points were made in another way
    /// when the scrub began.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) rewrite: bool,
    /// The last video checked by an incomplete scrub.
    pub(crate) up_to: Option<VideoId>,
}

impl ListingState {
    /// Creates the state of a listing in this format, without scrub progress.
    pub(crate) fn with_format(format: &str) -> Self {
        Self { format: format.to_owned(), scrub: ScrubCursor::default() }
    }
}

impl ScrubCursor {
    /// Creates the progress of a scrub that has checked the videos up to `last`, or no videos if
    /// `last` is `None`.
    pub(crate) fn up_to(points: &str, last: Option<VideoId>) -> Self {
        Self { points: points.to_owned(), completed_at: None, rewrite: false, up_to: last }
    }

    /// Creates the progress of a scrub that has just been completed.
    pub(crate) fn completed(points: &str) -> Self {
        Self { completed_at: Some(now()), ..Self::up_to(points, None) }
    }

    /// Whether the last complete scrub ended less than `interval` ago. If the clock has been set
    /// back since then, returns `false`, so that a scrub is due.
    pub(crate) fn is_recent(&self, interval: Duration) -> bool {
        let completed = self.completed_at.as_deref().and_then(instant);
        let (Some(completed), Some(now)) = (completed, instant(&now())) else { return false };
        u64::try_from(now - completed).is_ok_and(|age| Duration::from_millis(age) < interval)
    }
}

impl Listing {
    pub(crate) async fn state(&self) -> Result<ListingState> {
        let text = self.listing.mark().await?.unwrap_or_default();
        // Earlier versions stored the format alone.
        Ok(serde_json::from_str(&text).unwrap_or_else(|_| ListingState::with_format(&text)))
    }

    pub(crate) async fn set_state(&self, state: &ListingState) -> Result<()> {
        Ok(self.listing.set_mark(Document::serialize(state)?.as_str()).await?)
    }

    /// Reads the progress of the scrub. `points` names the embedder and the format of the points.
    pub(crate) async fn scrub_cursor(&self, points: &str) -> Result<ScrubCursor> {
        let cursor = self.state().await?.scrub;
        if cursor.points == points {
            return Ok(cursor);
        }
        let rewrite = !cursor.points.is_empty();
        Ok(ScrubCursor { rewrite, ..ScrubCursor::up_to(points, None) })
    }

    /// Stores the progress of the scrub.
    pub(crate) async fn save_scrub_cursor(&self, scrub: ScrubCursor) -> Result<()> {
        let format = self.state().await?.format;
        self.set_state(&ListingState { format, scrub }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completed_scrubs_are_recent_for_the_interval() {
        let day = Duration::from_secs(86_400);
        let (none, now) = (ScrubCursor::up_to("e", None), ScrubCursor::completed("e"));
        let at = |when: &str| ScrubCursor { completed_at: Some(when.into()), ..none.clone() };
        assert!(now.is_recent(day) && !none.is_recent(day) && !now.is_recent(Duration::ZERO));
        assert!(!at("2020-01-01T00:00:00Z").is_recent(day));
        assert!(!at("9999-01-01T00:00:00Z").is_recent(day), "the clock was set back since");
    }
}
