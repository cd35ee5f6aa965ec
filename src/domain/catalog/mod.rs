//! The stored records: typed reading, publication and clean-up.
//!
//! Below `videos/<video_id>/` lie `video.json` and the immutable documents it names. A document
//! that no published `video.json` names is garbage of an interrupted or superseded ingest.

pub mod aggregates;
pub mod chunks;
pub mod entities;
pub mod locks;
pub mod record;
pub mod verify;
pub mod videos;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use ports::index::VectorIndex;
use ports::records::RecordStore;
use ports::storage::ObjectStorage;
use ports::transcriber::Transcript;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::domain::aggregation::Aggregators;
use crate::domain::aggregation::result::{Aggregate, Results};
use crate::domain::analysis::Analyzers;
use crate::domain::analysis::video::{AnalyzedVideo, Output, Outputs};
use crate::domain::catalog::locks::VideoLocks;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::chunking::Signals;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::{is_video_id, listed};
use crate::domain::kernel::ports::Stores;
use crate::domain::kernel::time::Span;
use crate::domain::llm::memoised::KeptAnswers;
use crate::domain::media::speech::{Speech, TranscriptCache};

/// Records read at once when listing.
const PARALLEL_READS: usize = 16;

/// What is stored: typed records, and reading them.
pub struct Catalog {
    records: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    index: Arc<dyn VectorIndex>,
    /// Who changes which video right now.
    pub(crate) locks: VideoLocks,
    /// The analyzers of this install.
    pub(crate) analyzers: Analyzers,
    /// The aggregators of this install.
    pub(crate) aggregators: Aggregators,
}

impl Catalog {
    /// Over the given stores; where instances share their records, a lock lasts `lease`.
    pub(crate) fn new(
        stores: &Stores,
        analyzers: Analyzers,
        aggregators: Aggregators,
        lease: Option<Duration>,
    ) -> Self {
        Self {
            records: stores.records.clone(),
            storage: stores.storage.clone(),
            index: stores.index.clone(),
            locks: VideoLocks::new(stores.records.clone(), lease),
            analyzers,
            aggregators,
        }
    }

    /// The published record, if there is one.
    pub(crate) async fn find(&self, video_id: &str) -> Result<Option<VideoRecord>> {
        if !is_video_id(video_id) {
            return Ok(None);
        }
        self.read(&published(video_id)).await
    }

    /// The published record, or `NotFound`.
    pub(crate) async fn record(&self, video_id: &str) -> Result<VideoRecord> {
        let found = self.find(video_id).await?;
        found.ok_or_else(|| Error::NotFound(format!("unknown video_id '{video_id}'")))
    }

    /// Ids below which anything is stored, published or not.
    pub(crate) async fn ids(&self) -> Result<Vec<String>> {
        Ok(self.records.children("videos/").await?)
    }

