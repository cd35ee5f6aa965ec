//! What has been paid for, kept beside the records: results of analyzers by chunk, recognised speech,
//! answers of the language model. Losing it costs money, nothing else.

use std::collections::BTreeSet;

use async_trait::async_trait;
use ports::transcriber::Transcript;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::analysis::video::Output;
use crate::domain::catalog::Catalog;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::VideoId;
use crate::domain::llm::memoised::KeptAnswers;
use crate::domain::media::speech::{TranscriptCache, track_model};

/// Where the result of a costly call is kept: by content, span, analyzer, model and prompt.
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

impl Catalog {
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

    /// A cached analyzer result; the outer `None` means not cached, or not in a way that reads back.
    pub(crate) async fn cached(&self, key: &CacheKey) -> Result<Option<Value>> {
        self.read_kept(&key.0).await
    }

    /// How many of these results are cached.
    pub(crate) async fn count_cached(
        &self,
        video_id: VideoId,
        keys: &BTreeSet<CacheKey>,
    ) -> Result<u32> {
        let cached = self.records.list(&format!("cache/{video_id}/")).await?;
        Ok(cached.into_iter().filter(|key| keys.contains(&CacheKey(key.clone()))).count() as u32)
    }

    pub(crate) async fn cache(&self, key: &CacheKey, value: &Value) -> Result<()> {
        Ok(self.records.put(&key.0, value).await?)
    }

    /// What the language model has answered aggregators that then failed.
    pub(crate) async fn kept_answers(&self, video_id: VideoId) -> Result<KeptAnswers> {
        Ok(self.read_kept(&answers(video_id)).await?.unwrap_or_default())
    }

    /// Replaces [`Self::kept_answers`].
    pub(crate) async fn keep_answers(&self, video_id: VideoId, kept: &KeptAnswers) -> Result<()> {
        if kept.is_empty() {
            return Ok(self.records.delete(&answers(video_id)).await?);
        }
        let value = serde_json::to_value(kept)
            .map_err(|e| Error::corrupt(format!("cannot store the model's answers: {e}")))?;
        Ok(self.records.put(&answers(video_id), &value).await?)
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
}

fn answers(video_id: VideoId) -> String {
    format!("cache/{video_id}/answers.json")
}

/// Recognised pieces of one video's speech, kept beside what else has been paid for.
pub(crate) struct RecognisedPieces<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) video_id: VideoId,
    /// Which of its sound tracks, where it has several.
    pub(crate) audio_track: Option<u32>,
    /// Which of the track's channels, where each has a voice of its own.
    pub(crate) channel: Option<usize>,
}

impl RecognisedPieces<'_> {
    fn key(&self, piece: Span, recogniser: &str) -> CacheKey {
        let mut recogniser = track_model(recogniser, self.audio_track);
        if let Some(channel) = self.channel {
            recogniser += &format!("/channel {channel}");
        }
        CacheKey::new(self.video_id, "speech", piece, &recogniser)
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
