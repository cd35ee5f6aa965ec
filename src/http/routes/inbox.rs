//! `/inbox` and `/alerts/{name}/matches`: the moments that alerts have found.

use poem_openapi::param::{Path, Query};
use poem_openapi::types::MaybeUndefined;
use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, ByIdChecked, Listing, Rerun, Search};
use crate::http::wire::params::{Bounded, Flag};
use crate::http::wire::values::shortest;
use domain::alerts::{self, Handling, MatchJudgement, MatchQuery, MatchSelection, MatchVerdict};
use domain::kernel::error::Error;
use domain::kernel::time::{Span, instant, iso, iso_milliseconds};

/// The routes of this section.
pub(super) struct InboxApi(pub(super) Service);

#[OpenApi]
impl InboxApi {
    /// List the matches of all alerts.
    ///
    /// A match is a moment that an alert found in a newly published video. Matches are listed newest
    /// first; those that an alert found at the same time are in the order of the video. The matches
    /// of deleted videos and alerts are removed. A page may have fewer matches than `limit` although
    /// more follow; `next` is absent only on the last page.
    #[oai(path = "/inbox", method = "get", operation_id = "inbox")]
    async fn inbox(
        &self,
        token: CallerToken,
        /// Only unread matches. Default: false.
        #[oai(default = "no")]
        unread: Query<Flag>,
        /// Only matches that users have judged so, `confirmed` or `false_alarm`, or that are still
        /// `open`.
        verdict: Query<Option<String>>,
        /// Maximum number of matches per page, from 1 to 500. Default: 50.
        #[oai(default = "fifty")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<AlertMatchList>, ApiError<Listing>> {
        let query = match_query(None, unread.0, verdict.0.as_deref(), limit.0, cursor.0)?;
        Ok(Json(self.matches(&token, &query).await?))
    }

    /// Mark matches of all alerts as read or unread.
    ///
    /// Marking a match again changes nothing. Returns 422 unless exactly one of `match_ids` and
    /// `until` is set.
    #[oai(path = "/inbox/read", method = "post", operation_id = "mark_inbox_read")]
    async fn mark_inbox_read(
        &self,
        token: CallerToken,
        Json(request): Json<MarkReadRequest>,
    ) -> Result<Json<MarkReadBody>, ApiError<Search>> {
        Ok(Json(self.mark_read(&token, None, request).await?))
    }

    /// List the matches of an alert.
    ///
    /// Lists the moments that the alert has found, as in `GET /inbox`. The number of stored matches
    /// per alert is limited (`alerts.max_matches`); the newest ones are kept.
    #[oai(path = "/alerts/:name/matches", method = "get", operation_id = "alert_matches")]
    async fn alert_matches(
        &self,
        token: CallerToken,
        /// Name of the alert.
        name: Path<String>,
        /// Only unread matches. Default: false.
        #[oai(default = "no")]
        unread: Query<Flag>,
        /// Only matches that users have judged so, `confirmed` or `false_alarm`, or that are still
        /// `open`.
        verdict: Query<Option<String>>,
        /// Maximum number of matches per page, from 1 to 500. Default: 50.
        #[oai(default = "fifty")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<AlertMatchList>, ApiError<ByIdChecked>> {
        let query = match_query(Some(name.0), unread.0, verdict.0.as_deref(), limit.0, cursor.0)?;
        Ok(Json(self.matches(&token, &query).await?))
    }

    /// Mark matches of an alert as read or unread.
    ///
    /// Marking a match again changes nothing. Returns 422 unless exactly one of `match_ids` and
    /// `until` is set.
    #[oai(
        path = "/alerts/:name/matches/read",
        method = "post",
        operation_id = "mark_alert_matches_read"
    )]
    async fn mark_alert_matches_read(
        &self,
        token: CallerToken,
        /// Name of the alert.
        name: Path<String>,
        Json(request): Json<MarkReadRequest>,
    ) -> Result<Json<MarkReadBody>, ApiError<Rerun>> {
        Ok(Json(self.mark_read(&token, Some(&name), request).await?))
    }

    /// Judge a match.
    ///
    /// Stores whether the alert was right, with a note, who judged and when. The match is read then.
    /// `"verdict": null` opens it again, and marks it neither as read nor as unread. Judging a match
    /// does not change what the alert finds.
    #[oai(
        path = "/alerts/:name/matches/:match_id",
        method = "patch",
        operation_id = "judge_alert_match"
    )]
    async fn judge_alert_match(
        &self,
        token: CallerToken,
        /// Name of the alert.
        name: Path<String>,
        /// Id of the match.
        match_id: Path<String>,
        Json(request): Json<MatchJudgementRequest>,
    ) -> Result<Json<AlertMatchBody>, ApiError<Rerun>> {
        let service = self.0.scoped(&token);
        let editor = service.unrestricted()?.for_write()?;
        Ok(Json(editor.judge_match(&name, &match_id, &request.try_into()?).await?.into()))
    }
}

