//! Keeps the stored comments consistent: removes those of deleted videos, and verifies comments.

use super::Comments;
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::records::documents::{COMMENTS, comments_key};

impl Comments {
    /// Removes the comments on videos that do not exist anymore. A comment that is written while its
    /// video is being deleted may leave them behind. Returns the number of removed documents.
    pub async fn sweep(&self) -> Result<u64> {
        let mut removed = 0;
        for video_id in self.commented_videos().await? {
            if let Some(lock) = self.records.lock_if_gone(&self.locks, video_id).await? {
                lock.check()?;
                self.store.delete(&comments_key(video_id)).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Verifies all comments. Returns one line for each video whose comments are unreadable or that
    /// does not exist, and one for an unreadable activity log.
    pub(crate) async fn problems(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for video_id in self.commented_videos().await? {
            let comments = match self.comments(video_id).await {
                Err(error) if error.is_corrupt() => {
                    problems.push(format!("{video_id}: {error}; restore it or delete the video"));
                    continue;
                }
                comments => comments?,
            };
            // A store without an atomic `remove` keeps an empty document.
            if !comments.is_empty()
                && self.records.lock_if_gone(&self.locks, video_id).await?.is_some()
            {
                problems.push(format!("{video_id}: comments without a record"));
            }
        }
        match self.log().await {
            Err(error) if error.is_corrupt() => {
                problems.push(format!("activity: {error}; the next comment replaces it"));
            }
            log => drop(log?),
        }
        Ok(problems)
    }

    /// Lists the videos that have a document of comments.
    async fn commented_videos(&self) -> Result<Vec<VideoId>> {
        let files = self.store.children(COMMENTS).await?;
        Ok(files.iter().filter_map(|file| file.strip_suffix(".json")?.parse().ok()).collect())
    }
}
