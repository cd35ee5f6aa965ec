//! Notes of videos that are about to be published, for whoever has to see to what follows: entered before,
//! and removed once that is done. So a death in between loses nothing.

use serde_json::{Value, json};

use crate::domain::catalog::Catalog;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;

/// Below it lies one document for each alert.
pub(crate) const ALERTS: &str = "alerts/";

/// Below it lies a note for each video.
const NOTES: &str = "publications/";

fn key_of(video_id: VideoId) -> String {
    format!("{NOTES}{video_id}.json")
}

impl Catalog {
    /// Notes that a video is about to be published, where there are alerts to be told of it.
    pub(crate) async fn note_publication(&self, video_id: VideoId) -> Result<()> {
        if self.records.children(ALERTS).await?.is_empty() {
            return Ok(());
        }
        let note = json!({ "mark": uuid::Uuid::new_v4().simple().to_string() });
        Ok(self.records.put(&key_of(video_id), &note).await?)
    }

    /// The videos that are noted.
    pub(crate) async fn publications(&self) -> Result<Vec<VideoId>> {
        let names = self.records.children(NOTES).await?;
        Ok(names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect())
    }

    /// The note of a video.
    pub(crate) async fn publication(&self, video_id: VideoId) -> Result<Option<Value>> {
        Ok(self.records.get(&key_of(video_id)).await?)
    }

    /// Removes a note, unless another publication has made it anew.
    pub(crate) async fn forget_publication(&self, video_id: VideoId, note: &Value) -> Result<()> {
        let key = key_of(video_id);
        // A store that cannot tell for certain may lose one that is made right now.
        if !self.records.remove(&key, note).await?
            && self.records.get(&key).await?.as_ref() == Some(note)
        {
            self.records.delete(&key).await?;
        }
        Ok(())
    }
}