    /// Every published record, newest first.
    pub(crate) async fn all(&self) -> Result<Vec<VideoRecord>> {
        let ids = self.ids().await?;
        let mut records: Vec<VideoRecord> = stream::iter(ids)
            .map(|id| async move { self.find(&id).await })
            .buffered(PARALLEL_READS)
            .try_filter_map(|found| async move { Ok(found) })
            .try_collect()
            .await?;
        records.sort_by(|a, b| {
            b.created_at.cmp(&a.created_at).then_with(|| a.video_id.cmp(&b.video_id))
        });
        Ok(records)
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

    /// One analyzer's stored outputs as they are stored; the video must have it.
    pub(crate) async fn output_documents(
        &self,
        record: &VideoRecord,
        analyzer: &str,
    ) -> Result<OutputDocuments> {
        let entry = record.analyzers.get(analyzer).ok_or_else(|| {
            Error::Invalid(format!(
                "video '{}' has no output from analyzer '{analyzer}'; it has: {}",
                record.video_id,
                listed(&record.analyzer_ids())
            ))
        })?;
        self.document(&entry.document).await
    }

    /// One analyzer's stored outputs; the video must have it.
    pub(crate) async fn outputs(&self, record: &VideoRecord, analyzer: &str) -> Result<Outputs> {
        let documents = self.output_documents(record, analyzer).await?;
        let read = |document| self.analyzers.read(analyzer, Value::Object(document));
        documents.into_iter().map(|document| document.map(read).transpose()).collect()
    }

    /// Stores one analyzer's outputs and returns the document's key, as [`Self::store`] does.
    pub(crate) async fn store_outputs(
        &self,
        video_id: &str,
        analyzer: &str,
        outputs: &Outputs,
    ) -> Result<String> {
        let documents: OutputDocuments =
            outputs.iter().map(|output| output.as_ref().map(|o| o.to_json())).collect();
        self.store(video_id, analyzer, &documents).await
    }

    /// An analyzer's kept result for one chunk; the outer `None` means not kept.
    pub(crate) async fn cached_output(
        &self,
        analyzer: &str,
        key: &CacheKey,
    ) -> Result<Option<Option<Output>>> {
        match self.cached(key).await? {
            None => Ok(None),
            Some(Value::Null) => Ok(Some(None)),
            Some(document) => self.analyzers.read(analyzer, document).map(|o| Some(Some(o))),
        }
    }

    /// Keeps an analyzer's result for one chunk.
    pub(crate) async fn cache_output(&self, key: &CacheKey, output: Option<&Output>) -> Result<()> {
        let document = output.map_or(Value::Null, |output| Value::Object(output.to_json()));
        self.cache(key, &document).await
    }

    /// Chunks and every analyzer's outputs.
    pub(crate) async fn analyzed(&self, record: &VideoRecord) -> Result<AnalyzedVideo> {
        let mut outputs = BTreeMap::new();
        for analyzer in record.analyzers.keys() {
            outputs.insert(analyzer.clone(), self.outputs(record, analyzer).await?);
        }
        Ok(AnalyzedVideo {
            video_id: record.video_id.clone(),
            duration: record.duration,
            spans: self.spans(record).await?,
            outputs,
        })
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
                listed(&record.aggregates.keys().cloned().collect::<Vec<_>>())
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
        video_id: &str,
        name: &str,
        document: &T,
    ) -> Result<String> {
        let key = format!("videos/{video_id}/{name}-{}.json", uuid::Uuid::new_v4().simple());
        let value = serde_json::to_value(document)
            .map_err(|e| Error::corrupt(format!("cannot store {key}: {e}")))?;
        self.records.put(&key, &value).await?;
        Ok(key)
    }

    /// Replaces the published record in one step, then removes the documents it no longer names.
    pub(crate) async fn publish(&self, record: &VideoRecord) -> Result<()> {
        let value = serde_json::to_value(record)
            .map_err(|e| Error::corrupt(format!("cannot store the record: {e}")))?;
        self.records.put(&published(&record.video_id), &value).await?;
        self.sweep(&record.video_id, Some(record)).await
    }

    /// Removes every document of a video that `record` does not name.
    pub(crate) async fn sweep(&self, video_id: &str, record: Option<&VideoRecord>) -> Result<()> {
        let named = record.map(named).unwrap_or_default();
        for key in self.records.list(&format!("videos/{video_id}/")).await? {
            if !named.contains(&key) {
                self.records.delete(&key).await?;
            }
        }
        Ok(())
    }

    /// The documents that a published record names and that are not there.
    pub(crate) async fn missing(&self, record: &VideoRecord) -> Result<Vec<String>> {
        let listed = self.records.list(&format!("videos/{}/", record.video_id)).await?;
        let there: BTreeSet<String> = listed.into_iter().collect();
        Ok(named(record).difference(&there).cloned().collect())
    }

    /// Removes the published record first, so that a crash leaves no half of it, then the rest.
    pub(crate) async fn remove(&self, video_id: &str) -> Result<()> {
        self.records.delete(&published(video_id)).await?;
        self.records.delete(&format!("videos/{video_id}/")).await?;
        Ok(self.records.delete(&format!("cache/{video_id}/")).await?)
    }

    /// A cached analyzer result; the outer `None` means not cached.
    pub(crate) async fn cached(&self, key: &CacheKey) -> Result<Option<Value>> {
        Ok(self.records.get(&key.0).await?)
    }

    /// How many of these results are cached.
    pub(crate) async fn count_cached(
        &self,
        video_id: &str,
        keys: &BTreeSet<CacheKey>,
    ) -> Result<u32> {
        let cached = self.records.list(&format!("cache/{video_id}/")).await?;
        Ok(cached.into_iter().filter(|key| keys.contains(&CacheKey(key.clone()))).count() as u32)
    }

    pub(crate) async fn cache(&self, key: &CacheKey, value: &Value) -> Result<()> {
        Ok(self.records.put(&key.0, value).await?)
    }

    /// What the language model has answered aggregators that then failed.
    pub(crate) async fn kept_answers(&self, video_id: &str) -> Result<KeptAnswers> {
        Ok(self.read(&answers(video_id)).await?.unwrap_or_default())
    }

    /// Replaces [`Self::kept_answers`].
    pub(crate) async fn keep_answers(&self, video_id: &str, kept: &KeptAnswers) -> Result<()> {
        if kept.is_empty() {
            return Ok(self.records.delete(&answers(video_id)).await?);
        }
        let value = serde_json::to_value(kept)
            .map_err(|e| Error::corrupt(format!("cannot store the model's answers: {e}")))?;
        Ok(self.records.put(&answers(video_id), &value).await?)
    }

    async fn document<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        self.read(key).await?.ok_or_else(|| Error::corrupt(format!("the record {key} is missing")))
    }

