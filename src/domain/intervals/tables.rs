//! Builds the tables of videos when they are first needed, and stores and caches them until the
//! videos change.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};

use crate::facts::{Needs, VideoFacts};
use crate::intervals::stored::{PublishedState, StoredTables};
use crate::intervals::table::{IntervalTable, TableIdentity};
use crate::kernel::cache::ByteCache;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::instant;
use crate::kernel::video::VideoId;
use crate::listing::{Listing, summary};
use crate::records::Records;
use crate::records::record::VideoRecord;

/// Number of videos whose results are read concurrently.
const CONCURRENT_VIDEOS: usize = 8;

/// Maximum number of attempts to read a video that changes during the read.
const READ_ATTEMPTS: usize = 3;

/// A table with the state of the listing before it was read.
#[derive(Clone)]
struct CachedTable {
    table: Arc<IntervalTable>,
    /// The number of changes to the video's entry.
    changes: u64,
    at: Instant,
}

/// The tables of videos.
pub(crate) struct IntervalTables {
    records: Arc<Records>,
    listing: Arc<Listing>,
    stored: StoredTables,
    cache: ByteCache<CachedTable>,
    /// How long a table is current before the listing is read again, if other instances may change
    /// videos.
    ttl: Option<Duration>,
}

impl IntervalTables {
    /// Creates an empty cache of at most `bytes` bytes. `ttl` is `None` if no other instance changes
    /// videos.
    pub(crate) fn new(
        records: Arc<Records>,
        listing: Arc<Listing>,
        bytes: usize,
        ttl: Option<Duration>,
    ) -> Self {
        let stored = StoredTables::new(records.store.clone());
        Self { records, listing, stored, cache: ByteCache::new(bytes), ttl }
    }

    /// Returns the cached table of a video, if it is current.
    pub(crate) fn cached(&self, video_id: VideoId) -> Option<Arc<IntervalTable>> {
        let cached = self.unchanged(video_id)?;
        let is_current = self.ttl.is_none_or(|ttl| cached.at.elapsed() < ttl);
        is_current.then_some(cached.table)
    }

    /// Returns the cached table of a video, if this process has not changed the video since.
    fn unchanged(&self, video_id: VideoId) -> Option<CachedTable> {
        let cached = self.cache.get(video_id.as_str())?;
        (cached.changes == self.listing.changes.get(video_id)).then_some(cached)
    }

    /// Returns the current tables of published videos. Builds those that are neither cached nor
    /// stored, and leaves out videos that do not exist or cannot be read.
    pub(crate) async fn read(
        &self,
        video_ids: &[VideoId],
    ) -> Result<HashMap<VideoId, Arc<IntervalTable>>> {
        let mut tables = self.revalidated(video_ids).await?;
        let missing: Vec<VideoId> =
            video_ids.iter().filter(|id| !tables.contains_key(*id)).copied().collect();
        if missing.is_empty() {
            return Ok(tables);
        }
        // A change after this makes the tables that are read below outdated.
        let at = Instant::now();
        let changes: HashMap<VideoId, u64> =
            missing.iter().map(|id| (*id, self.listing.changes.get(*id))).collect();
        let entries = self.listing.summaries(&missing).await?;
        let load = |video_id: VideoId| {
            let changes = changes.get(&video_id).copied().unwrap_or_default();
            let state = entries.get(&video_id).map(PublishedState::from);
            self.load_or_build(video_id, state, changes, at)
        };
        let loaded = stream::iter(missing)
            .map(load)
            .buffer_unordered(CONCURRENT_VIDEOS)
            .try_collect::<Vec<_>>()
            .await?;
        tables.extend(loaded.into_iter().flatten().map(|table| (table.identity.video_id, table)));
        Ok(tables)
    }

    /// Builds and stores the table of a video that has just been published. A failure is only
    /// logged: the table is then built when it is needed.
    pub(crate) async fn prepare(&self, video_id: VideoId) {
        match self.build_once(video_id).await {
            Ok(Some((table, state))) => self.save(&table, state).await,
            Ok(None) => {}
            Err(error) => tracing::warn!(%video_id, %error, "no table of intervals was built"),
        }
    }

