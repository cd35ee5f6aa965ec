//! What users find out about matches: whether the alert was right, and why.

use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::history::AlertHistory;
use super::matches::MatchView;
use super::{AlertEditor, AlertSettings};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};

/// Whether an alert was right to find a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchVerdict {
    /// The moment has what the alert is for.
    Confirmed,
    /// It does not.
    FalseAlarm,
}

/// The state of a match, by which lists are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchState {
    /// Nobody has judged the match.
    Open,
    /// Somebody has, with this verdict.
    Judged(MatchVerdict),
}

/// What a user has found out about a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handling {
    /// Whether the alert was right.
    pub verdict: MatchVerdict,
    /// The reason, or what was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The name of the person who judged: that of the token, or the one in the request.
    pub by: String,
    /// When the match was last judged, in milliseconds since 1970.
    pub at: i64,
}

/// A judgement on a match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatchJudgement {
    /// Whether the alert was right; `None` opens the match again.
    pub verdict: Option<MatchVerdict>,
    /// The reason, or what was done.
    pub note: Option<String>,
    /// The name of the person who judges, for callers whose token has no name.
    pub author: Option<String>,
}

impl FromStr for MatchState {
    type Err = Error;

    fn from_str(state: &str) -> Result<Self> {
        match state {
            "open" => Ok(Self::Open),
            "confirmed" => Ok(Self::Judged(MatchVerdict::Confirmed)),
            "false_alarm" => Ok(Self::Judged(MatchVerdict::FalseAlarm)),
            other => Err(Error::Invalid(format!(
                "verdict is '{other}'; it must be open, confirmed or false_alarm"
            ))),
        }
    }
}

impl AlertEditor<'_> {
    /// Judges a match, which is thereby read, or opens it again. Returns `NotFound` if there is no such
    /// alert or match, and `Unprocessable` if the note or the author is empty or too long.
    pub async fn judge(
        &self,
        access: &Access,
        name: &str,
        match_id: &str,
        judgement: &MatchJudgement,
    ) -> Result<MatchView> {
        self.alerts.readiness.check()?;
        let note = judgement.note.as_deref();
        let note = note.map(|note| self.alerts.settings.check_note(note)).transpose()?;
        let by = access.author(judgement.author.as_deref())?;
        let at = Timestamp::now().as_millisecond();
        let alert = self.alerts.get(name).await?;
        let handling = judgement.verdict.map(|verdict| Handling { verdict, note, by, at });
        let change = |history: &mut AlertHistory| history.handle(match_id, handling.as_ref());
        let (found, history) = self.alerts.change_history(&alert, change).await?;
        let view = match found {
            true => self.alerts.view(&alert, &history, match_id).await?,
            false => None,
        };
        view.ok_or_else(|| {
            Error::NotFound(format!(
                "alert '{name}' has no match '{match_id}'; GET /alerts/{name}/matches lists them"
            ))
        })
    }
}

impl AlertSettings {
    /// Trims a note and checks its length.
    fn check_note(&self, note: &str) -> Result<String> {
        let (note, max) = (note.trim(), self.max_note_chars);
        if note.is_empty() || note.chars().count() > max {
            return Err(Error::Unprocessable(format!(
                "note must have 1 to {max} characters (alerts.max_note_chars), or be null"
            )));
        }
        Ok(note.to_owned())
    }
}
