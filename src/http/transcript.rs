//! `/videos/{video_id}/transcript`: what is said in a video.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Object, OpenApi};

use super::auth::{Service, Token};
use super::body::Json;
use super::budget::Wanted;
use super::errors::{ApiError, ByIdNamed};
use super::params::{Bounded, Number};
use super::values::shortest;
use crate::domain::kernel::video::video_named;
use crate::domain::media::speech;

/// The routes of this section.
pub(super) struct TranscriptApi(pub(super) Service);

#[OpenApi]
impl TranscriptApi {
    /// What is said, sentence by sentence.
    ///
    /// Whole sentences, also where they run over the boundary of a chunk. It is there where the analyzer
    /// `transcript` or `diarization` has run.
    #[oai(path = "/videos/:video_id/transcript", method = "get", operation_id = "transcript")]
    async fn transcript(
        &self,
        token: Token,
        video_id: Path<String>,
        /// Keep sentences ending after this second.
        after: Query<Option<Number>>,
        /// Keep sentences starting before this second.
        before: Query<Option<Number>>,
        /// Most tokens of the sentences together, whole ones, in their order; all when left out.
        max_tokens: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// `next` of the answer before, which was cut by `max_tokens`.
        cursor: Query<Option<String>>,
    ) -> Result<Json<Transcript>, ApiError<ByIdNamed>> {
        let (after, before) = (after.0.map(|at| at.0), before.0.map(|at| at.0));
        let wanted = Wanted { max_tokens: max_tokens.0.map(|most| most.0), cursor: cursor.0 };
        let named = format!("transcript {} {after:?} {before:?}", video_id.0);
        let service = self.0.of(&token);
        let said = service.transcript(video_named(&video_id)?, after, before).await?;
        let total = said.utterances.len() as u32;
        let sentences: Vec<Utterance> = said.utterances.into_iter().map(Into::into).collect();
        let (utterances, spent) = wanted.of(service.tokens(), sentences, &named).await?;
        Ok(Json(Transcript {
            video_id: said.video_id.to_string(),
            duration: said.duration,
            language: said.language,
            languages: listed_languages(said.languages),
            utterances,
            total,
            tokens: spent.tokens,
            tokenizer: spent.tokenizer,
            next: spent.next,
        }))
    }
}

#[derive(Object)]
struct Transcript {
    video_id: String,
    /// Length of the video, seconds.
    duration: f64,
    /// ISO 639-1 code of the language that most is said in, where the recogniser knows.
    #[oai(nullable)]
    language: Option<String>,
    /// Which language is spoken when, in order; present where there are several, or where some speech
    /// is not understood.
    #[oai(skip_serializing_if_is_none)]
    languages: Option<Vec<LanguageSpan>>,
    /// Whole sentences in order of time.
    utterances: Vec<Utterance>,
    /// Sentences in all answers together.
    total: u32,
    /// Tokens of `utterances`; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// The embedder whose tokenizer has counted; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// The `cursor` of the rest, where there is one.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

/// Speech in one language.
#[derive(Object)]
pub(crate) struct LanguageSpan {
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
    /// ISO 639-1 code; null for speech that the recogniser does not understand, of which no words are
    /// written down.
    #[oai(nullable)]
    pub(crate) language: Option<String>,
}

impl From<speech::LanguageSpan> for LanguageSpan {
    fn from(spoken: speech::LanguageSpan) -> Self {
        let speech::LanguageSpan { span, language } = spoken;
        Self { start: span.start, end: span.end, language }
    }
}

/// The languages of a transcript, where there is anything to list.
pub(crate) fn listed_languages(languages: Vec<speech::LanguageSpan>) -> Option<Vec<LanguageSpan>> {
    let listed: Vec<LanguageSpan> = languages.into_iter().map(Into::into).collect();
    Some(listed).filter(|listed| !listed.is_empty())
}

/// A sentence.
#[derive(Object)]
pub(crate) struct Utterance {
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
    /// Label within the video, where speakers are told apart.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) speaker: Option<String>,
    /// The words, with their punctuation.
    pub(crate) text: String,
    /// Mean probability of the words, 0..1.
    pub(crate) confidence: f64,
}

impl From<speech::Utterance> for Utterance {
    fn from(said: speech::Utterance) -> Self {
        let speech::Utterance { start, end, speaker, text, confidence, .. } = said;
        Self { start, end, speaker, text, confidence: shortest(confidence) }
    }
}
