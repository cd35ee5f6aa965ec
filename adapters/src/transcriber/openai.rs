//! Speech recognition on a server with OpenAI's `/audio/transcriptions` endpoint. It sends a WAV
//! file and receives words with times. If the server returns times only for segments, or no times
//! at all, the words are spread evenly.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ports::{
    ErrorKind, PortError, Result,
    decoder::SAMPLE_RATE,
    transcriber::{Transcriber, Transcript, Word},
};
use reqwest::multipart::{Form, Part};
use serde::Deserialize;

use super::sound;
use crate::blocking;
use crate::openai::{Client, Connection, Exchange};

/// A segment is a hallucination if its no-speech probability is above this threshold and its log
/// probability is below the next one. The thresholds are Whisper's.
const MAX_NO_SPEECH: f64 = 0.6;
const MIN_LOG_PROBABILITY: f64 = -1.0;
/// Text with a higher compression ratio is repetitive.
const MAX_COMPRESSION: f64 = 2.4;

/// Options of [`OpenAiTranscriber::new`].
#[derive(Debug, Clone)]
pub struct OpenAiTranscriberOptions {
    /// The server's address, timeouts and retries.
    pub connection: Connection,
    /// The server's name for the model, such as `whisper-1`.
    pub model: String,
    /// The spoken language, such as `en`. `None` means that it is detected.
    pub language: Option<String>,
    /// Maximum duration of the audio in a request, in seconds. A minute takes 2 MB.
    pub max_seconds: f64,
}

impl Default for OpenAiTranscriberOptions {
    /// Returns the defaults of `[transcriber]` and `[llm]`.
    fn default() -> Self {
        Self::from_settings(&super::Settings::default(), &crate::llm::Settings::default())
    }
}

/// The recogniser.
pub struct OpenAiTranscriber {
    client: Client,
    model: String,
    language: Option<String>,
    max_seconds: f64,
    /// Whether the server may return times. Set to `false` once the server has returned only text.
    gives_times: AtomicBool,
}

impl OpenAiTranscriber {
    /// Creates a recogniser. Checks the options without sending a request.
    pub fn new(options: OpenAiTranscriberOptions) -> Result<Self> {
        if options.model.trim().is_empty() {
            let message = "the speech recogniser needs the server's name for its model";
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        Ok(Self {
            client: Client::new(&options.connection)?,
            model: options.model,
            language: options.language,
            max_seconds: options.max_seconds.max(1.0),
            gives_times: AtomicBool::new(true),
        })
    }

    async fn ask(&self, wav: &bytes::Bytes, spoken: Option<&str>, times: bool) -> Result<Exchange> {
        let form = || {
            let file = Part::stream_with_length(wav.clone(), wav.len() as u64)
                .file_name("speech.wav")
                .headers([(reqwest::header::CONTENT_TYPE, WAV)].into_iter().collect());
            let mut form = Form::new()
                .part("file", file)
                .text("model", self.model.clone())
                .text("temperature", "0");
            if let Some(language) = self.language.as_deref().or(spoken) {
                form = form.text("language", language.to_owned());
            }
            if times {
                form.text("response_format", "verbose_json")
                    .text("timestamp_granularities[]", "word")
                    .text("timestamp_granularities[]", "segment")
            } else {
                form.text("response_format", "json")
            }
        };
        self.client.post_form("audio/transcriptions", form).await
    }

    async fn answer(
        &self,
        wav: bytes::Bytes,
        spoken: Option<&str>,
    ) -> Result<TranscriptionResponse> {
        let mut exchange = self.ask(&wav, spoken, self.gives_times.load(Ordering::Relaxed)).await?;
        if let Err(refusal) = &exchange.outcome
            && refusal.mentions(&["response_format", "verbose_json", "timestamp_granularities"])
            && self.gives_times.swap(false, Ordering::Relaxed)
        {
            exchange = self.ask(&wav, spoken, false).await?;
        }
        let body = exchange.outcome.map_err(|refusal| refusal.into_error())?;
        serde_json::from_value(body).map_err(|e| {
            PortError::new(
                ErrorKind::Corrupt,
                format!("the model server's answer is not a transcription: {e}"),
            )
        })
    }
}

const WAV: reqwest::header::HeaderValue = reqwest::header::HeaderValue::from_static("audio/wav");

/// A `verbose_json` response, or those parts of it that the server supports.
#[derive(Debug, Deserialize)]
struct TranscriptionResponse {
    text: String,
    language: Option<String>,
    words: Option<Vec<TimedWord>>,
    segments: Option<Vec<ResponseSegment>>,
}

#[derive(Debug, Deserialize)]
struct TimedWord {
    #[serde(alias = "text")]
    word: String,
    start: f64,
    end: f64,
    #[serde(alias = "score", alias = "confidence")]
    probability: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct ResponseSegment {
    start: f64,
    end: f64,
    text: String,
    avg_logprob: Option<f64>,
    no_speech_prob: Option<f64>,
    compression_ratio: Option<f64>,
    words: Option<Vec<TimedWord>>,
}

impl ResponseSegment {
    fn is_hallucinated(&self) -> bool {
        let unlikely = self.avg_logprob.is_some_and(|p| p < MIN_LOG_PROBABILITY);
        let silent = self.no_speech_prob.is_some_and(|p| p > MAX_NO_SPEECH);
        unlikely && silent || self.compression_ratio.is_some_and(|r| r > MAX_COMPRESSION)
    }

