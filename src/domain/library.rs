//! The stored records: typed reading, publication and clean-up.
//!
//! Below `videos/<video_id>/` lie `video.json` and the immutable documents it names. A document
//! that no published `video.json` names is garbage of an interrupted or superseded ingest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use ports::records::{Expected, RecordStore};
use ports::{ErrorKind, PortError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::aggregators::KeptAnswers;
use super::chunking::Signals;
use super::error::{Error, Result};
use super::record::{AnalyzedVideo, Outputs, Span, VideoRecord};
use super::speech::Speech;
use super::unreadable::Unreadable;

/// Records read at once when listing.
const PARALLEL_READS: usize = 16;

/// Pauses before each attempt to find out what became of a publication whose answer was an error.
const REREADS: [Duration; 3] =
    [Duration::ZERO, Duration::from_millis(500), Duration::from_millis(2000)];

/// Typed access to the record store.
pub(crate) struct Library {
    records: Arc<dyn RecordStore>,
    unreadable: Unreadable,
}

/// What is stored as the published record of a video.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stored {
    /// Nothing.
    Absent,
    /// A record, and the JSON it was read from.
    Record(Box<VideoRecord>, Value),
    /// Something that is no record of this video: its JSON, if it is that, and what is wrong.
    Unreadable(Option<Value>, String),
}

impl Stored {
    pub(crate) fn record(&self) -> Option<&VideoRecord> {
        match self {
            Self::Record(record, _) => Some(record),
            Self::Absent | Self::Unreadable(..) => None,
        }
    }

    /// The record; what is stored in its place is `Corrupt`.
    pub(crate) fn into_record(self) -> Result<Option<VideoRecord>> {
        match self {
            Self::Absent => Ok(None),
            Self::Record(record, _) => Ok(Some(*record)),
            Self::Unreadable(_, error) => Err(Error::corrupt(error)),
        }
    }

    fn expected(&self) -> Expected<'_> {
        match self {
            Self::Absent => Expected::Absent,
            Self::Record(_, json) | Self::Unreadable(Some(json), _) => Expected::Document(json),
            Self::Unreadable(None, _) => Expected::Unreadable,
        }
    }
}

/// A part of a published video whose document does not read back.
pub(crate) struct Fault {
    pub(crate) part: Part,
    pub(crate) error: String,
}

/// What a document holds.
pub(crate) enum Part {
    /// Chunks, signals or speech, without which nothing else of the video is of use.
    Base,
    /// The outputs of this analyzer.
    Analyzer(String),
    /// The result of this aggregator.
    Aggregate(String),
}

impl Library {
    pub(crate) fn new(records: Arc<dyn RecordStore>) -> Self {
        Self { records, unreadable: Unreadable::default() }
    }

    /// Videos that were found not to read back.
    pub(crate) fn unreadable(&self) -> &Unreadable {
        &self.unreadable
    }

    /// What is stored as the published record.
    pub(crate) async fn stored(&self, video_id: &str) -> Result<Stored> {
        if !is_video_id(video_id) {
            return Ok(Stored::Absent);
        }
        let key = published(video_id);
        let unreadable = |json, error: String| {
            self.unreadable.enter(video_id, &key, &error);
            Ok(Stored::Unreadable(json, error))
        };
        let json = match self.records.get(&key).await {
            Ok(Some(json)) => json,
            Ok(None) => {
                self.unreadable.named(video_id, |_| false);
                return Ok(Stored::Absent);
            }
            Err(e) if e.kind() == ErrorKind::Corrupt => return unreadable(None, e.to_string()),
            Err(e) => return Err(e.into()),
        };
        match VideoRecord::deserialize(&json) {
            Ok(record) if record.video_id == video_id => {
                if self.unreadable.has(video_id) {
                    let named = named(&record);
                    self.unreadable.named(video_id, |of| of != key && named.contains(of));
                }
                Ok(Stored::Record(Box::new(record), json))
            }
            Ok(record) => {
                let error = format!("the record {key} is that of video '{}'", record.video_id);
                unreadable(Some(json), error)
            }
            Err(e) => unreadable(Some(json), format!("the record {key} does not read back: {e}")),
        }
    }

    /// The published record, if there is one.
    pub(crate) async fn find(&self, video_id: &str) -> Result<Option<VideoRecord>> {
        self.stored(video_id).await?.into_record()
    }

