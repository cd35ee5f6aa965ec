//! Reads a video's transcript.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ports::transcriber::Word;

use crate::analysis::analyzers::transcript::{self, ChunkTranscript};
use crate::analysis::correction::TranscribedSpeech;
use crate::analysis::utterances::{SPEECH_ANALYZERS, utterances};
use crate::analysis::video::AnalyzedVideo;
use crate::facts::read_speech;
use crate::intervals::set::{Milliseconds, milliseconds};
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::library::Library;
use crate::media::speech::{LanguageSpan, Utterance, Words};
use crate::records::record::VideoRecord;

/// Which part of a transcript to read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TranscriptQuery {
    /// Only utterances that end after this time, in seconds.
    pub after: Option<f64>,
    /// Only utterances that start before this time, in seconds.
    pub before: Option<f64>,
    /// Whether to read the words of the utterances.
    pub words: bool,
}

/// An utterance with its words.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscribedUtterance {
    /// The utterance.
    pub utterance: Utterance,
    /// Its words with their times, in order. `None` if they were not requested, or if no times are
    /// known for the words.
    pub words: Option<Vec<Word>>,
}

/// The transcript of a video or part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoTranscript {
    /// The id of the video.
    pub video_id: VideoId,
    /// Length of the video, in seconds.
    pub duration: f64,
    /// ISO 639-1 code of the predominant language, if known.
    pub language: Option<String>,
    /// The spans in which each language is spoken, in chronological order; empty unless several
    /// languages are spoken.
    pub languages: Vec<LanguageSpan>,
    /// Complete utterances, in chronological order.
    pub utterances: Vec<TranscribedUtterance>,
}

impl Library {
    /// Reads a part of a video's transcript. Includes utterances that cross the beginning or end of
    /// the part. If the video has no transcript, returns `Invalid` with a list of the analyzers that
    /// produce one.
    pub async fn transcript(
        &self,
        video_id: VideoId,
        query: TranscriptQuery,
    ) -> Result<VideoTranscript> {
        let read = |record| async move { self.read_transcript(&record, query).await };
        self.records.read_published(video_id, read).await
    }

    async fn read_transcript(
        &self,
        record: &VideoRecord,
        query: TranscriptQuery,
    ) -> Result<VideoTranscript> {
        let mut outputs = BTreeMap::new();
        for id in SPEECH_ANALYZERS.into_iter().filter(|id| record.analyzers.contains_key(*id)) {
            outputs.insert(id.to_owned(), self.records.outputs(record, id).await?);
        }
        if outputs.is_empty() {
            return Err(Error::Invalid(format!(
                "video '{}' has no transcript; the analyzers {} produce one, the video has: {}",
                record.video_id,
                SPEECH_ANALYZERS.join(" and "),
                comma_separated(&record.analyzer_ids())
            )));
        }
        let video = AnalyzedVideo {
            video_id: record.video_id,
            duration: record.duration,
            spans: self.records.spans(record).await?,
            outputs,
            doubtful: BTreeSet::new(),
        };
        let timed = match query.words {
            true => read_speech(&self.records, record).await?,
            false => None,
        };
        let languages_of = |words: &Words| (words.language.clone(), words.languages.clone());
        let (language, mut languages) = match (&timed, &record.speech_document) {
            (Some(read), _) => read.speech.words.as_ref().map(languages_of),
            (None, Some(document)) => {
                self.records.speech(document).await?.words.as_ref().map(languages_of)
            }
            (None, None) => None,
        }
        .unwrap_or_default();
        languages.retain(|spoken| query.includes(spoken.span));
        let timed = TimedSentences::new(timed);
        let included = utterances(&video).into_iter().filter(|said| query.includes(said.span()));
        let utterances = included.map(|utterance| {
            let words = timed.words_of(&utterance);
            TranscribedUtterance { utterance, words }
        });
        let mut chunk_languages = video
            .typed_outputs::<ChunkTranscript>(transcript::ID)
            .filter_map(|(_, _, words)| words.language.clone());
        Ok(VideoTranscript {
            language: language.or_else(|| chunk_languages.next()),
            languages,
            utterances: utterances.collect(),
            video_id: video.video_id,
            duration: video.duration,
        })
    }
}

impl TranscriptQuery {
    fn includes(&self, span: Span) -> bool {
        self.after.is_none_or(|after| span.end > after)
            && self.before.is_none_or(|before| span.start < before)
    }
}

/// The words of each sentence of recognised speech.
#[derive(Default)]
struct TimedSentences(HashMap<(Milliseconds, String), Vec<Word>>);

impl TimedSentences {
    fn new(speech: Option<TranscribedSpeech>) -> Self {
        let Some(TranscribedSpeech { speech, utterances }) = speech else { return Self::default() };
        let timed = utterances.into_iter().filter_map(|said| {
            let words = speech.words.as_ref()?.words_of(&said)?.to_vec();
            Some(((milliseconds(said.start), said.text), words))
        });
        Self(timed.collect())
    }

    fn words_of(&self, utterance: &Utterance) -> Option<Vec<Word>> {
        self.0.get(&(milliseconds(utterance.start), utterance.text.clone())).cloned()
    }
}
