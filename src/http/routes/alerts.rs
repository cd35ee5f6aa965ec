//! `/alerts`: saved searches that run on every new video. `/inbox` has what they find.

use poem_openapi::param::Path;
use poem_openapi::types::MaybeUndefined;
use poem_openapi::{Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::{Accepted, Json};
use crate::http::wire::errors::{ApiError, ById, Change, Plain, Rerun};
use crate::http::wire::hits::{StandardResult, field};
use crate::http::wire::values::{AnyObject, shortest};
use domain::alerts::{self, AlertEditor};
use domain::kernel::urls::redact_query;
use domain::search::{ALL_ANALYZERS, ScoreKind};

/// The routes of this section.
pub(super) struct AlertsApi(pub(super) Service);

#[OpenApi]
impl AlertsApi {
    /// List alerts.
    ///
    /// Alerts are sorted by name.
    #[oai(path = "/alerts", method = "get", operation_id = "alerts")]
    async fn alerts(&self, token: CallerToken) -> Result<Json<AlertList>, ApiError<Plain>> {
        let alerts = self.0.scoped(&token).unrestricted()?.alerts().await?;
        Ok(Json(AlertList { alerts: alerts.into_iter().map(Into::into).collect() }))
    }

    /// Get an alert.
    ///
    /// The response includes the alert's failed deliveries.
    #[oai(path = "/alerts/:name", method = "get", operation_id = "alert")]
    async fn alert(
        &self,
        token: CallerToken,
        /// Name of the alert.
        name: Path<String>,
    ) -> Result<Json<AlertBody>, ApiError<ById>> {
        Ok(Json(self.0.scoped(&token).unrestricted()?.alert(&name).await?.into()))
    }

    /// Create or update an alert.
    ///
    /// An alert is a saved search that runs on every video that is ingested after the alert was
    /// created. The moments that match are stored: `GET /inbox` and `GET /alerts/{name}/matches` list
    /// them. If the alert has a webhook, it receives a signed POST (header `Shotlog-Signature`, as for
    /// job callbacks) with `event_id`, `alert`, `text`, `video_id`, `filename`, `p_present` and
    /// `moments`. Each event is delivered at least once; repeated deliveries have the same `event_id`.
    /// An alert without `text` matches every moment that its filters select. Updating an alert keeps its
    /// matches, and a paused alert stays paused; without `webhook`, the webhook is removed.
    #[oai(path = "/alerts/:name", method = "put", operation_id = "put_alert")]
    async fn put_alert(
        &self,
        token: CallerToken,
        /// Name of the alert: 1 to 64 characters of `a`-`z`, `0`-`9`, `_` and `-`.
        name: Path<String>,
        Json(request): Json<AlertRequest>,
    ) -> Result<Json<AlertBody>, ApiError<Rerun>> {
        let AlertRequest { search, webhook } = request;
        let service = self.0.scoped(&token);
        let alerts = service.unrestricted()?.for_write()?.alerts();
        Ok(Json(alerts.put(&name, search.into(), webhook).await?.into()))
    }

    /// Change an alert.
    ///
    /// Absent fields are not changed, and the alert keeps its matches. The change affects only videos
    /// that are ingested later. While an alert is paused, it finds nothing; the videos that are ingested
    /// in the meantime are not searched when it is resumed.
    #[oai(path = "/alerts/:name", method = "patch", operation_id = "update_alert")]
    async fn update_alert(
        &self,
        token: CallerToken,
        /// Name of the alert.
        name: Path<String>,
        Json(request): Json<AlertUpdateRequest>,
    ) -> Result<Json<AlertBody>, ApiError<Rerun>> {
        let service = self.0.scoped(&token);
        let editor = AlertEditor::new(service.unrestricted()?.for_write()?.alerts());
        Ok(Json(editor.update(&name, &request.into()).await?.into()))
    }

    /// Delete an alert.
    ///
    /// Its matches are deleted, too.
    #[oai(path = "/alerts/:name", method = "delete", operation_id = "delete_alert")]
    async fn delete_alert(
        &self,
        token: CallerToken,
        /// Name of the alert.
        name: Path<String>,
    ) -> Result<Json<AlertDeleted>, ApiError<Change>> {
        self.0.scoped(&token).unrestricted()?.for_write()?.alerts().delete(&name).await?;
        Ok(Json(AlertDeleted { name: name.0, deleted: true }))
    }

    /// Test an alert.
    ///
    /// Runs the search on all stored videos without calling the webhook.
    #[oai(path = "/alerts/:name/test", method = "post", operation_id = "test_alert")]
    async fn test_alert(
        &self,
        token: CallerToken,
        /// Name of the alert.
        name: Path<String>,
    ) -> Result<Json<AlertTest>, ApiError<Change>> {
        let page = self.0.scoped(&token).unrestricted()?.test_alert(&name).await?;
        let mut results: Vec<StandardResult> = page.results.into_iter().map(Into::into).collect();
        if page.score_kind == ScoreKind::Unscored {
            results.iter_mut().for_each(StandardResult::remove_scores);
        }
        Ok(Json(AlertTest { results }))
    }

    /// Retry failed deliveries.
    ///
    /// Starts a job for each video whose delivery or search failed. The search runs again on the
    /// video's current output. Returns 400 if the alert is paused.
    #[oai(path = "/alerts/:name/retry", method = "post", operation_id = "retry_alert")]
    async fn retry_alert(
        &self,
        token: CallerToken,
        /// Name of the alert.
        name: Path<String>,
    ) -> Result<Accepted<AlertRetry>, ApiError<Rerun>> {
        let jobs = self
            .0
            .scoped(&token)
            .unrestricted()?
            .for_write()?
            .submission()
            .retry_alert(&name)
            .await?;
        Ok(Accepted(AlertRetry { job_ids: jobs.into_iter().map(|job| job.job_id).collect() }))
    }
}

#[derive(Object)]
struct AlertRetry {
    /// Ids of the jobs, one per video; empty if no delivery has failed.
    job_ids: Vec<String>,
}

#[derive(Object)]
struct AlertRequest {
    #[oai(flatten)]
    search: AlertSearchBody,
    /// http(s) URL that receives matches. Private addresses are rejected. Returns 400 if this install
    /// sends no callbacks. Null: the matches are only stored.
    #[oai(nullable)]
    webhook: Option<String>,
}

/// Changes to an alert. Absent fields are not changed.
#[derive(Object)]
struct AlertUpdateRequest {
    /// The new name: 1 to 64 characters of `a`-`z`, `0`-`9`, `_` and `-`. No other alert may have it.
    name: Option<String>,
    /// The new search text; empty if the alert has only filters.
    text: Option<String>,
    /// The new search mode; null for the default.
    #[oai(nullable)]
    mode: MaybeUndefined<String>,
    /// Id of the analyzer whose output is searched, or `*` for all analyzers.
    analyzer: Option<String>,
    /// Vector field to search.
    field: Option<String>,
    /// The new filters, which replace all current ones.
    filters: Option<AnyObject>,
    /// Minimum cosine similarity of a match, from 0 to 1; null for no minimum.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score_threshold: MaybeUndefined<f64>,
    /// Minimum `p_present` of a match, from 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Maximum number of moments per video, from 1 to 50.
    #[oai(validator(minimum(value = "1"), maximum(value = "50")))]
    limit: Option<u32>,
    /// The new webhook URL; null to remove it.
    #[oai(nullable)]
    webhook: MaybeUndefined<String>,
    /// Whether the alert is paused.
    paused: Option<bool>,
}

/// The search that an alert runs. Its fields have the same meaning as in `/query`.
#[derive(Object)]
#[oai(rename = "AlertSearch")]
struct AlertSearchBody {
    /// Search text; empty if the alert has only filters. Returns 422 if there are no filters either.
    #[oai(default)]
    text: String,
    /// Search mode: `vector`, `text` or `hybrid`. Null: `vector` for one analyzer, `hybrid` for
    /// `*`.
    #[oai(nullable)]
    mode: Option<String>,
    /// Id of the analyzer whose output is searched, or `*` for all analyzers. Default: `*`.
    #[oai(default = "everything")]
    analyzer: String,
    /// Vector field to search, one of the `vector_fields` in `GET /schema`. Default: `combined`.
    #[oai(default = "field")]
    field: String,
    /// Hard filters that must all match, as in `/query`.
    #[oai(default)]
    filters: AnyObject,
    /// Minimum cosine similarity of a match, from 0 to 1. Null: no minimum.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score_threshold: Option<f64>,
    /// Minimum `p_present` of a match, from 0 to 1. Without `text`, it does not apply. Default: 0.5.
    #[oai(default = "half", validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: f64,
    /// Maximum number of moments per video. Default: 50.
    #[oai(default = "fifty", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
}

fn everything() -> String {
    ALL_ANALYZERS.into()
}

fn half() -> f64 {
    0.5
}

fn fifty() -> u32 {
    50
}

#[derive(Object)]
struct AlertList {
    /// The alerts, sorted by name.
    alerts: Vec<AlertBody>,
}

#[derive(Object)]
#[oai(rename = "Alert")]
struct AlertBody {
    /// Name of the alert.
    name: String,
    #[oai(flatten)]
    search: AlertSearchBody,
    /// Webhook URL, without credentials or query values; null if there is none.
    #[oai(nullable)]
    webhook: Option<String>,
    /// Whether the alert is paused, so that it finds nothing in videos that are ingested now.
    paused: bool,
    /// Creation time (ISO 8601, UTC, to the second).
    created_at: String,
    /// Number of successful deliveries.
    delivered: u64,
    /// Time of the last successful delivery (ISO 8601, UTC, to the second); null before the first
    /// one.
    #[oai(nullable)]
    last_delivered_at: Option<String>,
    /// Failed deliveries and searches, newest last; `POST /alerts/{name}/retry` retries them.
    failed: Vec<FailedDeliveryBody>,
    /// Number of stored matches, which `GET /alerts/{name}/matches` lists.
    matches: u32,
    /// Number of stored matches that are unread.
    unread: u32,
    /// Number of stored matches that users have confirmed.
    confirmed: u32,
    /// Number of stored matches that users have judged to be false alarms.
    false_alarms: u32,
}

#[derive(Object)]
#[oai(rename = "FailedDelivery")]
struct FailedDeliveryBody {
    /// Id of the event, the same in every delivery attempt.
    event_id: String,
    /// Id of the video.
    video_id: String,
    /// Error of the last attempt.
    error: String,
    /// Time of the failure (ISO 8601, UTC, to the second).
    at: String,
}

#[derive(Object)]
struct AlertDeleted {
    /// Name of the alert.
    name: String,
    /// Always true.
    deleted: bool,
}

#[derive(Object)]
struct AlertTest {
    /// Matching moments: best match first, or newest video first if the alert has no text.
    results: Vec<StandardResult>,
}

impl From<AlertSearchBody> for alerts::AlertSearch {
    fn from(search: AlertSearchBody) -> Self {
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

impl From<AlertUpdateRequest> for alerts::AlertChange {
    fn from(request: AlertUpdateRequest) -> Self {
        Self {
            name: request.name,
            text: request.text,
            mode: change(request.mode),
            analyzer: request.analyzer,
            field: request.field,
            filters: request.filters.map(|filters| filters.0),
            score_threshold: change(request.score_threshold).map(|score| score.map(|x| x as f32)),
            min_p_present: request.min_p_present.map(|p| p as f32),
            limit: request.limit,
            webhook: change(request.webhook),
            paused: request.paused,
        }
    }
}

/// Returns the new value of a field that null clears; `None` if the field is not changed.
fn change<T>(field: MaybeUndefined<T>) -> Option<Option<T>> {
    match field {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(None),
        MaybeUndefined::Value(value) => Some(Some(value)),
    }
}

impl From<alerts::AlertSearch> for AlertSearchBody {
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

impl From<alerts::AlertOverview> for AlertBody {
    fn from(overview: alerts::AlertOverview) -> Self {
        let alerts::AlertOverview { alert, matches, unread, confirmed, false_alarms } = overview;
        Self {
            name: alert.name,
            search: alert.search.into(),
            webhook: alert.webhook.as_deref().map(redact_query),
            paused: alert.paused,
            created_at: alert.created_at,
            delivered: alert.delivered,
            last_delivered_at: alert.last_delivered_at,
            failed: alert.failed.into_iter().map(Into::into).collect(),
            matches: matches as u32,
            unread: unread as u32,
            confirmed: confirmed as u32,
            false_alarms: false_alarms as u32,
        }
    }
}

impl From<alerts::FailedDelivery> for FailedDeliveryBody {
    fn from(failed: alerts::FailedDelivery) -> Self {
        let alerts::FailedDelivery { event_id, video_id, error, at } = failed;
        Self { event_id, video_id: video_id.to_string(), error, at }
    }
}
