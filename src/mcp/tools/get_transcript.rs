//! `get_transcript`: what is said in a video.

use poem_openapi::Object;

use super::{Answer, Call, Tool};
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::video_named;
use crate::domain::media::speech;
use crate::http::views::{Failure, LanguageSpan, Utterance, listed_languages};
use crate::mcp::pages::position;
use crate::mcp::prose::{one_line, seconds};

/// Reads what is said, page by page.
pub(super) struct GetTranscript;

#[derive(Object)]
pub(super) struct TranscriptRequest {
    #[oai(validator(min_length = 1))]
    video_id: String,
    /// Only what is said after this second.
    #[oai(nullable)]
    after: Option<f64>,
    /// Only what is said before this second.
    #[oai(nullable)]
    before: Option<f64>,
    /// `next` of the page before, with the same `after` and `before`.
    #[oai(nullable)]
    cursor: Option<String>,
}

#[derive(Object)]
pub(super) struct TranscriptPage {
    video_id: String,
    /// Length of the video, seconds.
    duration: f64,
    /// ISO 639-1 code of the language that most is said in, where the recogniser knows.
    #[oai(nullable)]
    language: Option<String>,
    /// Which language is spoken when, where there are several; null for speech that is not understood.
    #[oai(skip_serializing_if_is_none)]
    languages: Option<Vec<LanguageSpan>>,
    /// Whole sentences in order of time.
    utterances: Vec<Utterance>,
    /// Sentences on all pages.
    total: u32,
    /// The `cursor` of the next page, where there is one.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

impl Tool for GetTranscript {
    const NAME: &'static str = "get_transcript";
    const TITLE: &'static str = "What is said";
    const DESCRIPTION: &'static str = "What is said in a video, sentence by sentence with times in \
        seconds and, where they are told apart, speakers. `after` and `before` limit it to a part of \
        the video: read around a moment that search_moments or ask named rather than all of a long \
        video. Long transcripts come in pages: call again with `cursor` = `next`. It is there where \
        the analyzer transcript or diarization has run; names are where recognition errs most.";
    type Input = TranscriptRequest;
    type Output = TranscriptPage;

    async fn call(
        mut call: Call<'_>,
        input: TranscriptRequest,
    ) -> Result<Answer<TranscriptPage>, Failure> {
        let from = position(input.cursor.as_deref())?;
        let transcript = call
            .service
            .transcript(video_named(&input.video_id)?, input.after, input.before)
            .await?;
        let total = transcript.utterances.len();
        let said = transcript.utterances.into_iter().skip(from).map(spoken).collect();
        let filled = call.budget.fill(said);
        let next = (filled.left_out > 0).then(|| (from + filled.units.len()).to_string());
        let mut text = match total {
            0 => "Nothing is said there.".to_owned(),
            _ => filled.lines.join("\n"),
        };
        for unclear in transcript.languages.iter().filter(|spoken| spoken.language.is_none()) {
            let Span { start, end } = unclear.span;
            let times = format!("{}-{}s", seconds(start), seconds(end));
            text.push_str(&format!("\n[{times}] speech that is not understood"));
        }
        if let Some(next) = &next {
            text.push_str(&format!("\n{} sentences follow: cursor {next}.", filled.left_out));
        }
        let page = TranscriptPage {
            video_id: transcript.video_id.to_string(),
            duration: transcript.duration,
            language: transcript.language,
            languages: listed_languages(transcript.languages),
            utterances: filled.units,
            total: total as u32,
            next,
        };
        Ok(Answer::new(text, page))
    }
}

fn spoken(said: speech::Utterance) -> (Utterance, String) {
    let speaker = said.speaker.as_ref().map(|speaker| format!(" {speaker}")).unwrap_or_default();
    let times = format!("{}-{}s", seconds(said.start), seconds(said.end));
    let line = format!("[{times}{speaker}] {}", one_line(&said.text));
    (said.into(), line)
}
