//! The protocol by which every change to a video is started, published and cleaned up. It ensures
//! that no change can undo another, even if an instance stalls, dies or is cut off from the network
//! during a change.
//!
//! One document, `video.json`, holds the state of a video and is only changed by compare-and-swap.
//! The holder of the video's lock first *claims* the video: it swaps a random fence into that
//! document. If the video does not exist, the document becomes a tombstone that holds the fence.
//! From then on:
//!
//! - A publication replaces the document only if it still has the claimed content. An instance that
//!   stalled beyond its lease expects a fence that is no longer there, so the store refuses the
//!   swap. Fences are random, so the same content never recurs (no ABA problem).
//! - Documents and points also have random identifiers: documents in their keys, points in their
//!   revisions. New ones are stored next to the old ones and stay invisible until a record
//!   references them. Searches skip points whose revision differs from the one in the video's
//!   listing entry. The entry is updated after the record ([`Listing::relist`]).
//! - Documents are removed by key, never by pattern, and only if they were listed *before* this
//!   instance checked that its own fence was still in place ([`Publisher::clean`]). Another instance
//!   creates nothing before it has swapped in its fence, so none of its documents were listed. A
//!   document that was unreferenced at the time of the check cannot be referenced later, because
//!   every later record is either derived from the record read at that time or created from
//!   scratch.
//! - Object keys, by contrast, are not random, so a key can be used again. Before objects are
//!   removed, a tombstone that lists their keys is written. An instance that resumes an interrupted
//!   removal retires these keys ([`Tombstone::retired`]), since the instance that began the removal
//!   may still be removing objects. If the record store is not shared, the process that began the
//!   removal must be dead, so the keys are not retired.
//! - Before the results of a failed change are removed, the fence of that change is replaced, so
//!   that a publication still in flight to the store cannot succeed.
//!
//! User metadata ([`VideoMetadata`]) is swapped into the record without a claim. This leaves the
//! fence unchanged, and every other swap of the record merges in concurrent changes to the
//! metadata.
//!
//! A lock's lease therefore only decides which instance does the work; correctness does not depend
//! on it.
//!
//! [`Listing::relist`]: crate::listing::Listing::relist

use std::collections::BTreeSet;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use ports::index::{Filter, Point, Predicate};
use ports::records::Precondition;
use ports::{ErrorKind, PortError};

use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::publishing::Publisher;
use crate::publishing::publication::Cause;
use crate::records::documents::{missing_record, record_key, referenced_keys};
use crate::records::locks::VideoLock;
use crate::records::metadata::VideoMetadata;
use crate::records::record::{self, Absence, Tombstone, VideoRecord};
use crate::records::record_state::RecordState;

/// Delay before each attempt to read back the outcome of a failed write.
const REREAD_DELAYS: [Duration; 3] =
    [Duration::ZERO, Duration::from_millis(500), Duration::from_millis(2000)];

/// Maximum number of documents removed concurrently.
const MAX_CONCURRENT_REMOVALS: usize = 16;

/// The right to replace a video's state, valid until the next claim on the video.
pub(crate) struct VideoClaim {
    /// The id of the video.
    pub(crate) video_id: VideoId,
    /// The stored state. It includes the fence of this claim, unless the record is unreadable.
    pub(crate) base: RecordState,
}

/// Creates a random fence that no other claim has.
fn new_fence() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

impl RecordState {
    /// Returns this state with a new fence. An absent or vacant state becomes an unpublished
    /// tombstone; an unreadable state stays unchanged.
    pub(crate) fn with_new_fence(&self, video_id: VideoId) -> Result<Self> {
        match self {
            Self::Absent => Self::from_tombstone(Tombstone {
                tombstone: Absence::Unpublished,
                version: record::VERSION,
                epoch: 0,
                fence: new_fence(),
                video_id,
                objects: Vec::new(),
                retired: Vec::new(),
            }),
            Self::Tombstone(stone, _) => Self::from_tombstone(Tombstone {
                tombstone: match stone.tombstone {
                    Absence::Vacant => Absence::Unpublished,
                    other => other,
                },
                fence: new_fence(),
                ..(**stone).clone()
            }),
            Self::Record(record, _) => {
                Self::from_record(VideoRecord { fence: new_fence(), ..(**record).clone() })
            }
            Self::Unreadable(..) => Ok(self.clone()),
        }
    }

    /// Rebases `self` from `before` onto `now`. The states `before` and `now` may differ only in
    /// user metadata.
    fn rebase(&self, before: &Self, now: &Self) -> Result<Self> {
        match (self, before, now) {
            (Self::Record(after, _), Self::Record(before, _), Self::Record(now, _)) => {
                let metadata =
                    VideoMetadata::merge(&before.metadata, after.metadata.clone(), &now.metadata);
                Self::from_record(VideoRecord { metadata, ..(**after).clone() })
            }
            _ => Ok(self.clone()),
        }
    }

