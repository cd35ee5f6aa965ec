//! Lists the matches of alerts, and marks them as read.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use futures::{StreamExt, TryStreamExt, stream};

use super::handling::{MatchState, MatchVerdict};
use super::history::{AlertHistory, AlertMatch, Delivery, MatchSelection};
use super::{Alert, AlertOverview, Alerts};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::video::VideoId;
use crate::listing::BATCH;
use crate::records::MAX_CONCURRENT_READS;

/// A page of a list of matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchQuery {
    /// The name of the alert; `None` for the matches of all alerts.
    pub alert: Option<String>,
    /// Whether to list only unread matches.
    pub unread: bool,
    /// Only matches in this state; `None` for all.
    pub state: Option<MatchState>,
    /// Maximum number of matches.
    pub limit: usize,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
}

/// A page of matches.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchList {
    /// The matches of this page, newest first. Those of one event are in the order of the video.
    pub matches: Vec<MatchView>,
    /// Number of matches on all pages.
    pub total: usize,
    /// Number of unread matches of the alert, or of all alerts.
    pub unread: usize,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// A match as users see it.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchView {
    /// The name of the alert.
    pub alert: String,
    /// The match.
    pub alert_match: AlertMatch,
    /// Its delivery; `None` if the alert had no webhook when the match was found.
    pub delivery: Option<Delivery>,
    /// The video's file name.
    pub filename: String,
    /// Public storage URL of the video.
    pub video_url: String,
    /// The real time at which the moment begins, in ISO 8601 (UTC). `None` if the recording time is
    /// unknown.
    pub recorded_at: Option<String>,
}

/// The result of marking matches as read or unread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarkReadResult {
    /// Number of matches that changed.
    pub marked: usize,
    /// Number of matches of the alert, or of all alerts, that are still unread.
    pub unread: usize,
}

/// The place of a match in a list: newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ListPosition {
    found_at: Reverse<i64>,
    moment_id: MomentId,
    alert: String,
}

impl Alerts {
    /// Lists matches, newest first. Omits matches of videos that do not exist anymore, so a page may
    /// have fewer matches than the limit. Returns `NotFound` for an unknown alert, and `Invalid` if
    /// the cursor is malformed.
    pub async fn matches(&self, query: &MatchQuery) -> Result<MatchList> {
        let after = query.cursor.as_deref().map(ListPosition::parse).transpose()?;
        let histories = self.histories(query.alert.as_deref()).await?;
        let unread = histories.iter().map(|(_, history)| history.unread()).sum();
        let mut entries = Vec::new();
        for (alert, history) in &histories {
            let listed = history.matches.iter().filter(|m| query.includes(m));
            entries.extend(listed.map(|m| (ListPosition::new(alert, m), history, m)));
        }
        let total = entries.len();
        entries.retain(|(position, ..)| after.as_ref().is_none_or(|after| position > after));
        entries.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        let more = entries.len() > query.limit;
        entries.truncate(query.limit);
        let next = entries.last().filter(|_| more).map(|(position, ..)| position.cursor());
        Ok(MatchList { matches: self.views(entries).await?, total, unread, next })
    }

    /// Reads a match of an alert; `None` if there is no such match, or no such video anymore.
    pub(super) async fn view(
        &self,
        alert: &Alert,
        history: &AlertHistory,
        match_id: &str,
    ) -> Result<Option<MatchView>> {
        let found = history.matches.iter().find(|m| m.match_id == match_id);
        let entries = found.map(|m| (ListPosition::new(alert, m), history, m));
        Ok(self.views(entries.into_iter().collect()).await?.pop())
    }

    /// Adds what is known about the videos of matches.
    async fn views(
        &self,
        entries: Vec<(ListPosition, &AlertHistory, &AlertMatch)>,
    ) -> Result<Vec<MatchView>> {
        let ids: BTreeSet<VideoId> =
            entries.iter().map(|(position, ..)| position.moment_id.video_id()).collect();
        let ids: Vec<VideoId> = ids.into_iter().collect();
        let mut videos = HashMap::new();
        for batch in ids.chunks(BATCH) {
            for (entry, summary) in
                self.listing.visible_summaries(&Access::default(), batch).await?
            {
                let url = self.storage.download_url(&summary.storage_path).await?;
                videos.insert(entry.video_id, (entry.filename, url, summary.metadata));
            }
        }
        let view =
            |(position, history, alert_match): (ListPosition, &AlertHistory, &AlertMatch)| {
                let ListPosition { moment_id, alert, .. } = position;
                let (filename, video_url, metadata) = videos.get(&moment_id.video_id())?;
                Some(MatchView {
                    alert,
                    alert_match: alert_match.clone(),
                    delivery: history.delivery(alert_match).cloned(),
                    filename: filename.clone(),
                    video_url: video_url.clone(),
                    recorded_at: metadata.wall_clock(moment_id.span().start),
                })
            };
        Ok(entries.into_iter().filter_map(view).collect())
    }

