//! Opens the link of a share.

use std::collections::BTreeSet;

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;

use super::{ShareId, ShareView, Shares, StoredPart, unknown_share};
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::records::MAX_CONCURRENT_READS;
use crate::records::record::VideoRecord;

impl Shares {
    /// Returns a valid share and the records of its videos, as stored at this time. Returns `NotFound`
    /// if the share does not exist, was withdrawn or has expired, and if all its videos were deleted.
    pub(crate) async fn open(&self, id: &ShareId) -> Result<(ShareView, Vec<VideoRecord>)> {
        let unknown = || unknown_share(id.as_str());
        let reads = stream::iter(self.linked_videos(id).await?).map(|video_id| async move {
            Ok::<_, Error>(match self.records.find(video_id).await? {
                Some(record) => Some((record, self.parts_of(video_id, id).await?)),
                None => None,
            })
        });
        let found: Vec<_> = reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        let (mut records, mut parts) = (Vec::new(), Vec::new());
        for (record, of_video) in found.into_iter().flatten() {
            parts.extend(of_video.into_iter().map(|part| (record.video_id, part)));
            records.push(record);
        }
        let share = ShareView::from_stored(parts).ok_or_else(unknown)?;
        if share.share.has_expired(Timestamp::now().as_millisecond()) {
            return Err(unknown());
        }
        let shared: BTreeSet<VideoId> = share.parts().map(|part| part.video_id).collect();
        records.retain(|record| shared.contains(&record.video_id));
        Ok((share, records))
    }

    /// Returns the parts of a share that are from one video.
    async fn parts_of(&self, video_id: VideoId, id: &ShareId) -> Result<Vec<StoredPart>> {
        let mut parts = self.stored_parts(video_id).await?;
        parts.retain(|part| part.share.id == *id);
        Ok(parts)
    }
}
