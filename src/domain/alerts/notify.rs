//! Notifies alerts about a published video: runs their saved searches, stores the matches, and calls
//! the webhooks of the alerts that match.

use bytes::Bytes;
use futures::{StreamExt, stream};
use serde::Serialize;
use uuid::Uuid;

use super::history::AlertHistory;
use super::{Alert, Alerts, AlertsResult, FailedDelivery};
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::progress::{Progress, Stage};
use crate::kernel::time::now;
use crate::kernel::video::{ChunkId, VideoId};
use crate::kernel::webhook::WebhookOutcome;
use crate::publishing::publication::is_corrected;
use crate::records::record::VideoRecord;
use crate::search::SearchResult;

/// Maximum number of alerts processed concurrently.
const MAX_CONCURRENT: usize = 4;

/// What happened to an alert when a video was published.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AlertOutcome {
    /// Nothing matches, or the video is gone.
    NoMatch,
    /// The matches are stored, and the alert has no webhook.
    Stored,
    /// The matches are stored, and the webhook has accepted them.
    Delivered,
    /// The search or the delivery failed with this error.
    Failed(String),
}

/// The body of a webhook call.
#[derive(Serialize)]
struct AlertEvent<'a> {
    event_id: &'a str,
    alert: &'a str,
    text: &'a str,
    video_id: VideoId,
    filename: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    collection: Option<&'a str>,
    /// The highest `p_present` of the moments.
    p_present: f32,
    /// The matching moments, best first.
    moments: Vec<EventMoment<'a>>,
}

#[derive(Serialize)]
struct EventMoment<'a> {
    moment_id: &'a MomentId,
    chunk_id: ChunkId,
    start: f64,
    end: f64,
    timecode: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_at: Option<&'a str>,
    p_present: f32,
    snippet: &'a str,
    video_url: &'a str,
}

impl<'a> From<&'a SearchResult> for EventMoment<'a> {
    fn from(hit: &'a SearchResult) -> Self {
        Self {
            moment_id: &hit.moment_id,
            chunk_id: hit.chunk_id,
            start: hit.span.start,
            end: hit.span.end,
            timecode: &hit.timecode,
            recorded_at: hit.recorded_at.as_deref(),
            p_present: hit.p_present,
            snippet: &hit.snippet,
            video_url: &hit.video_url,
        }
    }
}

impl Alert {
    /// Returns the event id. It is always the same for the same alert and the same state of a
    /// video.
    fn event_id(&self, record: &VideoRecord) -> String {
        let revisions: Vec<String> = record.revisions().into_iter().collect();
        let event = format!("{}\n{}\n{}", self.mark, record.video_id, revisions.join("\n"));
        Uuid::new_v5(&Uuid::NAMESPACE_OID, event.as_bytes()).simple().to_string()
    }

    fn event(&self, event_id: &str, record: &VideoRecord, hits: &[SearchResult]) -> Result<Bytes> {
        let event = AlertEvent {
            event_id,
            alert: &self.name,
            text: &self.search.text,
            video_id: record.video_id,
            filename: &record.filename,
            collection: record.metadata.collection.as_deref(),
            p_present: hits.iter().map(|hit| hit.p_present).fold(0.0, f32::max),
            moments: hits.iter().map(EventMoment::from).collect(),
        };
        let body = serde_json::to_vec(&event);
        body.map(Into::into).map_err(|e| Error::corrupt(format!("cannot serialize an alert: {e}")))
    }
}

impl Alerts {
    /// Notifies every alert that is not paused about a video that has a publication note, about a
    /// correction only those that existed before the video. If `only` is given, notifies only the
    /// alert of that name, even if there is no note.
    pub(crate) async fn notify(
        &self,
        video_id: VideoId,
        only: Option<&str>,
        progress: &Progress,
    ) -> Result<AlertsResult> {
        progress.video(video_id);
        // Once the lock is free, the writer of the note has published the video or has died.
        drop(progress.cancellable(self.locks.lock(video_id)).await?);
        let note = self.publisher.publication(video_id).await?;
        let mut alerts = match (&note, only) {
            // Another job has handled the publication.
            (None, None) => Vec::new(),
            _ => self.list().await?,
        };
        alerts.retain(|alert| !alert.paused && only.is_none_or(|only| only == alert.name));
        let is_corrected = note.as_ref().is_some_and(is_corrected) && only.is_none();
        let done = self.notify_all(alerts, video_id, is_corrected, progress).await?;
        if let (Some(note), None) = (note, only) {
            self.publisher.remove_publication(video_id, &note).await?;
        }
        Ok(done)
    }

    async fn notify_all(
        &self,
        mut alerts: Vec<Alert>,
        video_id: VideoId,
        is_corrected: bool,
        progress: &Progress,
    ) -> Result<AlertsResult> {
        let mut done = AlertsResult { video_id, alerts: 0, failed_deliveries: 0 };
        let Some(record) = self.records.find_readable(video_id).await? else {
            for alert in alerts {
                self.record_outcome(&alert, video_id, "", &AlertOutcome::NoMatch).await?;
            }
            return Ok(done);
        };
        alerts.retain(|alert| !is_corrected || alert.created_at <= record.created_at);
        // Searches use the listing, which is outdated if the publication was interrupted.
        self.listing.relist(video_id).await?;
        let total = alerts.len();
        let outcomes = stream::iter(alerts).map(|alert| self.notify_one(alert, &record));
        let mut outcomes = std::pin::pin!(outcomes.buffer_unordered(MAX_CONCURRENT).enumerate());
        progress.stage(Stage::Alerting, serde_json::json!({ "total": total, "done": 0 }));
        while let Some((before, outcome)) =
            progress.cancellable(async { Ok(outcomes.next().await) }).await?
        {
            let outcome = outcome?;
            done.alerts += u64::from(outcome != AlertOutcome::NoMatch);
            done.failed_deliveries += u64::from(matches!(outcome, AlertOutcome::Failed(_)));
            let detail = serde_json::json!({ "total": total, "done": before + 1 });
            progress.stage(Stage::Alerting, detail);
        }
        Ok(done)
    }

