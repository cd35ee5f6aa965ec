//! Reads the stored corrections to a video.

use crate::analysis::correction::Correction;
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::records::Records;
use crate::records::record::VideoRecord;

impl Records {
    /// Reads the corrections to a published video, oldest first.
    pub(crate) async fn video_corrections(&self, video_id: VideoId) -> Result<Vec<Correction>> {
        let read = |record| async move { self.corrections(&record).await };
        self.read_published(video_id, read).await
    }

    /// Reads the corrections that a record references.
    pub(crate) async fn corrections(&self, record: &VideoRecord) -> Result<Vec<Correction>> {
        match &record.corrections_document {
            Some(document) => self.document(document).await,
            None => Ok(Vec::new()),
        }
    }
}
