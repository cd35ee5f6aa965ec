//! The speech of a video as captions: what SRT and WebVTT share.

use crate::domain::analysis::analyzers::{diarization, transcript};
use crate::domain::analysis::spoken::spoken;
use crate::domain::export::{Log, one_line};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::time::Span;

/// Characters of a line, and lines of a caption: what broadcasters hold to be readable.
const LINE: usize = 42;
const LINES: usize = 2;

/// A few words on screen while they are said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cue {
    /// When it begins, seconds of the video.
    pub(super) start: f64,
    /// Seconds, after `start`.
    pub(super) end: f64,
    /// Who speaks, where that is known.
    pub(super) speaker: Option<String>,
    /// One or two lines, below the instant of its beginning where that is wanted.
    pub(super) lines: Vec<String>,
}

/// The captions in order of time, from diarization where there is any, else from the transcript.
/// `Invalid` names the analyzers that a video without speech lacks. With `named`, their text begins
/// with the speaker.
pub(super) fn cues(log: &Log, format: &str, named: bool) -> Result<Vec<Cue>> {
    let mut cues = Vec::new();
    for said in spoken(&log.video) {
        let speaker = said.speaker.as_deref();
        let mut name = speaker.filter(|_| named).map(|speaker| format!("{}: ", plain(speaker)));
        for (span, text) in said.phrases() {
            caption(span, &text, speaker, &name.take().unwrap_or_default(), &mut cues);
        }
    }
    if !cues.is_empty() {
        cues.sort_by(|a, b| a.start.total_cmp(&b.start));
        if log.captions.wall_clock {
            for cue in &mut cues {
                cue.lines.splice(0..0, log.record.about.wall_clock(cue.start));
            }
        }
        cues.retain_mut(|cue| {
            let placed = log.part.placed(Span { start: cue.start, end: cue.end });
            placed.is_some_and(|span| {
                (cue.start, cue.end) = (span.start, span.end);
                true
            })
        });
        return Ok(cues);
    }
    Err(Error::Invalid(format!(
        "video '{}' has no recognised speech to export as {format}; the analyzers {} and {} give \
         it, the video has: {}",
        log.record.video_id,
        diarization::ID,
        transcript::ID,
        listed(&log.record.analyzer_ids())
    )))
}

/// Text in one line that does not read as the times of a caption.
fn plain(text: &str) -> String {
    one_line(text).replace("-->", "→")
}

/// Cuts a stretch of speech into captions that begin with `lead`, its time shared out by the length
/// of the text.
fn caption(span: Span, text: &str, speaker: Option<&str>, lead: &str, cues: &mut Vec<Cue>) {
    let Span { start, end } = span;
    let text = plain(text);
    if text.is_empty() || end - start < 0.001 {
        return;
    }
    // A long name must leave room for words.
    let room = LINE.saturating_sub(lead.chars().count()).max(LINE / 2);
    let lines = broken(&text, room);
    let total: usize = lines.iter().map(|line| line.chars().count()).sum();
    let mut told = 0;
    for group in lines.chunks(LINES) {
        let from = start + (end - start) * told as f64 / total as f64;
        told += group.iter().map(|line| line.chars().count()).sum::<usize>();
        let to = start + (end - start) * told as f64 / total as f64;
        cues.push(Cue {
            start: from,
            end: to.max(from + 0.001),
            speaker: speaker.map(str::to_owned),
            lines: led(lead, group),
        });
    }
}

/// The lines of a caption behind its lead.
fn led(lead: &str, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    lines[0].insert_str(0, lead);
    lines
}

/// Lines of at most `most` characters, as even as they come, broken between words.
fn broken(text: &str, most: usize) -> Vec<String> {
    let length = text.chars().count();
    let target = length.div_ceil(length.div_ceil(most)).min(most);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let size = word.chars().count();
        match lines.last_mut() {
            // A line may pass the even length a little rather than leave a word alone.
            Some(line) if line.chars().count() + 1 + size <= (target + 4).min(most) => {
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
        assert!(lines.iter().all(|line| line.chars().count() <= LINE), "{lines:?}");
        assert!(cues.iter().all(|cue| cue.lines.len() <= LINES));
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
