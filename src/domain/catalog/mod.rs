//! The stored records: typed reading, publication and clean-up.
//!
//! Below `videos/<video_id>/` lie `video.json` and the immutable documents it names. A document
//! that no published `video.json` names is garbage of an interrupted or superseded ingest.

pub mod about;
pub mod aggregates;
mod annotate;
mod cache;
pub mod chunks;
mod claim;
pub mod collections;
pub mod corrections;
pub mod entities;
pub mod extractors;
mod faults;
pub(crate) mod install;
mod lately;
mod listing;
pub mod locks;
pub(crate) mod looked;
pub mod moments;
pub mod opening;
pub mod outputs;
mod publication;
pub mod record;
mod removal;
mod shown;
mod stored;
pub mod transcript;
pub mod unreadable;
pub mod verify;
pub mod videos;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use ports::index::VectorIndex;
use ports::listing::VideoListing;
use ports::records::RecordStore;
use ports::storage::ObjectStorage;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::aggregation::Aggregators;
use crate::domain::aggregation::result::{Aggregate, Results};
use crate::domain::analysis::Analyzers;
use crate::domain::analysis::correction::Overlay;
use crate::domain::analysis::video::{AnalyzedVideo, doubtful};
use crate::domain::catalog::lately::Lately;
use crate::domain::catalog::locks::VideoLocks;
use crate::domain::catalog::opening::Opening;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::catalog::shown::ShownPage;
use crate::domain::catalog::unreadable::Unreadable;
use crate::domain::catalog::written::Written;
use crate::domain::chunking::Signals;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::ports::Stores;
use crate::domain::kernel::recent::Recent;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{VideoId, unknown};
use crate::domain::media::speech::Speech;
pub(crate) use cache::{CacheKey, RecognisedPieces};
pub(crate) use claim::Claim;
pub(crate) use faults::{Fault, Part};
pub(crate) use listing::{Listed, in_order};
pub(crate) use publication::ALERTS;
pub(crate) use shown::strip_internal;
pub(crate) use stored::Stored;

/// Times that a read is tried whose video is published while it runs.
const READS: usize = 3;

/// Documents read or written at once for one request.
const PARALLEL: usize = 16;

/// What is stored: typed records, and reading them.
pub struct Catalog {
    records: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    index: Arc<dyn VectorIndex>,
    listing: Arc<dyn VideoListing>,
    /// Who changes which video right now.
    pub(crate) locks: VideoLocks,
    unreadable: Unreadable,
    /// Whether the stores answer and belong together.
    pub opening: Opening,
    shown: Recent<ShownPage>,
    written: Recent<Written>,
    lately: Lately,
    /// Videos that a change has left garbage of.
    unfinished: Mutex<BTreeSet<VideoId>>,
    /// The analyzers of this install.
    pub(crate) analyzers: Analyzers,
    /// The aggregators of this install.
    pub(crate) aggregators: Aggregators,
}

impl Catalog {
    /// Over the given stores; where instances share their records, a lock lasts `lease`. Outputs that
    /// were last shown, answers with them, and what is listed of the videos of hits take at most
    /// `cache_bytes`; where the index is shared, the last is read anew after `video_cache_ttl`.
    pub(crate) fn new(
        stores: &Stores,
        analyzers: Analyzers,
        aggregators: Aggregators,
        lease: Option<Duration>,
        cache_bytes: usize,
        video_cache_ttl: Duration,
    ) -> Self {
        let video_cache_ttl = if stores.index.shared() { video_cache_ttl } else { Duration::ZERO };
        let listed_bytes = if video_cache_ttl.is_zero() { 0 } else { cache_bytes / 4 };
        Self {
            records: stores.records.clone(),
            storage: stores.storage.clone(),
            index: stores.index.clone(),
            listing: stores.listing.clone(),
            locks: VideoLocks::new(stores.records.clone(), lease),
            unreadable: Unreadable::default(),
            opening: Opening::default(),
            shown: Recent::new(cache_bytes / 2),
            written: Recent::new(cache_bytes / 2 - listed_bytes),
            lately: Lately::new(video_cache_ttl, listed_bytes),
            unfinished: Mutex::default(),
            analyzers,
            aggregators,
        }
    }

    /// Videos that were found not to read back.
    pub(crate) fn unreadable(&self) -> &Unreadable {
        &self.unreadable
    }

    /// Videos that a change has left garbage of, as far as this process knows.
    pub(crate) fn unfinished(&self) -> MutexGuard<'_, BTreeSet<VideoId>> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Videos that changes which have not come to their end may have left garbage of.
    pub(crate) async fn left_unfinished(&self) -> Result<BTreeSet<VideoId>> {
        let mut left: BTreeSet<VideoId> = self.locks.entered().await?.into_iter().collect();
        left.extend(self.unfinished().iter());
        left.extend(self.unreadable.ids());
        Ok(left)
    }

