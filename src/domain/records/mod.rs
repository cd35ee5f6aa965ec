//! The stored records of videos and the documents that they reference.
//!
//! The folder `videos/<video_id>/` of the record store holds `video.json` and the immutable documents
//! that it references. A document that no published `video.json` references is garbage left by an
//! interrupted or superseded ingest. [`Records`] reads records, and reads and stores documents.
//! Publishing a record is the task of [`publishing`](crate::publishing).

pub(crate) mod documents;
pub(crate) mod extractors;
pub(crate) mod faults;
pub mod install;
pub mod locks;
pub mod metadata;
pub(crate) mod model_cache;
pub mod output_pages;
pub(crate) mod outputs;
pub mod readiness;
pub mod record;
pub(crate) mod record_state;
pub mod settings;
pub mod unreadable;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use ports::records::RecordStore;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::aggregation::Aggregators;
use crate::aggregation::aggregators::chapters;
use crate::aggregation::result::{Aggregate, Results};
use crate::analysis::Analyzers;
use crate::analysis::correction::{Correction, CorrectionKind, CorrectionSet};
use crate::analysis::video::{AnalyzedVideo, doubtful_words};
use crate::chunking::Signals;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::Span;
use crate::kernel::video::{VideoId, unknown_video};
use crate::media::speech::Speech;
use crate::records::documents::{missing_record, read_document, referenced_keys, video_of};
use crate::records::record::VideoRecord;
use crate::records::record_state::RecordState;
use crate::records::unreadable::UnreadableVideos;

/// Maximum number of documents read or written concurrently for one request.
pub(crate) const MAX_CONCURRENT_READS: usize = 16;

/// Maximum number of attempts to read a video that is published again during the read.
const READ_ATTEMPTS: usize = 3;

/// The records of all videos and the documents that they reference.
pub(crate) struct Records {
    pub(crate) store: Arc<dyn RecordStore>,
    pub(crate) unreadable: UnreadableVideos,
    pub(crate) analyzers: Analyzers,
    aggregators: Aggregators,
}

impl Records {
    pub(crate) fn new(
        store: Arc<dyn RecordStore>,
        analyzers: Analyzers,
        aggregators: Aggregators,
    ) -> Self {
        Self { store, unreadable: UnreadableVideos::default(), analyzers, aggregators }
    }

    /// Returns the videos with missing or corrupt records or documents.
    pub(crate) fn unreadable(&self) -> &UnreadableVideos {
        &self.unreadable
    }

    /// Reads documents of a published video. If documents are missing because the video was
    /// published again in the meantime, retries with the new record. Returns `NotFound` if there is
    /// no such video.
    pub(crate) async fn read_published<T, Reading: Future<Output = Result<T>>>(
        &self,
        video_id: VideoId,
        read: impl Fn(VideoRecord) -> Reading,
    ) -> Result<T> {
        let mut record = self.get(video_id).await?;
        for _ in 1..READ_ATTEMPTS {
            let epoch = record.epoch;
            match read(record).await {
                Err(error) if error.is_corrupt() => {
                    record = self.get(video_id).await?;
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
        self.state(video_id).await?.into_record()
    }

    /// Reads the published record, if there is a readable one.
    pub(crate) async fn find_readable(&self, video_id: VideoId) -> Result<Option<VideoRecord>> {
        match self.state(video_id).await? {
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
        let state = self.state(video_id).await?;
        let record = state.record();
        match record.is_some_and(|record| access.sees(record.metadata.collection.as_deref())) {
            true => Ok(()),
            false => Err(unknown_video(video_id)),
        }
    }

    /// Reads the published record; returns `NotFound` if there is none.
    pub(crate) async fn get(&self, video_id: VideoId) -> Result<VideoRecord> {
        self.find(video_id).await?.ok_or_else(|| unknown_video(video_id))
    }

    /// Lists the ids of all videos with stored documents, published or not.
    pub(crate) async fn ids(&self) -> Result<Vec<VideoId>> {
        let names = self.store.children("videos/").await?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Reads the published records of the given videos, in the same order, omitting missing and
    /// unreadable records.
    pub(crate) async fn find_all(&self, video_ids: &[VideoId]) -> Result<Vec<VideoRecord>> {
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

    /// Reads the JSON of one aggregate, with corrected chapters. If it is not stored,
    /// returns `Invalid` with a list of the aggregates that are.
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
        let mut stored = self.document(key).await?;
        if aggregator == chapters::ID {
            let mut corrections = self.corrections(record).await?;
            corrections.retain(|correction| correction.kind == CorrectionKind::Chapter);
            if !corrections.is_empty() {
                let chunks = self.spans(record).await?;
                chapters::correct_chapters(&mut stored, &corrections, &chunks);
            }
        }
        Ok(stored)
    }

    /// Reads the JSON of all stored aggregates.
    pub(crate) async fn stored_aggregates(
        &self,
        record: &VideoRecord,
    ) -> Result<BTreeMap<String, Value>> {
        let mut aggregates = BTreeMap::new();
        for id in record.aggregates.keys() {
            aggregates.insert(id.clone(), self.stored_aggregate(record, id).await?);
        }
        Ok(aggregates)
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

    pub(crate) async fn put_document<T: Serialize>(&self, key: &str, document: &T) -> Result<()> {
        let value = serde_json::to_value(document)
            .map_err(|e| Error::corrupt(format!("cannot store {key}: {e}")))?;
        Ok(self.store.put(key, &value).await?)
    }

    /// Reads a document that a published record references.
    pub(crate) async fn document<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        let read = read_document(&*self.store, key).await;
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

    /// Reads the corrections to a published video, oldest first.
    pub(crate) async fn video_corrections(&self, video_id: VideoId) -> Result<Vec<Correction>> {
        let read = |record| async move { self.corrections(&record).await };
        self.read_published(video_id, read).await
    }

    /// Reads the corrections that a record references.
    pub(crate) async fn corrections(&self, record: &VideoRecord) -> Result<Vec<Correction>> {
        match &record.corrections_document {
            Some(document) => self.document(document).await,
            None => Ok(Vec::new()),
        }
    }
}