    /// Reads the stored table of a video in this state, or builds it. `changes` is the number of
    /// changes to the video's entry when the state was read, at `at`.
    async fn load_or_build(
        &self,
        video_id: VideoId,
        state: Option<PublishedState>,
        changes: u64,
        at: Instant,
    ) -> Result<Option<Arc<IntervalTable>>> {
        let stored = match state {
            Some(state) => self.stored.load(video_id, &state).await?,
            None => None,
        };
        let Some(table) = stored else { return self.build(video_id).await };
        let table = Arc::new(table);
        self.insert(CachedTable { table: table.clone(), changes, at });
        Ok(Some(table))
    }

    /// Returns the cached tables that are current or, according to the listing, still are.
    async fn revalidated(
        &self,
        video_ids: &[VideoId],
    ) -> Result<HashMap<VideoId, Arc<IntervalTable>>> {
        let (mut tables, mut expired) = (HashMap::new(), Vec::new());
        for video_id in video_ids {
            match self.cached(*video_id) {
                Some(table) => drop(tables.insert(*video_id, table)),
                None => expired.extend(self.unchanged(*video_id)),
            }
        }
        if expired.is_empty() {
            return Ok(tables);
        }
        let at = Instant::now();
        let ids: Vec<VideoId> =
            expired.iter().map(|cached| cached.table.identity.video_id).collect();
        let entries = self.listing.summaries(&ids).await?;
        for cached in expired {
            let TableIdentity { video_id, epoch, .. } = cached.table.identity;
            if entries.get(&video_id).is_some_and(|entry| entry.epoch == epoch) {
                tables.insert(video_id, cached.table.clone());
                self.insert(CachedTable { at, ..cached });
            }
        }
        Ok(tables)
    }

    /// Builds the table of a video, and stores and caches it. Returns `None` if the video does not
    /// exist or cannot be read.
    async fn build(&self, video_id: VideoId) -> Result<Option<Arc<IntervalTable>>> {
        let mut table = None;
        for _ in 0..READ_ATTEMPTS {
            let (changes, at) = (self.listing.changes.get(video_id), Instant::now());
            let Some((built, state)) = self.build_once(video_id).await? else { return Ok(None) };
            let built = Arc::new(built);
            table = Some(built.clone());
            self.insert(CachedTable { table: built.clone(), changes, at });
            if self.listing.changes.get(video_id) == changes {
                self.save(&built, state).await;
                break;
            }
        }
        Ok(table)
    }

    /// Builds the table of a video and returns it with the state that it was built from. Returns
    /// `None` if the video does not exist or cannot be read.
    async fn build_once(
        &self,
        video_id: VideoId,
    ) -> Result<Option<(IntervalTable, PublishedState)>> {
        let read = |record| async move { self.read_facts(record).await };
        let (state, identity, facts) = match self.records.read_published(video_id, read).await {
            Ok(read) => read,
            Err(Error::NotFound(_)) => return Ok(None),
            Err(error) if error.is_corrupt() => return Ok(None),
            Err(error) => return Err(error),
        };
        let building = tokio::task::spawn_blocking(move || IntervalTable::new(identity, &facts));
        let built = building.await.map_err(|error| {
            Error::corrupt(format!("reading the intervals of {video_id} ended early: {error}"))
        })?;
        Ok(Some((built, state)))
    }

    /// Stores a table. A failure is only logged: the table is then built when it is needed.
    async fn save(&self, table: &IntervalTable, state: PublishedState) {
        if let Err(error) = self.stored.save(table, state).await {
            let video_id = table.identity.video_id;
            tracing::warn!(%video_id, %error, "a table of intervals was not stored");
        }
    }

    async fn read_facts(
        &self,
        record: VideoRecord,
    ) -> Result<(PublishedState, TableIdentity, VideoFacts)> {
        let identity = TableIdentity {
            video_id: record.video_id,
            created_at: instant(&record.created_at).unwrap_or_default(),
            epoch: record.epoch,
        };
        let facts = VideoFacts::read(&self.records, &record, Needs::TIMED).await?;
        Ok((PublishedState::from(&summary(&record)), identity, facts))
    }

    fn insert(&self, cached: CachedTable) {
        let bytes = cached.table.bytes();
        let video_id = cached.table.identity.video_id;
        self.cache.insert(video_id.as_str(), cached, bytes);
    }
}
