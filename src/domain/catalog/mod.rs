//! The catalog of videos: reads, publishes and cleans up stored records.
//!
//! The folder `videos/<video_id>/` holds `video.json` and the immutable documents that it
//! references. A document that no published `video.json` references is garbage left by an
//! interrupted or superseded ingest.

pub mod aggregates;
mod cache;
pub mod chunks;
mod claim;
pub mod collections;
pub mod corrections;
pub mod entities;
pub mod extractors;
mod faults;
pub(crate) mod install;
mod listing;
pub mod locks;
pub mod metadata;
pub mod moments;
pub mod outputs;
mod publication;
pub mod readiness;
pub mod record;
mod record_state;
mod removal;
mod rendered;
mod response_cache;
pub(crate) mod scrub;
pub mod transcript;
mod ttl_cache;
pub mod unreadable;
mod update_metadata;
pub mod verify;
pub mod videos;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use parking_lot::{Mutex, MutexGuard};
use ports::index::VectorIndex;
use ports::listing::VideoListing;
use ports::records::RecordStore;
use ports::storage::ObjectStorage;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::aggregation::Aggregators;
use crate::aggregation::result::{Aggregate, Results};
use crate::analysis::Analyzers;
use crate::analysis::correction::CorrectionSet;
use crate::analysis::video::{AnalyzedVideo, doubtful_words};
use crate::catalog::locks::VideoLocks;
use crate::catalog::readiness::StoreReadiness;
use crate::catalog::record::VideoRecord;
use crate::catalog::rendered::RenderedPage;
use crate::catalog::response_cache::CachedResponse;
use crate::catalog::ttl_cache::TtlCache;
use crate::catalog::unreadable::UnreadableVideos;
use crate::chunking::Signals;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::lru::LruCache;
use crate::kernel::names::comma_separated;
use crate::kernel::ports::Stores;
use crate::kernel::time::Span;
use crate::kernel::video::{VideoId, unknown_video};
use crate::media::speech::Speech;
pub(crate) use cache::{CacheKey, SpeechCache};
pub(crate) use claim::VideoClaim;
pub(crate) use faults::{DocumentContent, DocumentFault};
pub(crate) use listing::{EntrySummary, listing_order};
pub(crate) use publication::ALERTS;
pub(crate) use record_state::RecordState;
pub(crate) use rendered::strip_internal;

/// Maximum number of attempts to read a video that is published again during the read.
const READ_ATTEMPTS: usize = 3;

/// Maximum number of documents read or written concurrently for one request.
const MAX_CONCURRENT_READS: usize = 16;

/// Typed access to the stored records.
pub struct Catalog {
    records: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    index: Arc<dyn VectorIndex>,
    listing: Arc<dyn VideoListing>,
    /// The locks on videos.
    pub(crate) locks: VideoLocks,
    unreadable: UnreadableVideos,
    /// Whether the stores answer and belong to this install.
    pub readiness: StoreReadiness,
    /// Cache of rendered chunk pages.
    page_cache: LruCache<RenderedPage>,
    response_cache: LruCache<CachedResponse>,
    summary_cache: TtlCache,
    /// Videos with garbage left by interrupted changes.
    unfinished: Mutex<BTreeSet<VideoId>>,
    /// The analyzers of this install.
    pub(crate) analyzers: Analyzers,
    /// The aggregators of this install.
    pub(crate) aggregators: Aggregators,
}

impl Catalog {
    /// Creates a catalog on these stores. If `lease` is given, instances share the records, and
    /// locks are leases of this length. The caches for rendered pages, responses and listing
    /// summaries together hold at most `cache_bytes`. Summaries are cached only if the index is
    /// shared, and expire after `listing_ttl`.
    pub(crate) fn new(
        stores: &Stores,
        analyzers: Analyzers,
        aggregators: Aggregators,
        lease: Option<Duration>,
        cache_bytes: usize,
        listing_ttl: Duration,
    ) -> Self {
        let listing_ttl = if stores.index.shared() { listing_ttl } else { Duration::ZERO };
        let summary_bytes = if listing_ttl.is_zero() { 0 } else { cache_bytes / 4 };
        Self {
            records: stores.records.clone(),
            storage: stores.storage.clone(),
            index: stores.index.clone(),
            listing: stores.listing.clone(),
            locks: VideoLocks::new(stores.records.clone(), lease),
            unreadable: UnreadableVideos::default(),
            readiness: StoreReadiness::default(),
            page_cache: LruCache::new(cache_bytes / 2),
            response_cache: LruCache::new(cache_bytes / 2 - summary_bytes),
            summary_cache: TtlCache::new(listing_ttl, summary_bytes),
            unfinished: Mutex::default(),
            analyzers,
            aggregators,
        }
    }

    /// Returns the videos with missing or corrupt records or documents.
    pub(crate) fn unreadable(&self) -> &UnreadableVideos {
        &self.unreadable
    }

