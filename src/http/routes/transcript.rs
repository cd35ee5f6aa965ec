//! `/videos/{video_id}/transcript`: a video's speech.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Object, OpenApi};
use ports::transcriber::Word;

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::budget::ResponseBudget;
use crate::http::wire::errors::{ApiError, ByIdChecked};
use crate::http::wire::params::{Bounded, FiniteNumber};
use crate::http::wire::values::shortest;
use domain::kernel::time::rounded;
use domain::kernel::video::parse_video_id;
use domain::library::transcript::{TranscribedUtterance, TranscriptQuery};
use domain::media::speech;

/// The routes of this section.
pub(super) struct TranscriptApi(pub(super) Service);

#[OpenApi]
impl TranscriptApi {
    /// Get the transcript.
    ///
    /// Returns whole sentences, even across chunk boundaries. Requires that the analyzer
    /// `transcript` or `diarization` has run.
    #[oai(path = "/videos/:video_id/transcript", method = "get", operation_id = "transcript")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn transcript(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Only sentences that end after this time, in seconds from the start of the video.
        after: Query<Option<FiniteNumber>>,
        /// Only sentences that start before this time, in seconds from the start of the video.
        before: Query<Option<FiniteNumber>>,
        /// Whether to return the words of each sentence with their times.
        #[oai(default)]
        words: Query<bool>,
        /// Maximum number of tokens in all sentences together; the response contains only whole
        /// sentences, in order. Default: no limit.
        max_tokens: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// `next` from the previous response, if `max_tokens` truncated it.
        cursor: Query<Option<String>>,
    ) -> Result<Json<TranscriptBody>, ApiError<ByIdChecked>> {
        let (after, before) = (after.0.map(|at| at.0), before.0.map(|at| at.0));
        let budget =
            ResponseBudget { max_tokens: max_tokens.0.map(|tokens| tokens.0), cursor: cursor.0 };
        let query = TranscriptQuery { after, before, words: words.0 };
        let request_key = format!("transcript {} {query:?}", video_id.0);
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        let transcript = video.transcript(query).await?;
        let total = transcript.utterances.len() as u32;
        let sentences: Vec<UtteranceBody> =
            transcript.utterances.into_iter().map(Into::into).collect();
        let (utterances, usage) =
            budget.fit_items(service.tokens(), sentences, &request_key).await?;
        Ok(Json(TranscriptBody {
            video_id: transcript.video_id.to_string(),
            duration: transcript.duration,
            language: transcript.language,
            languages: language_spans(transcript.languages),
            utterances,
            total,
            tokens: usage.tokens,
            tokenizer: usage.tokenizer,
            next: usage.next,
        }))
    }
}

#[derive(Object)]
#[oai(rename = "Transcript")]
struct TranscriptBody {
    /// Id of the video.
    video_id: String,
    /// Duration of the video, in seconds.
    duration: f64,
    /// ISO 639-1 code of the language that is spoken most; null if unknown.
    #[oai(nullable)]
    language: Option<String>,
    /// The spans in which each language is spoken, in chronological order; present if there are
    /// several languages or if some speech was not recognized.
    #[oai(skip_serializing_if_is_none)]
    languages: Option<Vec<LanguageSpanBody>>,
    /// Sentences in chronological order.
    utterances: Vec<UtteranceBody>,
    /// Number of sentences on all pages.
    total: u32,
    /// Number of tokens in `utterances`; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// Cursor for the remaining sentences; absent if nothing is left.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

/// Speech in one language.
#[derive(Object)]
#[oai(rename = "LanguageSpan")]
pub(crate) struct LanguageSpanBody {
    /// Start time, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End time, in seconds from the start of the video.
    pub(crate) end: f64,
    /// ISO 639-1 code; null for speech that was not recognized and therefore has no words.
    #[oai(nullable)]
    pub(crate) language: Option<String>,
}

impl From<speech::LanguageSpan> for LanguageSpanBody {
    fn from(language_span: speech::LanguageSpan) -> Self {
        let speech::LanguageSpan { span, language } = language_span;
        Self { start: span.start, end: span.end, language }
    }
}

/// Converts the language spans of a transcript; returns `None` if there are none.
pub(crate) fn language_spans(
    languages: Vec<speech::LanguageSpan>,
) -> Option<Vec<LanguageSpanBody>> {
    let spans: Vec<LanguageSpanBody> = languages.into_iter().map(Into::into).collect();
    Some(spans).filter(|spans| !spans.is_empty())
}

/// A sentence.
#[derive(Object)]
#[oai(rename = "Utterance")]
pub(crate) struct UtteranceBody {
    /// Start time, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End time, in seconds from the start of the video.
    pub(crate) end: f64,
    /// Label or name of the speaker; absent without diarization.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) speaker: Option<String>,
    /// The words, with punctuation.
    pub(crate) text: String,
    /// Mean probability of the words, from 0 to 1.
    pub(crate) confidence: f64,
    /// The words in order; present if `words` is set and the times of the words are known.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) words: Option<Vec<WordBody>>,
}

/// A spoken word.
#[derive(Object)]
#[oai(rename = "SpokenWord")]
pub(crate) struct WordBody {
    /// Start time, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End time, in seconds from the start of the video.
    pub(crate) end: f64,
    /// The word, with punctuation. A corrected word may consist of several.
    pub(crate) text: String,
    /// Probability, from 0 to 1.
    pub(crate) confidence: f64,
}

impl From<Word> for WordBody {
    fn from(word: Word) -> Self {
        let Word { text, start, end, confidence } = word;
        let (start, end) = (rounded(start), rounded(end));
        Self { start, end, text, confidence: shortest(confidence) }
    }
}

impl From<TranscribedUtterance> for UtteranceBody {
    fn from(TranscribedUtterance { utterance, words }: TranscribedUtterance) -> Self {
        let speech::Utterance { start, end, speaker, text, confidence, .. } = utterance;
        let words = words.map(|words| words.into_iter().map(Into::into).collect());
        Self { start, end, speaker, text, confidence: shortest(confidence), words }
    }
}
