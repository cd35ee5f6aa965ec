//! The history of an alert: the matches that it has found, and their deliveries to the webhook. Reads
//! and stores nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::handling::{Handling, MatchState, MatchVerdict};
use crate::kernel::moment::MomentId;
use crate::kernel::video::VideoId;
use crate::search::SearchResult;

/// Maximum length of the error stored for a delivery, in characters.
const MAX_ERROR_CHARS: usize = 300;

/// A moment that matched an alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertMatch {
    /// The match's id, derived from the alert and the moment: 32 hexadecimal digits.
    pub match_id: String,
    /// The moment, which contains the ids of the video and the times.
    pub moment_id: MomentId,
    /// The first 180 characters of the moment's text when it was found.
    pub snippet: String,
    /// Cosine similarity to the alert's search, 0..1.
    pub score: f32,
    /// Calibrated probability, 0..1, that the moment contains what the alert searches for.
    pub p_present: f32,
    /// When the match was found, in milliseconds since 1970. Later than that of every match that
    /// the alert had found before.
    pub found_at: i64,
    /// Whether the match has been marked as read.
    pub read: bool,
    /// What a user has found out about the match; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handling: Option<Handling>,
    /// The last event that the match was a part of.
    event_id: String,
}

/// The state of an event's delivery to the webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// The webhook has not been called, or the call has not ended.
    Pending,
    /// The webhook has accepted the event.
    Delivered,
    /// The delivery was abandoned after all retries had failed.
    Failed,
}

/// An event's delivery to the webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The state.
    pub state: DeliveryState,
    /// Number of calls that have ended, over all retries.
    pub attempts: u32,
    /// The error of the last call, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The matches to mark as read or unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchSelection {
    /// The matches with these ids. Ids of matches that do not exist are ignored, because a match may
    /// be removed at any time.
    Ids(BTreeSet<String>),
    /// All matches that were found by this time, in milliseconds since 1970.
    Until(i64),
}

/// The stored matches of one alert.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct AlertHistory {
    /// The id of the alert.
    pub(super) alert_id: String,
    /// Newest first. Matches of one event are in the order of the video.
    pub(super) matches: Vec<AlertMatch>,
    /// The deliveries of the events that the matches are part of, by event id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    deliveries: BTreeMap<String, Delivery>,
    /// When the newest match was found, even if it was removed.
    newest: i64,
}

impl AlertHistory {
    /// Creates the empty history of an alert.
    pub(super) fn new(alert_id: &str) -> Self {
        Self { alert_id: alert_id.to_owned(), ..Self::default() }
    }

    /// Adds the moments `hits` of an event, best first, that are not in the history yet. Keeps the
    /// newest `max` matches. `calls_webhook` is whether the event will be delivered. Does nothing if
    /// the event has been recorded before.
    pub(super) fn record_event(
        &mut self,
        event_id: &str,
        hits: &[SearchResult],
        calls_webhook: bool,
        now: i64,
        max: usize,
    ) {
        if self.has_event(event_id) {
            return;
        }
        let found_at = now.max(self.newest + 1);
        let mut new: Vec<AlertMatch> = Vec::new();
        for hit in hits {
            let is_same = |m: &AlertMatch| m.moment_id == hit.moment_id;
            if let Some(earlier) = self.matches.iter_mut().find(|m| is_same(m)) {
                event_id.clone_into(&mut earlier.event_id);
            } else if !new.iter().any(is_same) {
                new.push(self.new_match(event_id, hit, found_at));
            }
        }
        if !new.is_empty() {
            self.newest = found_at;
        }
        new.truncate(max);
        new.sort_by(|a, b| a.moment_id.cmp(&b.moment_id));
        self.matches.splice(0..0, new);
        self.matches.truncate(max);
        if calls_webhook {
            let pending = Delivery { state: DeliveryState::Pending, attempts: 0, error: None };
            self.deliveries.insert(event_id.to_owned(), pending);
        }
        self.prune_deliveries();
    }

    fn new_match(&self, event_id: &str, hit: &SearchResult, found_at: i64) -> AlertMatch {
        let identity = format!("{}\n{}", self.alert_id, hit.moment_id);
        let match_id = Uuid::new_v5(&Uuid::NAMESPACE_OID, identity.as_bytes());
        AlertMatch {
            match_id: match_id.simple().to_string(),
            moment_id: hit.moment_id.clone(),
            snippet: hit.snippet.clone(),
            score: hit.score,
            p_present: hit.p_present,
            found_at,
            read: false,
            handling: None,
            event_id: event_id.to_owned(),
        }
    }

    /// Stores the outcome of a delivery, unless the history has no match of the event anymore.
    pub(super) fn record_delivery(&mut self, event_id: &str, attempts: u32, error: Option<&str>) {
        if !self.has_event(event_id) {
            return;
        }
        let before = self.deliveries.get(event_id).map_or(0, |delivery| delivery.attempts);
        let state = match error {
            Some(_) => DeliveryState::Failed,
            None => DeliveryState::Delivered,
        };
        let attempts = before.saturating_add(attempts);
        let error = error.map(|error| error.chars().take(MAX_ERROR_CHARS).collect());
        self.deliveries.insert(event_id.to_owned(), Delivery { state, attempts, error });
    }

