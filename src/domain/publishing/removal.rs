//! Removes a video, or the data of a failed ingest, in three steps: first writes a tombstone, which
//! hides the video, then removes the data, and finally removes the tombstone. An instance that
//! finds a tombstone resumes the removal.

use futures::{StreamExt, TryStreamExt, stream};
use ports::records::Precondition;
use ports::{ErrorKind, PortError, Result as PortResult};
use serde_json::{Value, json};

use crate::kernel::error::{Error, Result};
use crate::kernel::video::{VideoId, unknown_video};
use crate::publishing::Publisher;
use crate::publishing::claim::{VideoClaim, superseded_error};
use crate::records::MAX_CONCURRENT_READS;
use crate::records::documents::{comments_key, record_key, share_link_key, shares_key};
use crate::records::locks::VideoLock;
use crate::records::record::{self, Absence, Tombstone};
use crate::records::record_state::RecordState;

/// The result of a deletion.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoDeletion {
    /// The id of the video.
    pub video_id: VideoId,
    /// Keys of the removed objects.
    pub objects: Vec<String>,
    /// The error, as `TypeName: message`, if some objects could not be removed.
    pub storage_error: Option<String>,
}

/// The outcome of removing a video's objects.
pub(crate) struct RemovalOutcome {
    objects: Vec<String>,
    /// The error that prevented the removal of some objects, if any. After an error, the tombstone
    /// stays, too.
    pub(crate) storage_error: Option<PortError>,
}

impl RecordState {
    /// Whether the removal of the video has begun.
    pub(crate) fn is_being_removed(&self) -> bool {
        let in_progress =
            |stone: &Tombstone| matches!(stone.tombstone, Absence::Discarded | Absence::Deleted);
        matches!(self, Self::Tombstone(stone, _) if in_progress(stone))
    }

    /// Whether there is a video to delete. An unreadable video counts, and so does a video whose
    /// deletion was interrupted.
    pub(crate) fn is_deletable(&self) -> bool {
        match self {
            Self::Record(..) | Self::Unreadable(..) => true,
            Self::Tombstone(stone, _) => stone.tombstone == Absence::Deleted,
            Self::Absent => false,
        }
    }

    /// Returns the keys of the objects that the record references, if there is a record.
    fn objects(&self) -> Vec<String> {
        let Some(record) = self.record() else { return Vec::new() };
        [record.storage_path.clone()].into_iter().chain(record.poster_path.clone()).collect()
    }

    /// Creates the tombstone that replaces this state.
    fn to_tombstone(
        &self,
        video_id: VideoId,
        tombstone: Absence,
        objects: Vec<String>,
    ) -> Result<Self> {
        let with_new_fence = match self {
            // An unreadable record has no fields to keep.
            Self::Unreadable(..) => Self::Absent.with_new_fence(video_id)?,
            other => other.with_new_fence(video_id)?,
        };
        Self::from_tombstone(Tombstone {
            tombstone,
            version: record::VERSION,
            epoch: self.epoch() + 1,
            fence: with_new_fence.fence().to_owned(),
            video_id,
            objects,
            retired: self.retired().to_vec(),
        })
    }
}

impl Publisher {
    /// Removes the vectors, record and objects of a video that the caller has locked. Returns
    /// `NotFound` if there is no such video.
    pub(crate) async fn delete(
        &self,
        video_id: VideoId,
        lock: &VideoLock,
    ) -> Result<VideoDeletion> {
        lock.check()?;
        let current = self.records.state(video_id).await?;
        if !current.is_deletable() {
            return Err(unknown_video(video_id));
        }
        let listed = self.list_objects(video_id).await;
        let outcome = if current.is_being_removed() {
            self.resume_removal(video_id, &current).await?
        } else {
            let mut objects = current.objects();
            objects.extend(listed.iter().flatten().cloned());
            objects.sort();
            objects.dedup();
            let tombstone = current.to_tombstone(video_id, Absence::Deleted, objects)?;
            let tombstone = self.swap(video_id, &current, tombstone).await?;
            self.finish_removal(video_id, &tombstone).await?
        };
        let storage_error = outcome.storage_error.or(listed.err());
        if let Some(error) = &storage_error {
            tracing::error!(%video_id, %error, "could not remove stored objects");
        }
        Ok(VideoDeletion {
            video_id,
            objects: outcome.objects,
            storage_error: storage_error.map(|error| Error::Port(error).labelled()),
        })
    }

