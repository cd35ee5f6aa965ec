//! `get_transcript`: the speech of a video.

use poem_openapi::Object;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{HttpFailure, LanguageSpanBody, UtteranceBody, language_spans};
use crate::mcp::pages::position;
use crate::mcp::prose::{one_line, seconds};
use domain::kernel::time::Span;
use domain::kernel::video::parse_video_id;
use domain::library::transcript::{TranscribedUtterance, TranscriptQuery};

/// Reads the transcript, page by page.
pub(super) struct GetTranscript;

#[derive(Object)]
pub(super) struct TranscriptRequest {
    #[oai(validator(min_length = 1))]
    video_id: String,
    /// Only sentences that end after this time, in seconds from the start of the video.
    #[oai(nullable)]
    after: Option<f64>,
    /// Only sentences that start before this time, in seconds from the start of the video.
    #[oai(nullable)]
    before: Option<f64>,
    /// The `next` value of the previous page; requires the same `after` and `before`.
    #[oai(nullable)]
    cursor: Option<String>,
}

#[derive(Object)]
pub(super) struct TranscriptPage {
    video_id: String,
    /// Duration of the video, in seconds.
    duration: f64,
    /// ISO 639-1 code of the language that is spoken most, if speech recognition reports it.
    #[oai(nullable)]
    language: Option<String>,
    /// The spans in which each language is spoken; present if there are several languages or if
    /// some speech was not recognized.
    #[oai(skip_serializing_if_is_none)]
    languages: Option<Vec<LanguageSpanBody>>,
    /// Whole sentences, in chronological order.
    utterances: Vec<UtteranceBody>,
    /// Number of sentences on all pages.
    total: u32,
    /// The `cursor` of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

impl Tool for GetTranscript {
    const NAME: &'static str = "get_transcript";
    const TITLE: &'static str = "Read the transcript";
    const DESCRIPTION: &'static str = "Returns the speech of a video, sentence by sentence with times \
        in seconds and, after diarization, speakers. `after` and `before` limit it to a part of the \
        video: read around a moment that search_moments or ask returned rather than all of a long \
        video. Long transcripts are paged: call again with `cursor` = `next`. Requires that the \
        analyzer transcript or diarization has run. Recognised names are often misspelt.";
    type Input = TranscriptRequest;
    type Output = TranscriptPage;

    async fn call(
        mut call: Call<'_>,
        input: TranscriptRequest,
    ) -> Result<ToolAnswer<TranscriptPage>, HttpFailure> {
        let from = position(input.cursor.as_deref())?;
        let video = call.service.video(parse_video_id(&input.video_id)?).await?;
        let (after, before) = (input.after, input.before);
        let query = TranscriptQuery { after, before, words: false };
        let transcript = video.transcript(query).await?;
        let total = transcript.utterances.len();
        let utterances =
            transcript.utterances.into_iter().skip(from).map(describe_utterance).collect();
        let fitting = call.budget.fill(utterances);
        let next = (fitting.left_out > 0).then(|| (from + fitting.units.len()).to_string());
        let mut text = match total {
            0 => "No speech there.".to_owned(),
            _ => fitting.lines.join("\n"),
        };
        for unrecognised in transcript.languages.iter().filter(|spoken| spoken.language.is_none()) {
            let Span { start, end } = unrecognised.span;
            let times = format!("{}-{}s", seconds(start), seconds(end));
            text.push_str(&format!("\n[{times}] speech that was not recognised"));
        }
        if let Some(next) = &next {
            text.push_str(&format!(
                "\n{} more sentences: call again with cursor {next}.",
                fitting.left_out
            ));
        }
        let page = TranscriptPage {
            video_id: transcript.video_id.to_string(),
            duration: transcript.duration,
            language: transcript.language,
            languages: language_spans(transcript.languages),
            utterances: fitting.units,
            total: total as u32,
            next,
        };
        Ok(ToolAnswer::new(text, page))
    }
}

fn describe_utterance(said: TranscribedUtterance) -> (UtteranceBody, String) {
    let utterance = &said.utterance;
    let speaker =
        utterance.speaker.as_ref().map(|speaker| format!(" {speaker}")).unwrap_or_default();
    let times = format!("{}-{}s", seconds(utterance.start), seconds(utterance.end));
    let line = format!("[{times}{speaker}] {}", one_line(&utterance.text));
    (said.into(), line)
}
