//! Caches costly results in the record store: analyzer results by chunk, speech recognition results
//! and language model answers. If the cache is lost, no data is lost, but recomputing the results
//! costs money.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use ports::records::RecordStore;
use ports::transcriber::Transcript;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::analysis::Analyzers;
use crate::analysis::video::Output;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::llm::memoised::SavedAnswers;
use crate::media::speech::{TranscriptCache, track_model};
use crate::records::documents::read_document;

/// Key of a cached result, derived from the video's content, the span, the analyzer, its model and
/// its prompt.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CacheKey(String);

impl CacheKey {
    pub(crate) fn new(video_id: VideoId, analyzer: &str, span: Span, fingerprint: &str) -> Self {
        use sha1::{Digest, Sha1};
        let name = format!("{:.3}-{:.3}-{fingerprint}", span.start, span.end);
        let digest: String =
            Sha1::digest(name.as_bytes()).iter().take(10).map(|b| format!("{b:02x}")).collect();
        Self(format!("cache/{video_id}/{analyzer}-{digest}.json"))
    }
}

/// The cache of costly results.
pub(crate) struct ModelCache {
    store: Arc<dyn RecordStore>,
    analyzers: Analyzers,
}

impl ModelCache {
    pub(crate) fn new(store: Arc<dyn RecordStore>, analyzers: Analyzers) -> Self {
        Self { store, analyzers }
    }

    /// Reads an analyzer's cached result for one chunk. The outer `Option` is `None` if no result
    /// is cached. The inner one is `None` if the analyzer had no output for the chunk.
    pub(crate) async fn output(
        &self,
        analyzer: &str,
        key: &CacheKey,
    ) -> Result<Option<Option<Output>>> {
        match self.get(key).await? {
            None => Ok(None),
            Some(Value::Null) => Ok(Some(None)),
            Some(document) => self.analyzers.read(analyzer, document).map(|o| Some(Some(o))),
        }
    }

    /// Caches an analyzer's result for one chunk.
    pub(crate) async fn put_output(&self, key: &CacheKey, output: Option<&Output>) -> Result<()> {
        let document = output.map_or(Value::Null, |output| Value::Object(output.to_json()));
        self.put(key, &document).await
    }

    /// Reads a cached value; returns `None` if there is none or it is corrupt.
    pub(crate) async fn get(&self, key: &CacheKey) -> Result<Option<Value>> {
        self.read(&key.0).await
    }

    /// Counts how many of the given keys are cached.
    pub(crate) async fn count(&self, video_id: VideoId, keys: &BTreeSet<CacheKey>) -> Result<u32> {
        let cached = self.store.list(&format!("cache/{video_id}/")).await?;
        Ok(cached.into_iter().filter(|key| keys.contains(&CacheKey(key.clone()))).count() as u32)
    }

    pub(crate) async fn put(&self, key: &CacheKey, value: &Value) -> Result<()> {
        Ok(self.store.put(&key.0, value).await?)
    }

    /// Reads the cached language model answers that aggregators had received before they failed.
    pub(crate) async fn answers(&self, video_id: VideoId) -> Result<SavedAnswers> {
        Ok(self.read(&answers_key(video_id)).await?.unwrap_or_default())
    }

    /// Replaces the answers that [`Self::answers`] returns, or deletes them if `kept` is empty.
    pub(crate) async fn put_answers(&self, video_id: VideoId, kept: &SavedAnswers) -> Result<()> {
        if kept.is_empty() {
            return Ok(self.store.delete(&answers_key(video_id)).await?);
        }
        let value = serde_json::to_value(kept)
            .map_err(|e| Error::corrupt(format!("cannot store the model's answers: {e}")))?;
        Ok(self.store.put(&answers_key(video_id), &value).await?)
    }

    /// Reads a cache document; returns `None` if it is missing or corrupt.
    async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        match read_document(&*self.store, key).await {
            Err(error) if error.is_corrupt() => {
                tracing::warn!(%error, "ignoring a corrupt cached result");
                Ok(None)
            }
            read => read,
        }
    }
}

fn answers_key(video_id: VideoId) -> String {
    format!("cache/{video_id}/answers.json")
}

/// Cache of one video's speech recognition results, keyed by the span of the audio.
pub(crate) struct SpeechCache<'a> {
    pub(crate) cache: &'a ModelCache,
    pub(crate) video_id: VideoId,
    /// Index of the audio track, if the video has several.
    pub(crate) audio_track: Option<u32>,
    /// Index of the channel in the track, if each channel carries a different voice.
    pub(crate) channel: Option<usize>,
}

impl SpeechCache<'_> {
    fn key(&self, span: Span, recogniser: &str) -> CacheKey {
        let mut recogniser = track_model(recogniser, self.audio_track);
        if let Some(channel) = self.channel {
            recogniser += &format!("/channel {channel}");
        }
        CacheKey::new(self.video_id, "speech", span, &recogniser)
    }
}

#[async_trait]
impl TranscriptCache for SpeechCache<'_> {
    async fn get(&self, span: Span, recogniser: &str) -> Result<Option<Transcript>> {
        let cached = self.cache.get(&self.key(span, recogniser)).await?;
        let read = |value| {
            serde_json::from_value(value).map_err(|e| {
                Error::corrupt(format!("a cached transcript of '{}': {e}", self.video_id))
            })
        };
        cached.map(read).transpose()
    }

    async fn put(&self, span: Span, recogniser: &str, transcript: &Transcript) -> Result<()> {
        let value = serde_json::to_value(transcript)
            .map_err(|e| Error::corrupt(format!("cannot cache a transcript: {e}")))?;
        self.cache.put(&self.key(span, recogniser), &value).await
    }
}
