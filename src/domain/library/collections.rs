//! Lists collections and moves videos between them. A collection exists as long as it contains a
//! video. Its name is stored in the metadata of its videos.

use futures::{StreamExt, TryStreamExt, stream};
use ports::listing::ListQuery;
use serde::{Deserialize, Serialize};

use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::iso;
use crate::kernel::video::VideoId;
use crate::library::metadata_store::MetadataStore;
use crate::listing::Listing;
use crate::records::MAX_CONCURRENT_READS;
use crate::records::metadata::{self, VideoMetadata};

/// A collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// The name, which identifies the collection.
    pub name: String,
    /// Number of videos in the collection.
    pub videos: u64,
    /// When the oldest video was first ingested, in ISO 8601.
    pub first_added: String,
    /// When the newest video was first ingested, in ISO 8601.
    pub last_added: String,
}

/// A page of collections, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionList {
    /// The collections of this page.
    pub collections: Vec<Collection>,
    /// The value of `after` for the next page; `None` on the last page.
    pub next: Option<String>,
}

/// A change to all videos in a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectionChange {
    /// Moves the videos and the bins to the collection with this name.
    Rename(String),
    /// Removes the videos and the bins from the collection.
    Dissolve,
    /// Deletes the videos. The bins stay.
    Delete,
}

/// The result of a [`CollectionChange`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionResult {
    /// The name of the collection before the change.
    pub collection: String,
    /// Number of videos changed or deleted since the job was last started.
    pub videos: u64,
}

impl Listing {
    /// Lists the collections that a caller may see, sorted by name. Returns at most `limit`
    /// collections, starting after the name `after`.
    pub async fn collections(
        &self,
        access: &Access,
        after: Option<&str>,
        limit: usize,
    ) -> Result<CollectionList> {
        let visible: Vec<_> = metadata::visible_to(access).into_iter().collect();
        let mut words =
            self.listing.keyword_counts(metadata::COLLECTION, &visible, after, limit + 1).await?;
        let more = words.len() > limit;
        words.truncate(limit);
        let next = words.last().filter(|_| more).map(|(name, _)| name.clone());
        let collections = stream::iter(words)
            .map(|(name, videos)| self.collection(name, videos))
            .buffered(MAX_CONCURRENT_READS)
            .try_filter_map(|collection| async { Ok(collection) });
        Ok(CollectionList { collections: collections.try_collect().await?, next })
    }

    /// Reads a collection; returns `None` if its last video has been removed since the videos were
    /// counted.
    async fn collection(&self, name: String, videos: u64) -> Result<Option<Collection>> {
        let period = self.listing.created_range(&[metadata::in_collection(&name)]).await?;
        Ok(period.map(|(first, last)| {
            let (first_added, last_added) = (iso(first), iso(last));
            Collection { name, videos, first_added, last_added }
        }))
    }

    /// Counts the videos in a collection. Returns `NotFound` if the collection has no videos or the
    /// caller may not see it.
    pub(crate) async fn count_in_collection(&self, access: &Access, name: &str) -> Result<u64> {
        let unknown = || Error::NotFound(format!("unknown collection '{name}'"));
        if !access.sees(Some(name)) {
            return Err(unknown());
        }
        let conditions = vec![metadata::in_collection(name)];
        let total =
            self.listing.list(&ListQuery { conditions, ..ListQuery::default() }).await?.total;
        if total == 0 { Err(unknown()) } else { Ok(total) }
    }

    /// Lists at most `limit` videos in a collection, and counts all videos in it.
    pub(crate) async fn list_in_collection(
        &self,
        name: &str,
        limit: usize,
    ) -> Result<(Vec<VideoId>, u64)> {
        let conditions = vec![metadata::in_collection(name)];
        let query = ListQuery { conditions, limit, ..ListQuery::default() };
        let page = self.listing.list(&query).await?;
        Ok((page.entries.into_iter().map(|entry| entry.video_id).collect(), page.total))
    }
}

impl MetadataStore {
    /// Moves a video from the collection `from` to the collection `to`, or out of any collection if
    /// `to` is `None`. If the video is no longer in `from`, only updates its listing entry.
    pub(crate) async fn move_to_collection(
        &self,
        video_id: VideoId,
        from: &str,
        to: Option<&str>,
    ) -> Result<()> {
        let change = |metadata: &VideoMetadata| {
            let mut metadata = metadata.clone();
            if metadata.collection.as_deref() == Some(from) {
                metadata.collection = to.map(str::to_owned);
            }
            Ok(metadata)
        };
        match self.modify(video_id, change).await {
            // The video is unreadable or was deleted in the meantime, so `relist` removes its
            // entry.
            Err(Error::NotFound(_)) => self.listing.relist(video_id).await,
            Err(error) if error.is_corrupt() => self.listing.relist(video_id).await,
            changed => changed,
        }
    }
}
