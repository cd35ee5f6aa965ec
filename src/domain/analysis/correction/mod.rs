//! What people have said is wrong in what the models have found, and what is right. It lies over what
//! the models say: that is kept beside it, and comes back when a correction is undone.
//!
//! A correction is kept by time and by what it is about, not by chunks or labels: it is made again
//! over whatever a later run finds there.

mod people;
mod speakers;
mod wording;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::domain::kernel::time::Span;
use crate::domain::media::screen_text::ScreenLine;
use crate::domain::media::speech::{Speech, Utterance};
use crate::domain::media::tracking::Location;
pub(crate) use wording::Phrase;

/// Places of one correction that are kept; the others are counted.
const MOST_PLACES: usize = 1000;

/// Room at both ends of a correction's time: times are rounded on their way to people and back.
const ROOM: f64 = 0.05;

/// What a correction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Corrected {
    /// Who says something.
    Speaker,
    /// What is said.
    Words,
    /// What is read in the picture.
    ScreenText,
    /// Who is seen.
    Person,
}

impl Corrected {
    /// As requests call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Speaker => "speaker",
            Self::Words => "words",
            Self::ScreenText => "screen_text",
            Self::Person => "person",
        }
    }
}

/// What was wrong, and what is right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// What undoing it calls it.
    pub id: String,
    /// What it is about.
    pub of: Corrected,
    /// What was shown: a speaker's label, words, or the id or name of a person.
    pub from: String,
    /// What is right; nothing where words were never there.
    pub to: String,
    /// When alone it is wrong, seconds of the video; everywhere where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// ISO 8601, second precision, UTC.
    pub created_at: String,
    /// When the speaker spoke whom it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoken: Vec<Span>,
    /// Where the person was seen whom it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Location>,
    /// How often it applies to what the models say now.
    #[serde(default)]
    pub places: u32,
    /// When: the first of them, in order, seconds of the video.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
}

impl Correction {
    /// The words that it replaces.
    fn phrase(&self) -> Phrase {
        Phrase::new(&self.from)
    }

    /// Whether it reaches what is there at a time.
    fn reaches(&self, span: Span) -> bool {
        self.span.is_none_or(|own| span.start < own.end + ROOM && span.end > own.start - ROOM)
    }
}

/// What is heard in a video, sentence by sentence.
#[derive(Debug)]
pub struct Heard {
    pub(crate) speech: Speech,
    /// Sentences with their words.
    pub(crate) utterances: Vec<Utterance>,
}

impl Heard {
    fn new(speech: Speech) -> Self {
        Self { utterances: speech.utterances(), speech }
    }
}

/// The corrections of a video, ready to be laid over what its models say.
#[derive(Debug, Default)]
pub struct Overlay {
    corrections: Vec<Correction>,
    heard: Option<(Heard, Heard)>,
    applied: Mutex<BTreeMap<usize, Vec<Span>>>,
}

impl Overlay {
    /// Over what is heard in the video.
    pub(crate) fn new(corrections: Vec<Correction>, speech: Option<Speech>) -> Self {
        let mut overlay = Self { corrections, ..Self::default() };
        if let Some(speech) = speech {
            let mut corrected = speech.clone();
            for (at, correction) in overlay.corrections.iter().enumerate() {
                let places = match correction.of {
                    Corrected::Speaker => speakers::correct(&mut corrected.turns, correction),
                    Corrected::Words => match &mut corrected.words {
                        Some(heard) => {
                            let channels = heard.by_channel_mut().iter_mut();
                            channels.flat_map(|words| wording::correct(words, correction)).collect()
                        }
                        None => Vec::new(),
                    },
                    Corrected::ScreenText | Corrected::Person => continue,
                };
                overlay.note(at, places);
            }
            overlay.heard = Some((Heard::new(speech), Heard::new(corrected)));
        }
        overlay
    }

    fn of(&self, of: Corrected) -> impl Iterator<Item = (usize, &Correction)> {
        self.corrections.iter().enumerate().filter(move |(_, correction)| correction.of == of)
    }

