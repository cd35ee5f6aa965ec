//! Shares: links to a part of a video, for people who have no token. A share expires and can be
//! withdrawn. It is deleted with its video.
//!
//! `shares/<video_id>.json` holds the shares of a video, and `share-links/<share_id>.json` names the
//! video of a share. A share is valid only while the document of its video contains it, which every
//! request reads again, so a withdrawn share is invalid at once on every instance. The link is stored
//! before the share, so that each listed share can be opened. A link without a share opens nothing.

mod change;
mod id;
mod list;
mod open;
mod store;
mod upkeep;

use std::sync::Arc;
use std::time::Duration;

use ports::records::RecordStore;
use ports::units::seconds;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex as AsyncMutex;

use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::records::Records;
use crate::records::locks::VideoLocks;
use crate::records::readiness::StoreReadiness;
pub use change::ShareDraft;
pub use id::ShareId;
pub use list::{ShareList, ShareQuery};

/// Maximum length of the title of a share, in characters.
pub const MAX_TITLE_CHARS: usize = 200;

/// Limits on shares. In the configuration file, durations have units (`"30d"`) or are plain numbers
/// of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareSettings {
    /// How long a share is valid if its request does not say so.
    #[serde(with = "seconds")]
    pub default_expiry: Duration,
    /// Maximum time for which a share is valid.
    #[serde(with = "seconds")]
    pub max_expiry: Duration,
    /// Maximum number of shares of a video. They are in one document.
    pub max_per_video: usize,
}

impl Default for ShareSettings {
    fn default() -> Self {
        let days = |days: u64| Duration::from_secs(days * 24 * 3600);
        Self { default_expiry: days(30), max_expiry: days(365), max_per_video: 1000 }
    }
}

/// A link to a part of a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The secret part of the link.
    #[serde(rename = "share_id")]
    pub id: ShareId,
    /// The part of the video, with times in seconds from the start of the video, to the millisecond.
    #[serde(flatten)]
    pub span: Span,
    /// The title, on one line.
    pub title: String,
    /// When the share was created, in milliseconds since 1970.
    pub created_at: i64,
    /// When the share expires, in milliseconds since 1970.
    pub expires_at: i64,
    /// The name of the token that the share was created with; `None` if it has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
}

impl Share {
    /// Whether the share has expired at `now`, in milliseconds since 1970.
    fn has_expired(&self, now: i64) -> bool {
        self.expires_at <= now
    }
}

/// A share with the video that it is a part of.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedPart {
    /// The video.
    pub video_id: VideoId,
    /// The share.
    pub share: Share,
}

/// The share service.
pub struct Shares {
    store: Arc<dyn RecordStore>,
    records: Arc<Records>,
    listing: Arc<Listing>,
    locks: Arc<VideoLocks>,
    readiness: Arc<StoreReadiness>,
    settings: ShareSettings,
    /// Serializes the changes of this process. Changes of other processes only cause retries.
    changes: AsyncMutex<()>,
}

impl Shares {
    pub(crate) fn new(
        records: &Arc<Records>,
        listing: &Arc<Listing>,
        locks: &Arc<VideoLocks>,
        readiness: &Arc<StoreReadiness>,
        settings: ShareSettings,
    ) -> Self {
        Self {
            store: records.store.clone(),
            records: records.clone(),
            listing: listing.clone(),
            locks: locks.clone(),
            readiness: readiness.clone(),
            settings,
            changes: AsyncMutex::default(),
        }
    }
}

/// Creates the error for a share that does not exist, or whose video the caller may not see.
fn unknown_share(id: &str) -> Error {
    Error::NotFound(format!("unknown share_id '{id}'; GET /shares lists the shares"))
}

/// Parses the share id in a request. Returns `NotFound` for a malformed id, since no share can have
/// it.
pub fn parse_share_id(id: &str) -> Result<ShareId> {
    id.parse().map_err(|_| unknown_share(id))
}
