//! Reading what is said in a video.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::analysis::analyzers::transcript::{self, Words};
use crate::domain::analysis::spoken::{HEARD_BY, spoken};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::catalog::Catalog;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::VideoId;
use crate::domain::media::speech::{LanguageSpan, Utterance};

/// What is said in a video, or in a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The id of its video.
    pub video_id: VideoId,
    /// Length of the video, seconds.
    pub duration: f64,
    /// ISO 639-1 code of the language that most is said in, where the recogniser knows.
    pub language: Option<String>,
    /// Which language is spoken when, in order, where there are several.
    pub languages: Vec<LanguageSpan>,
    /// Whole sentences in order of time.
    pub utterances: Vec<Utterance>,
}

impl Catalog {
    /// What is said in a video between two seconds of it, sentences that run over them included.
    /// `Invalid` names the analyzers that a video lacks which nobody has listened to.
    pub async fn transcript(
        &self,
        video_id: VideoId,
        after: Option<f64>,
        before: Option<f64>,
    ) -> Result<Transcript> {
        let read = |record| async move { self.transcript_of(&record).await };
        let mut transcript = self.read_published(video_id, read).await?;
        let wanted = |span: Span| {
            after.is_none_or(|after| span.end > after)
                && before.is_none_or(|before| span.start < before)
        };
        transcript.utterances.retain(|said| wanted(said.span()));
        transcript.languages.retain(|spoken| wanted(spoken.span));
        Ok(transcript)
    }

    async fn transcript_of(&self, record: &VideoRecord) -> Result<Transcript> {
        let mut outputs = BTreeMap::new();
        for id in HEARD_BY.into_iter().filter(|id| record.analyzers.contains_key(*id)) {
            outputs.insert(id.to_owned(), self.outputs(record, id).await?);
        }
        if outputs.is_empty() {
            return Err(Error::Invalid(format!(
                "nobody has listened to video '{}'; the analyzers {} do, the video has: {}",
                record.video_id,
                HEARD_BY.join(" and "),
                listed(&record.analyzer_ids())
            )));
        }
        let video = AnalyzedVideo {
            video_id: record.video_id,
            duration: record.duration,
            spans: self.spans(record).await?,
            outputs,
            doubtful: BTreeSet::new(),
        };
        let recognised = match &record.speech_document {
            Some(document) => self.speech(document).await?.words,
            None => None,
        };
        let (language, languages) =
            recognised.map(|words| (words.language, words.languages)).unzip();
        let mut of_chunks =
            video.of::<Words>(transcript::ID).filter_map(|(_, _, words)| words.language.clone());
        Ok(Transcript {
            language: language.flatten().or_else(|| of_chunks.next()),
            languages: languages.unwrap_or_default(),
            utterances: spoken(&video),
            video_id: video.video_id,
            duration: video.duration,
        })
    }
}
