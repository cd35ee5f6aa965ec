//! How every change of a video begins, is published and is cleaned up after, so that none can undo
//! another's, whichever instance sleeps, dies or is cut off in between.
//!
//! One document, `video.json`, says what a video is, and only compare-and-swap changes it. Whoever
//! has the lock first *claims* the video: swaps a mark of its own into that document, in the form of
//! a tombstone where there is no video. From then on:
//!
//! - A publication swaps against the claimed content. An instance that slept through its lease has
//!   expected a mark that is no longer there: the store refuses it. Marks are random, so no content
//!   ever comes back.
//! - What is stored besides is named by a random mark as well: documents by their keys, points by
//!   their revision. New ones stand beside the old ones and are seen by nobody until a record names
//!   them; searches pass over points whose revision is not that of the video's entry in the listing,
//!   which follows the record ([`Catalog::relist`]).
//! - What is removed is removed by name, never by a pattern, and only what was listed *before* the
//!   own mark was found in place once more ([`Catalog::clean`]). Another instance makes nothing of
//!   its own before it has entered its mark, so nothing of it was listed. And what was not named at
//!   that time is never named later: records are built on the one that was read, or on nothing.
//! - Objects have names that others may use again. Their removal begins with a tombstone that names
//!   them; whoever takes such a removal over retires these names ([`Tombstone::retired`]), since
//!   the one that was taken for dead may still be at it. Where the records are not shared, the one
//!   before is dead for certain, and names are used again.
//! - Before what a failed change has made is removed, its claim is swapped for another one, so that a
//!   publication which is still on its way to the store finds nothing to be swapped with.
//!
//! What the owner of a video says of it ([`About`]) is swapped into its record without any of this: it
//! changes no mark, and whoever swaps the record takes over what was said meanwhile.
//!
//! The lease of a lock therefore decides only who works; that nothing is lost does not depend on it.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use ports::index::{Filter, Predicate};
use ports::records::Precondition;
use ports::{ErrorKind, PortError};

use crate::domain::catalog::about::About;
use crate::domain::catalog::locks::VideoLock;
use crate::domain::catalog::record::{self, Absence, Tombstone, VideoRecord};
use crate::domain::catalog::{Catalog, Stored, missing, named, published};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;

/// Pauses before each attempt to find out what became of a write whose answer was an error.
const REREADS: [Duration; 3] =
    [Duration::ZERO, Duration::from_millis(500), Duration::from_millis(2000)];

/// Documents removed at once.
const REMOVALS: usize = 16;

/// The right to publish over what was found, until somebody else claims the video.
pub(crate) struct Claim {
    /// The video.
    pub(crate) video_id: VideoId,
    /// What is stored of it, with the mark of this claim; what does not read back bears none.
    pub(crate) found: Stored,
}

/// A mark that no other claim has.
fn mark() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

impl Stored {
    /// The same with a new mark.
    pub(super) fn marked(&self, video_id: VideoId) -> Result<Self> {
        match self {
            Self::Absent => Self::of_tombstone(Tombstone {
                tombstone: Absence::Unpublished,
                version: record::VERSION,
                epoch: 0,
                fence: mark(),
                video_id,
                objects: Vec::new(),
                retired: Vec::new(),
            }),
            Self::Tombstone(stone, _) => Self::of_tombstone(Tombstone {
                tombstone: match stone.tombstone {
                    Absence::Vacant => Absence::Unpublished,
                    other => other,
                },
                fence: mark(),
                ..(**stone).clone()
            }),
            Self::Record(record, _) => {
                Self::of_record(VideoRecord { fence: mark(), ..(**record).clone() })
            }
            Self::Unreadable(..) => Ok(self.clone()),
        }
    }

    /// What was made of `before`, made of `now`, in which nothing is different but what is said of the
    /// video.
    fn rebased(&self, before: &Self, now: &Self) -> Result<Self> {
        match (self, before, now) {
            (Self::Record(after, _), Self::Record(before, _), Self::Record(now, _)) => {
                let about = About::merged(&before.about, after.about.clone(), &now.about);
                Self::of_record(VideoRecord { about, ..(**after).clone() })
            }
            _ => Ok(self.clone()),
        }
    }

