//! Removing a video, or what a failed ingest has made of one: a tombstone first, from which on there
//! is no video, then what it stands for, then the tombstone. Whoever finds one goes on with it.

use ports::{ErrorKind, PortError, Result as PortResult};

use crate::domain::catalog::claim::{Claim, superseded};
use crate::domain::catalog::locks::VideoLock;
use crate::domain::catalog::record::{self, Absence, Tombstone};
use crate::domain::catalog::videos::Deleted;
use crate::domain::catalog::{Catalog, Stored, published};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::{VideoId, unknown};

/// What became of the objects of a video that was removed.
pub(super) struct Removed {
    objects: Vec<String>,
    /// Why some remain, and with them the tombstone.
    pub(super) storage_error: Option<PortError>,
}

impl Stored {
    /// Whether somebody has begun to remove it.
    pub(super) fn is_being_removed(&self) -> bool {
        let begun =
            |stone: &Tombstone| matches!(stone.tombstone, Absence::Discarded | Absence::Deleted);
        matches!(self, Self::Tombstone(stone, _) if begun(stone))
    }

    /// Whether there is a video to be deleted: one that does not read back is, and so is one whose
    /// delete was interrupted.
    pub(crate) fn is_deletable(&self) -> bool {
        match self {
            Self::Record(..) | Self::Unreadable(..) => true,
            Self::Tombstone(stone, _) => stone.tombstone == Absence::Deleted,
            Self::Absent => false,
        }
    }

    /// The keys of the objects that it names.
    fn objects(&self) -> Vec<String> {
        let Some(record) = self.record() else { return Vec::new() };
        [record.storage_path.clone()].into_iter().chain(record.poster_path.clone()).collect()
    }

    /// The tombstone that takes its place.
    fn buried(&self, video_id: VideoId, tombstone: Absence, objects: Vec<String>) -> Result<Self> {
        let marked = match self {
            // Nothing of it can be kept, its mark aside.
            Self::Unreadable(..) => Self::Absent.marked(video_id)?,
            other => other.marked(video_id)?,
        };
        Self::of_tombstone(Tombstone {
            tombstone,
            version: record::VERSION,
            epoch: self.epoch() + 1,
            fence: marked.fence().to_owned(),
            video_id,
            objects,
            retired: self.retired().to_vec(),
        })
    }
}

impl Catalog {
    /// Removes vectors, record and objects of a video that the caller has locked. `NotFound` where
    /// there is none.
    pub(crate) async fn delete(&self, video_id: VideoId, lock: &VideoLock) -> Result<Deleted> {
        lock.check()?;
        let found = self.stored(video_id).await?;
        if !found.is_deletable() {
            return Err(unknown(video_id));
        }
        let listed = self.objects_of(video_id).await;
        let removed = if found.is_being_removed() {
            self.take_over(video_id, &found).await?
        } else {
            let mut objects = found.objects();
            objects.extend(listed.iter().flatten().cloned());
            objects.sort();
            objects.dedup();
            let buried = found.buried(video_id, Absence::Deleted, objects)?;
            let buried = self.swap(video_id, &found, buried).await?;
            self.finish(video_id, &buried).await?
        };
        let storage_error = removed.storage_error.or(listed.err());
        if let Some(error) = &storage_error {
            tracing::error!(%video_id, %error, "stored objects could not be removed");
        }
        Ok(Deleted {
            video_id,
            objects: removed.objects,
            storage_error: storage_error.map(|error| Error::Port(error).labelled()),
        })
    }

    /// Removes what a failed change has made, unless somebody has changed the video since or it
    /// cannot be told; what was paid for stays in the cache.
    pub(crate) async fn discard(&self, claim: &Claim) {
        let discarded = self.discarded(claim).await;
        self.clean_later(claim.video_id, discarded);
    }

    async fn discarded(&self, claim: &Claim) -> Result<()> {
        let (video_id, found) = (claim.video_id, &claim.found);
        if !self.settled(video_id).await?.is_still(found) {
            return Ok(());
        }
        match found {
            Stored::Record(..) => {
                // A publication that is still on its way comes to nothing from here on.
                let claimed = self.swap(video_id, found, found.marked(video_id)?).await?;
                self.clean(video_id, &claimed).await.map(drop)
            }
            Stored::Tombstone(..) => {
                let objects = self.objects_of(video_id).await?;
                let buried = found.buried(video_id, Absence::Discarded, objects)?;
                let buried = self.swap(video_id, found, buried).await?;
                match self.finish(video_id, &buried).await?.storage_error {
                    Some(error) => Err(error.into()),
                    None => Ok(()),
                }
            }
            Stored::Absent | Stored::Unreadable(..) => Ok(()),
        }
    }

