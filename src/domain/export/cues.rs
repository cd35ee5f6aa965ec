//! Captions from the speech of a video or of clips, for the SRT and WebVTT formats.

use crate::analysis::analyzers::{diarization, transcript};
use crate::analysis::utterances::utterances;
use crate::export::sequence::{Sequence, SequenceClip};
use crate::export::{VideoLog, one_line};
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::Span;
use crate::media::speech::Utterance;

/// Maximum number of characters per line. This limit and the maximum number of lines per caption
/// follow broadcasters' subtitling guidelines.
pub(super) const MAX_LINE_CHARS: usize = 42;
const MAX_LINES: usize = 2;

/// A caption.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cue {
    /// Start, in seconds from the start of the video.
    pub(super) start: f64,
    /// End, in seconds from the start of the video.
    pub(super) end: f64,
    /// The speaker; `None` if unknown.
    pub(super) speaker: Option<String>,
    /// One or two lines of text, preceded by the wall-clock time if requested.
    pub(super) lines: Vec<String>,
}

/// Splits the video's speech into captions in chronological order. Uses the diarization if it is
/// available, and the transcript otherwise. If `with_speaker` is set, each utterance begins with
/// the speaker's name. Returns `Invalid` if the video has no recognised speech.
pub(super) fn cues(log: &VideoLog, format: &str, with_speaker: bool) -> Result<Vec<Cue>> {
    let mut cues = Vec::new();
    for utterance in utterances(&log.video) {
        add_cues(&utterance, with_speaker, &mut cues);
    }
    if !cues.is_empty() {
        cues.sort_by(|a, b| a.start.total_cmp(&b.start));
        if log.options.captions.wall_clock {
            for cue in &mut cues {
                cue.lines.splice(0..0, log.record.metadata.wall_clock(cue.start));
            }
        }
        cues.retain_mut(|cue| {
            let exported = log.part.exported_span(Span { start: cue.start, end: cue.end });
            exported.is_some_and(|span| {
                (cue.start, cue.end) = (span.start, span.end);
                true
            })
        });
        return Ok(cues);
    }
    Err(no_speech(log, format))
}

/// Splits the speech of a sequence's clips into captions, with times from the start of the
/// sequence. Returns `Invalid` if no clip has recognised speech.
pub(super) fn clip_cues(sequence: &Sequence, format: &str) -> Result<Vec<Cue>> {
    let mut cues = Vec::new();
    for placed in sequence.placed_clips() {
        let shift = sequence.rate.seconds(placed.placed.start);
        let shifted = |cue: Cue| Cue { start: cue.start + shift, end: cue.end + shift, ..cue };
        cues.extend(cues_of_clip(placed.clip).into_iter().map(shifted));
    }
    if cues.is_empty() {
        return Err(Error::Invalid(format!(
            "none of the clips has recognised speech to export as {format}"
        )));
    }
    Ok(cues)
}

/// Splits the speech of a clip into captions in chronological order, with times from the start of the
/// clip.
pub(super) fn cues_of_clip(clip: &SequenceClip) -> Vec<Cue> {
    let mut spoken = Vec::new();
    for utterance in &clip.speech {
        add_cues(utterance, false, &mut spoken);
    }
    spoken.sort_by(|a, b| a.start.total_cmp(&b.start));
    let span = clip.span();
    let within = |cue: Cue| {
        let (start, end) = (cue.start.max(span.start), cue.end.min(span.end));
        let cue = Cue { start: start - span.start, end: end - span.start, ..cue };
        (end - start >= 0.001).then_some(cue)
    };
    spoken.into_iter().filter_map(within).collect()
}

/// Splits an utterance into captions. If `with_speaker` is set, it begins with the speaker's name.
fn add_cues(utterance: &Utterance, with_speaker: bool, cues: &mut Vec<Cue>) {
    let speaker = utterance.speaker.as_deref();
    let mut name =
        speaker.filter(|_| with_speaker).map(|speaker| format!("{}: ", caption_text(speaker)));
    for (span, text) in utterance.phrases() {
        caption(span, &text, speaker, &name.take().unwrap_or_default(), cues);
    }
}

/// Creates the error for a video without recognised speech.
pub(super) fn no_speech(log: &VideoLog, format: &str) -> Error {
    Error::Invalid(format!(
        "video '{}' has no recognised speech to export as {format}; the analyzers {} and {} give \
         it, the video has: {}",
        log.record.video_id,
        diarization::ID,
        transcript::ID,
        comma_separated(&log.record.analyzer_ids())
    ))
}

/// Puts text on one line and replaces `-->`, which separates the times of a caption.
fn caption_text(text: &str) -> String {
    one_line(text).replace("-->", "→")
}

/// Splits a phrase into captions, each of which begins with `lead`. Divides the phrase's time among
/// the captions in proportion to their text length.
fn caption(span: Span, text: &str, speaker: Option<&str>, lead: &str, cues: &mut Vec<Cue>) {
    let Span { start, end } = span;
    let text = caption_text(text);
    if text.is_empty() || end - start < 0.001 {
        return;
    }
    // A long name must leave room for words.
    let room = MAX_LINE_CHARS.saturating_sub(lead.chars().count()).max(MAX_LINE_CHARS / 2);
    let lines = break_lines(&text, room);
    let total: usize = lines.iter().map(|line| line.chars().count()).sum();
    let mut written = 0;
    for group in lines.chunks(MAX_LINES) {
        let from = start + (end - start) * written as f64 / total as f64;
        written += group.iter().map(|line| line.chars().count()).sum::<usize>();
        let to = start + (end - start) * written as f64 / total as f64;
        cues.push(Cue {
            start: from,
            end: to.max(from + 0.001),
            speaker: speaker.map(str::to_owned),
            lines: prefix_first_line(lead, group),
        });
    }
}

/// Inserts `lead` before the first line.
fn prefix_first_line(lead: &str, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    lines[0].insert_str(0, lead);
    lines
}

/// Breaks text between words into lines of about equal length, with at most `max` characters.
fn break_lines(text: &str, max: usize) -> Vec<String> {
    let length = text.chars().count();
    let target = length.div_ceil(length.div_ceil(max)).min(max);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let size = word.chars().count();
        match lines.last_mut() {
            // A line may slightly exceed the target, to avoid a single word on the next line.
            Some(line) if line.chars().count() + 1 + size <= (target + 4).min(max) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_speech_becomes_readable_captions() {
        let text = "It is a truth universally acknowledged, that a single man in possession of a \
                    good fortune, must be in want of a wife. However little known.";
        let mut cues = Vec::new();
        caption(Span { start: 10.0, end: 20.0 }, text, Some("S1"), "", &mut cues);
        assert!(cues.len() > 1);
        assert_eq!((cues[0].start, cues[cues.len() - 1].end), (10.0, 20.0));
        for (cue, next) in cues.iter().zip(&cues[1..]) {
            assert_eq!(cue.end, next.start);
        }
        let lines: Vec<&String> = cues.iter().flat_map(|cue| &cue.lines).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= MAX_LINE_CHARS), "{lines:?}");
        assert!(cues.iter().all(|cue| cue.lines.len() <= MAX_LINES));
        let joined: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
        assert_eq!(joined.join(" "), text);
    }

    #[test]
    fn empty_speech_has_no_caption() {
        let mut cues = Vec::new();
        for (end, text) in [(2.0, "  "), (1.0, "never")] {
            caption(Span { start: 1.0, end }, text, None, "", &mut cues);
        }
        assert_eq!(cues, []);
    }
}