    /// How often the video was published.
    pub(super) fn epoch(&self) -> u64 {
        match self {
            Self::Record(record, _) => record.epoch,
            Self::Tombstone(stone, _) => stone.epoch,
            Self::Absent | Self::Unreadable(..) => 0,
        }
    }

    pub(super) fn fence(&self) -> &str {
        match self {
            Self::Record(record, _) => &record.fence,
            Self::Tombstone(stone, _) => &stone.fence,
            Self::Absent | Self::Unreadable(..) => "",
        }
    }

    /// Keys that no object of the video may have any more.
    pub(crate) fn retired(&self) -> &[String] {
        match self {
            Self::Record(record, _) => &record.retired,
            Self::Tombstone(stone, _) => &stone.retired,
            Self::Absent | Self::Unreadable(..) => &[],
        }
    }

    /// The documents that are named, and revisions of points.
    fn names(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        match self {
            Self::Record(record, _) => (named(record), record.revisions()),
            Self::Tombstone(stone, _) => ([published(stone.video_id)].into(), BTreeSet::new()),
            Self::Absent | Self::Unreadable(..) => Default::default(),
        }
    }
}

impl Catalog {
    /// Begins a change of a video that the caller has locked. A delete that was begun is finished
    /// first.
    pub(crate) async fn claim(&self, video_id: VideoId, lock: &VideoLock) -> Result<Claim> {
        lock.check()?;
        let mut found = self.stored(video_id).await?;
        if found.is_being_removed() {
            if let Some(error) = self.take_over(video_id, &found).await?.storage_error {
                return Err(error.into());
            }
            found = self.stored(video_id).await?;
        }
        let marked = found.marked(video_id)?;
        let found = self.swap(video_id, &found, marked).await?;
        // The lock was held when the mark was entered: nobody else had begun by then.
        lock.check()?;
        Ok(Claim { video_id, found })
    }

    /// Makes `record` the published one in one step, if the claim still holds, and then removes what
    /// is not named any more. After an error it is not published, as far as can be told; where it
    /// was for certain, this is no error.
    pub(crate) async fn publish(&self, claim: &Claim, record: VideoRecord) -> Result<()> {
        let (video_id, found) = (claim.video_id, &claim.found);
        let fence = match found {
            Stored::Unreadable(..) => mark(),
            found => found.fence().to_owned(),
        };
        let after = Stored::of_record(VideoRecord { epoch: found.epoch() + 1, fence, ..record })?;
        match self.swap(video_id, found, after.clone()).await {
            Ok(now) => {
                self.clean_later(video_id, self.listed_and_clean(video_id, &now).await);
                Ok(())
            }
            Err(error) => {
                let withdrawn = self.withdraw(claim, &after).await;
                self.clean_later(video_id, withdrawn);
                Err(error)
            }
        }
    }

    /// Shows what was published. What that has replaced goes afterwards: until then searches show it.
    async fn listed_and_clean(&self, video_id: VideoId, now: &Stored) -> Result<()> {
        self.relist(video_id).await?;
        self.clean(video_id, now).await.map(drop)
    }

    /// Replaces what is stored of a video, if it is still `before`. What its owner has said of it
    /// meanwhile stays.
    pub(super) async fn swap(
        &self,
        video_id: VideoId,
        before: &Stored,
        mut after: Stored,
    ) -> Result<Stored> {
        let key = published(video_id);
        let mut before = before.clone();
        loop {
            let Precondition::Document(json) = after.expected() else { return Ok(after) };
            let swapped = self.records.compare_and_swap(&key, before.expected(), json).await;
            if matches!(swapped, Ok(true)) {
                return Ok(after);
            }
            // The write may have been done and its answer lost; a store that repeats a request by
            // itself then finds what it has written.
            let now = self.settled(video_id).await;
            if now.as_ref().is_ok_and(|now| now.expected() == after.expected()) {
                return Ok(after);
            }
            match now {
                Ok(now) if now.expected() != before.expected() && now.is_still(&before) => {
                    after = after.rebased(&before, &now)?;
                    before = now;
                }
                _ => return Err(swapped.err().unwrap_or_else(|| superseded(video_id)).into()),
            }
        }
    }

