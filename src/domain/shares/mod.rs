//! Shares: links to a part of a video, or to the selects of a bin, for people who have no token. A
//! share expires and can be withdrawn. Each of its parts is deleted with its video.
//!
//! `shares/<video_id>.json` holds the shared parts of a video, and `share-links/<share_id>.json` names
//! the videos of a share. A part is valid only while the document of its video contains it, which every
//! request reads again, so a withdrawn share is invalid at once on every instance. The link is stored
//! before the parts, so that each listed share can be opened. A link without parts opens nothing.

mod change;
mod id;
mod list;
mod open;
mod store;
mod upkeep;

use std::iter;
use std::sync::Arc;
use std::time::Duration;

use ports::records::RecordStore;
use ports::units::seconds;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex as AsyncMutex;

use crate::bins::BinId;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::records::Records;
use crate::records::locks::VideoLocks;
use crate::records::readiness::StoreReadiness;
pub use change::ShareDraft;
pub(crate) use change::default_title;
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
    /// Maximum number of shared parts of a video. They are in one document.
    pub max_per_video: usize,
    /// Maximum number of parts of a share.
    pub max_parts: usize,
}

impl Default for ShareSettings {
    fn default() -> Self {
        let days = |days: u64| Duration::from_secs(days * 24 * 3600);
        Self {
            default_expiry: days(30),
            max_expiry: days(365),
            max_per_video: 1000,
            max_parts: 100,
        }
    }
}

/// A link to parts of videos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The secret part of the link.
    #[serde(rename = "share_id")]
    pub id: ShareId,
    /// The title, on one line.
    pub title: String,
    /// When the share was created, in milliseconds since 1970.
    pub created_at: i64,
    /// When the share expires, in milliseconds since 1970.
    pub expires_at: i64,
    /// The name of the token that the share was created with; `None` if it has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// The bin whose selects are shared; `None` for a part of a video.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bin_id: Option<BinId>,
}

impl Share {
    /// Whether the share has expired at `now`, in milliseconds since 1970.
    fn has_expired(&self, now: i64) -> bool {
        self.expires_at <= now
    }
}

/// A shared part of a video, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredPart {
    #[serde(flatten)]
    share: Share,
    /// The part, with times in seconds from the start of the video, to the millisecond.
    #[serde(flatten)]
    span: Span,
    /// The place of the part in the share, counted from 0.
    #[serde(default)]
    position: usize,
}

/// A shared part of a video.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedPart {
    /// The video.
    pub video_id: VideoId,
    /// The part, with times in seconds from the start of the video, to the millisecond.
    pub span: Span,
}

/// A share with its parts, in order, without those whose video was deleted or may not be seen by the
/// caller. There is at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareView {
    /// The share.
    pub share: Share,
    /// The first part.
    pub first: SharedPart,
    /// The other parts.
    pub others: Vec<SharedPart>,
}

impl ShareView {
    /// Combines a share and its parts; `None` if there are no parts.
    fn new(share: Share, parts: &[SharedPart]) -> Option<Self> {
        let (first, others) = parts.split_first()?;
        Some(Self { share, first: *first, others: others.to_vec() })
    }

    /// Combines the stored parts of a share; `None` if there are none.
    fn from_stored(mut parts: Vec<(VideoId, StoredPart)>) -> Option<Self> {
        parts.sort_by_key(|(_, part)| part.position);
        let share = parts.first()?.1.share.clone();
        let part =
            |(video_id, part): (VideoId, StoredPart)| SharedPart { video_id, span: part.span };
        Self::new(share, &parts.into_iter().map(part).collect::<Vec<_>>())
    }

    /// Returns all parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &SharedPart> {
        iter::once(&self.first).chain(&self.others)
    }
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
