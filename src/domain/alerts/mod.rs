//! Alerts: saved searches that run on every published video. An alert stores the moments that match in
//! its history and, if it has a webhook, calls the webhook. Each event is delivered at least once;
//! repeated deliveries carry the same event id.
//!
//! `alerts/<name>.json` holds an alert and `alert-matches/<name>.json` its history. Both are changed
//! only by compare-and-swap. Matches are stored before the webhook is called. A match's id is derived
//! from the alert and the moment, so a job that runs again after a crash adds nothing.

mod edit;
mod handling;
mod history;
mod matches;
mod notify;
mod store;
mod upkeep;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use ports::records::RecordStore;
use ports::storage::ObjectStorage;
use ports::webhook::WebhookSender;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::kernel::webhook::CallbackSettings;
use crate::listing::Listing;
use crate::publishing::Publisher;
use crate::records::Records;
use crate::records::locks::VideoLocks;
use crate::records::readiness::StoreReadiness;
use crate::search::{ListingOrder, PageStart, Search, SearchRequest, SearchTarget};
pub use edit::{AlertChange, AlertEditor};
pub use handling::{Handling, MatchJudgement, MatchState, MatchVerdict};
pub use history::{AlertMatch, Delivery, DeliveryState, MatchSelection};
pub use matches::{MarkReadResult, MatchList, MatchQuery, MatchView};

/// Limits on alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertSettings {
    /// Maximum number of alerts. Each alert costs one search whenever a video is published.
    pub max: usize,
    /// Maximum number of failed deliveries stored per alert. The newest ones are kept.
    pub max_failures: usize,
    /// Maximum number of matches stored per alert. The newest ones are kept. They are in one
    /// document, with about 500 bytes each and their notes.
    pub max_matches: usize,
    /// Maximum length of the note on a match, in characters.
    pub max_note_chars: usize,
}

impl Default for AlertSettings {
    fn default() -> Self {
        Self { max: 100, max_failures: 20, max_matches: 500, max_note_chars: 500 }
    }
}

/// An alert's saved search, as fields of a [`SearchRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertSearch {
    /// Search text. If it is empty, every moment that the filters select matches.
    pub text: String,
    /// Search mode: `vector`, `text` or `hybrid`. If `None`, a search of one analyzer uses
    /// `vector`, and a search of all analyzers uses `hybrid`.
    pub mode: Option<String>,
    /// The analyzer whose output is searched.
    pub analyzer: String,
    /// The vector field to search.
    pub field: String,
    /// The request's filters, unparsed.
    pub filters: Map<String, Value>,
    /// Minimum cosine similarity of moments.
    pub score_threshold: Option<f32>,
    /// Minimum `p_present` of moments (0..1).
    pub min_p_present: f32,
    /// Maximum number of moments per event (1..=50).
    pub limit: u32,
}

/// An alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// The name that identifies the alert.
    pub name: String,
    /// The saved search, which is run on every published video.
    pub search: AlertSearch,
    /// URL of the webhook to call; `None` if the alert only stores its matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// Whether the alert is paused. A paused alert skips the videos that are published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Distinguishes the alert from earlier alerts of the same name, so that it does not get their
    /// history. Alerts that were stored without an id get one when they are read.
    #[serde(default)]
    id: String,
    /// A part of every event id. It changes whenever the search changes.
    mark: String,
    /// When the alert was created, in ISO 8601.
    pub created_at: String,
    /// Number of successful deliveries.
    pub delivered: u64,
    /// Time of the last successful delivery, in ISO 8601.
    pub last_delivered_at: Option<String>,
    /// Failed deliveries, newest last.
    pub failed: Vec<FailedDelivery>,
}

/// An alert with the size of its history.
#[derive(Debug, Clone, PartialEq)]
pub struct AlertOverview {
    /// The alert.
    pub alert: Alert,
    /// Number of stored matches.
    pub matches: usize,
    /// Number of stored matches that are unread.
    pub unread: usize,
    /// Number of stored matches that users have confirmed.
    pub confirmed: usize,
    /// Number of stored matches that users have judged to be false alarms.
    pub false_alarms: usize,
}

/// A delivery that was abandoned after all retries had failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedDelivery {
    /// The event's id.
    pub event_id: String,
    /// The published video.
    pub video_id: VideoId,
    /// The error from the last attempt.
    pub error: String,
    /// When the delivery was abandoned, in ISO 8601.
    pub at: String,
}

/// The result of a job that notifies the alerts about a published video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertsResult {
    /// The published video.
    pub video_id: VideoId,
    /// Number of alerts that matched.
    pub alerts: u64,
    /// Number of matching alerts whose delivery failed.
    pub failed_deliveries: u64,
}

/// The alert service: stores alerts and their matches, and calls their webhooks.
pub struct Alerts {
    store: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    records: Arc<Records>,
    listing: Arc<Listing>,
    publisher: Arc<Publisher>,
    locks: Arc<VideoLocks>,
    readiness: Arc<StoreReadiness>,
    search: Arc<Search>,
    webhooks: Arc<dyn WebhookSender>,
    settings: AlertSettings,
    callbacks: CallbackSettings,
    /// Vectors of the alerts' search texts, keyed by the alert's `mark`.
    vectors: Mutex<HashMap<String, Vec<f32>>>,
}

impl Alerts {
    pub(crate) fn new(
        stores: &Stores,
        catalog: &Catalog,
        search: Arc<Search>,
        settings: AlertSettings,
        callbacks: CallbackSettings,
    ) -> Self {
        Self {
            store: stores.records.clone(),
            storage: stores.storage.clone(),
            records: catalog.records.clone(),
            listing: catalog.listing.clone(),
            publisher: catalog.publisher.clone(),
            locks: catalog.locks.clone(),
            readiness: catalog.readiness.clone(),
            search,
            webhooks: stores.webhooks.clone(),
            settings,
            callbacks,
            vectors: Mutex::default(),
        }
    }
}

impl AlertSearch {
    /// Builds a request that searches the given video, or all videos if `video_id` is `None`.
    /// Returns `Invalid` for an unknown mode or field, and `Unprocessable` if there is neither a
    /// text nor a filter.
    fn request(&self, video_id: Option<VideoId>) -> Result<SearchRequest> {
        let target = match self.is_listing() {
            true if self.filters.is_empty() => {
                let reason = "text is missing; an alert searches for a text, or has filters";
                return Err(Error::Unprocessable(reason.into()));
            }
            true => SearchTarget::Listing(ListingOrder::Newest),
            false => SearchTarget::Text(self.text.clone()),
        };
        // Filters select with certainty, so a listing has no probabilities.
        let min_p_present = (!self.is_listing()).then_some(self.min_p_present);
        Ok(SearchRequest {
            target,
            analyzers: self.analyzer.clone().into(),
            field: self.field.parse()?,
            mode: self.mode.as_deref().map(str::parse).transpose()?,
            video_ids: video_id.map(|id| vec![id.to_string()]),
            filters: self.filters.clone(),
            limit: self.limit,
            score_threshold: self.score_threshold,
            min_p_present,
            rerank: false,
            page: PageStart::First,
        })
    }

    /// Whether the search has only filters.
    fn is_listing(&self) -> bool {
        self.text.is_empty()
    }
}
