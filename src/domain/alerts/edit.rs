//! Changes alerts: their name, search and webhook, and whether they are paused. A change affects only
//! the videos that are published later.

use serde_json::{Map, Value};

use super::store::{check_name, history_key, key, random_id, read};
use super::{Alert, AlertOverview, AlertSearch, Alerts};
use crate::kernel::error::{Error, Result};

/// Changes to an alert. Fields that are `None` are not changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AlertChange {
    /// The new name.
    pub name: Option<String>,
    /// The new search text.
    pub text: Option<String>,
    /// The new search mode.
    pub mode: Option<Option<String>>,
    /// The analyzer whose output is searched.
    pub analyzer: Option<String>,
    /// The vector field to search.
    pub field: Option<String>,
    /// The new filters, which replace all current ones.
    pub filters: Option<Map<String, Value>>,
    /// The new minimum cosine similarity.
    pub score_threshold: Option<Option<f32>>,
    /// The new minimum probability (0..1).
    pub min_p_present: Option<f32>,
    /// The new maximum number of moments per event (1..=50).
    pub limit: Option<u32>,
    /// The new webhook; `Some(None)` removes it.
    pub webhook: Option<Option<String>>,
    /// Whether the alert is paused.
    pub paused: Option<bool>,
}

impl AlertChange {
    /// Returns the changed search.
    fn apply_to(&self, search: &AlertSearch) -> AlertSearch {
        let Self { text, mode, analyzer, field, filters, .. } = self.clone();
        AlertSearch {
            text: text.unwrap_or_else(|| search.text.clone()),
            mode: mode.unwrap_or_else(|| search.mode.clone()),
            analyzer: analyzer.unwrap_or_else(|| search.analyzer.clone()),
            field: field.unwrap_or_else(|| search.field.clone()),
            filters: filters.unwrap_or_else(|| search.filters.clone()),
            score_threshold: self.score_threshold.unwrap_or(search.score_threshold),
            min_p_present: self.min_p_present.unwrap_or(search.min_p_present),
            limit: self.limit.unwrap_or(search.limit),
        }
    }
}

/// Changes alerts.
pub struct AlertEditor<'a> {
    pub(super) alerts: &'a Alerts,
}

impl<'a> AlertEditor<'a> {
    /// Creates an editor of these alerts.
    pub fn new(alerts: &'a Alerts) -> Self {
        Self { alerts }
    }

    /// Changes an alert, which keeps its history. Returns `NotFound` if there is no alert with this
    /// name, and `Invalid` if the new name, search or webhook is invalid or if another alert has the
    /// new name.
    pub async fn update(&self, name: &str, change: &AlertChange) -> Result<AlertOverview> {
        self.alerts.readiness.check()?;
        if let Some(Some(url)) = &change.webhook {
            self.alerts.webhook(url)?;
        }
        let (_, alert) = self.alerts.stored(name).await?;
        let new_name = change.name.as_deref().filter(|new| *new != name);
        if let Some(new) = new_name {
            check_name(new)?;
            self.find_renamed(&alert, new).await?;
        }
        let alert = self.change_fields(name, change).await?;
        match new_name {
            Some(new) => self.alerts.overview(self.rename(alert, new).await?).await,
            None => self.alerts.overview(alert).await,
        }
    }

    /// Changes everything except the name.
    async fn change_fields(&self, name: &str, change: &AlertChange) -> Result<Alert> {
        loop {
            let (document, mut alert) = self.alerts.stored(name).await?;
            let search = change.apply_to(&alert.search);
            if search != alert.search {
                self.alerts.run_on_library(&search).await?;
                (alert.search, alert.mark) = (search, random_id());
            }
            if let Some(webhook) = &change.webhook {
                alert.webhook.clone_from(webhook);
            }
            alert.paused = change.paused.unwrap_or(alert.paused);
            if self.alerts.swap(Some(&document), &alert).await? {
                return Ok(alert);
            }
        }
    }

    /// Stores an alert and its history under another name. If the process dies in between, both
    /// names have the same alert, and renaming it again completes the change.
    async fn rename(&self, alert: Alert, new: &str) -> Result<Alert> {
        let renamed = Alert { name: new.to_owned(), ..alert.clone() };
        loop {
            let interrupted = self.find_renamed(&alert, new).await?;
            if self.alerts.swap(interrupted.as_ref(), &renamed).await? {
                break;
            }
        }
        self.move_history(&alert, &renamed).await?;
        self.alerts.store.delete(&key(&alert.name)).await?;
        // A video that was published in the meantime may have matched the alert under its old name.
        self.move_history(&alert, &renamed).await?;
        self.alerts.store.delete(&history_key(&alert.name)).await?;
        Ok(renamed)
    }

    /// Returns the document that an interrupted renaming of an alert has left under its new name.
    /// Returns `Invalid` if another alert has that name.
    async fn find_renamed(&self, alert: &Alert, new: &str) -> Result<Option<Value>> {
        let stored = self.alerts.store.get(&key(new)).await?;
        match stored.as_ref().map(read).transpose()? {
            Some(other) if other.id != alert.id => Err(Error::Invalid(format!(
                "there is an alert '{new}' already; choose another name or delete it first"
            ))),
            _ => Ok(stored),
        }
    }

    async fn move_history(&self, alert: &Alert, renamed: &Alert) -> Result<()> {
        match self.alerts.history(alert).await {
            Ok(history) => {
                let max = self.alerts.settings.max_matches;
                self.alerts.change_history(renamed, |new| new.merge(&history, max)).await?;
                Ok(())
            }
            // An unreadable history has nothing to move.
            Err(error) if error.is_corrupt() => Ok(()),
            Err(error) => Err(error),
        }
    }
}
