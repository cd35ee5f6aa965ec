//! What people have corrected in a video, as it is stored.

use crate::domain::analysis::correction::Correction;
use crate::domain::catalog::Catalog;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;

impl Catalog {
    /// The corrections of a published video, in the order in which they were made.
    pub async fn corrections_of(&self, video_id: VideoId) -> Result<Vec<Correction>> {
        let read = |record| async move { self.corrections(&record).await };
        self.read_published(video_id, read).await
    }

    /// The corrections that a record names.
    pub(crate) async fn corrections(&self, record: &VideoRecord) -> Result<Vec<Correction>> {
        match &record.corrections_document {
            Some(document) => self.document(document).await,
            None => Ok(Vec::new()),
        }
    }
}