    /// Removes the data of a failed change, unless the video has changed since then or its state
    /// cannot be read. Cached results are kept.
    pub(crate) async fn discard(&self, claim: &VideoClaim) {
        let outcome = self.try_discard(claim).await;
        self.defer_cleanup(claim.video_id, outcome);
    }

    async fn try_discard(&self, claim: &VideoClaim) -> Result<()> {
        let (video_id, base) = (claim.video_id, &claim.base);
        if !self.reread(video_id).await?.same_except_metadata(base) {
            return Ok(());
        }
        match base {
            RecordState::Record(..) => {
                // After this swap, a publication that is still in flight cannot succeed.
                let claimed = self.swap(video_id, base, base.with_new_fence(video_id)?).await?;
                self.clean(video_id, &claimed).await.map(drop)
            }
            RecordState::Tombstone(..) => {
                let objects = self.list_objects(video_id).await?;
                let tombstone = base.to_tombstone(video_id, Absence::Discarded, objects)?;
                let tombstone = self.swap(video_id, base, tombstone).await?;
                match self.finish_removal(video_id, &tombstone).await?.storage_error {
                    Some(error) => Err(error.into()),
                    None => Ok(()),
                }
            }
            RecordState::Absent | RecordState::Unreadable(..) => Ok(()),
        }
    }

    /// Removes what an interrupted ingest or deletion left behind, if the video has no record. The
    /// caller must have locked the video.
    pub(crate) async fn remove_remains(&self, video_id: VideoId, lock: &VideoLock) -> Result<()> {
        lock.check()?;
        match self.records.state(video_id).await? {
            RecordState::Record(..) | RecordState::Unreadable(..) => Ok(()),
            RecordState::Tombstone(stone, json) if stone.tombstone == Absence::Vacant => {
                if stone.retired.is_empty() {
                    self.store.remove(&record_key(video_id), &json).await?;
                }
                Ok(())
            }
            current if current.is_being_removed() => {
                match self.resume_removal(video_id, &current).await?.storage_error {
                    Some(error) => Err(error.into()),
                    None => Ok(()),
                }
            }
            _ => {
                let claim = self.claim(video_id, lock).await?;
                self.try_discard(&claim).await
            }
        }
    }

    /// Resumes a removal that another process began.
    pub(crate) async fn resume_removal(
        &self,
        video_id: VideoId,
        current: &RecordState,
    ) -> Result<RemovalOutcome> {
        let RecordState::Tombstone(stone, _) = current.with_new_fence(video_id)? else {
            return Err(superseded_error(video_id).into());
        };
        let mut stone = *stone;
        if self.locks.are_shared() {
            let objects = stone.objects.iter().filter(|key| !stone.retired.contains(key));
            stone.retired = stone.retired.iter().chain(objects).cloned().collect();
        }
        let tombstone = self.swap(video_id, current, RecordState::from_tombstone(stone)?).await?;
        self.finish_removal(video_id, &tombstone).await
    }