    /// Marks matches as read or unread. Returns how many of them change.
    pub(super) fn mark(&mut self, selection: &MatchSelection, read: bool) -> usize {
        let mut marked = 0;
        let changes = |m: &&mut AlertMatch| m.read != read && selection.includes(m);
        for alert_match in self.matches.iter_mut().filter(changes) {
            alert_match.read = read;
            marked += 1;
        }
        marked
    }

    /// Stores what a user has found out about a match, which is read then, or opens it again. Returns
    /// whether there is such a match.
    pub(super) fn handle(&mut self, match_id: &str, handling: Option<&Handling>) -> bool {
        let Some(handled) = self.matches.iter_mut().find(|m| m.match_id == match_id) else {
            return false;
        };
        handled.read |= handling.is_some();
        handled.handling = handling.cloned();
        true
    }

    /// Removes the matches of a video. Returns how many there were.
    pub(super) fn remove_video(&mut self, video_id: VideoId) -> usize {
        let before = self.matches.len();
        self.matches.retain(|m| m.moment_id.video_id() != video_id);
        self.prune_deliveries();
        before - self.matches.len()
    }

    /// Adds the matches and deliveries of another history of the same alert. Keeps the newest `max`
    /// matches.
    pub(super) fn merge(&mut self, other: &Self, max: usize) {
        for alert_match in &other.matches {
            if !self.matches.iter().any(|m| m.match_id == alert_match.match_id) {
                self.matches.push(alert_match.clone());
            }
        }
        self.matches.sort_by(|a, b| {
            b.found_at.cmp(&a.found_at).then_with(|| a.moment_id.cmp(&b.moment_id))
        });
        self.matches.truncate(max);
        for (event_id, delivery) in &other.deliveries {
            self.deliveries.entry(event_id.clone()).or_insert_with(|| delivery.clone());
        }
        self.newest = self.newest.max(other.newest);
        self.prune_deliveries();
    }

    /// Returns the number of unread matches.
    pub(super) fn unread(&self) -> usize {
        self.matches.iter().filter(|m| !m.read).count()
    }

    /// Returns the number of matches with this verdict.
    pub(super) fn judged(&self, verdict: MatchVerdict) -> usize {
        self.matches.iter().filter(|m| m.state() == MatchState::Judged(verdict)).count()
    }

    /// Returns the videos of the matches.
    pub(super) fn videos(&self) -> BTreeSet<VideoId> {
        self.matches.iter().map(|m| m.moment_id.video_id()).collect()
    }

    /// Returns the delivery of a match; `None` if the alert had no webhook when it was found.
    pub(super) fn delivery(&self, alert_match: &AlertMatch) -> Option<&Delivery> {
        self.deliveries.get(&alert_match.event_id)
    }

    fn has_event(&self, event_id: &str) -> bool {
        self.matches.iter().any(|m| m.event_id == event_id)
    }

    fn prune_deliveries(&mut self) {
        let events: BTreeSet<&str> = self.matches.iter().map(|m| m.event_id.as_str()).collect();
        self.deliveries.retain(|event_id, _| events.contains(event_id.as_str()));
    }
}

impl AlertMatch {
    /// Returns whether the match has been judged, and how.
    pub(super) fn state(&self) -> MatchState {
        match &self.handling {
            Some(handling) => MatchState::Judged(handling.verdict),
            None => MatchState::Open,
        }
    }
}

