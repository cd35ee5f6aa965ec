//! Publication notes. A note is stored before a video is published and removed once the video's
//! alerts have been sent, so that a crash in between loses no alert.

use serde_json::{Value, json};

use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::publishing::Publisher;

/// Key prefix of the alerts, each of which is one document.
pub(crate) const ALERTS: &str = "alerts/";

/// Key prefix of the publication notes, one per video.
const NOTES: &str = "publications/";

/// Why a video is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It was ingested.
    Ingest,
    /// A user has corrected it.
    Correction,
}

/// The key of a note that says whether a user has corrected the video.
const CORRECTED: &str = "corrected";

/// Whether a note is about a video that a user has corrected.
pub(crate) fn is_corrected(note: &Value) -> bool {
    note[CORRECTED] == true
}

fn note_key(video_id: VideoId) -> String {
    format!("{NOTES}{video_id}.json")
}

impl Publisher {
    /// Stores a note that a video is about to be published, if there are any alerts.
    pub(crate) async fn note_publication(&self, video_id: VideoId, cause: Cause) -> Result<()> {
        if self.store.children(ALERTS).await?.is_empty() {
            return Ok(());
        }
        let mark = uuid::Uuid::new_v4().simple().to_string();
        // A correction does not replace the note of an ingest whose alerts have not been sent.
        let is_correction = cause == Cause::Correction
            && self.publication(video_id).await?.is_none_or(|note| is_corrected(&note));
        let note = json!({ "mark": mark, CORRECTED: is_correction });
        Ok(self.store.put(&note_key(video_id), &note).await?)
    }

    /// Lists the videos with a publication note.
    pub(crate) async fn publications(&self) -> Result<Vec<VideoId>> {
        let names = self.store.children(NOTES).await?;
        Ok(names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect())
    }

    /// Reads a video's publication note.
    pub(crate) async fn publication(&self, video_id: VideoId) -> Result<Option<Value>> {
        Ok(self.store.get(&note_key(video_id)).await?)
    }

    /// Removes a note, unless another publication has replaced it.
    pub(crate) async fn remove_publication(&self, video_id: VideoId, note: &Value) -> Result<()> {
        let key = note_key(video_id);
        // If the store has no atomic `remove`, a note written at this moment may be lost.
        if !self.store.remove(&key, note).await?
            && self.store.get(&key).await?.as_ref() == Some(note)
        {
            self.store.delete(&key).await?;
        }
        Ok(())
    }
}