    /// Returns the confidence of words for which the server reports none. It is the confidence of
    /// the segment, or 1 if that is missing too.
    fn confidence(&self) -> f64 {
        self.avg_logprob.map_or(1.0, f64::exp)
    }
}

impl TranscriptionResponse {
    /// Returns the words, limited to `seconds` of audio and ordered by start time.
    fn into_words(self, seconds: f64) -> Vec<Word> {
        let segments = self.segments.unwrap_or_default();
        let mut words = Vec::new();
        let timed = self.words.unwrap_or_default();
        let nested = segments.iter().any(|s| s.words.as_ref().is_some_and(|w| !w.is_empty()));
        if !timed.is_empty() {
            for word in timed {
                let segment =
                    segments.iter().rfind(|s| s.start <= word.start && word.start <= s.end);
                if !segment.is_some_and(ResponseSegment::is_hallucinated) {
                    words.push(within(
                        word,
                        segment.map_or(1.0, ResponseSegment::confidence),
                        seconds,
                    ));
                }
            }
        } else if nested || segments.iter().any(|s| !s.text.trim().is_empty()) {
            for segment in segments.into_iter().filter(|s| !s.is_hallucinated()) {
                let confidence = segment.confidence();
                match segment.words {
                    Some(timed) if !timed.is_empty() => {
                        words.extend(timed.into_iter().map(|w| within(w, confidence, seconds)));
                    }
                    _ => {
                        let spread = spread(&segment.text, segment.start, segment.end);
                        words.extend(spread.map(|w| within(w, confidence, seconds)));
                    }
                }
            }
        } else {
            words.extend(spread(&self.text, 0.0, seconds).map(|w| within(w, 1.0, seconds)));
        }
        words.retain(|word| !word.text.is_empty());
        words.sort_by(|a, b| a.start.total_cmp(&b.start));
        words
    }
}

/// Splits `text` into words and gives each word a share of the time in proportion to its number of
/// letters.
fn spread(text: &str, start: f64, end: f64) -> impl Iterator<Item = TimedWord> {
    let letters = |word: &str| word.chars().count() as f64 + 1.0;
    let all: f64 = text.split_whitespace().map(letters).sum();
    let step = (end - start).max(0.0) / all.max(1.0);
    let mut at = start;
    text.split_whitespace().map(move |word| {
        let begun = at;
        at += letters(word) * step;
        TimedWord { word: word.to_owned(), start: begun, end: at, probability: None }
    })
}

fn within(word: TimedWord, confidence: f64, seconds: f64) -> Word {
    let start = word.start.clamp(0.0, seconds);
    Word {
        text: word.word.trim().to_owned(),
        start,
        end: word.end.clamp(start, seconds),
        confidence: word.probability.unwrap_or(confidence).clamp(0.0, 1.0) as f32,
    }
}

/// Returns the ISO 639-1 code of a language. `language` is a code or an English name, as in
/// OpenAI's responses.
fn code(language: &str) -> Option<String> {
    const NAMES: &str = "afrikaans af arabic ar armenian hy azerbaijani az belarusian be bosnian bs \
        bulgarian bg catalan ca chinese zh croatian hr czech cs danish da dutch nl english en \
        estonian et finnish fi french fr galician gl german de greek el hebrew he hindi hi \
        hungarian hu icelandic is indonesian id italian it japanese ja kannada kn kazakh kk \
        korean ko latvian lv lithuanian lt macedonian mk malay ms marathi mr maori mi nepali ne \
        norwegian no persian fa polish pl portuguese pt romanian ro russian ru serbian sr \
        slovak sk slovenian sl spanish es swahili sw swedish sv tagalog tl tamil ta thai th \
        turkish tr ukrainian uk urdu ur vietnamese vi welsh cy";
    let language = language.trim().to_lowercase();
    let tag = language.split(['-', '_']).next().unwrap_or_default();
    if tag.len() == 2 && tag.bytes().all(|b| b.is_ascii_lowercase()) {
        return Some(tag.to_owned());
    }
    let mut names = NAMES.split_whitespace();
    while let (Some(name), Some(code)) = (names.next(), names.next()) {
        if name == language {
            return Some(code.to_owned());
        }
    }
    None
}

#[async_trait]
impl Transcriber for OpenAiTranscriber {
    fn model(&self) -> &str {
        &self.model
    }

    fn max_seconds(&self) -> f64 {
        self.max_seconds
    }

    async fn transcribe(&self, samples: &[f32], language: Option<&str>) -> Result<Transcript> {
        let seconds = samples.len() as f64 / f64::from(SAMPLE_RATE);
        let samples = samples.to_vec();
        let wav = blocking::run(move || {
            // Servers hallucinate words in silence and charge for them.
            let speech = sound::possible_speech(&samples)?;
            Ok((!speech.is_empty()).then(|| sound::to_wav(&samples)))
        });
        let Some(wav) = wav.await? else { return Ok(Transcript::default()) };
        let answer = self.answer(wav.into(), language).await?;
        let spoken = self.language.as_deref().or(language).or(answer.language.as_deref());
        let spoken = spoken.and_then(code);
        let words = answer.into_words(seconds);
        let language = spoken.filter(|_| !words.is_empty());
        Ok(Transcript { language, words, language_probability: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_codes_or_names() {
        for (given, expected) in [
            ("english", Some("en")),
            ("EN", Some("en")),
            ("pt-BR", Some("pt")),
            ("Ukrainian", Some("uk")),
            ("klingon", None),
            ("", None),
        ] {
            assert_eq!(code(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn words_share_time_by_letters() {
        let words: Vec<_> =
            spread(" a  bcd ", 2.0, 5.0).map(|w| (w.word, w.start, w.end)).collect();
        assert_eq!(words, [("a".to_owned(), 2.0, 3.0), ("bcd".to_owned(), 3.0, 5.0)]);
        assert_eq!(spread("", 0.0, 1.0).count(), 0);
        assert!(spread("a b", 3.0, 1.0).all(|w| w.start == 3.0 && w.end == 3.0));
    }
}