    /// Returns the videos that this process knows to have garbage from interrupted changes.
    pub(crate) fn unfinished(&self) -> MutexGuard<'_, BTreeSet<VideoId>> {
        self.unfinished.lock()
    }

    /// Lists the videos that may have garbage from unfinished changes: videos that are locked, that
    /// this process left unfinished, or that are unreadable.
    pub(crate) async fn left_unfinished(&self) -> Result<BTreeSet<VideoId>> {
        let mut left: BTreeSet<VideoId> = self.locks.locked_videos().await?.into_iter().collect();
        left.extend(self.unfinished().iter());
        left.extend(self.unreadable.ids());
        Ok(left)
    }

    /// Reads documents of a published video. If documents are missing because the video was
    /// published again in the meantime, retries with the new record. Returns `NotFound` if there is
    /// no such video.
    pub(crate) async fn read_published<T, Reading: Future<Output = Result<T>>>(
        &self,
        video_id: VideoId,
        read: impl Fn(VideoRecord) -> Reading,
    ) -> Result<T> {
        let mut record = self.record(video_id).await?;
        for _ in 1..READ_ATTEMPTS {
            let epoch = record.epoch;
            match read(record).await {
                Err(error) if error.is_corrupt() => {
                    record = self.record(video_id).await?;
                    if record.epoch == epoch {
                        return Err(error);
                    }
                }
                done => return done,
            }
        }
        read(record).await
    }

    /// Reads the published record, if there is one.
    pub(crate) async fn find(&self, video_id: VideoId) -> Result<Option<VideoRecord>> {
        self.record_state(video_id).await?.into_record()
    }

    /// Reads the published record, if there is a readable one.
    pub(crate) async fn find_readable(&self, video_id: VideoId) -> Result<Option<VideoRecord>> {
        match self.record_state(video_id).await? {
            RecordState::Record(record, _) => Ok(Some(*record)),
            RecordState::Absent | RecordState::Tombstone(..) | RecordState::Unreadable(..) => {
                Ok(None)
            }
        }
    }

    /// Checks that the caller may see the video. If not, returns `NotFound`, as for a video that
    /// does not exist.
    pub(crate) async fn check_visible(&self, access: &Access, video_id: VideoId) -> Result<()> {
        if access.collections().is_none() {
            return Ok(());
        }
        let state = self.record_state(video_id).await?;
        let record = state.record();
        match record.is_some_and(|record| access.sees(record.metadata.collection.as_deref())) {
            true => Ok(()),
            false => Err(unknown_video(video_id)),
        }
    }

    /// Reads the published record; returns `NotFound` if there is none.
    pub(crate) async fn record(&self, video_id: VideoId) -> Result<VideoRecord> {
        self.find(video_id).await?.ok_or_else(|| unknown_video(video_id))
    }

    /// Lists the ids of all videos with stored documents, published or not.
    pub(crate) async fn ids(&self) -> Result<Vec<VideoId>> {
        let names = self.records.children("videos/").await?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Reads the published records of the given videos, in the same order, omitting missing and
    /// unreadable records.
    pub(crate) async fn records(&self, video_ids: &[VideoId]) -> Result<Vec<VideoRecord>> {
        stream::iter(video_ids.to_vec())
            .map(|id| async move { self.find_readable(id).await })
            .buffered(MAX_CONCURRENT_READS)
            .try_filter_map(|found| async move { Ok(found) })
            .try_collect()
            .await
    }

    pub(crate) async fn spans(&self, record: &VideoRecord) -> Result<Vec<Span>> {
        self.document(&record.chunks_document).await
    }

    pub(crate) async fn signals(&self, record: &VideoRecord) -> Result<Signals> {
        self.document(&record.signals_document).await
    }

    pub(crate) async fn speech(&self, document: &str) -> Result<Speech> {
        self.document(document).await
    }

    /// Reads a video's chunks and the outputs of all analyzers.
    pub(crate) async fn analyzed_video(&self, record: &VideoRecord) -> Result<AnalyzedVideo> {
        let mut outputs = BTreeMap::new();
        for analyzer in record.analyzers.keys() {
            outputs.insert(analyzer.clone(), self.outputs(record, analyzer).await?);
        }
        Ok(AnalyzedVideo {
            video_id: record.video_id,
            duration: record.duration,
            spans: self.spans(record).await?,
            outputs,
            doubtful: self.doubtful_words(record).await?,
        })
    }

    /// Finds the words in which speech recognition had low confidence.
    async fn doubtful_words(&self, record: &VideoRecord) -> Result<BTreeSet<String>> {
        let Some(document) = &record.speech_document else { return Ok(BTreeSet::new()) };
        let speech = self.speech(document).await?;
        let overlay = CorrectionSet::new(self.corrections(record).await?, Some(speech));
        let Some((_, corrected)) = overlay.speech() else { return Ok(BTreeSet::new()) };
        Ok(corrected
            .speech
            .words
            .as_ref()
            .map_or_else(BTreeSet::new, |speech| doubtful_words(&speech.by_channel().concat())))
    }

    /// Reads the JSON of one aggregate. If it is not stored, returns `Invalid` with a list of the
    /// aggregates that are.
    pub(crate) async fn stored_aggregate(
        &self,
        record: &VideoRecord,
        aggregator: &str,
    ) -> Result<Value> {
        let key = record.aggregates.get(aggregator).ok_or_else(|| {
            Error::Invalid(format!(
                "video '{}' has no aggregate '{aggregator}'; it has: {}",
                record.video_id,
                comma_separated(&self.aggregators.in_order(record.aggregates.keys()))
            ))
        })?;
        self.document(key).await
    }

    /// Reads and parses one aggregate. If it is not stored, returns `Invalid` with a list of the
    /// aggregates that are.
    pub(crate) async fn aggregate_result(
        &self,
        record: &VideoRecord,
        aggregator: &str,
    ) -> Result<Aggregate> {
        let stored = self.stored_aggregate(record, aggregator).await?;
        self.aggregators.read(aggregator, stored)
    }

    /// Reads the stored aggregates. Omits those that cannot be parsed, since they can be
    /// recomputed.
    pub(crate) async fn aggregate_results(&self, record: &VideoRecord) -> Result<Results> {
        let mut results = Results::new();
        for id in record.aggregates.keys() {
            let stored = self.stored_aggregate(record, id).await?;
            match self.aggregators.read(id, stored) {
                Ok(result) => {
                    results.insert(id.clone(), result);
                }
                Err(error) => {
                    tracing::warn!(video_id = %record.video_id, aggregator = %id, %error, "ignoring a corrupt aggregate");
                }
            }
        }
        Ok(results)
    }

    /// Stores an immutable document and returns its key. The document is garbage until a record
    /// that references it is published.
    pub(crate) async fn store<T: Serialize>(
        &self,
        video_id: VideoId,
        name: &str,
        document: &T,
    ) -> Result<String> {
        let key = format!("videos/{video_id}/{name}-{}.json", uuid::Uuid::new_v4().simple());
        self.put_document(&key, document).await?;
        Ok(key)
    }

    async fn put_document<T: Serialize>(&self, key: &str, document: &T) -> Result<()> {
        let value = serde_json::to_value(document)
            .map_err(|e| Error::corrupt(format!("cannot store {key}: {e}")))?;
        Ok(self.records.put(key, &value).await?)
    }

    /// Reads a document that a published record references.
    async fn document<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        let read = self.read(key).await;
        let read =
            read.and_then(|document| document.ok_or_else(|| Error::corrupt(missing_record(key))));
        if let Some(video_id) = video_of(key) {
            match &read {
                Ok(_) => self.unreadable.mark_readable(video_id, key),
                // A document that was superseded in the meantime is not a fault.
                Err(error) if error.is_corrupt() && self.is_referenced(video_id, key).await => {
                    self.unreadable.report(video_id, key, &error.to_string());
                }
                Err(_) => {}
            }
        }
        read
    }

    async fn is_referenced(&self, video_id: VideoId, key: &str) -> bool {
        let record = self.find(video_id).await;
        record
            .is_ok_and(|record| record.is_some_and(|record| referenced_keys(&record).contains(key)))
    }

    async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let Some(value) = self.records.get(key).await? else { return Ok(None) };
        let parsed = serde_json::from_value(value)
            .map_err(|e| Error::corrupt(format!("the record {key} does not read back: {e}")))?;
        Ok(Some(parsed))
    }
}

/// Returns the keys of a published video's documents, including the record itself.
fn referenced_keys(record: &VideoRecord) -> BTreeSet<String> {
    let mut referenced_keys = BTreeSet::from([
        record_key(record.video_id),
        record.chunks_document.clone(),
        record.signals_document.clone(),
    ]);
    referenced_keys.extend(record.speech_document.clone());
    referenced_keys.extend(record.corrections_document.clone());
    let entries = record.analyzers.values();
    let pages = entries.flat_map(|entry| std::iter::once(&entry.pages).chain(&entry.uncorrected));
    referenced_keys.extend(pages.flat_map(|pages| pages.keys(record.chunks)));
    referenced_keys.extend(record.aggregates.values().cloned());
    referenced_keys
}

fn missing_record(key: &str) -> String {
    format!("the record {key} is missing")
}

/// Returns the video that a document key belongs to.
fn video_of(key: &str) -> Option<VideoId> {
    key.strip_prefix("videos/")?.split('/').next()?.parse().ok()
}

fn record_key(video_id: VideoId) -> String {
    format!("videos/{video_id}/video.json")
}