    async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let Some(value) = self.records.get(key).await? else { return Ok(None) };
        let parsed = serde_json::from_value(value)
            .map_err(|e| Error::corrupt(format!("the record {key} does not read back: {e}")))?;
        Ok(Some(parsed))
    }
}

/// One analyzer's outputs as JSON, one per chunk.
pub(crate) type OutputDocuments = Vec<Option<Map<String, Value>>>;

/// Where the result of a costly call is kept: by content, span, analyzer, model and prompt.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CacheKey(String);

impl CacheKey {
    pub(crate) fn new(video_id: &str, analyzer: &str, span: Span, fingerprint: &str) -> Self {
        use sha1::{Digest, Sha1};
        let name = format!("{:.3}-{:.3}-{fingerprint}", span.start, span.end);
        let digest: String =
            Sha1::digest(name.as_bytes()).iter().take(10).map(|b| format!("{b:02x}")).collect();
        Self(format!("cache/{video_id}/{analyzer}-{digest}.json"))
    }
}

/// The documents of a published video, the record itself included.
fn named(record: &VideoRecord) -> BTreeSet<String> {
    let mut named = BTreeSet::from([
        published(&record.video_id),
        record.chunks_document.clone(),
        record.signals_document.clone(),
    ]);
    named.extend(record.speech_document.clone());
    named.extend(record.analyzers.values().map(|entry| entry.document.clone()));
    named.extend(record.aggregates.values().cloned());
    named
}

fn answers(video_id: &str) -> String {
    format!("cache/{video_id}/answers.json")
}

fn published(video_id: &str) -> String {
    format!("videos/{video_id}/video.json")
}

/// Recognised pieces of one video's speech, kept beside what else has been paid for.
pub(crate) struct RecognisedPieces<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) video_id: &'a str,
}

impl RecognisedPieces<'_> {
    fn key(&self, piece: Span, recogniser: &str) -> CacheKey {
        CacheKey::new(self.video_id, "speech", piece, recogniser)
    }
}

#[async_trait]
impl TranscriptCache for RecognisedPieces<'_> {
    async fn get(&self, piece: Span, recogniser: &str) -> Result<Option<Transcript>> {
        let cached = self.catalog.cached(&self.key(piece, recogniser)).await?;
        let read = |value| {
            serde_json::from_value(value).map_err(|e| {
                Error::corrupt(format!("a recognised piece of '{}': {e}", self.video_id))
            })
        };
        cached.map(read).transpose()
    }

    async fn put(&self, piece: Span, recogniser: &str, transcript: &Transcript) -> Result<()> {
        let value = serde_json::to_value(transcript)
            .map_err(|e| Error::corrupt(format!("cannot keep a recognised piece: {e}")))?;
        self.catalog.cache(&self.key(piece, recogniser), &value).await
    }
}
