//! Recognises single pieces of speech, each in one language. Recognised pieces are cached, so that
//! none is paid for twice after a crash.

use std::sync::Arc;

use async_trait::async_trait;
use ports::transcriber::{Transcriber, Transcript, Word};

use super::Sound;
use super::packs::{Pack, packs, quietest};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;

/// Cache of recognised packs.
#[async_trait]
pub(crate) trait TranscriptCache: Send + Sync {
    /// Reads the transcript of a span that is cached for this recogniser, if there is one.
    async fn get(&self, piece: Span, recogniser: &str) -> Result<Option<Transcript>>;

    /// Caches the transcript of a span.
    async fn put(&self, piece: Span, recogniser: &str, transcript: &Transcript) -> Result<()>;
}

/// The inputs for recognising the mix or one channel.
pub(crate) struct Recognition<'a> {
    pub(crate) transcriber: &'a dyn Transcriber,
    pub(crate) cache: &'a dyn TranscriptCache,
    pub(crate) sound: &'a Arc<Sound>,
    /// The spans of voice activity, in order and without overlaps.
    pub(crate) spans: &'a [Span],
    /// Maximum number of packs recognised concurrently.
    pub(crate) concurrency: usize,
    /// Minimum mean confidence of words, 0..1.
    pub(crate) min_confidence: f32,
}

/// The recognised speech in a pack.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) pack: Pack,
    /// ISO 639-1 code of the language, if known.
    pub(super) language: Option<String>,
    /// Probability of the language, 0..1, if the recogniser reports it.
    pub(super) probability: Option<f32>,
    /// Words in order of start, with times in seconds from the start of the video.
    pub(super) words: Vec<Word>,
    /// Whether the speech is unintelligible, in which case there are no words.
    pub(super) unintelligible: bool,
}

impl Recognition<'_> {
    /// Splits speech into packs for recognition.
    pub(super) async fn packs(&self, spans: Vec<Span>) -> Result<Vec<Pack>> {
        let max = self.transcriber.max_seconds();
        let sound = self.sound.clone();
        let packs = tokio::task::spawn_blocking(move || {
            packs(&spans, max, |from, to| {
                let offset = quietest(&sound.read_blocking(from, to)?);
                Ok(offset.map_or(to, |offset| from + offset))
            })
        });
        packs.await.map_err(|e| Error::corrupt(format!("cutting panicked: {e}")))?
    }

    /// Transcribes a pack in `language`, or in the detected language if `language` is `None`.
    pub(super) async fn recognise(&self, pack: Pack, language: Option<&str>) -> Result<Piece> {
        let transcript = self.transcript(&pack, language).await?;
        Ok(Piece {
            language: transcript.language,
            probability: transcript.language_probability,
            words: pack.to_video_time(transcript.words, self.spans),
            unintelligible: false,
            pack,
        })
    }

    /// Transcribes a pack. The word times are in seconds from the start of the pack's audio.
    async fn transcript(&self, pack: &Pack, language: Option<&str>) -> Result<Transcript> {
        let language_key = language.unwrap_or("any language");
        let parts = pack.0.iter().map(|part| format!("{:.3}-{:.3}", part.start, part.end));
        let parts = parts.collect::<Vec<_>>().join(" ");
        let recogniser = format!("{} {language_key} {parts}", self.transcriber.model());
        let whole = pack.whole();
        if let Some(cached) = self.cache.get(whole, &recogniser).await? {
            return Ok(cached);
        }
        let mut samples = Vec::new();
        for part in &pack.0 {
            samples.extend(self.sound.read(part.start, part.end).await?);
        }
        let transcript = self.transcriber.transcribe(&samples, language).await?;
        self.cache.put(whole, &recogniser, &transcript).await?;
        Ok(transcript)
    }
}

impl Piece {
    /// Returns the mean confidence of the words, 0..1, or 0 if there are none.
    pub(super) fn confidence(&self) -> f32 {
        confidence(&self.words)
    }
}

/// Returns the mean confidence of words, 0..1, or 0 if there are none.
pub(super) fn confidence(words: &[Word]) -> f32 {
    words.iter().map(|word| word.confidence).sum::<f32>() / words.len().max(1) as f32
}
