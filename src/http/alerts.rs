//! `/alerts`: searches that are kept, and told of each video that has what they look for.

use poem_openapi::param::Path;
use poem_openapi::{Object, OpenApi};

use super::auth::{Service, Token};
use super::body::{Accepted, Json};
use super::errors::{ApiError, Change, OfOne, Plain, Rerun};
use super::query::{StandardResult, field};
use super::values::{AnyObject, shortest};
use crate::domain::alerts;
use crate::domain::kernel::urls::without_values;
use crate::domain::search::EVERY_ANALYZER;

/// The routes of this section.
pub(super) struct AlertsApi(pub(super) Service);

#[OpenApi]
impl AlertsApi {
    /// The alerts, by name.
    #[oai(path = "/alerts", method = "get", operation_id = "alerts")]
    async fn alerts(&self, token: Token) -> Result<Json<AlertList>, ApiError<Plain>> {
        let alerts = self.0.of(&token).alerts().await?;
        Ok(Json(AlertList { alerts: alerts.into_iter().map(Into::into).collect() }))
    }

    /// One alert, with the deliveries that failed.
    #[oai(path = "/alerts/:name", method = "get", operation_id = "alert")]
    async fn alert(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Json<Alert>, ApiError<OfOne>> {
        Ok(Json(self.0.of(&token).alert(&name).await?.into()))
    }

    /// Keep a search, whose webhook is told of each video that has what it looks for.
    ///
    /// From now on each video that is published, or changed by another ingest, is searched for it. Where
    /// it is there, the webhook gets a signed POST (`Shotlog-Signature`, as callbacks) with `event_id`,
    /// `alert`, `text`, `video_id`, `filename`, `p_present` and `moments`: at least once, each time with
    /// the same `event_id`. Changes the alert of that name where there is one.
    #[oai(path = "/alerts/:name", method = "put", operation_id = "put_alert")]
    async fn put_alert(
        &self,
        token: Token,
        /// At most 64 of a to z, 0 to 9, _ and -.
        name: Path<String>,
        Json(request): Json<AlertRequest>,
    ) -> Result<Json<Alert>, ApiError<Rerun>> {
        let AlertRequest { search, webhook } = request;
        Ok(Json(self.0.of(&token).put_alert(&name, search.into(), webhook).await?.into()))
    }

    /// Forget an alert.
    #[oai(path = "/alerts/:name", method = "delete", operation_id = "delete_alert")]
    async fn delete_alert(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Json<AlertDeleted>, ApiError<Change>> {
        self.0.of(&token).delete_alert(&name).await?;
        Ok(Json(AlertDeleted { name: name.0, deleted: true }))
    }

    /// What an alert finds in the videos that are there; nobody is told.
    #[oai(path = "/alerts/:name/test", method = "post", operation_id = "test_alert")]
    async fn test_alert(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Json<AlertTest>, ApiError<Change>> {
        let found = self.0.of(&token).test_alert(&name).await?;
        Ok(Json(AlertTest { results: found.into_iter().map(Into::into).collect() }))
    }

    /// Tell what could not be delivered once more.
    ///
    /// A job for each video whose delivery was given up: it is searched again, as it is now.
    #[oai(path = "/alerts/:name/retry", method = "post", operation_id = "retry_alert")]
    async fn retry_alert(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Accepted<AlertRetry>, ApiError<Rerun>> {
        let jobs = self.0.of(&token).retry_alert(&name).await?;
        Ok(Accepted(AlertRetry { job_ids: jobs.into_iter().map(|job| job.job_id).collect() }))
    }
}

#[derive(Object)]
struct AlertRetry {
    /// One for each video; none where nothing had failed.
    job_ids: Vec<String>,
}

#[derive(Object)]
struct AlertRequest {
    #[oai(flatten)]
    search: AlertSearch,
    /// Where it is told: an http(s) URL that is not private.
    webhook: String,
}

/// What is looked for, in the fields of `/query`.
#[derive(Object)]
struct AlertSearch {
    /// What to look for.
    #[oai(validator(min_length = 1))]
    text: String,
    /// `vector`, `text` or `hybrid`; null is `vector` for one analyzer, `hybrid` for all.
    #[oai(nullable)]
    mode: Option<String>,
    /// Analyzer whose output is searched, or `*` for that of all.
    #[oai(default = "everything")]
    analyzer: String,
    /// Vector field.
    #[oai(default = "field")]
    field: String,
    /// Hard conditions that must all hold.
    #[oai(default)]
    filters: AnyObject,
    /// Moments with a lower cosine are passed over.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score_threshold: Option<f64>,
    /// Moments that less probably have it are passed over.
    #[oai(default = "half", validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: f64,
    /// Moments of one video that are told at most.
    #[oai(default = "five", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
}

fn everything() -> String {
    EVERY_ANALYZER.into()
}

fn half() -> f64 {
    0.5
}

fn five() -> u32 {
    5
}

#[derive(Object)]
struct AlertList {
    alerts: Vec<Alert>,
}

#[derive(Object)]
struct Alert {
    name: String,
    #[oai(flatten)]
    search: AlertSearch,
    /// Without passwords and signatures.
    webhook: String,
    /// ISO 8601, second precision, UTC.
    created_at: String,
    /// Deliveries that were taken.
    delivered: u64,
    /// When the last of them was: ISO 8601, second precision, UTC; null before the first.
    #[oai(nullable)]
    last_delivered_at: Option<String>,
    /// Deliveries that were given up, the newest last; `POST /alerts/{name}/retry` tells them once more.
    failed: Vec<FailedDelivery>,
}

#[derive(Object)]
struct FailedDelivery {
    event_id: String,
    video_id: String,
    /// Why the last attempt failed.
    error: String,
    /// ISO 8601, second precision, UTC.
    at: String,
}

#[derive(Object)]
struct AlertDeleted {
    name: String,
    deleted: bool,
}

#[derive(Object)]
struct AlertTest {
    /// Best first.
    results: Vec<StandardResult>,
}

impl From<AlertSearch> for alerts::AlertSearch {
    fn from(search: AlertSearch) -> Self {
        Self {
            text: search.text,
            mode: search.mode,
            analyzer: search.analyzer,
            field: search.field,
            filters: search.filters.0,
            score_threshold: search.score_threshold.map(|x| x as f32),
            min_p_present: search.min_p_present as f32,
            limit: search.limit,
        }
    }
}

impl From<alerts::AlertSearch> for AlertSearch {
    fn from(search: alerts::AlertSearch) -> Self {
        Self {
            text: search.text,
            mode: search.mode,
            analyzer: search.analyzer,
            field: search.field,
            filters: AnyObject(search.filters),
            score_threshold: search.score_threshold.map(shortest),
            min_p_present: shortest(search.min_p_present),
            limit: search.limit,
        }
    }
}

impl From<alerts::Alert> for Alert {
    fn from(alert: alerts::Alert) -> Self {
        Self {
            name: alert.name,
            search: alert.search.into(),
            webhook: without_values(&alert.webhook),
            created_at: alert.created_at,
            delivered: alert.delivered,
            last_delivered_at: alert.last_delivered_at,
            failed: alert.failed.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<alerts::FailedDelivery> for FailedDelivery {
    fn from(failed: alerts::FailedDelivery) -> Self {
        let alerts::FailedDelivery { event_id, video_id, error, at } = failed;
        Self { event_id, video_id: video_id.to_string(), error, at }
    }
}
