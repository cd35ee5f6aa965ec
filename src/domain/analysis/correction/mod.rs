//! User corrections to model output. The original output is stored as well and is restored when a
//! correction is undone.
//!
//! A correction refers to a time and a subject, not to chunk ids or labels, so that it also applies
//! to the output of later runs.

mod people;
mod speakers;
mod wording;

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::kernel::time::Span;
use crate::media::screen_text::ScreenLine;
use crate::media::speech::{Speech, Utterance};
use crate::media::tracking::Location;
pub(crate) use wording::PhrasePattern;

/// Maximum number of spans stored per correction of words or text; further ones are only counted.
const MAX_SPANS: usize = 1000;

/// Maximum number of spans stored per correction of a name. The appearances of people are derived from
/// them.
const MAX_NAME_SPANS: usize = 20_000;

/// Tolerance at both ends of a correction's span, in seconds, because clients send back the rounded
/// times that they received.
const TOLERANCE: f64 = 0.05;

/// The subject of a correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionKind {
    /// The name of a speaker.
    Speaker,
    /// Recognized speech.
    Words,
    /// Text recognized on screen.
    ScreenText,
    /// The name of a person in the picture.
    Person,
    /// The title of a chapter, or a new chapter.
    Chapter,
}

impl CorrectionKind {
    /// The name used in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Speaker => "speaker",
            Self::Words => "words",
            Self::ScreenText => "screen_text",
            Self::Person => "person",
            Self::Chapter => "chapter",
        }
    }
}

/// A correction: what is wrong, and its replacement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// The id, used to undo the correction.
    pub id: String,
    /// The subject.
    #[serde(rename = "of")]
    pub kind: CorrectionKind,
    /// The text to replace: a speaker's label, words, the id or name of a person, or a title. Empty for
    /// a new chapter.
    pub from: String,
    /// The replacement; if empty, the words are removed. If it equals `from`, the words are right as
    /// recognized.
    pub to: String,
    /// Restricts the correction to this span, in seconds from the start of the video; if `None`, it
    /// applies everywhere. The span of a chapter identifies it among the chapters of later runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Time of creation in ISO 8601, UTC, with second precision.
    pub created_at: String,
    /// If `kind` is `Speaker`, the spans in which the speaker talks. They identify the speaker in
    /// the output of later runs.
    #[serde(rename = "spoken", default, skip_serializing_if = "Vec::is_empty")]
    pub speaker_spans: Vec<Span>,
    /// If `kind` is `Person`, the places where the person is seen. They identify the person in the
    /// output of later runs.
    #[serde(rename = "seen", default, skip_serializing_if = "Vec::is_empty")]
    pub person_locations: Vec<Location>,
    /// Number of matches in the current output.
    #[serde(default)]
    pub places: u32,
    /// Spans of the first matches in chronological order, in seconds from the start of the video; at
    /// most 1000, or 20,000 for a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
}

impl Correction {
    /// Whether the correction names a speaker or a person.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, CorrectionKind::Speaker | CorrectionKind::Person)
    }

    /// Whether this correction of a name applies to the voice or person that an earlier one names.
    pub(crate) fn renames(&self, earlier: &Self) -> bool {
        self.kind == earlier.kind
            && match self.kind {
                CorrectionKind::Speaker => self.from == earlier.to,
                CorrectionKind::Person => {
                    people::is_same(&earlier.person_locations, &self.person_locations)
                }
                CorrectionKind::Words | CorrectionKind::ScreenText | CorrectionKind::Chapter => {
                    false
                }
            }
    }

    /// The phrase to replace.
    fn phrase(&self) -> PhrasePattern {
        PhrasePattern::new(&self.from)
    }

    /// Whether the correction applies to output with this time span.
    fn applies_to(&self, span: Span) -> bool {
        self.span
            .is_none_or(|own| span.start < own.end + TOLERANCE && span.end > own.start - TOLERANCE)
    }
}

/// A video's recognized speech with its sentences.
#[derive(Debug)]
pub struct TranscribedSpeech {
    pub(crate) speech: Speech,
    /// The sentences of `speech`.
    pub(crate) utterances: Vec<Utterance>,
}

impl TranscribedSpeech {
    fn new(speech: Speech) -> Self {
        Self { utterances: speech.utterances(), speech }
    }
}

/// A video's corrections, ready to be applied to its outputs. Records where each one was applied.
#[derive(Debug, Default)]
pub struct CorrectionSet {
    corrections: Vec<Correction>,
    /// The speech before and after correction.
    speech: Option<(TranscribedSpeech, TranscribedSpeech)>,
    /// The spans at which corrections were applied, by index into `corrections`.
    applied: Mutex<BTreeMap<usize, Vec<Span>>>,
}

impl CorrectionSet {
    /// Applies the speaker and word corrections to the video's speech.
    pub(crate) fn new(corrections: Vec<Correction>, speech: Option<Speech>) -> Self {
        let mut set = Self { corrections, ..Self::default() };
        if let Some(speech) = speech {
            let mut corrected = speech.clone();
            for (index, correction) in set.corrections.iter().enumerate() {
                let spans = match correction.kind {
                    CorrectionKind::Speaker => speakers::apply(&mut corrected.turns, correction),
                    CorrectionKind::Words => match &mut corrected.words {
                        Some(transcript) => {
                            let channels = transcript.by_channel_mut().iter_mut();
                            channels.flat_map(|words| wording::apply(words, correction)).collect()
                        }
                        None => Vec::new(),
                    },
                    CorrectionKind::ScreenText
                    | CorrectionKind::Person
                    | CorrectionKind::Chapter => continue,
                };
                set.record(index, spans);
            }
            set.speech = Some((TranscribedSpeech::new(speech), TranscribedSpeech::new(corrected)));
        }
        set
    }