fn match_query(
    alert: Option<String>,
    unread: Flag,
    verdict: Option<&str>,
    limit: Bounded<1, 500>,
    cursor: Option<String>,
) -> Result<MatchQuery, Error> {
    let state = verdict.map(str::parse).transpose()?;
    Ok(MatchQuery { alert, unread: unread.0, state, limit: limit.0 as usize, cursor })
}

impl InboxApi {
    async fn matches(
        &self,
        token: &CallerToken,
        query: &MatchQuery,
    ) -> Result<AlertMatchList, Error> {
        Ok(self.0.scoped(token).unrestricted()?.alert_matches(query).await?.into())
    }

    async fn mark_read(
        &self,
        token: &CallerToken,
        alert: Option<&str>,
        request: MarkReadRequest,
    ) -> Result<MarkReadBody, Error> {
        let service = self.0.scoped(token);
        let alerts = service.unrestricted()?.for_write()?.alerts();
        let read = request.read;
        Ok(alerts.mark_read(alert, &request.try_into()?, read).await?.into())
    }
}

fn no() -> Flag {
    Flag(false)
}

fn yes() -> bool {
    true
}

fn fifty() -> Bounded<1, 500> {
    Bounded(50)
}

/// The matches to mark: either `match_ids` or `until`.
#[derive(Object)]
struct MarkReadRequest {
    /// Ids of matches. Ids of matches that do not exist are ignored.
    #[oai(validator(min_items = 1, max_items = 500))]
    match_ids: Option<Vec<String>>,
    /// Marks every match that was found at or before this time (ISO 8601, UTC). With the `found_at`
    /// of the first match of a list, matches that are found later stay unread.
    until: Option<String>,
    /// Whether they are marked as read, or as unread.
    #[oai(default = "yes")]
    read: bool,
}

/// Whether an alert was right to find a moment.
#[derive(Object)]
struct MatchJudgementRequest {
    /// `confirmed`: the moment has what the alert is for; `false_alarm`: it does not; null: the match
    /// is open again.
    #[oai(nullable)]
    verdict: MaybeUndefined<MatchVerdictBody>,
    /// The reason, or what was done, at most `alerts.max_note_chars` characters. Null: none.
    #[oai(nullable)]
    note: Option<String>,
    /// Name of the person who judges, at most 100 characters, if the token has no name. Null: the
    /// name of the token, or `anonymous`.
    #[oai(nullable)]
    author: Option<String>,
}

#[derive(Enum)]
#[oai(rename = "AlertMatchVerdict", rename_all = "snake_case")]
enum MatchVerdictBody {
    Confirmed,
    FalseAlarm,
}

#[derive(Object)]
#[oai(rename = "MarkReadResult")]
struct MarkReadBody {
    /// Number of matches that changed.
    marked: u32,
    /// Number of matches that are still unread, of the alert or of all alerts.
    unread: u32,
}

#[derive(Object)]
struct AlertMatchList {
    /// The matches of this page, newest first.
    matches: Vec<AlertMatchBody>,
    /// Number of matches on all pages.
    total: u32,
    /// Number of unread matches, of the alert or of all alerts.
    unread: u32,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

/// A moment that an alert has found.
#[derive(Object)]
#[oai(rename = "AlertMatch")]
struct AlertMatchBody {
    /// Id of the match. The same moment has the same id whenever the alert finds it again.
    match_id: String,
    /// Name of the alert.
    alert: String,
    /// Id of the moment; `GET /moments/{moment_id}` reads it.
    moment_id: String,
    /// Id of the video.
    video_id: String,
    /// File name of the video.
    filename: String,
    /// Start, in seconds from the start of the video.
    start: f64,
    /// End, in seconds from the start of the video.
    end: f64,
    /// Start and end as `M:SS.ss-M:SS.ss`.
    timecode: String,
    /// The first 180 characters of the moment's text when it was found.
    snippet: String,
    /// Cosine similarity to the search of the alert when the moment was found, from 0 to 1; 0 if the
    /// alert has only filters.
    score: f64,
    /// Probability that the moment contained what the alert searches for, from 0 to 1; 1 if the alert
    /// has only filters.
    p_present: f64,
    /// Public storage URL of the video.
    video_url: String,
    /// Path of the frame in the middle of the moment; takes `width` like other frames.
    frame_url: String,
    /// Wall-clock time of the start (ISO 8601, UTC); null if the recording time is unknown.
    #[oai(nullable)]
    recorded_at: Option<String>,
    /// Time at which the moment was found (ISO 8601, UTC, to the millisecond).
    found_at: String,
    /// Whether the match has been marked as read.
    read: bool,
    /// Whether the alert was right, as a user judged; absent while the match is open.
    #[oai(skip_serializing_if_is_none)]
    verdict: Option<MatchVerdictBody>,
    /// The reason that the user gave; absent if there is none.
    #[oai(skip_serializing_if_is_none)]
    note: Option<String>,
    /// Name of the person who judged; absent while the match is open.
    #[oai(skip_serializing_if_is_none)]
    handled_by: Option<String>,
    /// Time of the judgement (ISO 8601, UTC, to the second); absent while the match is open.
    #[oai(skip_serializing_if_is_none)]
    handled_at: Option<String>,
    /// Delivery to the webhook; null if the alert had no webhook when it found the moment.
    #[oai(nullable)]
    delivery: Option<DeliveryBody>,
}

/// The delivery of a match to the webhook.
#[derive(Object)]
#[oai(rename = "AlertDelivery")]
struct DeliveryBody {
    /// `pending` until the webhook has been called, then `delivered`, or `failed` if no attempt
    /// succeeded.
    state: DeliveryStateBody,
    /// Number of attempts that have ended. Counted when the last one has ended.
    attempts: u32,
    /// Error of the last attempt; null unless it failed.
    #[oai(nullable)]
    error: Option<String>,
}

#[derive(Enum)]
#[oai(rename = "AlertDeliveryState", rename_all = "snake_case")]
enum DeliveryStateBody {
    Pending,
    Delivered,
    Failed,
}

impl TryFrom<MarkReadRequest> for MatchSelection {
    type Error = Error;

