//! Collections: those that there are, and what becomes of their videos. A collection is there as long as
//! a video is in it; what it is called is said of each of its videos.

use futures::{StreamExt, TryStreamExt, stream};
use ports::listing::ListQuery;
use serde::{Deserialize, Serialize};

use crate::domain::catalog::about::{self, About};
use crate::domain::catalog::{Catalog, PARALLEL};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::iso;
use crate::domain::kernel::video::VideoId;

/// A collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// Its name.
    pub name: String,
    /// Videos in it.
    pub videos: u64,
    /// When the oldest of them was first ingested, ISO 8601.
    pub first_added: String,
    /// When the newest of them was first ingested, ISO 8601.
    pub last_added: String,
}

/// A page of collections, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionList {
    /// This page.
    pub collections: Vec<Collection>,
    /// The name that the next page follows; `None` where no other follows.
    pub next: Option<String>,
}

/// What is to become of the videos of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectionChange {
    /// They are in the collection of this name.
    Rename(String),
    /// They are in none.
    Dissolve,
    /// They are deleted.
    Delete,
}

/// What a change has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionResult {
    /// The name that it had.
    pub collection: String,
    /// Videos that were changed or deleted since the job was last begun.
    pub videos: u64,
}

impl Catalog {
    /// The collections that a caller sees, by name: at most `limit` that follow `after`.
    pub async fn collections(
        &self,
        access: &Access,
        after: Option<&str>,
        limit: usize,
    ) -> Result<CollectionList> {
        let seen: Vec<_> = about::seen_by(access).into_iter().collect();
        let mut words =
            self.listing.keyword_counts(about::COLLECTION, &seen, after, limit + 1).await?;
        let more = words.len() > limit;
        words.truncate(limit);
        let next = words.last().filter(|_| more).map(|(name, _)| name.clone());
        let collections = stream::iter(words)
            .map(|(name, videos)| self.collection(name, videos))
            .buffered(PARALLEL)
            .try_filter_map(|collection| async { Ok(collection) });
        Ok(CollectionList { collections: collections.try_collect().await?, next })
    }

    /// A collection; nothing where its last video has gone since it was counted.
    async fn collection(&self, name: String, videos: u64) -> Result<Option<Collection>> {
        let period = self.listing.created_range(&[about::in_collection(&name)]).await?;
        Ok(period.map(|(first, last)| {
            let (first_added, last_added) = (iso(first), iso(last));
            Collection { name, videos, first_added, last_added }
        }))
    }

    /// How many videos are in a collection; `NotFound` where none is, or the caller does not see it.
    pub(crate) async fn count_in(&self, access: &Access, name: &str) -> Result<u64> {
        let unknown = || Error::NotFound(format!("unknown collection '{name}'"));
        if !access.sees(Some(name)) {
            return Err(unknown());
        }
        let conditions = vec![about::in_collection(name)];
        let total =
            self.listing.list(&ListQuery { conditions, ..ListQuery::default() }).await?.total;
        if total == 0 { Err(unknown()) } else { Ok(total) }
    }

    /// Some of the videos of a collection, and how many there are.
    pub(crate) async fn some_in(&self, name: &str, limit: usize) -> Result<(Vec<VideoId>, u64)> {
        let conditions = vec![about::in_collection(name)];
        let query = ListQuery { conditions, limit, ..ListQuery::default() };
        let page = self.listing.list(&query).await?;
        Ok((page.entries.into_iter().map(|entry| entry.video_id).collect(), page.total))
    }

    /// Puts a video of a collection into another, or into none; one that is not in it any more is
    /// listed as what it is now.
    pub(crate) async fn recollect(
        &self,
        video_id: VideoId,
        from: &str,
        to: Option<&str>,
    ) -> Result<()> {
        let change = |about: &About| {
            let mut about = about.clone();
            if about.collection.as_deref() == Some(from) {
                about.collection = to.map(str::to_owned);
            }
            Ok(about)
        };
        match self.change_about(video_id, change).await {
            // Deleted meanwhile, or not to be read: it is in no listing then.
            Err(Error::NotFound(_)) => self.relist(video_id).await,
            Err(error) if error.is_corrupt() => self.relist(video_id).await,
            changed => changed,
        }
    }
}
