//! Telling alerts of a video that was published.

use std::sync::PoisonError;

use bytes::Bytes;
use futures::{StreamExt, stream};
use serde::Serialize;
use uuid::Uuid;

use super::{Alert, Alerts, AlertsResult, FailedDelivery};
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::progress::{Progress, Stage};
use crate::domain::kernel::time::now;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::search::SearchResult;

/// Alerts that are seen to at once.
const AT_ONCE: usize = 4;

/// What a webhook is told.
#[derive(Serialize)]
struct Event<'a> {
    event_id: &'a str,
    alert: &'a str,
    text: &'a str,
    video_id: VideoId,
    filename: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    collection: Option<&'a str>,
    /// Of the best moment.
    p_present: f32,
    /// Best first.
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
            start: hit.document.start,
            end: hit.document.end,
            timecode: &hit.timecode,
            recorded_at: hit.recorded_at.as_deref(),
            p_present: hit.p_present,
            snippet: &hit.snippet,
            video_url: &hit.video_url,
        }
    }
}

impl Alert {
    /// The same each time that the same is found in the same state of a video.
    fn event_id(&self, record: &VideoRecord) -> String {
        let revisions: Vec<String> = record.revisions().into_iter().collect();
        let event = format!("{}\n{}\n{}", self.mark, record.video_id, revisions.join("\n"));
        Uuid::new_v5(&Uuid::NAMESPACE_OID, event.as_bytes()).simple().to_string()
    }

    fn event(&self, event_id: &str, record: &VideoRecord, hits: &[SearchResult]) -> Result<Bytes> {
        let event = Event {
            event_id,
            alert: &self.name,
            text: &self.search.text,
            video_id: record.video_id,
            filename: &record.filename,
            collection: record.about.collection.as_deref(),
            p_present: hits.iter().map(|hit| hit.p_present).fold(0.0, f32::max),
            moments: hits.iter().map(EventMoment::from).collect(),
        };
        let body = serde_json::to_vec(&event);
        body.map(Into::into).map_err(|e| Error::corrupt(format!("cannot tell an alert: {e}")))
    }
}

impl Alerts {
    /// Tells every alert of a video that was noted as published, or the named one of any video.
    pub(crate) async fn tell(
        &self,
        video_id: VideoId,
        only: Option<&str>,
        progress: &Progress,
    ) -> Result<AlertsResult> {
        progress.video(video_id);
        // Who has noted it has published it or has died, once its lock is free.
        drop(progress.cancellable(self.catalog.locks.lock(video_id)).await?);
        let note = self.catalog.publication(video_id).await?;
        let mut alerts = match (&note, only) {
            // Another job has seen to it.
            (None, None) => Vec::new(),
            _ => self.list().await?,
        };
        alerts.retain(|alert| only.is_none_or(|only| only == alert.name));
        let done = self.tell_all(alerts, video_id, progress).await?;
        if let (Some(note), None) = (note, only) {
            self.catalog.forget_publication(video_id, &note).await?;
        }
        Ok(done)
    }

    async fn tell_all(
        &self,
        alerts: Vec<Alert>,
        video_id: VideoId,
        progress: &Progress,
    ) -> Result<AlertsResult> {
        let mut done = AlertsResult { video_id, alerts: 0, failed_deliveries: 0 };
        let Some(record) = self.catalog.find_readable(video_id).await? else {
            for alert in alerts {
                self.enter(&alert, video_id, None, None).await?;
            }
            return Ok(done);
        };
        // Its hits are those of the listing, which a publication that met an error has left behind.
        self.catalog.relist(video_id).await?;
        let total = alerts.len();
        let told = stream::iter(alerts).map(|alert| self.tell_one(alert, &record));
        let mut told = std::pin::pin!(told.buffer_unordered(AT_ONCE).enumerate());
        progress.stage(Stage::Alerting, serde_json::json!({ "total": total, "done": 0 }));
        while let Some((before, outcome)) =
            progress.cancellable(async { Ok(told.next().await) }).await?
        {
            if let Some(taken) = outcome? {
                done.alerts += 1;
                done.failed_deliveries += u64::from(!taken);
            }
            let detail = serde_json::json!({ "total": total, "done": before + 1 });
            progress.stage(Stage::Alerting, detail);
        }
        Ok(done)
    }

    /// Looks for what an alert looks for in a video, and tells its webhook. Whether that took it; `None`
    /// where it is not there.
    async fn tell_one(&self, alert: Alert, record: &VideoRecord) -> Result<Option<bool>> {
        let event_id = alert.event_id(record);
        let told = match self.hits(&alert, record.video_id).await {
            Ok(hits) if hits.is_empty() => Ok(false),
            Ok(hits) => {
                let event = alert.event(&event_id, record, &hits)?;
                self.deliver(&alert, &event_id, event).await.map(|()| true)
            }
            // Its owner should know of a filter that names what is not there any more, too.
            Err(error) => Err(error.labelled()),
        };
        let outcome = told.as_ref().copied().map_or(Some(false), |told| told.then_some(true));
        let failure = told.err().map(|error| FailedDelivery {
            event_id,
            video_id: record.video_id,
            error,
            at: now(),
        });
        self.enter(&alert, record.video_id, outcome, failure).await?;
        Ok(outcome)
    }

    async fn deliver(
        &self,
        alert: &Alert,
        event_id: &str,
        event: Bytes,
    ) -> std::result::Result<(), String> {
        let webhook = self.webhook(&alert.webhook).map_err(|e| e.labelled())?;
        webhook.send(event_id, event).await.map_err(|e| e.to_string())
    }

    /// Enters what became of a video, in place of what had failed of it.
    async fn enter(
        &self,
        told: &Alert,
        video_id: VideoId,
        outcome: Option<bool>,
        failure: Option<FailedDelivery>,
    ) -> Result<()> {
        let failed_before = told.failed.iter().any(|failed| failed.video_id == video_id);
        if outcome.is_none() && !failed_before {
            return Ok(());
        }
        self.change(&told.name, |alert| {
            alert.failed.retain(|failed| failed.video_id != video_id);
            if outcome == Some(true) {
                alert.delivered += 1;
                alert.last_delivered_at = Some(now());
            }
            alert.failed.extend(failure.clone());
            let surplus = alert.failed.len().saturating_sub(self.settings.max_failures);
            alert.failed.drain(..surplus);
        })
        .await
    }

    async fn hits(&self, alert: &Alert, video_id: VideoId) -> Result<Vec<SearchResult>> {
        let query = alert.search.query(Some(video_id));
        let vector = self.vector(alert).await?;
        self.search.hits(&Access::default(), &query, vector).await
    }

    /// The vector of what an alert looks for; each is made once.
    async fn vector(&self, alert: &Alert) -> Result<Vec<f32>> {
        let lock = || self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = lock().get(&alert.mark) {
            return Ok(vector.clone());
        }
        let vector = self.search.vector_of(&alert.search.query(None)).await?;
        let mut vectors = lock();
        // Those of alerts that were changed or deleted are in it as well.
        if vectors.len() >= 2 * self.settings.max {
            vectors.clear();
        }
        vectors.insert(alert.mark.clone(), vector.clone());
        Ok(vector)
    }
}