    /// Removes what is stored of a video that has no record and that the caller has locked: what an
    /// ingest that died or a delete that was interrupted has left.
    pub(crate) async fn clear(&self, video_id: VideoId, lock: &VideoLock) -> Result<()> {
        lock.check()?;
        match self.stored(video_id).await? {
            Stored::Record(..) | Stored::Unreadable(..) => Ok(()),
            Stored::Tombstone(stone, json) if stone.tombstone == Absence::Vacant => {
                if stone.retired.is_empty() {
                    self.records.remove(&published(video_id), &json).await?;
                }
                Ok(())
            }
            found if found.is_being_removed() => {
                match self.take_over(video_id, &found).await?.storage_error {
                    Some(error) => Err(error.into()),
                    None => Ok(()),
                }
            }
            _ => {
                let claim = self.claim(video_id, lock).await?;
                self.discarded(&claim).await
            }
        }
    }

    /// Goes on with a removal that somebody else has begun.
    pub(super) async fn take_over(&self, video_id: VideoId, found: &Stored) -> Result<Removed> {
        let Stored::Tombstone(stone, _) = found.marked(video_id)? else {
            return Err(superseded(video_id).into());
        };
        let mut stone = *stone;
        if self.locks.are_shared() {
            let named = stone.objects.iter().filter(|key| !stone.retired.contains(key));
            stone.retired = stone.retired.iter().chain(named).cloned().collect();
        }
        let own = self.swap(video_id, found, Stored::of_tombstone(stone)?).await?;
        self.finish(video_id, &own).await
    }

    /// Removes what a tombstone of one's own stands for, and then that.
    async fn finish(&self, video_id: VideoId, buried: &Stored) -> Result<Removed> {
        self.unreadable.named(video_id, |_| false);
        self.unfinished().insert(video_id);
        let mut removed = Removed { objects: Vec::new(), storage_error: None };
        let Stored::Tombstone(stone, _) = buried else { return Ok(removed) };
        self.relist(video_id).await?;
        if !self.clean(video_id, buried).await? {
            return Err(superseded(video_id).into());
        }
        if stone.tombstone == Absence::Deleted {
            self.records.delete(&format!("cache/{video_id}/")).await?;
        }
        for key in &stone.objects {
            match self.storage.delete(key).await {
                Ok(()) => removed.objects.push(key.clone()),
                Err(error) => {
                    if error.kind() == ErrorKind::Timeout {
                        self.retire(video_id, stone, buried, key).await?;
                    }
                    removed.storage_error = Some(error);
                    return Ok(removed);
                }
            }
        }
        self.vacate(video_id, stone, buried).await?;
        self.unfinished().remove(&video_id);
        Ok(removed)
    }

    /// Enters a key that is never used again: its removal has not come to its end in time, and may
    /// still be done at any time.
    async fn retire(
        &self,
        video_id: VideoId,
        stone: &Tombstone,
        buried: &Stored,
        key: &str,
    ) -> Result<()> {
        let mut stone = stone.clone();
        stone.retired.push(key.to_owned());
        self.swap(video_id, buried, Stored::of_tombstone(stone)?).await.map(drop)
    }

    /// Removes a tombstone that stands for nothing any more. It stays, vacant, where the store
    /// cannot remove it for certain, or where names are retired.
    async fn vacate(&self, video_id: VideoId, stone: &Tombstone, buried: &Stored) -> Result<()> {
        if let (true, Stored::Tombstone(_, json)) = (stone.retired.is_empty(), buried) {
            let removed = self.records.remove(&published(video_id), json).await;
            let gone =
                matches!(removed, Ok(true)) || self.settled(video_id).await? == Stored::Absent;
            if gone {
                return Ok(());
            }
        }
        let objects = Vec::new();
        let vacant = Tombstone { tombstone: Absence::Vacant, objects, ..stone.clone() };
        self.swap(video_id, buried, Stored::of_tombstone(vacant)?).await.map(drop)
    }

    /// The keys of a video's objects.
    async fn objects_of(&self, video_id: VideoId) -> PortResult<Vec<String>> {
        self.storage.list(&format!("{video_id}/")).await
    }
}
