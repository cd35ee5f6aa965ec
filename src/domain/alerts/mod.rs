//! Alerts: saved searches that call a webhook for every published video that matches. Each event is
//! delivered at least once; repeated deliveries carry the same event id.

mod notify;
mod store;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use ports::records::RecordStore;
use ports::webhook::WebhookSender;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::kernel::error::Result;
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::kernel::webhook::CallbackSettings;
use crate::search::{PageStart, Search, SearchRequest, SearchTarget};

/// Limits of alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertSettings {
    /// Maximum number of alerts; each costs a search in every published video.
    pub max: usize,
    /// Failed deliveries kept per alert; the newest are kept.
    pub max_failures: usize,
}

impl Default for AlertSettings {
    fn default() -> Self {
        Self { max: 100, max_failures: 20 }
    }
}

/// The saved search of an alert: the fields of a [`SearchRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertSearch {
    /// Search text.
    pub text: String,
    /// `vector`, `text` or `hybrid`; `None` is `vector` for one analyzer and `hybrid` for all.
    pub mode: Option<String>,
    /// The analyzer whose output is searched.
    pub analyzer: String,
    /// Vector field.
    pub field: String,
    /// The filters of the request, unparsed.
    pub filters: Map<String, Value>,
    /// Moments with a lower cosine are ignored.
    pub score_threshold: Option<f32>,
    /// Moments with a lower `p_present` are ignored, 0..1.
    pub min_p_present: f32,
    /// Maximum number of moments per event, 1..=50.
    pub limit: u32,
}

/// An alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// The name, by which clients address it.
    pub name: String,
    /// The saved search, which is run on every published video.
    pub search: AlertSearch,
    /// URL of the webhook to call.
    pub webhook: String,
    /// Part of the event ids; it changes whenever the search does.
    mark: String,
    /// When it was created, ISO 8601.
    pub created_at: String,
    /// Number of successful deliveries.
    pub delivered: u64,
    /// Time of the last successful delivery, ISO 8601.
    pub last_delivered_at: Option<String>,
    /// Failed deliveries, the newest last.
    pub failed: Vec<FailedDelivery>,
}

/// A delivery that was given up after retries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedDelivery {
    /// The event's id.
    pub event_id: String,
    /// The published video.
    pub video_id: VideoId,
    /// Error of the last attempt.
    pub error: String,
    /// When it was given up, ISO 8601.
    pub at: String,
}

/// The result of notifying the alerts about a published video, as its job reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertsResult {
    /// The published video.
    pub video_id: VideoId,
    /// Number of alerts that matched.
    pub alerts: u64,
    /// Number of matching alerts with a failed delivery.
    pub failed_deliveries: u64,
}

/// The alert service: stores alerts and calls their webhooks.
pub struct Alerts {
    records: Arc<dyn RecordStore>,
    catalog: Arc<Catalog>,
    search: Arc<Search>,
    webhooks: Arc<dyn WebhookSender>,
    settings: AlertSettings,
    callbacks: CallbackSettings,
    /// Vectors of the search texts, by the alert's `mark`.
    vectors: Mutex<HashMap<String, Vec<f32>>>,
}

impl Alerts {
    pub(crate) fn new(
        stores: &Stores,
        catalog: Arc<Catalog>,
        search: Arc<Search>,
        settings: AlertSettings,
        callbacks: CallbackSettings,
    ) -> Self {
        let (records, webhooks) = (stores.records.clone(), stores.webhooks.clone());
        let vectors = Mutex::default();
        Self { records, catalog, search, webhooks, settings, callbacks, vectors }
    }
}

impl AlertSearch {
    /// Builds the search in one video, or in all videos. Returns `Invalid` for an unknown mode or
    /// field.
    fn request(&self, video_id: Option<VideoId>) -> Result<SearchRequest> {
        Ok(SearchRequest {
            target: SearchTarget::parse(Some(self.text.clone()), None, None)?,
            analyzers: self.analyzer.clone().into(),
            field: self.field.parse()?,
            mode: self.mode.as_deref().map(str::parse).transpose()?,
            video_ids: video_id.map(|id| vec![id.to_string()]),
            filters: self.filters.clone(),
            limit: self.limit,
            score_threshold: self.score_threshold,
            min_p_present: Some(self.min_p_present),
            rerank: false,
            page: PageStart::First,
        })
    }
}