impl MatchSelection {
    fn includes(&self, alert_match: &AlertMatch) -> bool {
        match self {
            Self::Ids(ids) => ids.contains(&alert_match.match_id),
            Self::Until(time) => alert_match.found_at <= *time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::video::ChunkId;

    const A: &str = "0123456789abcdef";
    const B: &str = "fedcba9876543210";

    fn hit(video_id: &str, start: u64) -> SearchResult {
        let moment_id = format!("m_{video_id}_{start}_{}", start + 1000);
        let moment_id: MomentId = moment_id.parse().expect("a moment");
        SearchResult {
            video_id: moment_id.video_id(),
            chunk_id: ChunkId(0),
            span: moment_id.span(),
            moment_id,
            timecode: String::new(),
            score: 0.3,
            text_score: None,
            p_present: 0.7,
            p_found: 0.7,
            p_seen: 0.0,
            found_by: Vec::new(),
            text: String::new(),
            snippet: format!("at {start}"),
            video_url: String::new(),
            recorded_at: None,
            statements: Vec::new(),
            facets: Default::default(),
            display: Default::default(),
        }
    }

    fn record(history: &mut AlertHistory, event_id: &str, hits: &[SearchResult], now: i64) {
        history.record_event(event_id, hits, true, now, 4);
    }

    fn moments(history: &AlertHistory) -> Vec<String> {
        history.matches.iter().map(|m| m.moment_id.to_string()).collect()
    }

    #[test]
    fn a_moment_is_recorded_once() {
        let mut history = AlertHistory::new("an alert");
        record(&mut history, "e1", &[hit(A, 2000), hit(A, 0)], 10);
        let first = history.clone();
        assert_eq!(
            moments(&history),
            ["m_0123456789abcdef_0_1000", "m_0123456789abcdef_2000_3000"]
        );
        assert!(history.matches.iter().all(|m| m.found_at == 10 && !m.read));
        record(&mut history, "e1", &[hit(A, 2000), hit(A, 0), hit(A, 5000)], 20);
        assert_eq!(history, first, "the event has been recorded");

        let selection = MatchSelection::Until(10);
        assert_eq!((history.mark(&selection, true), history.mark(&selection, true)), (2, 0));
        record(&mut history, "e2", &[hit(A, 0), hit(A, 5000)], 30);
        assert_eq!(moments(&history).len(), 3);
        assert_eq!(history.unread(), 1, "a moment that is found again stays read");
        assert_eq!(history.matches[1].found_at, 10);
    }

    #[test]
    fn ids_depend_on_the_alert_and_the_moment() {
        let ids = |alert: &str, event_id: &str| {
            let mut history = AlertHistory::new(alert);
            record(&mut history, event_id, &[hit(A, 0), hit(B, 0)], 1);
            history.matches.iter().map(|m| m.match_id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids("one", "e1"), ids("one", "e2"));
        let distinct: BTreeSet<String> =
            [ids("one", "e"), ids("two", "e")].concat().into_iter().collect();
        assert_eq!(distinct.len(), 4);
    }

    #[test]
    fn the_newest_matches_are_kept() {
        let mut history = AlertHistory::new("an alert");
        record(&mut history, "e1", &[hit(A, 0), hit(A, 1000)], 10);
        record(&mut history, "e2", &[hit(B, 0), hit(B, 1000), hit(B, 2000)], 20);
        assert_eq!(history.matches.len(), 4);
        assert_eq!(moments(&history)[3], "m_0123456789abcdef_0_1000");
        // Of an event with too many moments, the best ones are kept.
        let many: Vec<SearchResult> = (0..6).rev().map(|i| hit(A, 10_000 + i * 1000)).collect();
        record(&mut history, "e3", &many, 30);
        assert_eq!(history.matches.len(), 4);
        assert_eq!(moments(&history)[0], "m_0123456789abcdef_12000_13000");
        assert_eq!(history.deliveries.keys().collect::<Vec<_>>(), ["e3"]);
    }

    #[test]
    fn times_increase_although_the_clock_does_not() {
        let mut history = AlertHistory::new("an alert");
        record(&mut history, "e1", &[hit(A, 0)], 100);
        record(&mut history, "e2", &[hit(A, 1000)], 50);
        history.remove_video(A.parse().expect("an id"));
        record(&mut history, "e3", &[hit(B, 0)], 50);
        assert_eq!(history.matches[0].found_at, 102);
    }

    #[test]
    fn histories_of_a_renamed_alert_are_merged() {
        let (mut old, mut new) = (AlertHistory::new("an alert"), AlertHistory::new("an alert"));
        record(&mut old, "e1", &[hit(A, 0), hit(A, 1000)], 10);
        old.mark(&MatchSelection::Until(10), true);
        record(&mut new, "e2", &[hit(B, 0)], 20);
        new.merge(&old, 4);
        let merged = new.clone();
        let [a, b] = [A, B].map(|id| format!("m_{id}_0_1000"));
        assert_eq!(moments(&new), [b, a, format!("m_{A}_1000_2000")]);
        assert_eq!((new.unread(), new.deliveries.len()), (1, 2));
        new.merge(&old, 4);
        assert_eq!(new, merged, "merging again changes nothing");
        new.merge(&old, 1);
        assert_eq!(new.deliveries.keys().collect::<Vec<_>>(), ["e2"]);
    }

    #[test]
    fn deliveries_count_their_attempts() {
        let mut history = AlertHistory::new("an alert");
        record(&mut history, "e1", &[hit(A, 0)], 1);
        let state = |history: &AlertHistory| {
            let delivery = history.delivery(&history.matches[0]).expect("a delivery");
            (delivery.state, delivery.attempts, delivery.error.clone())
        };
        assert_eq!(state(&history), (DeliveryState::Pending, 0, None));
        history.record_delivery("e1", 3, Some(&"x".repeat(1000)));
        assert_eq!(state(&history), (DeliveryState::Failed, 3, Some("x".repeat(MAX_ERROR_CHARS))));
        history.record_delivery("e1", 1, None);
        assert_eq!(state(&history), (DeliveryState::Delivered, 4, None));
        history.remove_video(A.parse().expect("an id"));
        history.record_delivery("e1", 1, None);
        assert_eq!(history.deliveries, BTreeMap::new(), "nothing is kept for removed matches");
    }
}
