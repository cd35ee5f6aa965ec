//! Alerts: searches that are kept, and whose webhook is told of each video that is published and has what
//! they look for. Each is told at least once, with an event id that is the same each time.

mod store;
mod tell;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ports::records::RecordStore;
use ports::webhook::WebhookSender;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::catalog::Catalog;
use crate::domain::kernel::ports::Stores;
use crate::domain::kernel::video::VideoId;
use crate::domain::kernel::webhook::CallbackSettings;
use crate::domain::search::{Detail, Query, Search};

/// How many alerts there may be, and what is remembered of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertSettings {
    /// Alerts that are kept at most: each costs a search in every video that is published.
    pub max: usize,
    /// Deliveries that failed which are remembered of each, the newest.
    pub max_failures: usize,
}

impl Default for AlertSettings {
    fn default() -> Self {
        Self { max: 100, max_failures: 20 }
    }
}

/// What an alert looks for in every video that is published: the fields of a [`Query`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertSearch {
    /// What to look for.
    pub text: String,
    /// `vector`, `text` or `hybrid`; `None` is `vector` for one analyzer and `hybrid` for all.
    pub mode: Option<String>,
    /// Whose output is searched.
    pub analyzer: String,
    /// Vector field.
    pub field: String,
    /// As the client gave them.
    pub filters: Map<String, Value>,
    /// Moments with a lower cosine are passed over.
    pub score_threshold: Option<f32>,
    /// Moments that are less probably what is looked for are passed over, 0..1.
    pub min_p_present: f32,
    /// Moments of a video that are told at most, 1..=50.
    pub limit: u32,
}

/// An alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// What it is called.
    pub name: String,
    /// What it looks for.
    pub search: AlertSearch,
    /// Where it is told.
    pub webhook: String,
    /// Another one with each change of the search: its events are others.
    mark: String,
    /// When it was first made, ISO 8601.
    pub created_at: String,
    /// Deliveries that were taken.
    pub delivered: u64,
    /// When the last one was, ISO 8601.
    pub last_delivered_at: Option<String>,
    /// Deliveries that were given up, the newest last.
    pub failed: Vec<FailedDelivery>,
}

/// A delivery that was given up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedDelivery {
    /// That of the event.
    pub event_id: String,
    /// The video that was published.
    pub video_id: VideoId,
    /// Why the last attempt failed.
    pub error: String,
    /// When it was given up, ISO 8601.
    pub at: String,
}

/// What alerts were told of a published video, as its job shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertsResult {
    /// The video.
    pub video_id: VideoId,
    /// Alerts that found what they look for.
    pub alerts: u64,
    /// Those of them whose delivery was given up.
    pub failed_deliveries: u64,
}

/// Keeping alerts, and telling them.
pub struct Alerts {
    records: Arc<dyn RecordStore>,
    catalog: Arc<Catalog>,
    search: Arc<Search>,
    webhooks: Arc<dyn WebhookSender>,
    settings: AlertSettings,
    callbacks: CallbackSettings,
    /// The vectors of what is looked for, by the mark of the alert.
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
    /// The search in one video, or in all.
    fn query(&self, video_id: Option<VideoId>) -> Query {
        Query {
            text: self.text.clone(),
            mode: self.mode.clone(),
            video_ids: video_id.map(|id| vec![id.to_string()]),
            analyzer: self.analyzer.clone(),
            field: self.field.clone(),
            limit: self.limit,
            score_threshold: self.score_threshold,
            min_p_present: Some(self.min_p_present),
            synthesize: false,
            detail: Detail::Standard.name().into(),
            filters: self.filters.clone(),
            ..Query::default()
        }
    }
}