    /// Returns how many times the video's state has been published.
    pub(crate) fn epoch(&self) -> u64 {
        match self {
            Self::Record(record, _) => record.epoch,
            Self::Tombstone(stone, _) => stone.epoch,
            Self::Absent | Self::Unreadable(..) => 0,
        }
    }

    pub(crate) fn fence(&self) -> &str {
        match self {
            Self::Record(record, _) => &record.fence,
            Self::Tombstone(stone, _) => &stone.fence,
            Self::Absent | Self::Unreadable(..) => "",
        }
    }

    /// Returns the keys that new objects of the video must not use.
    pub(crate) fn retired(&self) -> &[String] {
        match self {
            Self::Record(record, _) => &record.retired,
            Self::Tombstone(stone, _) => &stone.retired,
            Self::Absent | Self::Unreadable(..) => &[],
        }
    }

    /// Returns the keys of the referenced documents and the revisions of the referenced points.
    fn references(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        match self {
            Self::Record(record, _) => (referenced_keys(record), record.revisions()),
            Self::Tombstone(stone, _) => ([record_key(stone.video_id)].into(), BTreeSet::new()),
            Self::Absent | Self::Unreadable(..) => Default::default(),
        }
    }
}

impl Publisher {
    /// Begins a change to a video that the caller has locked. Finishes an interrupted removal
    /// first.
    pub(crate) async fn claim(&self, video_id: VideoId, lock: &VideoLock) -> Result<VideoClaim> {
        lock.check()?;
        let mut current = self.records.state(video_id).await?;
        if current.is_being_removed() {
            if let Some(error) = self.resume_removal(video_id, &current).await?.storage_error {
                return Err(error.into());
            }
            current = self.records.state(video_id).await?;
        }
        let claimed = current.with_new_fence(video_id)?;
        let base = self.swap(video_id, &current, claimed).await?;
        // If the lock is still held, it was held when the fence was swapped in, so no other holder
        // had begun by then.
        lock.check()?;
        Ok(VideoClaim { video_id, base })
    }

    /// Atomically publishes `record` if the claim is still valid, then removes unreferenced data.
    /// Returns an error only if the record was not published, as far as can be determined.
    pub(crate) async fn publish(&self, claim: &VideoClaim, record: VideoRecord) -> Result<()> {
        let (video_id, base) = (claim.video_id, &claim.base);
        let fence = match base {
            RecordState::Unreadable(..) => new_fence(),
            base => base.fence().to_owned(),
        };
        let after =
            RecordState::from_record(VideoRecord { epoch: base.epoch() + 1, fence, ..record })?;
        match self.swap(video_id, base, after.clone()).await {
            Ok(now) => {
                self.defer_cleanup(video_id, self.relist_and_clean(video_id, &now).await);
                Ok(())
            }
            Err(error) => {
                let withdrawn = self.withdraw(claim, &after).await;
                self.defer_cleanup(video_id, withdrawn);
                Err(error)
            }
        }
    }

    /// Publishes `record` like [`Self::publish`], with new points. The points are stored next to the
    /// current ones first, so that searches use them from the publication on.
    pub(crate) async fn publish_with_points(
        &self,
        claim: &VideoClaim,
        record: VideoRecord,
        points: Vec<Point>,
        cause: Cause,
    ) -> Result<()> {
        if !points.is_empty() {
            self.index.replace(None, points).await?;
        }
        let before = claim.base.record().map(VideoRecord::revisions);
        if before.as_ref() != Some(&record.revisions()) {
            self.note_publication(record.video_id, cause).await?;
        }
        self.publish(claim, record).await
    }

    /// Updates the listing entry, then removes the replaced data. The order matters, because
    /// searches return the replaced data until the entry is updated.
    async fn relist_and_clean(&self, video_id: VideoId, now: &RecordState) -> Result<()> {
        self.listing.relist(video_id).await?;
        self.clean(video_id, now).await.map(drop)
    }

    /// Replaces a video's stored state with `after` if it is still `before`. Merges in concurrent
    /// changes to user metadata.
    pub(crate) async fn swap(
        &self,
        video_id: VideoId,
        before: &RecordState,
        mut after: RecordState,
    ) -> Result<RecordState> {
        let key = record_key(video_id);
        let mut before = before.clone();
        loop {
            let Precondition::Document(json) = after.expected() else { return Ok(after) };
            let swapped = self.store.compare_and_swap(&key, before.expected(), json).await;
            if matches!(swapped, Ok(true)) {
                return Ok(after);
            }
            // The write may have succeeded even if its response was lost or the store's client
            // retried it.
            let now = self.reread(video_id).await;
            if now.as_ref().is_ok_and(|now| now.expected() == after.expected()) {
                return Ok(after);
            }
            match now {
                Ok(now)
                    if now.expected() != before.expected() && now.same_except_metadata(&before) =>
                {
                    after = after.rebase(&before, &now)?;
                    before = now;
                }
                _ => {
                    return Err(swapped.err().unwrap_or_else(|| superseded_error(video_id)).into());
                }
            }
        }
    }

