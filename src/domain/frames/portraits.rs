//! Images of the people in stored videos, cropped from frames. They share the disk cache and its
//! size limit with frames.

use bytes::Bytes;

use super::{DecodeOutcome, Frames};
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::library::entities::entity_locations;
use crate::media::picture::cropped_jpeg;
use crate::media::tracking::Location;
use crate::records::record::VideoRecord;

impl Frames {
    /// Returns the image of a linked person as a JPEG that is `height` pixels high, or less if the
    /// person takes up fewer pixels. It is cropped, with a margin, from the frame with the most
    /// confident detection. Returns `Unprocessable` for a height outside the limits, `Invalid` if
    /// the people were not linked, and `NotFound` for an unknown person.
    pub async fn portrait(&self, video_id: VideoId, entity_id: &str, height: u32) -> Result<Bytes> {
        let max_height = self.settings.max_width;
        if !(16..=max_height).contains(&height) {
            return Err(Error::Unprocessable(format!(
                "height is {height}; it must be from 16 to {max_height} pixels (frames.max_width)"
            )));
        }
        let read = |record: VideoRecord| async move {
            let seen = entity_locations(&self.records, &record, entity_id).await?;
            Ok((record, seen))
        };
        let (record, seen) = self.records.read_published(video_id, read).await?;
        let best = seen.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence));
        let best = best.ok_or_else(|| {
            Error::NotFound(format!(
                "where '{entity_id}' is seen was not stored; ingest the video with 'people' again"
            ))
        })?;
        self.crop(&record, best, height).await
    }

    /// Crops what is shown at a location.
    async fn crop(&self, record: &VideoRecord, location: &Location, height: u32) -> Result<Bytes> {
        let key = key(location, height);
        if let Some(bytes) = self.cached(record.video_id, &key).await {
            return Ok(bytes);
        }
        let width = self.settings.max_width;
        let frames = match self.decode(record, vec![location.t], width, &key).await? {
            DecodeOutcome::Cached(bytes) => return Ok(bytes),
            DecodeOutcome::Frames(frames) => frames,
        };
        let frame = frames.into_iter().flatten().next();
        let frame = frame.ok_or_else(|| Error::NotFound("the video has no picture".into()))?;
        let bytes = cropped_jpeg(frame.image, location.bounding_box(), height).await?;
        self.cache(record.video_id, &key, bytes.clone()).await;
        Ok(bytes)
    }
}

/// Returns the cache key of a crop. Ids of people are no part of it, since they can change.
fn key(location: &Location, height: u32) -> String {
    let [left, top, width, box_height] =
        location.bounds.map(|share| (share * 10_000.0).round() as i64);
    let milliseconds = (location.t * 1000.0).round() as u64;
    format!("{milliseconds:08}-{left}_{top}_{width}_{box_height}-{height}.jpg")
}