    /// Reads documents of a published video, once more with the record of then if it was published
    /// meanwhile and some of them are gone. `NotFound` where there is no such video.
    pub(crate) async fn read_published<T, Reading: Future<Output = Result<T>>>(
        &self,
        video_id: VideoId,
        read: impl Fn(VideoRecord) -> Reading,
    ) -> Result<T> {
        let mut record = self.record(video_id).await?;
        for _ in 1..READS {
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

    /// The published record, if there is one.
    pub(crate) async fn find(&self, video_id: VideoId) -> Result<Option<VideoRecord>> {
        self.stored(video_id).await?.into_record()
    }

    /// The published record, if there is one that reads back.
    pub(crate) async fn find_readable(&self, video_id: VideoId) -> Result<Option<VideoRecord>> {
        match self.stored(video_id).await? {
            Stored::Record(record, _) => Ok(Some(*record)),
            Stored::Absent | Stored::Tombstone(..) | Stored::Unreadable(..) => Ok(None),
        }
    }

    /// Checks that a caller sees a video: else it is `NotFound`, as one that is not there.
    pub(crate) async fn check_seen(&self, access: &Access, video_id: VideoId) -> Result<()> {
        if access.collections().is_none() {
            return Ok(());
        }
        let stored = self.stored(video_id).await?;
        let record = stored.record();
        match record.is_some_and(|record| access.sees(record.about.collection.as_deref())) {
            true => Ok(()),
            false => Err(unknown(video_id)),
        }
    }

    /// The published record, or `NotFound`.
    pub(crate) async fn record(&self, video_id: VideoId) -> Result<VideoRecord> {
        self.find(video_id).await?.ok_or_else(|| unknown(video_id))
    }

    /// Ids of videos of which anything is stored, published or not.
    pub(crate) async fn ids(&self) -> Result<Vec<VideoId>> {
        let names = self.records.children("videos/").await?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// The published records of these videos that read back, in this order.
    pub(crate) async fn records(&self, video_ids: &[VideoId]) -> Result<Vec<VideoRecord>> {
        stream::iter(video_ids.to_vec())
            .map(|id| async move { self.find_readable(id).await })
            .buffered(PARALLEL)
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

    /// Chunks and every analyzer's outputs.
    pub(crate) async fn analyzed(&self, record: &VideoRecord) -> Result<AnalyzedVideo> {
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

    /// Words that were misheard, as far as the recogniser tells.
    async fn doubtful_words(&self, record: &VideoRecord) -> Result<BTreeSet<String>> {
        let Some(document) = &record.speech_document else { return Ok(BTreeSet::new()) };
        let speech = self.speech(document).await?;
        let overlay = Overlay::new(self.corrections(record).await?, Some(speech));
        let Some((_, heard)) = overlay.heard() else { return Ok(BTreeSet::new()) };
        Ok(heard
            .speech
            .words
            .as_ref()
            .map_or_else(BTreeSet::new, |heard| doubtful(&heard.by_channel().concat())))
    }

    /// One stored aggregate as it is stored; `Invalid` lists what is stored.
    pub(crate) async fn stored_aggregate(
        &self,
        record: &VideoRecord,
        aggregator: &str,
    ) -> Result<Value> {
        let key = record.aggregates.get(aggregator).ok_or_else(|| {
            Error::Invalid(format!(
                "video '{}' has no aggregate '{aggregator}'; it has: {}",
                record.video_id,
                listed(&self.aggregators.in_order(record.aggregates.keys()))
            ))
        })?;
        self.document(key).await
    }

    /// One stored aggregate; `Invalid` lists what is stored.
    pub(crate) async fn aggregate_result(
        &self,
        record: &VideoRecord,
        aggregator: &str,
    ) -> Result<Aggregate> {
        let stored = self.stored_aggregate(record, aggregator).await?;
        self.aggregators.read(aggregator, stored)
    }

    /// Every stored aggregate that reads back; one that does not is as good as lacking, and can be
    /// computed again.
    pub(crate) async fn aggregate_results(&self, record: &VideoRecord) -> Result<Results> {
        let mut results = Results::new();
        for id in record.aggregates.keys() {
            let stored = self.stored_aggregate(record, id).await?;
            match self.aggregators.read(id, stored) {
                Ok(result) => {
                    results.insert(id.clone(), result);
                }
                Err(error) => {
                    tracing::warn!(video_id = %record.video_id, aggregator = %id, %error, "left out");
                }
            }
        }
        Ok(results)
    }

    /// Stores an immutable document and returns its key. It is garbage until a record that names
    /// it is published.
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

    /// A document that a published record names.
    async fn document<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        let read = self.read(key).await;
        let read = read.and_then(|found| found.ok_or_else(|| Error::corrupt(missing(key))));
        if let Some(video_id) = video_of(key) {
            match &read {
                Ok(_) => self.unreadable.reads(video_id, key),
                // A document that has been superseded meanwhile is no fault.
                Err(error) if error.is_corrupt() && self.names(video_id, key).await => {
                    self.unreadable.enter(video_id, key, &error.to_string());
                }
                Err(_) => {}
            }
        }
        read
    }

    async fn names(&self, video_id: VideoId, key: &str) -> bool {
        let record = self.find(video_id).await;
        record.is_ok_and(|record| record.is_some_and(|record| named(&record).contains(key)))
    }

    async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let Some(value) = self.records.get(key).await? else { return Ok(None) };
        let parsed = serde_json::from_value(value)
            .map_err(|e| Error::corrupt(format!("the record {key} does not read back: {e}")))?;
        Ok(Some(parsed))
    }
}

/// The documents of a published video, the record itself included.
fn named(record: &VideoRecord) -> BTreeSet<String> {
    let mut named = BTreeSet::from([
        published(record.video_id),
        record.chunks_document.clone(),
        record.signals_document.clone(),
    ]);
    named.extend(record.speech_document.clone());
    named.extend(record.corrections_document.clone());
    let entries = record.analyzers.values();
    let pages = entries.flat_map(|entry| std::iter::once(&entry.pages).chain(&entry.uncorrected));
    named.extend(pages.flat_map(|pages| pages.keys(record.chunks)));
    named.extend(record.aggregates.values().cloned());
    named
}

fn missing(key: &str) -> String {
    format!("the record {key} is missing")
}

/// The video that a document belongs to.
fn video_of(key: &str) -> Option<VideoId> {
    key.strip_prefix("videos/")?.split('/').next()?.parse().ok()
}

fn published(video_id: VideoId) -> String {
    format!("videos/{video_id}/video.json")
}