    /// Runs an alert's search on a video. If anything matches, stores the matches and calls the
    /// alert's webhook.
    async fn notify_one(&self, alert: Alert, record: &VideoRecord) -> Result<AlertOutcome> {
        let event_id = alert.event_id(record);
        let outcome = match self.hits(&alert, record).await {
            Ok(hits) if hits.is_empty() => AlertOutcome::NoMatch,
            Ok(hits) => self.handle_event(&alert, &event_id, record, &hits).await?,
            // The stored error shows the alert's owner that the search is invalid, for example
            // because it filters on a deleted extractor.
            Err(error) => AlertOutcome::Failed(error.labelled()),
        };
        self.record_outcome(&alert, record.video_id, &event_id, &outcome).await?;
        Ok(outcome)
    }

    /// Stores the matches of an event, calls the webhook, and stores the outcome of the delivery.
    /// If the process dies in between, the job runs again and delivers the event again.
    async fn handle_event(
        &self,
        alert: &Alert,
        event_id: &str,
        record: &VideoRecord,
        hits: &[SearchResult],
    ) -> Result<AlertOutcome> {
        let (max, now) = (self.settings.max_matches, jiff::Timestamp::now().as_millisecond());
        let calls_webhook = alert.webhook.is_some();
        self.try_change_history(alert, |history| {
            history.record_event(event_id, hits, calls_webhook, now, max);
        })
        .await?;
        let Some(url) = &alert.webhook else { return Ok(AlertOutcome::Stored) };
        let (attempts, error) = match self.webhook(url) {
            Ok(webhook) => {
                let event = alert.event(event_id, record, hits)?;
                let WebhookOutcome { attempts, result } = webhook.send(event_id, event).await;
                (attempts, result.err().map(|error| error.to_string()))
            }
            Err(error) => (0, Some(error.labelled())),
        };
        self.try_change_history(alert, |history| {
            history.record_delivery(event_id, attempts, error.as_deref());
        })
        .await?;
        Ok(error.map_or(AlertOutcome::Delivered, AlertOutcome::Failed))
    }

    /// Changes an alert's history. If it is unreadable, leaves it as it is, so that the webhook is
    /// called nevertheless.
    async fn try_change_history(
        &self,
        alert: &Alert,
        change: impl Fn(&mut AlertHistory),
    ) -> Result<()> {
        match self.change_history(alert, change).await {
            Err(error) if error.is_corrupt() => {
                tracing::error!(alert = alert.name, %error, "matches were not stored");
                Ok(())
            }
            changed => changed.map(drop),
        }
    }

    /// Stores an alert's outcome for a video. Replaces earlier failures for the same video.
    async fn record_outcome(
        &self,
        notified: &Alert,
        video_id: VideoId,
        event_id: &str,
        outcome: &AlertOutcome,
    ) -> Result<()> {
        let failed_before = notified.failed.iter().any(|failed| failed.video_id == video_id);
        let is_stored = matches!(outcome, AlertOutcome::Delivered | AlertOutcome::Failed(_));
        if !is_stored && !failed_before {
            return Ok(());
        }
        self.change(&notified.name, |alert| {
            alert.failed.retain(|failed| failed.video_id != video_id);
            match outcome {
                AlertOutcome::NoMatch | AlertOutcome::Stored => {}
                AlertOutcome::Delivered => {
                    alert.delivered += 1;
                    alert.last_delivered_at = Some(now());
                }
                AlertOutcome::Failed(error) => alert.failed.push(FailedDelivery {
                    event_id: event_id.to_owned(),
                    video_id,
                    error: error.clone(),
                    at: now(),
                }),
            }
            let surplus = alert.failed.len().saturating_sub(self.settings.max_failures);
            alert.failed.drain(..surplus);
        })
        .await
    }

    async fn hits(&self, alert: &Alert, record: &VideoRecord) -> Result<Vec<SearchResult>> {
        let request = alert.search.request(Some(record.video_id))?;
        if alert.search.is_listing() {
            return self.search.list_in_record(record, &request).await;
        }
        let vector = self.vector(alert).await?;
        self.search.run_in_record(record, &request, vector).await
    }

    /// Returns the vector for an alert's search text. The vector is cached.
    async fn vector(&self, alert: &Alert) -> Result<Vec<f32>> {
        if let Some(vector) = self.vectors.lock().get(&alert.mark) {
            return Ok(vector.clone());
        }
        let request = alert.search.request(None)?;
        let text = request.target.search_text();
        let vector = self.search.embedder.request_vector(&request, text).await?;
        let mut vectors = self.vectors.lock();
        // Vectors of changed and deleted alerts accumulate, so empty the cache from time to time.
        if vectors.len() >= 2 * self.settings.max {
            vectors.clear();
        }
        vectors.insert(alert.mark.clone(), vector.clone());
        Ok(vector)
    }
}
