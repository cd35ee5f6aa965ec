//! Stores alerts: one document per alert, which is changed only by compare-and-swap.

use ports::records::Precondition;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Alert, AlertSearch, Alerts};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::now;
use crate::kernel::webhook::Webhook;
use crate::publishing::publication::ALERTS;
use crate::search::SearchResult;

/// Maximum length of an alert's name, in bytes. Names are ASCII.
const MAX_NAME_BYTES: usize = 64;

impl Alerts {
    /// Creates an alert, or changes the alert with this name. Returns `Invalid` if the name, the
    /// search or the webhook is invalid or if there are too many alerts.
    pub async fn put(&self, name: &str, search: AlertSearch, webhook: String) -> Result<Alert> {
        if !is_name(name) {
            return Err(Error::Invalid(format!(
                "'{name}' is not a valid alert name; a name has at most {MAX_NAME_BYTES} of \
                 a to z, 0 to 9, - and _, and begins with a letter or digit"
            )));
        }
        self.readiness.check()?;
        self.webhook(&webhook)?;
        // Run the search once, because this fails if the search is invalid.
        self.search.run(&Access::default(), &search.request(None)?).await?;
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
            let mark = same
                .map_or_else(|| Uuid::new_v4().simple().to_string(), |before| before.mark.clone());
            let fresh = || Alert {
                name: name.to_owned(),
                search: search.clone(),
                webhook: webhook.clone(),
                mark: String::new(),
                created_at: now(),
                delivered: 0,
                last_delivered_at: None,
                failed: Vec::new(),
            };
            let Alert { created_at, delivered, last_delivered_at, failed, .. } =
                before.unwrap_or_else(fresh);
            let alert = Alert { mark, created_at, delivered, last_delivered_at, failed, ..fresh() };
            if self.swap(stored.as_ref(), &alert).await? {
                return Ok(alert);
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
        let found = match is_name(name) {
            true => self.find(&format!("{name}.json")).await?,
            false => None,
        };
        found.ok_or_else(|| {
            Error::NotFound(format!("unknown alert '{name}'; GET /alerts lists them"))
        })
    }

    /// Deletes an alert.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.get(name).await?;
        Ok(self.store.delete(&key(name)).await?)
    }

    /// Finds the moments in existing videos that match an alert, best first.
    pub async fn test(&self, name: &str) -> Result<Vec<SearchResult>> {
        let alert = self.get(name).await?;
        Ok(self.search.run(&Access::default(), &alert.search.request(None)?).await?.results)
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

    async fn find(&self, file: &str) -> Result<Option<Alert>> {
        self.store.get(&format!("{ALERTS}{file}")).await?.as_ref().map(read).transpose()
    }

    async fn swap(&self, stored: Option<&Value>, alert: &Alert) -> Result<bool> {
        let document = serde_json::to_value(alert)
            .map_err(|e| Error::corrupt(format!("cannot keep the alert: {e}")))?;
        let key = key(&alert.name);
        Ok(self.store.compare_and_swap(&key, Precondition::from(stored), &document).await?)
    }
}

fn key(name: &str) -> String {
    format!("{ALERTS}{name}.json")
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.starts_with(letter)
        && name.chars().all(|c| letter(c) || c == '-' || c == '_')
}

fn read(document: &Value) -> Result<Alert> {
    Alert::deserialize(document)
        .map_err(|e| Error::corrupt(format!("an alert does not read back: {e}")))
}
