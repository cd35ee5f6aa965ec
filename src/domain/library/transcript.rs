//! Reads a video's transcript.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::analyzers::transcript::{self, ChunkTranscript};
use crate::analysis::utterances::{SPEECH_ANALYZERS, utterances};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::library::Library;
use crate::media::speech::{LanguageSpan, Utterance};
use crate::records::record::VideoRecord;

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
    pub utterances: Vec<Utterance>,
}

impl Library {
    /// Reads the part of a video's transcript between two times, given in seconds. Includes
    /// utterances that cross one of these times. If the video has no transcript, returns `Invalid`
    /// with a list of the analyzers that produce one.
    pub async fn transcript(
        &self,
        video_id: VideoId,
        after: Option<f64>,
        before: Option<f64>,
    ) -> Result<VideoTranscript> {
        let read = |record| async move { self.read_transcript(&record).await };
        let mut transcript = self.records.read_published(video_id, read).await?;
        let is_included = |span: Span| {
            after.is_none_or(|after| span.end > after)
                && before.is_none_or(|before| span.start < before)
        };
        transcript.utterances.retain(|utterance| is_included(utterance.span()));
        transcript.languages.retain(|spoken| is_included(spoken.span));
        Ok(transcript)
    }

    async fn read_transcript(&self, record: &VideoRecord) -> Result<VideoTranscript> {
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
        let recognised = match &record.speech_document {
            Some(document) => self.records.speech(document).await?.words,
            None => None,
        };
        let (language, languages) =
            recognised.map(|words| (words.language, words.languages)).unzip();
        let mut chunk_languages = video
            .typed_outputs::<ChunkTranscript>(transcript::ID)
            .filter_map(|(_, _, words)| words.language.clone());
        Ok(VideoTranscript {
            language: language.flatten().or_else(|| chunk_languages.next()),
            languages: languages.unwrap_or_default(),
            utterances: utterances(&video),
            video_id: video.video_id,
            duration: video.duration,
        })
    }
}