    fn try_from(request: MarkReadRequest) -> Result<Self, Error> {
        match (request.match_ids, request.until) {
            (Some(ids), None) => Ok(Self::Ids(ids.into_iter().collect())),
            (None, Some(until)) => match instant(&until) {
                Some(until) => Ok(Self::Until(until)),
                None => Err(Error::Unprocessable(format!(
                    "until is '{until}'; it must be a time such as 2026-01-31T12:00:00Z"
                ))),
            },
            _ => Err(Error::Unprocessable("set either match_ids or until".into())),
        }
    }
}

impl TryFrom<MatchJudgementRequest> for MatchJudgement {
    type Error = Error;

    fn try_from(request: MatchJudgementRequest) -> Result<Self, Error> {
        let verdict = match request.verdict {
            MaybeUndefined::Value(MatchVerdictBody::Confirmed) => Some(MatchVerdict::Confirmed),
            MaybeUndefined::Value(MatchVerdictBody::FalseAlarm) => Some(MatchVerdict::FalseAlarm),
            MaybeUndefined::Null => None,
            MaybeUndefined::Undefined => {
                return Err(Error::Unprocessable(
                    "verdict is missing; it must be confirmed, false_alarm, or null to open the \
                     match again"
                        .into(),
                ));
            }
        };
        Ok(Self { verdict, note: request.note, author: request.author })
    }
}

impl From<MatchVerdict> for MatchVerdictBody {
    fn from(verdict: MatchVerdict) -> Self {
        match verdict {
            MatchVerdict::Confirmed => Self::Confirmed,
            MatchVerdict::FalseAlarm => Self::FalseAlarm,
        }
    }
}

impl From<alerts::MarkReadResult> for MarkReadBody {
    fn from(result: alerts::MarkReadResult) -> Self {
        Self { marked: result.marked as u32, unread: result.unread as u32 }
    }
}

impl From<alerts::MatchList> for AlertMatchList {
    fn from(list: alerts::MatchList) -> Self {
        Self {
            matches: list.matches.into_iter().map(Into::into).collect(),
            total: list.total as u32,
            unread: list.unread as u32,
            next: list.next,
        }
    }
}

impl From<alerts::MatchView> for AlertMatchBody {
    fn from(view: alerts::MatchView) -> Self {
        let alerts::MatchView { alert, alert_match, delivery, filename, video_url, recorded_at } =
            view;
        let (video_id, span) = (alert_match.moment_id.video_id(), alert_match.moment_id.span());
        let Span { start, end } = span;
        let (verdict, note, handled_by, handled_at) = match alert_match.handling {
            Some(Handling { verdict, note, by, at }) => {
                (Some(verdict.into()), note, Some(by), Some(iso(at)))
            }
            None => (None, None, None, None),
        };
        Self {
            match_id: alert_match.match_id,
            alert,
            moment_id: alert_match.moment_id.to_string(),
            video_id: video_id.to_string(),
            filename,
            start,
            end,
            timecode: span.timecode(),
            snippet: alert_match.snippet,
            score: shortest(alert_match.score),
            p_present: shortest(alert_match.p_present),
            video_url,
            frame_url: format!("/videos/{video_id}/frames?t={:.3}", (start + end) / 2.0),
            recorded_at,
            found_at: iso_milliseconds(alert_match.found_at),
            read: alert_match.read,
            verdict,
            note,
            handled_by,
            handled_at,
            delivery: delivery.map(Into::into),
        }
    }
}

impl From<alerts::Delivery> for DeliveryBody {
    fn from(delivery: alerts::Delivery) -> Self {
        let state = match delivery.state {
            alerts::DeliveryState::Pending => DeliveryStateBody::Pending,
            alerts::DeliveryState::Delivered => DeliveryStateBody::Delivered,
            alerts::DeliveryState::Failed => DeliveryStateBody::Failed,
        };
        Self { state, attempts: delivery.attempts, error: delivery.error }
    }
}
