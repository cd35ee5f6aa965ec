//! Keeps the histories of alerts consistent: removes the matches of deleted videos and the histories
//! of deleted alerts, and verifies alerts.

use std::collections::BTreeSet;

use super::Alerts;
use super::history::AlertHistory;
use super::store::{HISTORIES, history_key};
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::publishing::publication::ALERTS;

impl Alerts {
    /// Removes the matches of a video from all histories. Returns how many there were. The caller
    /// holds the video's lock, so that the video is not published again in the meantime.
    pub(crate) async fn remove_video(&self, video_id: VideoId) -> Result<u64> {
        let mut removed = 0;
        for name in self.names(HISTORIES).await? {
            loop {
                let Some((document, mut history)) = self.stored_history(&name).await? else {
                    break;
                };
                let matches = history.remove_video(video_id);
                if matches == 0 {
                    break;
                }
                if self.swap_history(&name, Some(&document), &history).await? {
                    removed += matches as u64;
                    break;
                }
            }
        }
        Ok(removed)
    }

    /// Removes the histories of alerts that do not exist anymore, and the matches of videos that do
    /// not exist anymore. Interrupted deletions leave them behind. Returns the number of removed
    /// histories and matches.
    pub async fn sweep(&self) -> Result<u64> {
        let mut removed = 0;
        let mut videos = BTreeSet::new();
        for name in self.names(HISTORIES).await? {
            let Some((document, history)) = self.stored_history(&name).await? else { continue };
            match self.find(&format!("{name}.json")).await {
                // The alert is stored before its history, so this history has no alert.
                Ok(None) => removed += self.remove_history(&name, &document, &history).await?,
                Ok(Some(alert)) if alert.id != history.alert_id => {
                    removed += self.remove_history(&name, &document, &history).await?;
                }
                Ok(Some(_)) => videos.extend(history.videos()),
                Err(error) if error.is_corrupt() => videos.extend(history.videos()),
                Err(error) => return Err(error),
            }
        }
        for video_id in videos {
            if let Some(_lock) = self.records.lock_if_gone(&self.locks, video_id).await? {
                removed += self.remove_video(video_id).await?;
            }
        }
        Ok(removed)
    }

    /// Removes a history, unless it has changed. Returns the number of removed documents.
    async fn remove_history(
        &self,
        name: &str,
        document: &serde_json::Value,
        history: &AlertHistory,
    ) -> Result<u64> {
        if self.store.remove(&history_key(name), document).await? {
            return Ok(1);
        }
        // A store without an atomic `remove` keeps an empty history.
        if history.matches.is_empty() {
            return Ok(0);
        }
        let swapped = self.swap_history(name, Some(document), &AlertHistory::default()).await?;
        Ok(u64::from(swapped))
    }

    /// Verifies all alerts. Returns one line for each alert that is unreadable or whose history is.
    pub(crate) async fn problems(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for name in self.names(ALERTS).await? {
            match self.find(&format!("{name}.json")).await {
                Err(error) if error.is_corrupt() => {
                    problems.push(format!("alert {name}: {error}; delete the alert"));
                }
                found => drop(found?),
            }
        }
        for name in self.names(HISTORIES).await? {
            match self.read_history(&name).await {
                Err(error) if error.is_corrupt() => {
                    problems.push(format!("alert {name}: {error}; delete the alert"));
                }
                found => drop(found?),
            }
        }
        Ok(problems)
    }

    /// Reads a history; `None` if it does not exist or is unreadable.
    async fn stored_history(
        &self,
        name: &str,
    ) -> Result<Option<(serde_json::Value, AlertHistory)>> {
        match self.read_history(name).await {
            Err(error) if error.is_corrupt() => Ok(None),
            stored => stored,
        }
    }

    /// Lists the names of the documents in a folder.
    async fn names(&self, folder: &str) -> Result<Vec<String>> {
        let files = self.store.children(folder).await?;
        Ok(files.iter().filter_map(|file| Some(file.strip_suffix(".json")?.to_owned())).collect())
    }
}
