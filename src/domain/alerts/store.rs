//! Stores alerts and their histories: one document for each, which is changed only by
//! compare-and-swap.

use ports::records::Precondition;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::history::AlertHistory;
use super::{Alert, AlertOverview, AlertSearch, Alerts};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::now;
use crate::kernel::webhook::Webhook;
use crate::publishing::publication::ALERTS;
use crate::records::documents::{swap_document, to_document};
use crate::search::SearchPage;

/// Maximum length of an alert's name, in bytes. Names are ASCII.
const MAX_NAME_BYTES: usize = 64;

/// Key prefix of the histories, one document per alert.
pub(super) const HISTORIES: &str = "alert-matches/";

impl Alerts {
    /// Creates an alert, or changes the alert with this name, which keeps its history and stays paused
    /// if it is. Returns `Invalid` if the name, the search or the webhook is invalid or if there are
    /// too many alerts.
    pub async fn put(
        &self,
        name: &str,
        search: AlertSearch,
        webhook: Option<String>,
    ) -> Result<AlertOverview> {
        check_name(name)?;
        self.readiness.check()?;
        if let Some(url) = &webhook {
            self.webhook(url)?;
        }
        self.run_on_library(&search).await?;
        loop {
            let stored = self.store.get(&key(name)).await?;
            let before = stored.as_ref().map(read).transpose()?;
            if before.is_none() && self.store.children(ALERTS).await?.len() >= self.settings.max {
                return Err(Error::Invalid(format!(
                    "there are {} alerts already (alerts.max); delete one first",
                    self.settings.max
                )));
            }
            let same = before.as_ref().filter(|before| before.search == search);
            let mark = same.map_or_else(random_id, |before| before.mark.clone());
            let fresh = || Alert {
                name: name.to_owned(),
                search: search.clone(),
                webhook: webhook.clone(),
                paused: false,
                id: random_id(),
                mark: String::new(),
                created_at: now(),
                delivered: 0,
                last_delivered_at: None,
                failed: Vec::new(),
            };
            let before = before.unwrap_or_else(fresh);
            let alert = Alert { search: search.clone(), webhook: webhook.clone(), mark, ..before };
            if self.swap(stored.as_ref(), &alert).await? {
                return self.overview(alert).await;
            }
        }
    }