    fn note(&self, at: usize, places: impl IntoIterator<Item = Span>) {
        let mut applied = self.applied.lock().unwrap_or_else(PoisonError::into_inner);
        applied.entry(at).or_default().extend(places);
    }

    /// What is heard, as the models say and as it is corrected.
    pub(crate) fn heard(&self) -> Option<(&Heard, &Heard)> {
        self.heard.as_ref().map(|(before, after)| (before, after))
    }

    /// The sentences within a span that are corrected: each as the models have it, and what there is
    /// in its place, if anything is.
    pub(crate) fn reworded(&self, span: Span) -> Vec<(&str, Option<&str>)> {
        let Some((before, after)) = self.heard() else { return Vec::new() };
        let said = before.utterances.iter().filter(|said| said.span().overlap(&span) > 0.0);
        let reworded = said.filter_map(|said| {
            let common = |now: &Utterance| now.span().overlap(&said.span());
            let now = after.utterances.iter().filter(|now| common(now) > 0.0);
            let now = now.max_by(|a, b| common(a).total_cmp(&common(b)));
            let now = now.map(|now| now.text.as_str());
            (now != Some(&said.text)).then_some((said.text.as_str(), now))
        });
        reworded.collect()
    }

    /// Lines that are read in the picture, corrected; the ones of which nothing is left are dropped.
    pub(crate) fn reread(&self, lines: &mut Vec<ScreenLine>) {
        for (at, correction) in self.of(Corrected::ScreenText) {
            let phrase = correction.phrase();
            for line in lines.iter_mut() {
                let seen = Span { start: line.first_seen, end: line.last_seen };
                let reworded = phrase.replaced(&line.text, &correction.to);
                if let Some(text) = reworded.filter(|_| correction.reaches(seen)) {
                    line.text = text;
                    self.note(at, [seen]);
                }
            }
        }
        lines.retain(|line| !line.text.is_empty());
    }

    /// A text that quotes the screen within a span, corrected.
    pub(crate) fn requoted(&self, text: &str, span: Span) -> Option<String> {
        let mut quoted: Option<String> = None;
        for (_, correction) in self.of(Corrected::ScreenText).filter(|(_, c)| c.reaches(span)) {
            let text = quoted.as_deref().unwrap_or(text);
            quoted = correction.phrase().replaced(text, &correction.to).or(quoted);
        }
        quoted
    }

    /// The name of somebody who is seen there, where one was given.
    pub(crate) fn name_of(&self, seen: &[Location]) -> Option<&str> {
        let mut name = None;
        // What was said last counts.
        for (at, correction) in self.of(Corrected::Person) {
            if people::is_same(&correction.seen, seen) {
                self.note(at, people::while_seen(seen));
                name = Some(correction.to.as_str());
            }
        }
        name
    }

    /// The corrections, each with where it applies to what it was laid over.
    pub(crate) fn into_corrections(self) -> Vec<Correction> {
        let mut applied = self.applied.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut corrections = self.corrections;
        for (at, correction) in corrections.iter_mut().enumerate() {
            let mut spans = applied.remove(&at).unwrap_or_default();
            spans.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end)));
            spans.dedup();
            correction.places = spans.len() as u32;
            spans.truncate(MOST_PLACES);
            correction.spans = spans;
        }
        corrections
    }

    /// When a speaker speaks who is called so, as it is corrected.
    pub(crate) fn spoken_by(&self, label: &str) -> Vec<Span> {
        let turns = self.heard().map_or(&[][..], |(_, after)| &after.speech.turns);
        turns.iter().filter(|turn| turn.speaker == label).map(|turn| turn.span).collect()
    }

    /// Who speaks, as it is corrected, in order of first speech.
    pub(crate) fn speakers(&self) -> Vec<&str> {
        let turns = self.heard().map_or(&[][..], |(_, after)| &after.speech.turns);
        let mut speakers: Vec<&str> = Vec::new();
        for turn in turns {
            if !speakers.contains(&turn.speaker.as_str()) {
                speakers.push(&turn.speaker);
            }
        }
        speakers
    }
}
