//! The transcript as a document for readers, with speakers and times.

use crate::analysis::utterances::utterances;
use crate::export::cues::no_speech;
use crate::export::document::{self, DocumentSection, SpokenDocument, SpokenParagraph};
use crate::export::{Content, VideoLog, one_line};
use crate::kernel::error::Result;
use crate::kernel::timecode::Timecode;

/// A pause that begins a new paragraph, in seconds.
const MIN_PAUSE: f64 = 3.0;

/// Length after which the next sentence begins a new paragraph, in seconds. It keeps paragraphs of
/// a lecture short enough that their time is of use.
const MAX_PARAGRAPH: f64 = 60.0;

/// Consecutive sentences by one speaker.
#[derive(Debug, Clone, PartialEq)]
struct Speech {
    /// Start, in seconds from the start of the video.
    start: f64,
    /// End, in seconds from the start of the video.
    end: f64,
    /// The speaker, if known.
    speaker: Option<String>,
    /// The sentences on one line.
    text: String,
}

pub(super) fn text(log: &VideoLog) -> Result<Content> {
    Ok(Content::Text(document::text::write(&build(log, "transcript.txt")?)))
}

pub(super) fn markdown(log: &VideoLog) -> Result<Content> {
    Ok(Content::Text(document::markdown::write(&build(log, "transcript.md")?)))
}

pub(super) fn word(log: &VideoLog) -> Result<Content> {
    document::docx::write(&build(log, "transcript.docx")?).map(Content::Bytes)
}

/// Builds the document for the exported part of a video. Returns `Invalid` if the video has no
/// recognised speech.
fn build(log: &VideoLog, format: &str) -> Result<SpokenDocument> {
    let spoken = utterances(&log.video);
    if spoken.is_empty() {
        return Err(no_speech(log, format));
    }
    let exported = spoken.into_iter().filter_map(|utterance| {
        let span = log.part.within(utterance.span())?;
        let text = one_line(&utterance.text);
        let speaker = utterance.speaker.as_deref().map(one_line);
        Some(Speech { start: span.start, end: span.end, speaker, text })
    });
    let paragraphs = merge(exported).into_iter().map(|speech| SpokenParagraph {
        time: time(log, speech.start),
        speaker: speech.speaker,
        text: speech.text,
    });
    let section =
        DocumentSection { paragraphs: paragraphs.collect(), ..DocumentSection::default() };
    Ok(SpokenDocument { title: log.record.filename.clone(), sections: vec![section] })
}

/// Joins sentences by the same speaker into paragraphs.
fn merge(sentences: impl Iterator<Item = Speech>) -> Vec<Speech> {
    let mut paragraphs: Vec<Speech> = Vec::new();
    for sentence in sentences {
        match paragraphs.last_mut() {
            Some(last)
                if last.speaker == sentence.speaker
                    && sentence.start - last.end < MIN_PAUSE
                    && sentence.start - last.start < MAX_PARAGRAPH =>
            {
                last.text.push(' ');
                last.text.push_str(&sentence.text);
                last.end = last.end.max(sentence.end);
            }
            _ => paragraphs.push(sentence),
        }
    }
    paragraphs
}

/// Formats a time as source timecode if the container states one, otherwise as hours, minutes and
/// seconds. Times that count from the start of the exported part are no timecode.
fn time(log: &VideoLog, seconds: f64) -> String {
    let rate = log.record.frame_rate_fraction();
    let stated = log.record.timecode.as_deref().filter(|_| !log.part.counts_from_zero()).zip(rate);
    let source = stated.and_then(|(text, rate)| {
        let start = Timecode::parse(text, rate).ok()?;
        Some((start + rate.frame_at(seconds)).to_string())
    });
    let mut label = source.unwrap_or_else(|| {
        let whole = log.part.exported_time(seconds).max(0.0) as u64;
        format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
    });
    if log.options.captions.wall_clock
        && let Some(instant) = log.record.metadata.wall_clock(seconds)
    {
        label.push_str(&format!(" {instant}"));
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_end_with_the_speaker_a_pause_or_a_minute() {
        let sentence = |speaker: &str, start: f64, end: f64| Speech {
            start,
            end,
            speaker: Some(speaker.into()),
            text: format!("{start}."),
        };
        let merged = merge(
            [
                sentence("S1", 0.0, 2.0),
                sentence("S1", 2.5, 4.0),
                sentence("S2", 4.0, 5.0),
                sentence("S1", 5.0, 6.0),
                sentence("S1", 10.0, 40.0),
                sentence("S1", 41.0, 69.0),
                sentence("S1", 70.5, 72.0),
            ]
            .into_iter(),
        );
        let texts: Vec<&str> = merged.iter().map(|paragraph| &*paragraph.text).collect();
        assert_eq!(texts, ["0. 2.5.", "4.", "5.", "10. 41.", "70.5."]);
    }
}