    /// Reads every alert, sorted by name.
    pub async fn list(&self) -> Result<Vec<Alert>> {
        let mut alerts = Vec::new();
        for file in self.store.children(ALERTS).await? {
            match self.find(&file).await {
                Ok(Some(alert)) => alerts.push(alert),
                // The alert was deleted in the meantime.
                Ok(None) => {}
                Err(error) if error.is_corrupt() => {
                    tracing::warn!(file, error = %error.labelled(), "not listed");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(alerts)
    }

    /// Reads one alert.
    pub async fn get(&self, name: &str) -> Result<Alert> {
        Ok(self.stored(name).await?.1)
    }

    /// Reads one alert with its document.
    pub(super) async fn stored(&self, name: &str) -> Result<(Value, Alert)> {
        let document = match is_name(name) {
            true => self.store.get(&key(name)).await?,
            false => None,
        };
        let document = document.ok_or_else(|| {
            Error::NotFound(format!("unknown alert '{name}'; GET /alerts lists them"))
        })?;
        let alert = read(&document)?;
        Ok((document, alert))
    }

    /// Deletes an alert with its history. An unreadable alert can be deleted, too.
    pub async fn delete(&self, name: &str) -> Result<()> {
        match self.get(name).await {
            Err(error) if error.is_corrupt() => {}
            found => drop(found?),
        }
        self.store.delete(&key(name)).await?;
        // If this fails, a later sweep removes the history.
        if let Err(error) = self.store.delete(&history_key(name)).await {
            tracing::debug!(name, %error, "the matches of a deleted alert were not removed");
        }
        Ok(())
    }

    /// Finds the moments in existing videos that match an alert, best first.
    pub async fn test(&self, name: &str) -> Result<SearchPage> {
        self.run_on_library(&self.get(name).await?.search).await
    }

    /// Runs a search on all existing videos, which fails if the search is invalid.
    pub(super) async fn run_on_library(&self, search: &AlertSearch) -> Result<SearchPage> {
        self.search.run(&Access::default(), &search.request(None)?).await
    }

    /// Changes an alert, unless it has been deleted.
    pub(super) async fn change(&self, name: &str, change: impl Fn(&mut Alert)) -> Result<()> {
        while let Some(stored) = self.store.get(&key(name)).await? {
            let mut alert = read(&stored)?;
            change(&mut alert);
            if self.swap(Some(&stored), &alert).await? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn webhook(&self, url: &str) -> Result<Webhook> {
        Webhook::new("webhook", url, self.webhooks.clone(), &self.callbacks)
    }

    pub(super) async fn find(&self, file: &str) -> Result<Option<Alert>> {
        self.store.get(&format!("{ALERTS}{file}")).await?.as_ref().map(read).transpose()
    }

    /// Reads the history of an alert, which is empty if there is none.
    pub(super) async fn history(&self, alert: &Alert) -> Result<AlertHistory> {
        let stored = self.read_history(&alert.name).await?.map(|(_, history)| history);
        // The history of an earlier alert with this name may not have been removed yet.
        let own = stored.filter(|history| history.alert_id == alert.id);
        Ok(own.unwrap_or_else(|| AlertHistory::new(&alert.id)))
    }

    /// Changes the history of an alert. Returns the result of `change` and the changed history.
    pub(super) async fn change_history<T>(
        &self,
        alert: &Alert,
        change: impl Fn(&mut AlertHistory) -> T,
    ) -> Result<(T, AlertHistory)> {
        loop {
            let stored = self.read_history(&alert.name).await?;
            let (document, before) = stored.unzip();
            let before = before
                .filter(|history| history.alert_id == alert.id)
                .unwrap_or_else(|| AlertHistory::new(&alert.id));
            let mut history = before.clone();
            let result = change(&mut history);
            if history == before
                || self.swap_history(&alert.name, document.as_ref(), &history).await?
            {
                return Ok((result, history));
            }
        }
    }

    /// Reads a stored history with its document. Returns `Corrupt` if it is unreadable.
    pub(super) async fn read_history(&self, name: &str) -> Result<Option<(Value, AlertHistory)>> {
        let Some(document) = self.store.get(&history_key(name)).await? else { return Ok(None) };
        let history = AlertHistory::deserialize(&document).map_err(|e| {
            Error::corrupt(format!("the matches of alert '{name}' do not read back: {e}"))
        })?;
        Ok(Some((document, history)))
    }

    /// Replaces a stored history. Returns whether it did; if not, the history has changed.
    pub(super) async fn swap_history(
        &self,
        name: &str,
        stored: Option<&Value>,
        history: &AlertHistory,
    ) -> Result<bool> {
        let key = history_key(name);
        let document = to_document(&key, history)?;
        swap_document(&*self.store, &key, Precondition::from(stored), &document).await
    }

    pub(super) async fn swap(&self, stored: Option<&Value>, alert: &Alert) -> Result<bool> {
        let key = key(&alert.name);
        let document = to_document(&key, alert)?;
        Ok(self.store.compare_and_swap(&key, Precondition::from(stored), &document).await?)
    }
}

/// Returns the key of an alert.
pub(super) fn key(name: &str) -> String {
    format!("{ALERTS}{name}.json")
}

/// Returns the key of an alert's history.
pub(super) fn history_key(name: &str) -> String {
    format!("{HISTORIES}{name}.json")
}

pub(super) fn random_id() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Returns `Invalid` if an alert cannot have this name.
pub(super) fn check_name(name: &str) -> Result<()> {
    if is_name(name) {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "'{name}' is not a valid alert name; a name has at most {MAX_NAME_BYTES} of a to z, 0 to 9, \
         - and _, and begins with a letter or digit"
    )))
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.starts_with(letter)
        && name.chars().all(|c| letter(c) || c == '-' || c == '_')
}

/// Reads an alert from its document.
pub(super) fn read(document: &Value) -> Result<Alert> {
    let mut alert = Alert::deserialize(document)
        .map_err(|e| Error::corrupt(format!("an alert does not read back: {e}")))?;
    if alert.id.is_empty() {
        // Derived, so that an alert that was stored without an id always gets the same one.
        let identity = format!("{}\n{}", alert.name, alert.created_at);
        alert.id = Uuid::new_v5(&Uuid::NAMESPACE_OID, identity.as_bytes()).simple().to_string();
    }
    Ok(alert)
}