    /// Reads the state after a failed write, with retries.
    pub(crate) async fn reread(&self, video_id: VideoId) -> Result<RecordState> {
        let mut read = Err(Error::corrupt("not read yet"));
        for pause in REREAD_DELAYS {
            tokio::time::sleep(pause).await;
            read = self.records.state(video_id).await;
            if read.is_ok() {
                break;
            }
        }
        read
    }

    /// Removes a video's documents and points that `current` does not reference. Removes nothing if
    /// `current` is unreadable or is no longer the stored state. Returns whether it is still the
    /// stored state.
    pub(crate) async fn clean(&self, video_id: VideoId, current: &RecordState) -> Result<bool> {
        let (documents, revisions) = self.garbage(video_id, current).await?;
        // Read the state after listing. If the state is unchanged, nothing that was listed was
        // created by another instance.
        if !self.records.state(video_id).await?.same_except_metadata(current) {
            return Ok(false);
        }
        if !matches!(current, RecordState::Unreadable(..)) {
            self.remove_documents(documents).await?;
            self.remove_points(video_id, revisions).await?;
        }
        Ok(true)
    }

    /// Finds the stored documents and point revisions that `current` does not reference.
    pub(crate) async fn garbage(
        &self,
        video_id: VideoId,
        current: &RecordState,
    ) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
        let (referenced, revisions) = current.references();
        let listed = self.store.list(&format!("videos/{video_id}/")).await?;
        if let Some(key) = referenced.iter().find(|key| !listed.contains(key)) {
            self.records.unreadable().report(video_id, key, &missing_record(key));
        }
        let documents = listed.into_iter().filter(|key| !referenced.contains(key)).collect();
        let expected = current.record().map_or(0, VideoRecord::points);
        if self.statistics.count(&Filter::video(video_id)).await? == expected {
            return Ok((documents, BTreeSet::new()));
        }
        let stored = self.statistics.revisions(video_id).await?.into_iter();
        Ok((documents, stored.filter(|revision| !revisions.contains(revision)).collect()))
    }

    /// Removes data that only the unpublished state `after` references. Does nothing if the claim
    /// is still valid, since the publication may still be in flight.
    async fn withdraw(&self, claim: &VideoClaim, after: &RecordState) -> Result<()> {
        let now = self.records.state(claim.video_id).await?;
        let is_current = |state: &RecordState| now.same_except_metadata(state);
        if is_current(&claim.base)
            || is_current(after)
            || matches!(now, RecordState::Unreadable(..))
        {
            return Ok(());
        }
        let (kept_documents, kept_revisions) = now.references();
        let (mut documents, mut revisions) = after.references();
        documents.retain(|key| !kept_documents.contains(key));
        documents.remove(&record_key(claim.video_id));
        revisions.retain(|revision| !kept_revisions.contains(revision));
        self.remove_documents(documents).await?;
        self.remove_points(claim.video_id, revisions).await
    }

    async fn remove_documents(&self, keys: BTreeSet<String>) -> Result<()> {
        let removals = stream::iter(keys).map(async |key| self.store.delete(&key).await);
        Ok(removals.buffer_unordered(MAX_CONCURRENT_REMOVALS).try_collect().await?)
    }

    async fn remove_points(&self, video_id: VideoId, revisions: BTreeSet<String>) -> Result<()> {
        if revisions.is_empty() {
            return Ok(());
        }
        let any = Predicate::AnyKeyword(revisions.into_iter().collect());
        let scope = Filter::video(video_id).and("revision", any);
        Ok(self.index.replace(Some(&scope), Vec::new()).await?)
    }

    /// If a cleanup failed, logs the error and leaves the garbage for a repair to remove.
    pub(crate) fn defer_cleanup(&self, video_id: VideoId, outcome: Result<()>) {
        if let Err(error) = outcome {
            tracing::warn!(%video_id, error = %error.labelled(), "garbage remains until a repair");
            self.unfinished().insert(video_id);
        }
    }
}

pub(crate) fn superseded_error(video_id: VideoId) -> PortError {
    let message = format!(
        "another instance has changed video '{video_id}' meanwhile, so this result was not \
         published; ingest it again"
    );
    PortError::new(ErrorKind::Other, message)
}
