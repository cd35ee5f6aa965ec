//! Opens the link of a share.

use jiff::Timestamp;

use super::{ShareId, SharedPart, Shares, unknown_share};
use crate::kernel::error::Result;
use crate::records::record::VideoRecord;

impl Shares {
    /// Returns a valid share and the record of its video, as stored at this time. Returns `NotFound`
    /// if the share does not exist, was withdrawn or has expired, and if its video was deleted.
    pub(crate) async fn open(&self, id: &ShareId) -> Result<(SharedPart, VideoRecord)> {
        let unknown = || unknown_share(id.as_str());
        let video_id = self.linked_video(id).await?.ok_or_else(unknown)?;
        let shares = self.stored_shares(video_id).await?;
        let share = shares.into_iter().find(|share| share.id == *id).ok_or_else(unknown)?;
        if share.has_expired(Timestamp::now().as_millisecond()) {
            return Err(unknown());
        }
        let record = self.records.find(video_id).await?.ok_or_else(unknown)?;
        Ok((SharedPart { video_id, share }, record))
    }
}