    /// What is stored once a write has failed, as soon as that can be read.
    pub(super) async fn settled(&self, video_id: VideoId) -> Result<Stored> {
        let mut read = Err(Error::corrupt("not read yet"));
        for pause in REREADS {
            tokio::time::sleep(pause).await;
            read = self.stored(video_id).await;
            if read.is_ok() {
                break;
            }
        }
        read
    }

    /// Removes the documents and points of a video that `current` does not name, and says whether
    /// that is what is stored; nothing is removed where it is not, or does not read back.
    pub(crate) async fn clean(&self, video_id: VideoId, current: &Stored) -> Result<bool> {
        let (documents, revisions) = self.surplus(video_id, current).await?;
        // Read after they were listed: what another instance has made since is not among them.
        if !self.stored(video_id).await?.is_still(current) {
            return Ok(false);
        }
        if !matches!(current, Stored::Unreadable(..)) {
            self.remove_documents(documents).await?;
            self.remove_points(video_id, revisions).await?;
        }
        Ok(true)
    }

    /// The documents and revisions of points that are stored and not named.
    pub(crate) async fn surplus(
        &self,
        video_id: VideoId,
        current: &Stored,
    ) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
        let (named, revisions) = current.names();
        let listed = self.records.list(&format!("videos/{video_id}/")).await?;
        if let Some(key) = named.iter().find(|key| !listed.contains(key)) {
            self.unreadable.enter(video_id, key, &missing(key));
        }
        let documents = listed.into_iter().filter(|key| !named.contains(key)).collect();
        let counted = current.record().map_or(0, VideoRecord::points);
        if self.index.count(&Filter::video(video_id)).await? == counted {
            return Ok((documents, BTreeSet::new()));
        }
        let stored = self.index.revisions(video_id).await?.into_iter();
        Ok((documents, stored.filter(|revision| !revisions.contains(revision)).collect()))
    }

    /// Removes what only a record that is not published names. Nothing where its claim still holds:
    /// then a publication may be on its way.
    async fn withdraw(&self, claim: &Claim, after: &Stored) -> Result<()> {
        let now = self.stored(claim.video_id).await?;
        let unsure = |stored: &Stored| now.is_still(stored);
        if unsure(&claim.found) || unsure(after) || matches!(now, Stored::Unreadable(..)) {
            return Ok(());
        }
        let (kept_documents, kept_revisions) = now.names();
        let (mut documents, mut revisions) = after.names();
        documents.retain(|key| !kept_documents.contains(key));
        documents.remove(&published(claim.video_id));
        revisions.retain(|revision| !kept_revisions.contains(revision));
        self.remove_documents(documents).await?;
        self.remove_points(claim.video_id, revisions).await
    }

    async fn remove_documents(&self, keys: BTreeSet<String>) -> Result<()> {
        let removals = stream::iter(keys).map(async |key| self.records.delete(&key).await);
        Ok(removals.buffer_unordered(REMOVALS).try_collect().await?)
    }

    async fn remove_points(&self, video_id: VideoId, revisions: BTreeSet<String>) -> Result<()> {
        if revisions.is_empty() {
            return Ok(());
        }
        let named = Predicate::AnyKeyword(revisions.into_iter().collect());
        let scope = Filter::video(video_id).and("revision", named);
        Ok(self.index.replace(Some(&scope), Vec::new()).await?)
    }

    /// Leaves to a repair what could not be removed: it is garbage, and nobody's failure.
    pub(super) fn clean_later(&self, video_id: VideoId, cleaned: Result<()>) {
        if let Err(error) = cleaned {
            tracing::warn!(%video_id, error = %error.labelled(), "garbage remains until a repair");
            self.unfinished().insert(video_id);
        }
    }
}

pub(super) fn superseded(video_id: VideoId) -> PortError {
    let message = format!(
        "another instance has changed video '{video_id}' meanwhile, so this result was not \
         published; ingest it again"
    );
    PortError::new(ErrorKind::Other, message)
}