    /// The published record, if there is one that reads back.
    pub(crate) async fn find_readable(&self, video_id: &str) -> Result<Option<VideoRecord>> {
        match self.stored(video_id).await? {
            Stored::Record(record, _) => Ok(Some(*record)),
            Stored::Absent | Stored::Unreadable(..) => Ok(None),
        }
    }

    /// The published record, or `NotFound`.
    pub(crate) async fn video(&self, video_id: &str) -> Result<VideoRecord> {
        self.find(video_id).await?.ok_or_else(|| unknown(video_id))
    }

    /// Ids of videos of which anything is stored, published or not.
    pub(crate) async fn ids(&self) -> Result<Vec<String>> {
        let mut ids = self.records.children("videos/").await?;
        ids.retain(|id| is_video_id(id));
        Ok(ids)
    }

    /// Every published record that reads back, newest first.
    pub(crate) async fn all(&self) -> Result<Vec<VideoRecord>> {
        let ids = self.ids().await?;
        let mut records: Vec<VideoRecord> = stream::iter(ids)
            .map(|id| async move { self.find_readable(&id).await })
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

    /// One analyzer's stored outputs; the video must have it.
    pub(crate) async fn outputs(&self, record: &VideoRecord, analyzer: &str) -> Result<Outputs> {
        let entry = record.analyzers.get(analyzer).ok_or_else(|| {
            Error::Invalid(format!(
                "video '{}' has no output from analyzer '{analyzer}'; it has: {}",
                record.video_id,
                listed(&record.analyzer_ids())
            ))
        })?;
        self.document(&entry.document).await
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

    /// One stored aggregate; `Invalid` lists what is stored.
    pub(crate) async fn aggregate(&self, record: &VideoRecord, aggregator: &str) -> Result<Value> {
        let key = record.aggregates.get(aggregator).ok_or_else(|| {
            Error::Invalid(format!(
                "video '{}' has no aggregate '{aggregator}'; it has: {}",
                record.video_id,
                listed(&record.aggregates.keys().cloned().collect::<Vec<_>>())
            ))
        })?;
        self.document(key).await
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

    /// Makes `record` the published one in one step, if what is stored is still `before`, and then
    /// removes the documents that are not named any more. After an error what is stored tells
    /// whether it was published; where it was for certain, this is no error.
    pub(crate) async fn publish(&self, before: &Stored, record: &VideoRecord) -> Result<()> {
        let video_id = &record.video_id;
        let json = serde_json::to_value(record)
            .map_err(|e| Error::corrupt(format!("cannot store the record: {e}")))?;
        let key = published(video_id);
        let swapped = self.records.compare_and_swap(&key, before.expected(), &json).await;
        if !matches!(swapped, Ok(true)) {
            // The write may have been done and its answer lost; a store that repeats a request by
            // itself then finds what it has written.
            let now = self.settled(video_id).await;
            if !now.is_ok_and(|now| now.expected() == Expected::Document(&json)) {
                return Err(swapped.err().unwrap_or_else(|| superseded(video_id)).into());
            }
        }
        if let Err(error) = self.sweep(video_id).await {
            tracing::warn!(video_id, error = %error.labelled(), "superseded documents remain");
        }
        Ok(())
    }

    /// What is stored once a write has failed, as soon as that can be read.
    async fn settled(&self, video_id: &str) -> Result<Stored> {
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

    /// Removes every document that the stored record does not name; none where that does not read
    /// back.
    pub(crate) async fn sweep(&self, video_id: &str) -> Result<()> {
        let listed = self.records.list(&format!("videos/{video_id}/")).await?;
        // Read after they were listed: what has been published by now is named.
        let named = match self.stored(video_id).await? {
            Stored::Absent => BTreeSet::new(),
            Stored::Record(record, _) => named(&record),
            Stored::Unreadable(..) => return Ok(()),
        };
        for key in listed.iter().filter(|key| !named.contains(*key)) {
            self.records.delete(key).await?;
        }
        if let Some(key) = named.iter().find(|key| !listed.contains(key)) {
            self.unreadable.enter(video_id, key, &missing(key));
        }
        Ok(())
    }

    /// Removes what was stored after `before` was read, unless something has been published since
    /// or it cannot be told.
    pub(crate) async fn discard(&self, video_id: &str, before: &Stored) -> Result<Discarded> {
        let now = self.settled(video_id).await?;
        match (&now, now.expected() == before.expected()) {
            (Stored::Absent, true) => {
                self.sweep(video_id).await?;
                Ok(Discarded::Everything)
            }
            (Stored::Record(..), true) => {
                self.sweep(video_id).await?;
                Ok(Discarded::Unpublished)
            }
            (Stored::Unreadable(..), _) | (_, false) => Ok(Discarded::Nothing),
        }
    }

    /// The documents of a published video that are missing or do not read back.
    pub(crate) async fn faults(&self, record: &VideoRecord) -> Result<Vec<Fault>> {
        let mut faults = Vec::new();
        let mut read = |part: Part, read: Result<()>| match read {
            Ok(()) => Ok(()),
            Err(error) if error.is_corrupt() => {
                faults.push(Fault { part, error: error.to_string() });
                Ok(())
            }
            Err(error) => Err(error),
        };
        read(Part::Base, self.spans(record).await.map(drop))?;
        read(Part::Base, self.signals(record).await.map(drop))?;
        if let Some(document) = &record.speech_document {
            read(Part::Base, self.speech(document).await.map(drop))?;
        }
        for id in record.analyzers.keys() {
            read(Part::Analyzer(id.clone()), self.outputs(record, id).await.map(drop))?;
        }
        for id in record.aggregates.keys() {
            read(Part::Aggregate(id.clone()), self.aggregate(record, id).await.map(drop))?;
        }
        Ok(faults)
    }

    /// Removes the published record first, so that a crash leaves no half of it, then the rest.
    pub(crate) async fn remove(&self, video_id: &str) -> Result<()> {
        self.records.delete(&published(video_id)).await?;
        self.unreadable.named(video_id, |_| false);
        self.records.delete(&format!("videos/{video_id}/")).await?;
        Ok(self.records.delete(&format!("cache/{video_id}/")).await?)
    }

    /// A cached analyzer result; the outer `None` means not cached, or not in a way that reads back.
    pub(crate) async fn cached(&self, key: &CacheKey) -> Result<Option<Value>> {
        self.read_kept(&key.0).await
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
        Ok(self.read_kept(&answers(video_id)).await?.unwrap_or_default())
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

    async fn names(&self, video_id: &str, key: &str) -> bool {
        let record = self.find(video_id).await;
        record.is_ok_and(|record| record.is_some_and(|record| named(&record).contains(key)))
    }

    /// A document of the cache: one that does not read back is as good as none.
    async fn read_kept<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        match self.read(key).await {
            Err(error) if error.is_corrupt() => {
                tracing::warn!(%error, "a kept result is passed over");
                Ok(None)
            }
            read => read,
        }
    }

    async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let Some(value) = self.records.get(key).await? else { return Ok(None) };
        let parsed = serde_json::from_value(value)
            .map_err(|e| Error::corrupt(format!("the record {key} does not read back: {e}")))?;
        Ok(Some(parsed))
    }
}

/// What became of the documents of a failed change.
pub(crate) enum Discarded {
    /// The video is as it was: the documents of its record stay.
    Unpublished,
    /// There is no such video.
    Everything,
    /// They stay: something else was published, or what is stored does not tell what it names.
    Nothing,
}

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

/// Whether a string has the form of a video id: 16 lower-case hexadecimal digits.
pub(crate) fn is_video_id(id: &str) -> bool {
    id.len() == 16 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// `a, b` or `none`.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

pub(crate) fn unknown(video_id: &str) -> Error {
    Error::NotFound(format!("unknown video_id '{video_id}'"))
}

fn missing(key: &str) -> String {
    format!("the record {key} is missing")
}

fn superseded(video_id: &str) -> PortError {
    let message = format!(
        "another instance has published video '{video_id}' meanwhile, so this result was not; \
         ingest it again"
    );
    PortError::new(ErrorKind::Other, message)
}

/// The video that a document belongs to.
fn video_of(key: &str) -> Option<&str> {
    key.strip_prefix("videos/")?.split('/').next()
}

fn answers(video_id: &str) -> String {
    format!("cache/{video_id}/answers.json")
}

fn published(video_id: &str) -> String {
    format!("videos/{video_id}/video.json")
}