    fn with_kind(&self, kind: CorrectionKind) -> impl Iterator<Item = (usize, &Correction)> {
        self.corrections.iter().enumerate().filter(move |(_, correction)| correction.kind == kind)
    }

    fn record(&self, index: usize, spans: impl IntoIterator<Item = Span>) {
        let mut applied = self.applied.lock();
        applied.entry(index).or_default().extend(spans);
    }

    /// The speech before and after correction.
    pub(crate) fn speech(&self) -> Option<(&TranscribedSpeech, &TranscribedSpeech)> {
        self.speech.as_ref().map(|(before, after)| (before, after))
    }

    /// The speech after correction.
    pub(crate) fn into_speech(self) -> Option<TranscribedSpeech> {
        self.speech.map(|(_, after)| after)
    }

    /// The corrected sentences within a span. Each original text comes with its replacement, or
    /// with `None` if the sentence was removed.
    pub(crate) fn corrected_sentences(&self, span: Span) -> Vec<(&str, Option<&str>)> {
        let Some((before, after)) = self.speech() else { return Vec::new() };
        let originals = before.utterances.iter().filter(|u| u.span().overlap(&span) > 0.0);
        let replaced = originals.filter_map(|original| {
            let overlap = |u: &Utterance| u.span().overlap(&original.span());
            let overlapping = after.utterances.iter().filter(|u| overlap(u) > 0.0);
            let corrected = overlapping.max_by(|a, b| overlap(a).total_cmp(&overlap(b)));
            let text = corrected.map(|corrected| corrected.text.as_str());
            (text != Some(&original.text)).then_some((original.text.as_str(), text))
        });
        replaced.collect()
    }

    /// Corrects lines of screen text; drops those that become empty.
    pub(crate) fn correct_screen_lines(&self, lines: &mut Vec<ScreenLine>) {
        for (index, correction) in self.with_kind(CorrectionKind::ScreenText) {
            let phrase = correction.phrase();
            for line in lines.iter_mut() {
                let span = Span { start: line.first_seen, end: line.last_seen };
                let replaced = phrase.replace_in(&line.text, &correction.to);
                if let Some(text) = replaced.filter(|_| correction.applies_to(span)) {
                    line.text = text;
                    self.record(index, [span]);
                }
            }
        }
        lines.retain(|line| !line.text.is_empty());
    }

    /// Corrects screen text that is quoted within a span; returns `None` if nothing matches.
    pub(crate) fn correct_screen_quote(&self, text: &str, span: Span) -> Option<String> {
        let mut corrected: Option<String> = None;
        for (_, correction) in
            self.with_kind(CorrectionKind::ScreenText).filter(|(_, c)| c.applies_to(span))
        {
            let text = corrected.as_deref().unwrap_or(text);
            corrected = correction.phrase().replace_in(text, &correction.to).or(corrected);
        }
        corrected
    }

    /// The name that a correction gives to the person at these locations.
    pub(crate) fn person_name(&self, locations: &[Location]) -> Option<&str> {
        let mut name = None;
        // The latest correction wins.
        for (index, correction) in self.with_kind(CorrectionKind::Person) {
            if people::is_same(&correction.person_locations, locations) {
                self.record(index, people::seen_span(locations));
                name = Some(correction.to.as_str());
            }
        }
        name
    }

    /// The corrections, each with the spans at which it was applied. Titles of chapters are corrected
    /// when chapters are read, so those corrections stay as they are.
    pub(crate) fn into_corrections(self) -> Vec<Correction> {
        let mut applied = self.applied.into_inner();
        let mut corrections = self.corrections;
        for (index, correction) in corrections.iter_mut().enumerate() {
            if correction.kind == CorrectionKind::Chapter {
                continue;
            }
            let mut spans = applied.remove(&index).unwrap_or_default();
            spans.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end)));
            spans.dedup();
            correction.places = spans.len() as u32;
            spans.truncate(if correction.is_name() { MAX_NAME_SPANS } else { MAX_SPANS });
            correction.spans = spans;
        }
        corrections
    }

    /// The spans of a speaker's turns after correction.
    pub(crate) fn speaker_spans(&self, label: &str) -> Vec<Span> {
        let turns = self.speech().map_or(&[][..], |(_, after)| &after.speech.turns);
        turns.iter().filter(|turn| turn.speaker == label).map(|turn| turn.span).collect()
    }

    /// The speakers after correction, in the order in which they first speak.
    pub(crate) fn speakers(&self) -> Vec<&str> {
        let turns = self.speech().map_or(&[][..], |(_, after)| &after.speech.turns);
        let mut speakers: Vec<&str> = Vec::new();
        for turn in turns {
            if !speakers.contains(&turn.speaker.as_str()) {
                speakers.push(&turn.speaker);
            }
        }
        speakers
    }
}