    /// Removes the data of a video whose tombstone this process wrote, and then the tombstone.
    async fn finish_removal(
        &self,
        video_id: VideoId,
        tombstone: &RecordState,
    ) -> Result<RemovalOutcome> {
        self.records.unreadable().retain_keys(video_id, |_| false);
        self.unfinished().insert(video_id);
        let mut outcome = RemovalOutcome { objects: Vec::new(), storage_error: None };
        let RecordState::Tombstone(stone, _) = tombstone else { return Ok(outcome) };
        self.listing.relist(video_id).await?;
        let comments = self.store.get(&comments_key(video_id)).await;
        let shares = self.store.get(&shares_key(video_id)).await;
        if !self.clean(video_id, tombstone).await? {
            return Err(superseded_error(video_id).into());
        }
        if stone.tombstone == Absence::Deleted {
            self.store.delete(&format!("cache/{video_id}/")).await?;
            let no_comments = json!({ "comments": [] });
            self.remove_document(&comments_key(video_id), comments, &no_comments).await?;
            self.remove_share_links(&shares).await?;
            let no_shares = json!({ "shares": [] });
            self.remove_document(&shares_key(video_id), shares, &no_shares).await?;
        }
        for key in &stone.objects {
            match self.storage.delete(key).await {
                Ok(()) => outcome.objects.push(key.clone()),
                Err(error) => {
                    if error.kind() == ErrorKind::Timeout {
                        self.retire(video_id, stone, tombstone, key).await?;
                    }
                    outcome.storage_error = Some(error);
                    return Ok(outcome);
                }
            }
        }
        self.vacate(video_id, stone, tombstone).await?;
        self.unfinished().remove(&video_id);
        Ok(outcome)
    }

    /// Removes a document that users made on a video while its tombstone was current, or replaces it
    /// with an empty one. A later one belongs to a video that was published again.
    async fn remove_document(
        &self,
        key: &str,
        stored: PortResult<Option<Value>>,
        empty: &Value,
    ) -> Result<()> {
        let document = match stored {
            Ok(Some(document)) => document,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                return Ok(self.store.delete(key).await?);
            }
            Err(error) => return Err(error.into()),
        };
        if !self.store.remove(key, &document).await? {
            // The store cannot remove the document atomically, or it has changed.
            let expected = Precondition::Document(&document);
            self.store.compare_and_swap(key, expected, empty).await?;
        }
        Ok(())
    }

    /// Removes the links of shares, before the shares themselves. The share of a bin may have parts of
    /// other videos; if it has not, a scrub removes its link, which opens nothing.
    async fn remove_share_links(&self, shares: &PortResult<Option<Value>>) -> Result<()> {
        let Ok(Some(document)) = shares else { return Ok(()) };
        let shares = document["shares"].as_array().into_iter().flatten();
        let of_video = shares.filter(|share| share["bin_id"].is_null());
        let ids = of_video.filter_map(|share| share["share_id"].as_str());
        let links: Vec<String> = ids.map(share_link_key).collect();
        stream::iter(links)
            .map(|key| async move { self.store.delete(&key).await })
            .buffer_unordered(MAX_CONCURRENT_READS)
            .try_collect::<()>()
            .await?;
        Ok(())
    }

    /// Retires the key of an object whose removal timed out, because the removal may still take
    /// effect at any time.
    async fn retire(
        &self,
        video_id: VideoId,
        stone: &Tombstone,
        tombstone: &RecordState,
        key: &str,
    ) -> Result<()> {
        let mut stone = stone.clone();
        stone.retired.push(key.to_owned());
        self.swap(video_id, tombstone, RecordState::from_tombstone(stone)?).await.map(drop)
    }

    /// Removes a tombstone once its video's data is gone. If keys are retired or the store cannot
    /// remove the tombstone atomically, the tombstone stays and is marked as vacant.
    async fn vacate(
        &self,
        video_id: VideoId,
        stone: &Tombstone,
        tombstone: &RecordState,
    ) -> Result<()> {
        if let (true, RecordState::Tombstone(_, json)) = (stone.retired.is_empty(), tombstone) {
            let outcome = self.store.remove(&record_key(video_id), json).await;
            let gone =
                matches!(outcome, Ok(true)) || self.reread(video_id).await? == RecordState::Absent;
            if gone {
                return Ok(());
            }
        }
        let objects = Vec::new();
        let vacant = Tombstone { tombstone: Absence::Vacant, objects, ..stone.clone() };
        self.swap(video_id, tombstone, RecordState::from_tombstone(vacant)?).await.map(drop)
    }

    /// Lists the keys of a video's objects.
    async fn list_objects(&self, video_id: VideoId) -> PortResult<Vec<String>> {
        self.storage.list(&format!("{video_id}/")).await
    }
}