    /// Marks matches of an alert, or of all alerts, as read or unread. Marking them again changes
    /// nothing. Returns `NotFound` for an unknown alert.
    pub async fn mark_read(
        &self,
        alert: Option<&str>,
        selection: &MatchSelection,
        read: bool,
    ) -> Result<MarkReadResult> {
        self.readiness.check()?;
        let mut result = MarkReadResult::default();
        for (alert, _) in self.histories(alert).await? {
            let (marked, history) =
                self.change_history(&alert, |history| history.mark(selection, read)).await?;
            result.marked += marked;
            result.unread += history.unread();
        }
        Ok(result)
    }

    /// Reads every alert with the size of its history, sorted by name.
    pub async fn overviews(&self) -> Result<Vec<AlertOverview>> {
        let alerts = self.list().await?;
        let overviews = stream::iter(alerts).map(|alert| self.overview(alert));
        overviews.buffered(MAX_CONCURRENT_READS).try_collect().await
    }

    /// Adds the size of its history to an alert. An unreadable history counts as empty, so that the
    /// alert can be read and deleted.
    pub async fn overview(&self, alert: Alert) -> Result<AlertOverview> {
        let history = self.readable_history(&alert).await?.unwrap_or_default();
        Ok(AlertOverview {
            matches: history.matches.len(),
            unread: history.unread(),
            confirmed: history.judged(MatchVerdict::Confirmed),
            false_alarms: history.judged(MatchVerdict::FalseAlarm),
            alert,
        })
    }

    /// Reads the history of one alert, or the readable histories of all alerts.
    async fn histories(&self, alert: Option<&str>) -> Result<Vec<(Alert, AlertHistory)>> {
        if let Some(name) = alert {
            let alert = self.get(name).await?;
            let history = self.history(&alert).await?;
            return Ok(vec![(alert, history)]);
        }
        let reads = stream::iter(self.list().await?).map(|alert| async move {
            let history = self.readable_history(&alert).await?;
            Ok::<_, Error>(history.map(|history| (alert, history)))
        });
        let histories: Vec<_> = reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        Ok(histories.into_iter().flatten().collect())
    }

    /// Reads a history. Logs that it is unreadable and returns `None` if it is.
    async fn readable_history(&self, alert: &Alert) -> Result<Option<AlertHistory>> {
        match self.history(alert).await {
            Err(error) if error.is_corrupt() => {
                tracing::warn!(alert = alert.name, %error, "matches are not listed");
                Ok(None)
            }
            history => history.map(Some),
        }
    }
}

impl MatchQuery {
    fn includes(&self, alert_match: &AlertMatch) -> bool {
        (!self.unread || !alert_match.read)
            && self.state.is_none_or(|state| alert_match.state() == state)
    }
}

impl ListPosition {
    fn new(alert: &Alert, alert_match: &AlertMatch) -> Self {
        Self {
            found_at: Reverse(alert_match.found_at),
            moment_id: alert_match.moment_id.clone(),
            alert: alert.name.clone(),
        }
    }

    /// Parses a cursor: `<found_at>_<moment_id>_<alert>`.
    fn parse(cursor: &str) -> Result<Self> {
        let position = || {
            let (found_at, rest) = cursor.split_once('_')?;
            // A moment id contains three underscores.
            let (end, _) = rest.match_indices('_').nth(3)?;
            let (moment_id, alert) = (&rest[..end], &rest[end + 1..]);
            Some(Self {
                found_at: Reverse(found_at.parse().ok()?),
                moment_id: moment_id.parse().ok()?,
                alert: alert.to_owned(),
            })
        };
        position().ok_or_else(|| {
            Error::Invalid(format!(
                "cursor is '{cursor}'; it must be the `next` of a page of matches"
            ))
        })
    }

    fn cursor(&self) -> String {
        format!("{}_{}_{}", self.found_at.0, self.moment_id, self.alert)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip() {
        let position = ListPosition {
            found_at: Reverse(1_700_000_000_123),
            moment_id: "m_0123456789abcdef_1000_2000".parse().expect("a moment"),
            alert: "red_van-2".into(),
        };
        assert_eq!(ListPosition::parse(&position.cursor()).expect("a cursor"), position);
        for bad in
            ["", "1", "1_m_0123456789abcdef_1_2", "x_m_0123456789abcdef_1_2_a", "1_ü_ü_ü_ü_ü"]
        {
            assert!(matches!(ListPosition::parse(bad), Err(Error::Invalid(_))), "{bad}");
        }
    }
}
