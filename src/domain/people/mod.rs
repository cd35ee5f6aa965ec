//! The people to whom users gave a name, across videos. Names are corrections, each to one video: the
//! people of two videos are the same only if users gave them the same name.
//!
//! The listing has the videos with corrections, whose documents say where each name applies. What is
//! derived from them is cached until the video is published again.

mod appearances;
mod list;

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use ports::index::{Condition, Predicate};
use ports::listing::{ListQuery, Position};
use ports::units::byte_size;
use serde::{Deserialize, Serialize};

use crate::aggregation::aggregators::entities::{self, LinkedPeople};
use crate::aggregation::result::result_of;
use crate::intervals::set::milliseconds;
use crate::kernel::access::Access;
use crate::kernel::cache::ByteCache;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::instant;
use crate::kernel::video::VideoId;
use crate::listing::{BATCH, CORRECTED, Listing, position};
use crate::records::metadata::{self, VideoMetadata};
use crate::records::record::VideoRecord;
use crate::records::{MAX_CONCURRENT_READS, Records};
pub use appearances::AppearanceKind;
use appearances::VideoPeople;
pub use list::{
    PeopleList, PeopleQuery, PersonAppearance, PersonPage, PersonPicture, PersonQuery,
    PersonSummary,
};

/// Limits on the names of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeopleSettings {
    /// Maximum number of videos with corrections that are read for one request, the newest ones.
    pub max_videos: usize,
    /// Size of the cache of the named people of videos, in bytes. A video takes about a kilobyte for
    /// 100 appearances. 0 disables the cache.
    #[serde(with = "byte_size")]
    pub cache_bytes: usize,
}

impl Default for PeopleSettings {
    fn default() -> Self {
        Self { max_videos: 10_000, cache_bytes: 32 << 20 }
    }
}

/// The people who have a name, across videos.
pub struct People {
    records: Arc<Records>,
    listing: Arc<Listing>,
    cache: ByteCache<CachedPeople>,
    settings: PeopleSettings,
}

/// Which publication of a video its people were read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Publication {
    /// Time of the first ingest, in milliseconds since 1970.
    created_at: i64,
    /// Number of times that the video's state has been published.
    epoch: u64,
}

#[derive(Clone)]
struct CachedPeople {
    publication: Publication,
    people: Arc<VideoPeople>,
}

/// A video with corrections that the caller may see.
struct CorrectedVideo {
    position: Position,
    epoch: u64,
    filename: String,
    metadata: VideoMetadata,
}

/// A video with the people who have a name in it.
struct VideoWithPeople {
    video: CorrectedVideo,
    people: Arc<VideoPeople>,
}

impl People {
    pub(crate) fn new(
        records: Arc<Records>,
        listing: Arc<Listing>,
        settings: PeopleSettings,
    ) -> Self {
        Self { records, listing, cache: ByteCache::new(settings.cache_bytes), settings }
    }

    /// Reads the people of the videos with corrections that the caller may see, newest first. Also
    /// returns how many older videos were not read because there are more than
    /// [`PeopleSettings::max_videos`].
    async fn read(
        &self,
        access: &Access,
        collection: Option<&str>,
    ) -> Result<(Vec<VideoWithPeople>, u64)> {
        let (videos, omitted) = self.corrected_videos(access, collection).await?;
        let read = |video: CorrectedVideo| async move {
            let people = self.video_people(&video).await?;
            Ok::<_, Error>(people.map(|people| VideoWithPeople { video, people }))
        };
        let read = stream::iter(videos).map(read).buffered(MAX_CONCURRENT_READS);
        let read: Vec<Option<VideoWithPeople>> = read.try_collect().await?;
        Ok((read.into_iter().flatten().collect(), omitted))
    }

    /// Lists the videos with corrections that the caller may see, newest first, at most
    /// [`PeopleSettings::max_videos`]. Also returns the number of further ones.
    async fn corrected_videos(
        &self,
        access: &Access,
        collection: Option<&str>,
    ) -> Result<(Vec<CorrectedVideo>, u64)> {
        let is_corrected = Predicate::AnyKeyword(vec![true.to_string()]);
        let mut conditions = vec![Condition { field: CORRECTED.into(), predicate: is_corrected }];
        conditions.extend(metadata::visible_to(access));
        conditions.extend(collection.map(metadata::in_collection));
        let mut query = ListQuery { conditions, ..ListQuery::default() };
        let mut videos: Vec<CorrectedVideo> = Vec::new();
        loop {
            query.limit = BATCH.min(self.settings.max_videos - videos.len());
            let (entries, total) = self.listing.page(&query).await?;
            let complete = entries.len() < query.limit;
            for (entry, summary) in entries {
                videos.push(CorrectedVideo {
                    position: position(&entry),
                    epoch: summary.epoch,
                    filename: entry.filename,
                    metadata: summary.metadata,
                });
            }
            if complete || videos.len() >= self.settings.max_videos {
                let omitted = if complete { 0 } else { total.saturating_sub(videos.len() as u64) };
                return Ok((videos, omitted));
            }
            query.after = videos.last().map(|video| video.position.clone());
        }
    }

    /// Reads the people of a video, or returns the cached ones. Returns `None` if the video is gone or
    /// cannot be read.
    async fn video_people(&self, video: &CorrectedVideo) -> Result<Option<Arc<VideoPeople>>> {
        let Position { created_at, video_id } = video.position;
        let listed = Publication { created_at, epoch: video.epoch };
        let cached = self.cache.get(video_id.as_str());
        if let Some(cached) = cached.filter(|cached| cached.publication == listed) {
            return Ok(Some(cached.people));
        }
        let read = |record| async move { self.derive(&record).await };
        let cached = match self.records.read_published(video_id, read).await {
            Err(Error::NotFound(_)) => return Ok(None),
            Err(error) if error.is_corrupt() => {
                tracing::warn!(%video_id, %error, "the names of people are not listed");
                return Ok(None);
            }
            read => read?,
        };
        let people = cached.people.clone();
        let bytes = people.bytes();
        self.cache.insert(video_id.as_str(), cached, bytes);
        Ok(Some(people))
    }

    /// Derives the people of a video from its corrections.
    async fn derive(&self, record: &VideoRecord) -> Result<CachedPeople> {
        let corrections = self.records.corrections(record).await?;
        let mut people = VideoPeople::new(&corrections, milliseconds(record.duration));
        people.has_picture = record.has_picture();
        if people.has_visible() && record.aggregates.contains_key(entities::ID) {
            let linked = self.records.aggregate_result(record, entities::ID).await?;
            if let Some(linked) = result_of::<LinkedPeople>(&*linked) {
                people.set_entities(linked.entities.iter().map(|linked| &linked.entity));
            }
        }
        let publication = Publication {
            created_at: instant(&record.created_at).unwrap_or_default(),
            epoch: record.epoch,
        };
        Ok(CachedPeople { publication, people: Arc::new(people) })
    }
}

impl CorrectedVideo {
    fn video_id(&self) -> VideoId {
        self.position.video_id
    }

    /// The title that a user gave to the video.
    fn title(&self) -> Option<String> {
        self.metadata.title().map(str::to_owned)
    }
}
